"""The forms that programs read: tidy CSV, and JSON from which a table is made again."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
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


def to_json(table: Table) -> str:
    """Render every field; of a cell only what differs from an empty one."""
    value = asdict(table)
    value["order"] = None if math.isinf(table.order) else table.order  # JSON has no infinity
    for row in value["rows"]:
        row["cells"] = [
            {name: part for name, part in cell.items() if part != _EMPTY[name]}
            for cell in row["cells"]
        ]
    return json.dumps(value, ensure_ascii=True, sort_keys=True) + "\n"


def read_table(path: str | Path) -> Table:
    """Read a table that :func:`to_json` wrote.

    Raises:
        UserError: the file is missing or is something else.
    """
    value = read_json(path)
    try:
        return TABLE.validate_python(
            {**value, "order": math.inf if value["order"] is None else value["order"]}
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path}: not a table of this program; make it again with the table rule"
        ) from error


TABLE = TypeAdapter(Table)
_EMPTY = asdict(Cell())
