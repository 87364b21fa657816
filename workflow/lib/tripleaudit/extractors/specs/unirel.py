"""Settings and spec of UniRel."""

from typing import Annotated

from pydantic import Field

from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec


class UniRelSettings(ExtractorSettings):
    """Settings of UniRel."""

    sparse_outputs = {"maps": 1}
    training_defaults = OFFICIAL["unirel"]

    max_length: Annotated[int, Field(ge=8)] = 102
    threshold: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Probability above which a cell is a link."""
    descriptions: dict[str, str] | None = None
    """Words that stand for a relation in the input, by name; others are called by their plain name. Relations that a
    trained model is to be given later may be among them."""


UNIREL = ExtractorSpec(
    name="unirel",
    label="UniRel",
    model="tripleaudit.extractors.unirel:UniRel",
    settings=UniRelSettings,
    takes_schema=True,
    order=9.5,
    rte_order=10.9,
    cardinality_order=10.9,
)
