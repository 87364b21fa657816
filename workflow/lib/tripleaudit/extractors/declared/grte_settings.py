"""What GRTE declares."""

from tripleaudit.core.fields import Number, Rate
from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings


class GRTESettings(ExtractorSettings):
    sparse_outputs = {"table": 8}
    training_defaults = OFFICIAL["grte"]

    rounds: Number = 3
    """How often tables are filled; the last one counts. Officially NYT 3, NYT* 2, WebNLG 4,
    WebNLG* 2, NYT29 3.
    """
    dropout: Rate = 0.1
    """Of the encoder's states and inside the refining block."""
