"""Tidy CSV: one line a cell, with its labels, numbers and what was measured."""

from typing import Any

from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.render import escape

LABELS = ("row_group", "row", "column_group", "column")
NUMBERS = ("value", "sd", "low", "high", "seeds", "cases", "change")
PRINTED = ("reported", "reported_change", "difference", "mark", "significant", "text")
KEYS = (
    "corpus",
    "protocol",
    "training",
    "testing",
    "extractor",
    "noise",
    "stratum",
    "matching",
    "metric",
)
COLUMNS = (*LABELS, *NUMBERS, *PRINTED, *KEYS)


def to_csv(table: Table) -> str:
    """Render as tidy CSV, a line for each cell; what a cell does not have is an empty field.

    Caption and notes are in the other forms.
    """
    import pandas as pd

    lines = []
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            labels = (row.group, row.label, column.group, column.label)
            line = dict(zip(LABELS, map(escape.csv, labels), strict=True))
            lines.append(line | _values(cell))
    frame = pd.DataFrame(lines, columns=list(COLUMNS))
    return frame.to_csv(index=False, lineterminator="\n")


def _values(cell: Cell) -> dict[str, str]:
    """Return the fields of a cell without its labels."""
    fields = {name: _number(getattr(cell, name)) for name in NUMBERS}
    fields["seeds"] = str(cell.seeds or "")
    fields |= {
        "reported": cell.reported or "",
        "reported_change": cell.reported_change or "",
        "difference": _number(cell.difference),
        "mark": cell.mark,
        "significant": "yes" if cell.bold else "",
        "text": escape.csv(cell.text or ""),
    }
    subject = cell.of or {}
    return fields | {name: escape.csv(subject.get(name, "")) for name in KEYS}


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.10g}"
