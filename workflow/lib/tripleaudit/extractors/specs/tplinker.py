"""Settings and spec of TPLinker."""

from typing import Annotated

from tripleaudit.core.fields import Count, among
from tripleaudit.corpora.spans import OCCURRENCES
from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec


class TPLinkerSettings(ExtractorSettings):
    """Settings of TPLinker."""

    sparse_outputs = {"entity": 2, "links": 3}
    training_defaults = OFFICIAL["tplinker"]

    occurrence: Annotated[str, among(OCCURRENCES)] = "all"
    recover_steps: Count = 6000
    """Optimiser steps over which the weight moves from the entity map to the links; with 0 it has moved after the
    first, as a short training needs it."""
    padded_cells: bool = False
    """The official mean, over all cells of an input padded to `max_length`, specials and padding included; by default
    the mean is over the cells of text tokens."""


TPLINKER = ExtractorSpec(
    name="tplinker",
    label="TPLinker",
    reported="TPLinker",
    model="tripleaudit.extractors.tplinker:TPLinker",
    settings=TPLinkerSettings,
    order=2,
    rte_order=2,
    cardinality_order=8,
)
