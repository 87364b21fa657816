"""Settings and spec of PFN."""

from dataclasses import replace
from typing import Annotated

from tripleaudit.core.fields import Number, Rate, among
from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec


class PFNSettings(ExtractorSettings):
    """Settings of PFN."""

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


PFN = ExtractorSpec(
    name="pfn",
    label="PFN",
    reported="PFN",
    model="tripleaudit.extractors.pfn:PFN",
    settings=PFNSettings,
    order=6,
    rte_order=9,
    cardinality_order=9,
)
# PFN on the last word of each entity, as the Entity Noising paper trains it
PFN_STAR = replace(
    PFN,
    name="pfn-star",
    base="pfn",
    label="PFN*",
    fields={"entities": "last_word"},
    training={"matching": "partial-last"},
    order=10,
    rte_order=10,
    cardinality_order=10,
)
