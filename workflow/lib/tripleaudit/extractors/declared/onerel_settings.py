"""What OneRel declares."""

from typing import Annotated, Literal

from tripleaudit.core.fields import Rate, form
from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings

MARKER = form(
    "marker, without which onerel finds no entity of one token",
    Literal["marker"],
    {"enum": ["marker"]},
)


class OneRelSettings(ExtractorSettings):
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
