"""``gre-bag``: GREScores of the bag-level data sets (GenRES)."""

from tripleaudit.tables.builders._gre_level import build_level
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Table

NAME = "gre-bag"


def build(inputs: TableInputs) -> Table:
    """Build from GREScores, the ground truth in the first row."""
    return build_level(NAME, "bag", inputs)
