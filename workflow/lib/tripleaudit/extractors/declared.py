"""What extractors declare: the settings of their models, their official training settings, the outputs of ``prior``.

Importing this module imports no torch: the plan of a study, the jobs and a call in Python check with one section.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from tripleaudit.corpora.spans import OCCURRENCES
from tripleaudit.errors import hint
from tripleaudit.extractors.alignment import LAYOUTS
from tripleaudit.fields import Count, NotNegative, Number, Rate, Section, Share, among


class ExtractorSettings(Section):
    """What an extractor declares, and the settings that all extractors share.

    The class of an extractor names its section as ``settings``; one from outside the package derives its own from this
    class, or from that of the extractor that it extends, where it has settings or defaults of its own. A plan that is
    to check them without importing the extractor, and torch with it, finds the section in the descriptor,
    ``ExtractorSpec(name="mine", model="mine.py:Mine", settings=MineSettings)``; else it imports the class to ask it.

    Attributes:
        training_defaults: official training settings, keys of :class:`tripleaudit.training.settings.TrainingSettings`.
        sparse_outputs: output layers for ``prior``: name of a Linear -> number of classes of a cell (1 for a logit;
            with more, class 0 is "none").
    """

    training_defaults: ClassVar[Mapping[str, Any]] = {}
    sparse_outputs: ClassVar[Mapping[str, int]] = {}

    max_length: Annotated[int, Field(ge=8)] = 128
    """Training sentences are cut to this many tokens (specials included, markers not counted)."""
    layout: Annotated[str, among(LAYOUTS)] = "subword"
    """`subword` or `marker` (see :mod:`tripleaudit.extractors.alignment`)."""
    marker: str | None = None
    """The word-end marker token of the `marker` layout; null looks for a spare one."""
    occurrence: Annotated[str, among(OCCURRENCES)] = "given"
    """Which mentions are gold in training: `given` (as the corpus has them), `first` or `all`."""
    drop_zero: bool = False
    """Leave sentences with zero triples out of training."""
    drop_above: Count = 0
    """Leave sentences with more triples than this out of training; 0 leaves out none."""
    prior: Any = None
    """Where the biases of the output layers start from: a probability, or one for each output by name (see
    :mod:`tripleaudit.extractors.priors`)."""

    @field_validator("prior")
    @classmethod
    def _probabilities(cls, prior: Any) -> Any:
        for output, value in prior.items() if isinstance(prior, Mapping) else [("", prior)]:
            if output and output not in cls.sparse_outputs:
                known = {"output": output, "hint": hint(output, cls.sparse_outputs)}
                raise PydanticCustomError("output", "unknown output '{output}'{hint}", known)
            if (output or value is not None) and not (type(value) in (int, float) and 0 < value < 1):
                found = {"of": f" for {output}" if output else "", "value": repr(value)}
                raise PydanticCustomError("prior", "expected a probability inside 0 to 1{of}, got {value}", found)
        return prior


class CasRelSettings(ExtractorSettings):
    """Settings of CasRel."""

    sparse_outputs = {"subject": 1, "object": 1}
    training_defaults = {
        "optimizer": "adam",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 1e-5,
        "head_learning_rate": 1e-5,
        "schedule": "constant",
        "batch_size": 6,
        "epochs": 100,
        "patience": 7,
        "min_delta": 1e-4,
    }

    zero_subject: Annotated[str, among(("none", "random"))] = "none"
    """What a sentence with zero triples trains besides its empty subject maps: `none`, or `random` for a random
    pseudo-subject of up to three tokens with empty object maps."""


class TPLinkerSettings(ExtractorSettings):
    """Settings of TPLinker."""

    sparse_outputs = {"entity": 2, "links": 3}
    training_defaults = {
        "optimizer": "adam",
        "encoder_learning_rate": 5e-5,
        "head_learning_rate": 5e-5,
        "schedule": "cosine_restarts",
        "restart_epochs": 2.0,
        "batch_size": 6,
        "epochs": 100,
    }

    occurrence: Annotated[str, among(OCCURRENCES)] = "all"
    recover_steps: Count = 6000
    """Optimiser steps over which the weight moves from the entity map to the links; with 0 it has moved after the
    first, as a short training needs it."""
    padded_cells: bool = False
    """The official mean, over all cells of an input padded to `max_length`, specials and padding included; by default
    the mean is over the cells of text tokens."""


class TDEERSettings(ExtractorSettings):
    """Settings of TDEER."""

    sparse_outputs = {"heads": 1, "tails": 1, "object": 1}
    training_defaults = {
        "optimizer": "adam",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 5e-5,
        "head_learning_rate": 5e-5,
        "schedule": "steps",
        "learning_rate_points": [[0, 0.0], [1, 1.0], [2, 0.1]],
        "batch_size": 8,
        "epochs": 200,
    }

    neg_samples: Count = 2
    """The most negative instances for each positive one."""
    max_sample_triples: Count = 0
    """The most positive instances of a sentence and visit, a random choice; 0 for all."""
    translation_weight: NotNegative = 5.0
    """Weight of the object term."""
    max_candidates: Number = 100
    """At most this many (subject, relation) pairs of a sentence are followed up when decoding, the first ones; far
    beyond what a trained model finds."""


class PRGCSettings(ExtractorSettings):
    """Settings of PRGC."""

    sparse_outputs = {"pair": 1, "subject": 3, "object": 3}
    training_defaults = {
        "optimizer": "adamw",
        "adam_epsilon": 1e-6,
        "adam_bias_correction": False,
        "encoder_learning_rate": 1e-4,
        "head_learning_rate": 1e-3,
        "weight_decay": 0.01,
        "schedule": "cosine",
        "warmup": 0.1,
        "clip": "parameter",
        "clip_norm": 2.0,
        "batch_size": 64,
        "accumulation": 2,
        "epochs": 100,
        "patience": 20,
        "min_delta": 1e-5,
    }

    dropout: Rate = 0.3
    """After each hidden layer of the heads."""
    relation_threshold: Share = 0.1
    """Probability above which a relation counts."""
    pair_threshold: Share = 0.5
    """Probability above which a pair of heads counts."""
    fallback: bool = True
    """Decode the likeliest relation where none is above the threshold, as the official code does."""
    max_candidates: Number = 100
    """At most this many relations of a sentence are followed up when decoding, the first ones; far beyond what a
    trained model finds."""


class GRTESettings(ExtractorSettings):
    """Settings of GRTE."""

    sparse_outputs = {"table": 8}
    training_defaults = {
        "optimizer": "adamw",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 3e-5,
        "head_learning_rate": 3e-5,
        "schedule": "linear",
        "clip": "global",
        "clip_norm": 1.0,
        "batch_size": 6,
        "epochs": 50,
    }

    rounds: Number = 3
    """How often tables are filled; the last one counts. Officially NYT 3, NYT* 2, WebNLG 4, WebNLG* 2, NYT29 3."""
    dropout: Rate = 0.1
    """Of the encoder's states and inside the refining block."""


class PFNSettings(ExtractorSettings):
    """Settings of PFN."""

    sparse_outputs = {"entity_out": 1, "relation_out": 1}
    training_defaults = {
        "optimizer": "adam",
        "encoder_learning_rate": 2e-5,
        "head_learning_rate": 2e-5,
        "schedule": "constant",
        "clip": "global",
        "clip_norm": 0.25,
        "batch_size": 20,
        "epochs": 100,
    }

    width: Number = 300
    """d, of the recurrent states."""
    dropout: Rate = 0.1
    """Of the encoder's output and inside the tables."""
    drop_connect: Rate = 0.1
    """Share of the recurrent weights dropped, with one mask for a batch."""
    ends: Annotated[str, among(("word", "token"))] = "word"
    """Where a span ends in its table: `word` is the first piece of the last whitespace word, as the official code has
    it; `token` is the last piece, for texts whose punctuation is not set off by blanks."""
    entities: Annotated[str, among(("full", "last_word"))] = "full"
    """`full` spans, or `last_word`, which trains and predicts the last word of each entity (PFN*)."""
    max_starts: Number = 60
    """At most this many entity starts of a sentence are followed up when decoding, the first ones; far beyond what a
    trained model finds."""


class OneRelSettings(ExtractorSettings):
    """Settings of OneRel."""

    sparse_outputs = {"tags": 4}
    training_defaults = {
        "optimizer": "adam",
        "encoder_learning_rate": 1e-5,
        "head_learning_rate": 1e-5,
        "schedule": "constant",
        "batch_size": 6,
        "epochs": 200,
    }

    layout: Annotated[str, among(LAYOUTS)] = "marker"
    hidden_dropout: Rate = 0.2
    """Of the encoder's states."""
    pair_dropout: Rate = 0.1
    """Of the pair features."""


class BiRTESettings(ExtractorSettings):
    """Settings of BiRTE."""

    sparse_outputs = {"subject": 1, "object": 1, "object_given_subject": 1, "subject_given_object": 1}
    training_defaults = {
        "optimizer": "adamw",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 3e-5,
        "head_learning_rate": 1.5e-4,
        "schedule": "linear",
        "clip": "global",
        "clip_norm": 1.0,
        "batch_size": 18,
        "epochs": 100,
    }

    dropout: Rate = 0.1
    """On the three token representations and on the pooled sentence."""
    max_candidates: Number = 100
    """At most this many subjects, objects and pairs of a sentence are followed up when decoding, the first ones; far
    beyond what a trained model finds."""


class PtrNetSettings(ExtractorSettings):
    """Settings of PtrNet."""

    training_defaults = {
        "optimizer": "adam",
        "encoder_learning_rate": 2e-5,
        "head_learning_rate": 1e-3,
        "schedule": "linear",
        "head_schedule": "constant",
        "clip": "global",
        "clip_norm": 10.0,
        "batch_size": 32,
        "epochs": 30,
        "patience": 5,
        "min_delta": -1e-9,  # an equal F1 counts as a new best one for the patience
    }

    width: Number = 300
    """D, of words, decoder state and each direction of the pointer LSTMs."""
    dropout: Rate = 0.3
    """Of words, states, arguments and relation embeddings."""
    max_words: Number = 5
    """Longest entity that is decoded, in words."""
    max_triples: Number = 10
    """Steps when decoding. In training, a sentence with more triples trains on the first of them in `order`, without
    the NONE that would follow (the official code drops such sentences)."""
    skip_equal: bool = True
    """Drop predictions whose subject and object are the same text, as the official code does."""
    order: Annotated[str, among(("text", "epoch"))] = "text"
    """`text` writes the triples of a sentence as their subjects, then their objects begin in the text, so that there is
    one right answer at each step; `epoch` shuffles them again in every epoch."""


class UniRelSettings(ExtractorSettings):
    """Settings of UniRel."""

    sparse_outputs = {"maps": 1}
    training_defaults = {
        "encoder_learning_rate": 3e-5,
        "head_learning_rate": 3e-5,
        "schedule": "cosine",
        "warmup": 0.1,
        "clip": "global",
        "clip_norm": 1.0,
        "batch_size": 12,
        "epochs": 100,
    }

    max_length: Annotated[int, Field(ge=8)] = 102
    threshold: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Probability above which a cell is a link."""
    descriptions: dict[str, str] | None = None
    """Words that stand for a relation in the input, by name; others are called by their plain name. Relations that a
    trained model is to be told later may be among them."""


class ZCCSettings(ExtractorSettings):
    """Settings of ZCC, the zero-cardinality classifier."""

    training_defaults = {
        "optimizer": "adamw",
        "encoder_learning_rate": 2e-5,
        "head_learning_rate": 2e-5,
        "weight_decay": 0.01,
        "schedule": "linear",
        "warmup": 0.1,
        "clip": "global",
        "clip_norm": 1.0,
        "batch_size": 16,
        "epochs": 10,
        "patience": 2,
    }

    head: Annotated[str, among(("binary", "mcml"))] = "binary"
    """`binary` (has the sentence triples?) or `mcml` (which relations does it state?)."""
    pooled: bool = False
    """Read the encoder's pooler (tanh) instead of the raw hidden state of the first token."""
    dropout: Rate = 0.1
    """Before the linear layer."""
