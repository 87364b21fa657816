"""What UniRel declares."""

from typing import Annotated

from pydantic import Field

from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings


class UniRelSettings(ExtractorSettings):
    sparse_outputs = {"maps": 1}
    training_defaults = OFFICIAL["unirel"]

    max_length: Annotated[int, Field(ge=8)] = 102
    threshold: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Probability above which a cell is a link."""
    descriptions: dict[str, str] | None = None
    """Words that stand for a relation in the input, by name; others are called by their plain name. Relations that a
    trained model is to be given later may be among them."""
