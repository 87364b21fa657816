"""Settings and spec of PRGC."""

from tripleaudit.core.fields import Rate, Share
from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec


class PRGCSettings(ExtractorSettings):
    """Settings of PRGC."""

    sparse_outputs = {"pair": 1, "subject": 3, "object": 3}
    training_defaults = OFFICIAL["prgc"]

    dropout: Rate = 0.3
    """After each hidden layer of the heads."""
    relation_threshold: Share = 0.1
    """Probability above which a relation counts."""
    pair_threshold: Share = 0.5
    """Probability above which a pair of heads counts."""
    fallback: bool = True
    """Decode the likeliest relation where none is above the threshold, as the official code
    does.
    """


PRGC = ExtractorSpec(
    name="prgc",
    label="PRGC",
    reported="PRGC",
    model="tripleaudit.extractors.prgc:PRGC",
    settings=PRGCSettings,
    order=4,
    rte_order=3,
    cardinality_order=4,
)
