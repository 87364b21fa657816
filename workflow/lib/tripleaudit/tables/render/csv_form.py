"""CSV: one line a row, one column a number; extra columns (sd, low, reported, …) only where the
table has them.
"""

import csv
import io

from tripleaudit.tables.cells import Cell, Row, Table, number
from tripleaudit.tables.render import escape


def _seeds(row: Row) -> str:
    """The number of seeds behind a row's cells, ``1-3`` where they differ."""
    numbers = sorted({cell.seeds for cell in row.cells if cell.seeds})
    return "-".join(str(number) for number in dict.fromkeys((*numbers[:1], *numbers[-1:])))


def _parts(cell: Cell) -> dict[str, str]:
    """What a cell has besides its value, by the title of its column."""
    numbers = {name: getattr(cell, name) for name in ("sd", "low", "high", "change", "difference")}
    found = {
        name: "" if value is None else number(value, cell.digits) for name, value in numbers.items()
    }
    difference = found.pop("difference")
    found |= {
        "reported": cell.reported or "",
        "reported change": cell.reported_change or "",
        "difference": difference,
    }
    return found | {
        "mark": cell.mark if cell.text is None else "",
        "significant": "yes" if cell.bold else "",
    }


def to_csv(table: Table) -> str:
    """Render as CSV with one header line; a gap is an empty field. Notes and caption are in the
    other forms.
    """
    stub = [table.group_header or "Group"] if table.has_row_groups else []
    header = [escape.csv(text) for text in [*stub, table.row_header or "Row"]]
    parts: list[list[str]] = []
    for index, column in enumerate(table.columns):
        cells = [row.cells[index] for row in table.rows]
        parts.append([name for name in _parts(Cell()) if any(_parts(cell)[name] for cell in cells)])
        title = escape.csv(f"{column.group} {column.label}".strip())
        header += [title, *(f"{title} {name}" for name in parts[-1])]
    with_seeds = any(cell.seeds for row in table.rows for cell in row.cells)
    header += ["Seeds"] if with_seeds else []
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    for row in table.rows:
        line = [escape.csv(row.group)] if table.has_row_groups else []
        line.append(escape.csv(row.label))
        for cell, present in zip(row.cells, parts, strict=True):
            line.append(escape.csv(cell.text) if cell.text is not None else cell.shown)
            line += [_parts(cell)[name] for name in present]
        line += [_seeds(row)] if with_seeds else []
        writer.writerow(line)
    return stream.getvalue()
