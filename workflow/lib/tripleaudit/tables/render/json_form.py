"""JSON: the whole table as data, from which it is made again without its scores."""

import json
import math
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.tables.cells import Cell, Table


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
