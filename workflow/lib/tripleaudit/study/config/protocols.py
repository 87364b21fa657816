"""The section ``protocols``, whose keys include the names of sifted sets and of plugins."""

import functools
import re
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from tripleaudit.core.fields import Batch, Count, Number, OrEmpty, Section, Seed, model_from
from tripleaudit.protocols.spec import PROTOCOLS

SIFT = r"^sift-[A-Za-z0-9]+$"


class AugmentedOptions(Section):
    """Rarer options of the augmented test set."""

    k: Number | None = None
    """Similar entities to draw from."""
    beams: Number | None = None
    """Partial candidates kept while an entity of several words is filled."""
    batch_size: Batch | None = None
    """Masked sentences at a time."""


class Original(Section):
    """The split as it is; `train: false` trains nothing on it."""

    train: bool = True
    """false makes the sets and their statistics, and trains nothing on them."""


class Rearranged(Section):
    """Sentences of rare triples go to the test side (rte-generalization 3.1, docs/explanation/test-sets.md)."""

    source: Literal["made", "published"] = "made"
    """made here by rule, or the published sets, which the registry knows for WebNLG."""
    rule: Literal["key-triple", "every-triple"] | None = None
    """key-triple as the published files were made (as if not given), every-triple as the paper's
    text reads.
    """
    valid_size: Count | None = None
    """Validation sentences with triples; as many as now if not given."""
    test_size: Number | None = None
    """Test sentences with triples; as many as now if not given."""
    seed: Seed = 0
    """Seed of all draws."""
    train: bool = True
    """false makes the sets and their statistics, and trains nothing on them."""


class Augmented(Section):
    """Test entities replaced by likely words (rte-generalization 3.3).

    Trained on the original split.
    """

    source: Literal["made", "published"] = "made"
    """made here, or the published test sets, which the registry knows for WebNLG."""
    roles: Literal["files", "text"] | None = None
    """Entity that replaces one that is subject and object in the parts su and us (one role seen,
    one unseen): an unseen one as in the published files (as if not given), or a seen one as in the
    paper's text.
    """
    fallback: Literal["files", "text"] | None = None
    """What a word without a neighbour of the wanted kind becomes, any neighbour as in the published files (as if not
    given) or itself as in the text."""
    masked_lm: str | None = None
    """A masked language model by source; null trains a head on the encoder over the training
    text.
    """
    vectors: str | None = None
    """Word vectors in GloVe's or word2vec's text form; null derives them from the encoder."""
    mlm_steps: Number = 300
    """Steps of the masked-LM head's training."""
    options: AugmentedOptions = AugmentedOptions()
    """Numbers of candidates and of sentences at a time, see docs/explanation/test-sets.md."""
    seed: Seed = 0
    """Seed of the masked-LM training and of the draws."""


class Sifted(Section):
    """Training sentences that hold chosen test triples are dropped (rte-generalization 3.2)."""

    rule: Literal["frequency", "sample"]
    """frequency as published, sample as the paper's text says."""
    max_count: Number | None = None
    """frequency: hide test triples in at most n training sentences."""
    percent: float | None = Field(None, ge=0, le=100)
    """sample: hide this share of the unique test triples."""
    seed: Seed = 0
    """sample: seed of the draw."""
    train: bool = True
    """false makes the sets and their statistics, and trains nothing on them."""
    select_on: Literal["valid", "test"] = "valid"
    """Sentences on which the best epoch is chosen; the paper used test."""

    @model_validator(mode="after")
    def _has_only_the_key_of_its_rule(self) -> "Sifted":
        keys = {"frequency": "max_count", "sample": "percent"}
        needed = keys.pop(self.rule)
        ((other_rule, other_key),) = keys.items()
        if getattr(self, needed) is None:
            values = {"rule": self.rule, "needed": needed}
            raise PydanticCustomError(
                "needed", "the rule '{rule}' needs the key '{needed}'", values
            )
        if getattr(self, other_key) is not None:
            values = {"key": other_key, "other": other_rule, "rule": self.rule}
            raise PydanticCustomError(
                "other", "the key '{key}' belongs to the rule '{other}', not '{rule}'", values
            )
        return self


class UnseenRelations(Section):
    """Relations are held out of training and queried at test, of systems that read their names."""

    relations: Number = 5
    """How many relations are held out, frequent and rare ones."""
    seed: Seed = 0
    """Seed of the draw."""
    descriptions: bool | None = None
    """Whether systems read what `corpora/<name>/relations` says of relations, in training and at test, or their names
    alone; null reads what is there."""


class _Protocols(Section):
    """How training and test sets are made from a corpus; `original` always belongs to a study."""

    original: Annotated[Original, OrEmpty] = Original()
    rearranged: Annotated[Rearranged, OrEmpty] = Rearranged()
    """Sentences with the rarest triples go to the test side (rte-generalization 3.1)."""
    augmented: Annotated[Augmented, OrEmpty] = Augmented()
    """Test entities are replaced by likely words (rte-generalization 3.3); trained on the
    original.
    """
    unseen_relations: Annotated[UnseenRelations, OrEmpty] = UnseenRelations()


class Added(Section):
    """A protocol that a plugin adds, with the options that its descriptor names."""

    model_config = {"extra": "allow"}

    train: bool = True
    """false makes the sets and their statistics, and trains nothing on them."""
    select_on: Literal["valid", "test"] = "valid"
    """Sentences on which the best epoch is chosen."""


def named_protocols(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names that stand for sifted sets, or for protocols of plugins."""
    of_plugins = [spec for spec in PROTOCOLS.values() if spec.file]

    def is_named(name: str) -> bool:
        return bool(re.match(SIFT, name)) or any(spec.means(name) for spec in of_plugins)

    return tuple(sorted(filter(is_named, names)))


@functools.cache
def protocols_model(names: tuple[str, ...]) -> type[Section]:
    """Return the model of a section that has these sifted sets and plugins besides fixed keys.

    Args:
        names: names of sifted sets and of protocols of plugins (:func:`named_protocols`).
    """
    required_sifted = (Annotated[Sifted, Field(description=Sifted.__doc__)], ...)
    optional_added = (Annotated[Added, OrEmpty], Added())
    fields = {name: required_sifted if re.match(SIFT, name) else optional_added for name in names}
    return model_from("Protocols", fields, _Protocols)
