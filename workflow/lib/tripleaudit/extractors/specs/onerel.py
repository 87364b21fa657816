"""Settings and spec of OneRel."""

from typing import Annotated, Literal

from tripleaudit.core.fields import Rate, form
from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec

MARKER = form(
    "marker, without which onerel finds no entity of one token",
    Literal["marker"],
    {"enum": ["marker"]},
)


class OneRelSettings(ExtractorSettings):
    """Settings of OneRel."""

    sparse_outputs = {"tags": 4}
    training_defaults = OFFICIAL["onerel"]

    layout: Annotated[str, MARKER] = "marker"
    """`marker` alone: the first and last tag of an entity of one token would share a cell, which
    holds only one.
    """
    hidden_dropout: Rate = 0.2
    """Of the encoder's states."""
    pair_dropout: Rate = 0.1
    """Of the pair features."""


ONEREL = ExtractorSpec(
    name="onerel",
    label="OneRel",
    reported="OneRel",
    model="tripleaudit.extractors.onerel:OneRel",
    settings=OneRelSettings,
    order=7,
    rte_order=4,
    cardinality_order=1,
)
