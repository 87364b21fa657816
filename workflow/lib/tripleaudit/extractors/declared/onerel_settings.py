"""What OneRel declares."""

from typing import Annotated

from tripleaudit.extractors.alignment import LAYOUTS
from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings
from tripleaudit.fields import Rate, among


class OneRelSettings(ExtractorSettings):
    sparse_outputs = {"tags": 4}
    training_defaults = OFFICIAL["onerel"]

    layout: Annotated[str, among(LAYOUTS)] = "marker"
    hidden_dropout: Rate = 0.2
    """Of the encoder's states."""
    pair_dropout: Rate = 0.1
    """Of the pair features."""
