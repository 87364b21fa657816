"""What ZCC declares."""

from typing import Annotated

from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings
from tripleaudit.fields import Rate, among


class ZCCSettings(ExtractorSettings):
    training_defaults = OFFICIAL["zcc"]

    head: Annotated[str, among(("binary", "mcml"))] = "binary"
    """`binary` (has the sentence triples?) or `mcml` (which relations does it state?)."""
    pooled: bool = False
    """Read the encoder's pooler (tanh) instead of the raw hidden state of the first token."""
    dropout: Rate = 0.1
    """Before the linear layer."""
