"""Base class of joint extractors: a ``PreTrainedModel`` from batches to triples of spans.

See ``docs/howto/extending.md`` for how to add one.
"""

import contextlib
import functools
import math
import operator
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.configuration_utils import SubConfigSpec
from transformers.utils import ModelOutput

from tripleaudit.core.errors import UserError, first_line
from tripleaudit.core.model_folders import WEIGHTS, check_layers, check_weights
from tripleaudit.core.outputs import check_unchanged
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.extractors.alignment import Aligner, Alignment
from tripleaudit.extractors.batches import GoldBatch, pad_batch
from tripleaudit.extractors.formulation import half_precision, on_device, products
from tripleaudit.extractors.prediction import Prepared, as_list, prepared, within_memory
from tripleaudit.extractors.registry import MODEL_TYPE_PREFIX, extractor_class, saved_extractor_name
from tripleaudit.extractors.settings import ExtractorSettings
from tripleaudit.extractors.span_types import type_layer, with_types

TEST_LIMIT = 512  # tokens; no sentence is cut below this at test, unless the encoder takes fewer

# without any of these transformers would silently make up an empty vocabulary
TOKENIZER_FILES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
# switches, as all models have them now
GONE = {
    "end_exclusive": False,
    "mask_padding": True,
    "pool_padding": False,
    "pooled": False,
    "ends": "word",
}
Row = tuple[int, int, int, int, int, float]


class ExtractorConfig(PreTrainedConfig):
    """Saved configuration: an extractor's own settings and the common ones.

    The former are a section of :mod:`tripleaudit.extractors.settings`.

    Attributes:
        encoder: configuration of the encoder.
        relations: relation names; their positions are the relation ids.
        bf16: bfloat16 autocast in prediction on GPUs that have it; as training had it (its own
            setting decides).
        entity_types: types that :attr:`Extractor.types` tells apart, where the training corpus has
            any.
    """

    model_type = "tripleaudit"
    sub_configs_defaults = {"encoder": SubConfigSpec(config_class=AutoConfig, model_type="bert")}

    encoder: PreTrainedConfig | dict | None = None
    relations: list[str] | None = None
    bf16: bool = True
    entity_types: list[str] | None = None


@dataclass
class ExtractorOutput(ModelOutput):
    """What ``forward`` returns.

    Attributes:
        loss: scalar; None of a classifier that was given no gold triples.
        terms: the named parts of the loss, detached, for logs.
    """

    loss: Tensor | None = None
    terms: dict[str, Tensor] | None = None
    logits: Tensor | None = None

    @classmethod
    def of(cls, terms: Mapping[str, Tensor]) -> "ExtractorOutput":
        """The output whose loss is the sum of its terms."""
        loss = functools.reduce(operator.add, terms.values())
        return cls(loss=loss, terms={name: term.detach() for name, term in terms.items()})


class Extractor(PreTrainedModel):
    """Base class of the joint extractors.

    A subclass sets the class attributes below and defines ``__init__`` (head layers, with their
    initialisation), ``forward`` and ``predict_rows``.

    Attributes:
        name: the registry's name.
        settings: what it declares; ``config_class`` is made from it.
        kind: ``extractor``, or ``classifier`` (the zero-cardinality classifier), which defines
            ``decide``, ``evaluate`` and ``clues`` instead of ``predict_rows``.
        static: whether :meth:`forward` keeps to the rules of a captured step.
        takes_schema: whether relations are an input and no weights, so that :meth:`set_schema` can
            change them.
        words: whether batches carry ``word_ids``, ``word_first`` and ``word_last``.
        pooler: whether the encoder keeps its pooler ([CLS] through tanh).
        layouts: layouts that differ in which gold triples have consistent labels; empty if the
            default layout is the only one of interest.
        tokenizer: the encoder's fast tokenizer, saved and loaded with the model.
        step: number of optimiser steps done, kept by the trainer, for losses whose weights change
            over time.
        encoder_bf16: whether training on a CPU computes the encoder in bfloat16; the trainer sets
            it. Its states, everything behind them and predictions are in float32.
        types: the layer of :mod:`tripleaudit.extractors.span_types`, None where no types were
            learnt.
    """

    config_class = ExtractorConfig
    config: ExtractorConfig
    settings: ClassVar[type[ExtractorSettings]] = ExtractorSettings
    base_model_prefix = "encoder"
    main_input_name = "input_ids"
    supports_gradient_checkpointing = True
    _supports_sdpa = True
    _supports_flash_attn = True

    name: ClassVar[str] = ""
    kind: ClassVar[str] = "extractor"
    static: ClassVar[bool] = False
    takes_schema: ClassVar[bool] = False
    words: ClassVar[bool] = False
    pooler: ClassVar[bool] = False
    layouts: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        fields = cls.settings.model_fields
        made = {
            "__module__": cls.__module__,
            "__qualname__": f"{cls.__qualname__}.config_class",
            "__annotations__": dict.fromkeys(fields, Any),
            "model_type": MODEL_TYPE_PREFIX + cls.name,
            **{name: field.default for name, field in fields.items()},
        }
        cls.config_class = type(f"{cls.__name__}Config", (ExtractorConfig,), made)

    def __init__(self, config: ExtractorConfig, encoder: PreTrainedModel | None = None):
        super().__init__(config)
        self.encoder = encoder if encoder is not None else AutoModel.from_config(config.encoder)
        if not self.pooler and getattr(self.encoder, "pooler", None) is not None:
            self.encoder.pooler = None
        self.tokenizer = None
        self.step = 0
        self.encoder_bf16 = False
        self._aligner: Aligner | None = None
        self._states: Tensor | None = None
        self.types = (
            type_layer(self.hidden_size, config.entity_types) if config.entity_types else None
        )

    @classmethod
    def instance_count(cls, config: ExtractorConfig, rows: np.ndarray) -> int:
        """Return how many training instances the official code makes of gold rows [n, 5].

        Where ``batch_size`` counts instances, a sentence enters an epoch so many times. Most
        extractors make one.
        """
        return 1

    @classmethod
    def representable(
        cls, config: ExtractorConfig, alignment: Alignment, rows: np.ndarray
    ) -> np.ndarray:
        """Return which gold rows [n, 5] have entities that the extractor can write, [n] bool.

        An extractor of words cannot write entities that begin or end inside a word.
        """
        return np.ones(len(rows), dtype=bool)

    @classmethod
    def contradictory(cls, config: ExtractorConfig, rows: np.ndarray) -> np.ndarray:
        """Return which gold rows [n, 5] of a sentence have contradictory labels, [n] bool.

        No states of the tokens and no weights produce all labels of such a row's relation.
        """
        return np.zeros(len(rows), dtype=bool)

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Build further arguments of ``forward`` for a training batch, in the data loader."""
        return {}

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, **inputs: Tensor
    ) -> ExtractorOutput:
        """Compute the loss of a batch with gold triples, equal in tight and static batches.

        A class that says ``static = True`` keeps to the rules of a step that is captured once and
        replayed, wherever :func:`formulation.on_device` is true: no look at a value (``item``,
        ``nonzero``, indexing by a mask, branches), no numbers from the host, as many operators for
        a large batch as for a small one, and numbers that change from step to step come from
        :meth:`schedule`. A sentence whose ``attention_mask`` is 0 everywhere counts in no term.
        ``triples`` is then padded with rows whose ``valid`` is False.

        Args:
            input_ids, attention_mask, content_mask: [B, L] (see
            :func:`tripleaudit.extractors.batches.pad_batch`).
            triples: [n, 6] int64 (sentence, subject start, subject end, relation, object start,
                object end), token indices inclusive; sentences without a row have zero triples.
            inputs: what :meth:`collate_targets` returns.
        """
        raise TypeError(f"{type(self).__name__} defines no forward")

    def schedule(self, step: int) -> dict[str, float]:
        """Return numbers that depend on the optimiser step, scalars of static batches."""
        return {}

    def predict_rows(
        self, input_ids: Tensor, attention_mask: Tensor, **inputs: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Decode a batch on the device, without gradients.

        Returns:
            rows [n, 6] int64 (sentence, subject start, subject end, relation, object start, object
            end; token indices inclusive) and scores [n] float in (0, 1]. Duplicates are allowed,
            the best score counts.
        """
        raise TypeError(f"{type(self).__name__} defines no predict_rows")

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the encoder's last hidden states [B, L, H]."""
        return self.encoded(input_ids, attention_mask).last_hidden_state

    def encoded(
        self, input_ids: Tensor | None, attention_mask: Tensor, **further: Tensor
    ) -> ModelOutput:
        """Return the encoder's output; ``further`` are other inputs, such as embeddings for ids.

        Given a mask for each token, transformers looks whether all are 1; given one for each pair,
        it does not look.
        """
        if on_device(attention_mask):
            keys = torch.cat(
                [torch.ones_like(attention_mask[:, :1]), attention_mask[:, 1:]], dim=1
            )  # dummies see one
            attention_mask = keys.bool()[:, None, None].expand(
                -1, 1, keys.shape[1], -1
            )  # [B, 1, L, L]
            if adds_masks(self.encoder):
                nothing = torch.zeros_like(attention_mask, dtype=self.dtype)
                attention_mask = nothing.masked_fill(~attention_mask, torch.finfo(self.dtype).min)
        bf16 = self.encoder_bf16 and self.training
        with torch.autocast("cpu", torch.bfloat16) if bf16 else contextlib.nullcontext():
            output = self.encoder(input_ids=input_ids, attention_mask=attention_mask, **further)
        if bf16:
            output.last_hidden_state = output.last_hidden_state.float()
            if output.get("pooler_output") is not None:
                output.pooler_output = output.pooler_output.float()
        self.keep_states(output.last_hidden_state)
        return output

    def keep_states(self, states: Tensor) -> None:
        """Keep the states [B, L, H] of a batch's tokens for learnt types of entities."""
        if self.types is not None and not self.training:
            self._states = states

    @property
    def hidden_size(self) -> int:
        """Width H of the encoder."""
        return self.config.encoder.hidden_size

    @classmethod
    def text_limit(cls, config: ExtractorConfig) -> int:
        """How many tokens of a text, specials included, the encoder takes."""
        return encoder_limit(config.encoder)

    def take(self, tokenizer: PreTrainedTokenizerBase) -> None:
        """Take the encoder's tokenizer, which every extractor gets once it is built or loaded."""
        self.tokenizer = tokenizer

    def extra_token_ids(self) -> Tensor:
        """Ids of the tokens that the encoder reads besides those of the texts, of any shape."""
        return torch.empty(0, dtype=torch.int64)

    def set_schema(self, relations: Sequence[str]) -> None:
        """Extract these relations from now on.

        Raises:
            UserError: the extractor's weights belong to the relations of its training.
        """
        if not self.takes_schema:
            raise UserError(
                f"{self.name} extracts the relations that it was trained on and takes no others"
            )
        self.config.relations = list(relations)
        self._aligner = None
        _ = self.aligner  # refuse too many relations now

    @property
    def aligner(self) -> Aligner:
        """The aligner of this extractor's layout and encoder limit."""
        if self._aligner is None:
            if self.tokenizer is None:
                raise UserError(
                    "this extractor has no tokenizer; load it with from_pretrained or from_encoder"
                )
            limit = self.text_limit(self.config)
            config = self.config
            self._aligner = Aligner(
                self.tokenizer, config.layout, config.marker, limit, config.words
            )
        return self._aligner

    def _init_weights(self, module: torch.nn.Module) -> None:
        """Leave head layers as initialised; the encoder initialises itself."""

    # Loading and saving

    @classmethod
    def from_encoder(
        cls,
        encoder: str | Path,
        relations: Sequence[str],
        encoder_layers: int | None = None,
        **settings: Any,
    ) -> "Extractor":
        """Start an untrained extractor on a pre-trained encoder.

        Args:
            encoder: local folder with ``config.json``, ``model.safetensors`` and a fast tokenizer.
            relations: all relation names, in the order of their ids.
            encoder_layers: load only the first layers; all if None.
            settings: fields of the extractor's config class.

        Raises:
            UserError: the folder, the tokenizer, the relations or a setting does not fit.
        """
        folder = Path(encoder)
        if not (folder / "config.json").is_file():
            raise UserError(
                f"encoder {folder}: expected a local folder with config.json and model.safetensors"
            )
        relations = list(relations)
        if not relations or len(set(relations)) != len(relations):
            raise UserError("an extractor needs at least one relation, and each relation once")
        cls.settings.checked(settings, cls.name)
        check_layers(folder)
        tokenizer = _load_tokenizer(folder)
        try:
            encoder_config = AutoConfig.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            available = encoder_config.num_hidden_layers
            if encoder_layers is not None:
                if not 1 <= encoder_layers <= available:
                    raise UserError(
                        f"encoder_layers is {encoder_layers}, but the encoder {folder} has {available} layers; "
                        f"expected 1 to {available}"
                    )
                encoder_config.num_hidden_layers = encoder_layers
            model = AutoModel.from_pretrained(
                folder,
                config=encoder_config,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
            )
        except (OSError, ValueError) as error:
            raise UserError(f"encoder {folder}: cannot be loaded: {first_line(error)}") from error
        own = model.config.to_dict()
        own.pop("_name_or_path", None)
        config = cls.config_class(encoder=own, relations=relations, **settings)
        extractor = cls(config, encoder=model.float())
        extractor.take(tokenizer)
        if config.prior is not None:
            start_from_prior(extractor, config.prior)
        _ = extractor.aligner  # refuse an unfit tokenizer now
        return extractor

    @classmethod
    def from_pretrained(cls, folder: str | Path, *args: Any, **options: Any) -> "Extractor":
        """Load a trained extractor and its tokenizer from a local folder (safetensors only).

        ``Extractor.from_pretrained`` loads any extractor; a subclass refuses the checkpoint of
        another one.

        Raises:
            UserError: the folder holds no extractor, another extractor, or not all of its weights.
        """
        saved = saved_extractor_name(folder)
        if cls is Extractor:
            return extractor_class(saved).from_pretrained(folder, *args, **options)
        if saved != cls.name:
            raise UserError(f"{folder}: holds a checkpoint of {saved}, expected {cls.name}")
        check_unchanged(Path(folder) / WEIGHTS)
        check_weights(Path(folder))
        # weights of another shape are named below, and not by an error of the library
        options = {
            "use_safetensors": True,
            "local_files_only": True,
            "ignore_mismatched_sizes": True,
            **options,
        }
        try:
            model, info = super().from_pretrained(
                folder, *args, output_loading_info=True, **options
            )
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            SafetensorError,
        ) as error:  # a broken file
            raise UserError(f"{folder}: cannot be loaded: {first_line(error)}") from error
        missing = sorted(info["missing_keys"]) + sorted(str(key) for key in info["mismatched_keys"])
        if missing:
            raise UserError(
                f"{folder}: the weights of {', '.join(missing[:3])} are missing or have another shape"
            )
        for name, weights in model.named_parameters():
            if not torch.isfinite(weights).all():
                raise UserError(
                    f"{folder}: the weights of {name} are not finite numbers; train the model again"
                )
        if gone := [
            name for name, value in GONE.items() if getattr(model.config, name, value) != value
        ]:
            raise UserError(
                f"{folder}: was trained with {gone[0]}, which is gone; expected the version that trained it"
            )
        model.take(_load_tokenizer(Path(folder), config=model.config.encoder))
        return model

    def save_pretrained(self, save_directory: str | Path, *args: Any, **options: Any) -> Any:
        """Save configuration, weights (safetensors) and tokenizer, without local paths."""
        for config in (self.config, self.config.encoder, self.encoder.config):
            config._name_or_path = ""
        result = super().save_pretrained(save_directory, *args, **options)
        if self.tokenizer is not None:
            self.tokenizer.save_pretrained(save_directory)
        return result

    # Prediction

    def collate(self, alignments: Sequence[Alignment]) -> dict[str, Tensor]:
        """Pad aligned sentences into a batch on the model's device."""
        batch = pad_batch(alignments, self.aligner.pad_id, words=self.words)
        return {key: value.to(self.device, non_blocking=True) for key, value in batch.items()}

    @torch.inference_mode()
    def decoded(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return rows and scores of a batch on the host, and states [B, L, H] for learnt types."""
        rows, scores = self.predict_rows(**batch)
        states, self._states = self._states, None
        return rows.cpu(), scores.float().cpu(), states

    def extract(
        self,
        texts: Sequence[str] | str,
        batch_size: int = 32,
        ids: Sequence[str] | None = None,
        alignments: Mapping[str, Alignment] | None = None,
    ) -> list[Sentence]:
        """Extract the triples of texts.

        Args:
            texts: sentences, or a single one as a string; equal texts are predicted once. Texts
                beyond the encoder's limit are cut, with a warning.
            batch_size: sentences at a time on a CPU; sentences of similar length go together. On a
                GPU, memory decides.
            ids: names of the resulting sentences; "0", "1", … if None.
            alignments: what ``self.aligner.align`` made of the texts, where it is known already.

        Returns:
            one :class:`Sentence` per text, in order, whose triples have character spans and scores,
            and types of entities where these were learnt.
        """
        texts = as_list(texts)
        ids = [str(number) for number in range(len(texts))] if ids is None else ids
        found: dict[str, tuple[Triple, ...]] = {}

        def finish(batch: Prepared, rows: Tensor, scores: Tensor, states: Tensor | None) -> None:
            decoded = by_sentence(rows, scores, batch.tensors["content_mask"])
            for number, (text, alignment) in enumerate(
                zip(batch.texts, batch.alignments, strict=True)
            ):
                found[text] = self._triples(text, alignment, decoded[number])
                if states is not None:
                    found[text] = with_types(
                        self.types, self.config.entity_types, found[text], alignment, states[number]
                    )

        # what follows on the host is done while the device works on the next batch
        with self.predicting(), ThreadPoolExecutor(1) as threads:
            waiting = []
            for whole in prepared(self, list(dict.fromkeys(texts)), alignments, batch_size):
                for batch, decoded in within_memory(whole, self.device, self.decoded):
                    if on_device(self.device):
                        waiting.append(threads.submit(finish, batch, *decoded))
                    else:
                        finish(batch, *decoded)
            for each in waiting:
                each.result()
        return [Sentence(id_, text, found[text]) for id_, text in zip(ids, texts, strict=True)]

    @contextlib.contextmanager
    def predicting(self) -> Iterator[None]:
        """Enter evaluation mode, with bfloat16 autocast on GPUs unless training did without."""
        bf16 = half_precision(self.device, self.config.bf16)
        mode = self.training
        self.eval()
        try:
            with (
                products(self.device, bf16),
                torch.autocast(self.device.type, torch.bfloat16, enabled=bf16),
            ):
                yield
        finally:
            self.train(mode)

    def _triples(self, text: str, alignment: Alignment, rows: Sequence[Row]) -> tuple[Triple, ...]:
        triples: dict[tuple, Triple] = {}
        for subject_start, subject_end, relation, object_start, object_end, score in rows:
            subject = alignment.characters(subject_start, subject_end)
            object_ = alignment.characters(object_start, object_end)
            if (
                subject and object_ and (subject, relation, object_) not in triples
            ):  # rows come best first
                spans = (Span(*edges, text[slice(*edges)]) for edges in (subject, object_))
                triples[subject, relation, object_] = Triple(
                    next(spans), self.config.relations[relation], *spans, score
                )
        return tuple(triples.values())


def by_sentence(rows: Tensor, scores: Tensor, content_mask: Tensor) -> list[list[Row]]:
    """Sort decoded rows [n, 6] and scores [n] by sentence, best score first; all on the host.

    Rows that touch specials or padding or whose ends precede their starts are dropped, duplicates
    are merged with their best score.

    Returns:
        for each sentence (subject start, end, relation, object start, end, score), inclusive token
        indices.
    """
    content = content_mask.bool()
    sentence, spans = rows[:, 0], rows[:, [1, 2, 4, 5]]
    inside = (
        content[sentence[:, None], spans].all(dim=1)
        & (rows[:, 1] <= rows[:, 2])
        & (rows[:, 4] <= rows[:, 5])
    )
    result: list[dict[tuple[int, ...], float]] = [{} for _ in range(len(content))]
    for row, score in zip(rows[inside].tolist(), scores[inside].tolist(), strict=True):
        found, key = result[row[0]], tuple(row[1:])
        found[key] = max(score, found.get(key, 0.0))
    return [
        sorted(
            ((*key, score) for key, score in found.items()), key=lambda row: (-row[-1], row[:-1])
        )
        for found in result
    ]


@torch.no_grad()
def start_from_prior(extractor: Extractor, prior: float | Mapping[str, float]) -> None:
    """Set biases so that a label is positive with the probability ``prior`` at zero input.

    This is the initialisation of Lin et al. (ICCV 2017, section 3.3). The official ones give every
    label about the same probability as its contrary; hundreds of steps at a high learning rate then
    learn that nearly all are negative.

    Args:
        prior: one probability for all its sparse outputs, or one for each output named; others keep
            their start.
    """
    for name, classes in extractor.settings.sparse_outputs.items():
        probability = prior.get(name) if isinstance(prior, Mapping) else prior
        if probability is None:
            continue
        odds = math.log(probability / (1 - probability))
        bias = extractor.get_submodule(name).bias
        bias.zero_()
        if classes == 1:
            bias.fill_(odds)
        else:
            bias.view(classes, -1)[0].fill_(math.log(classes - 1) - odds)


def adds_masks(encoder: PreTrainedModel) -> bool:
    """Return whether an encoder adds masks for pairs to its attention scores, as transformers does.

    Fused attention takes booleans, and so do encoders that make no masks by transformers' common
    function.
    """
    common = hasattr(sys.modules[type(encoder).__module__], "create_bidirectional_mask")
    return common and encoder.config._attn_implementation == "eager"


def encoder_limit(config: PreTrainedConfig) -> int:
    """Return how many tokens an encoder takes, at most ``TEST_LIMIT``."""
    positions = getattr(config, "max_position_embeddings", None) or TEST_LIMIT
    if config.model_type in {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer"}:
        positions -= 2  # position numbers begin after the padding index
    return min(positions, TEST_LIMIT)


def _load_tokenizer(folder: Path, **options: Any):
    if not any((folder / name).is_file() for name in TOKENIZER_FILES):
        raise UserError(
            f"{folder}: has no tokenizer; expected one of the files {', '.join(TOKENIZER_FILES)}"
        )
    try:
        return AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, **options
        )
    except Exception as error:  # the library raises nothing narrower for a broken file
        raise UserError(f"{folder}: has no usable tokenizer: {first_line(error)}") from error
