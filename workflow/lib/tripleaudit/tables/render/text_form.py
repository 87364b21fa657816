"""Plain text with aligned columns, as commands print tables in a terminal."""

from itertools import groupby
from typing import Final

from tripleaudit.tables.cells import Cell, Row, Table, lines_of
from tripleaudit.tables.render.escape import clean

GAP: Final = "  "
INDENT: Final = "  "
SIGNIFICANT: Final = "*"
"""Behind values that other forms print bold."""


def to_text(table: Table, max_group_rows: int | None = None) -> str:
    """Render with the caption above and the notes below.

    Args:
        table: the table.
        max_group_rows: rows shown of each named group of rows; None shows all.
    """
    labels = [""] + [f"{column.group} {column.label}".strip() for column in table.columns]
    blocks = [[labels]]
    for name, members in groupby(table.rows, key=lambda row: row.group):
        rows = list(members)
        if not name:
            blocks[-1] += [_texts(row, "") for row in rows]
            continue
        block = [[clean(name)]]
        block += [_texts(row, INDENT) for row in rows[:max_group_rows]]
        hidden = len(rows) - len(block) + 1
        if hidden:
            block.append([f"{INDENT}… and {hidden} more"])
        blocks.append(block)
    widths = _column_widths([line for block in blocks for line in block])
    paragraphs = [[clean(table.caption)]]
    paragraphs += [[_aligned(line, widths) for line in block] for block in blocks]
    if table.notes:
        paragraphs.append([clean(note) for note in table.notes])
    return "\n\n".join("\n".join(lines) for lines in paragraphs)


def _texts(row: Row, indent: str) -> list[str]:
    """Return the label and the cells of a row."""
    return [indent + clean(row.label), *map(_cell_text, row.cells)]


def _cell_text(cell: Cell) -> str:
    lines = lines_of(cell)
    parts = [lines.main + (SIGNIFICANT if cell.bold else ""), lines.interval]
    if lines.reported:
        parts.append(f"(reported {lines.reported})")
    return clean(" ".join(filter(None, parts)))


def _column_widths(lines: list[list[str]]) -> list[int]:
    widths = [0] * max(map(len, lines))
    for line in lines:
        for position, text in enumerate(line):
            widths[position] = max(widths[position], len(text))
    return widths


def _aligned(line: list[str], widths: list[int]) -> str:
    """Return a line with its label to the left and its cells to the right of their columns."""
    label, *cells = line
    parts = [label.ljust(widths[0])]
    parts += [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=False)]
    return GAP.join(parts).rstrip()
