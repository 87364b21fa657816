"""What ZCC declares."""

from typing import Annotated

from tripleaudit.core.fields import Rate, among
from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings


class ZCCSettings(ExtractorSettings):
    training_defaults = OFFICIAL["zcc"]

    head: Annotated[str, among(("binary", "mcml"))] = "binary"
    """`binary` (has the sentence triples?) or `mcml` (which relations does it state?)."""
    dropout: Rate = 0.1
    """Before the linear layer."""
