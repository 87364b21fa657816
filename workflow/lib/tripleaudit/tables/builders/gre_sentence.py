"""``gre-sentence``: GREScores of the sentence-level data sets (GenRES)."""

from tripleaudit.tables.builders._gre_level import build_level
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Table

NAME = "gre-sentence"


def build(inputs: TableInputs) -> Table:
    """Build from GREScores, the ground truth in the first row."""
    return build_level(NAME, "sentence", inputs)
