"""Settings and spec of TDEER."""

from dataclasses import replace

from tripleaudit.core.fields import Count, NotNegative
from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec


class TDEERSettings(ExtractorSettings):
    """Settings of TDEER."""

    sparse_outputs = {"heads": 1, "tails": 1, "object": 1}
    training_defaults = OFFICIAL["tdeer"]

    neg_samples: Count = 2
    """The most negative instances for each positive one."""
    max_sample_triples: Count = 0
    """The most positive instances of a sentence and visit, a random choice; 0 for all."""
    translation_weight: NotNegative = 5.0
    """Weight of the object term."""


TDEER = ExtractorSpec(
    name="tdeer",
    label="TDEER",
    reported="TDEER",
    model="tripleaudit.extractors.tdeer:TDEER",
    settings=TDEERSettings,
    order=3,
    rte_order=6,
    cardinality_order=3,
)
# without sentences of zero triples, as the authors train; the papers' rows are such trainings
TDEER_DROP_ZERO = replace(
    TDEER,
    name="tdeer-drop-zero",
    base="tdeer",
    label="TDEER, trained NZ only",
    fields={"drop_zero": True},
    order=10.25,
    rte_order=10.25,
    cardinality_order=10.25,
)
