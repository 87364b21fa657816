"""Settings and spec of GRTE."""

from tripleaudit.core.fields import Number, Rate
from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec


class GRTESettings(ExtractorSettings):
    """Settings of GRTE."""

    sparse_outputs = {"table": 8}
    training_defaults = OFFICIAL["grte"]

    rounds: Number = 3
    """How often tables are filled; the last one counts. Officially NYT 3, NYT* 2, WebNLG 4,
    WebNLG* 2, NYT29 3.
    """
    dropout: Rate = 0.1
    """Of the encoder's states and inside the refining block."""


GRTE = ExtractorSpec(
    name="grte",
    label="GRTE",
    reported="GRTE",
    model="tripleaudit.extractors.grte:GRTE",
    settings=GRTESettings,
    order=5,
    rte_order=7,
    cardinality_order=5,
)
