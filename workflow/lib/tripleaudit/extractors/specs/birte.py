"""Settings and spec of BiRTE."""

from tripleaudit.core.fields import Rate
from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec


class BiRTESettings(ExtractorSettings):
    """Settings of BiRTE."""

    sparse_outputs = {
        "subject": 1,
        "object": 1,
        "object_given_subject": 1,
        "subject_given_object": 1,
    }
    training_defaults = OFFICIAL["birte"]

    dropout: Rate = 0.1
    """On the three token representations and on the pooled sentence."""


BIRTE = ExtractorSpec(
    name="birte",
    label="BiRTE",
    reported="BiRTE",
    model="tripleaudit.extractors.birte:BiRTE",
    settings=BiRTESettings,
    order=8,
    rte_order=5,
    cardinality_order=2,
)
