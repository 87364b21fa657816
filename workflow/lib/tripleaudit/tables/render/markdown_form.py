"""Markdown (GitHub's pipe tables)."""

from tripleaudit.tables.cells import Cell, Table, lines_of
from tripleaudit.tables.render.escape import markdown as escape


def to_markdown(table: Table) -> str:
    """Render with the caption above and the notes below; cells break lines by ``<br>``."""
    header = [escape(table.group_header)] if table.has_row_groups else []
    header.append(escape(table.row_header))
    stubs = len(header)
    header += [
        "<br>".join(escape(text) for text in (column.group, column.label) if text)
        for column in table.columns
    ]
    lines = [f"**{escape(table.caption)}**", "", _line(header)]
    lines.append(_line([":---"] * stubs + ["---:"] * len(table.columns)))
    group = None
    for row in table.rows:
        cells = []
        if table.has_row_groups:
            cells.append(escape(row.group) if row.group != group else "")
            group = row.group
        cells.append(escape(row.label))
        lines.append(_line(cells + [_cell(cell) for cell in row.cells]))
    if table.notes:
        lines += ["", *(f"- {escape(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell) -> str:
    lines = lines_of(cell)
    main = escape(lines.main)
    parts = [f"**{main}**" if cell.bold else main]
    if lines.interval:
        parts.append(lines.interval)
    if lines.reported:
        parts.append(
            f"reported {escape(lines.reported)}"
            + (f", Δ {lines.difference}" if lines.difference else "")
        )
    return "<br>".join(parts)
