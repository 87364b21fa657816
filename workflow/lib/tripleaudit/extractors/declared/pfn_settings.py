"""What PFN declares."""

from typing import Annotated

from tripleaudit.core.fields import Number, Rate, among
from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings


class PFNSettings(ExtractorSettings):
    sparse_outputs = {"entity_out": 1, "relation_out": 1}
    training_defaults = OFFICIAL["pfn"]

    width: Number = 300
    """d, of the recurrent states."""
    dropout: Rate = 0.1
    """Of the encoder's output and inside the tables."""
    drop_connect: Rate = 0.1
    """Share of the recurrent weights dropped, with one mask for a batch."""
    entities: Annotated[str, among(("full", "last_word"))] = "full"
    """`full` spans, or `last_word`, which trains and predicts the last word of each entity
    (PFN*).
    """
