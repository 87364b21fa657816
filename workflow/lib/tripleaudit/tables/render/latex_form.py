"""LaTeX: ``table`` environments for ``booktabs``, ``tabularx`` and ``adjustbox``."""

import re
from collections.abc import Sequence

from tripleaudit.tables.cells import Cell, Row, Table, lines_of, runs_of
from tripleaudit.tables.render.escape import latex as escape

PAPER = "paper"
LONG = 40  # characters from which a column of words is broken into lines
BODY = 45  # lines of a table's body on one page, without caption and notes
NOTES = 130  # characters of notes that take the room of one line of the body


def to_latex(table: Table) -> str:
    r"""Render as ``\begin{table}`` … ``\end{table}``, one for each page of a long table.

    A table that is wider than the line is drawn smaller. The style ``paper`` leaves out intervals and
    differences.
    """
    pages = _pages(table)
    needs = "% needs \\usepackage{booktabs,tabularx,adjustbox}\n"
    return needs + "".join(
        _float(table, rows, number, len(pages)) for number, rows in enumerate(pages)
    )


def _pages(table: Table) -> list[Sequence[Row]]:
    """The rows of each page; the last one has room for the notes."""
    room = max(BODY - sum(map(len, _notes(table))) // NOTES, BODY // 3)
    heights = [
        max([len(_lines(cell, table.style)) for cell in row.cells] or [1]) for row in table.rows
    ]
    pages: list[list[Row]] = [[]]
    used = 0
    for row, height in zip(table.rows, heights, strict=True):
        if pages[-1] and used + height > room:
            pages.append([])
            used = 0
        pages[-1].append(row)
        used += height
    return list(pages)


def _float(table: Table, rows: Sequence[Row], number: int, pages: int) -> str:
    stubs = 2 if table.has_row_groups else 1
    continued = f" (continued, {number + 1} of {pages})" if number else ""
    longest = [
        max((len(row.cells[index].text or "") for row in table.rows), default=0)
        for index in range(len(table.columns))
    ]
    columns = "".join(
        ">{\\raggedright\\arraybackslash}X" if width > LONG else "r" for width in longest
    )
    environment, width = ("tabularx", "{\\linewidth}") if "X" in columns else ("tabular", "")
    lines = [
        "\\begin{table}[p]" if pages > 1 else "\\begin{table}",
        "\\centering\\small\\setlength{\\tabcolsep}{3pt}",
        f"\\caption{{{escape(table.caption)}{continued}}}",
        *([] if number else [f"\\label{{tab:{re.sub('[^A-Za-z0-9-]', '-', table.name)}}}"]),
        "\\begin{adjustbox}{max width=\\linewidth,max totalheight=.75\\textheight}",
        f"\\begin{{{environment}}}{width}{{{'l' * stubs}{columns}}}",
        "\\toprule",
        *_head(table, stubs),
        *_body(table, rows),
        "\\bottomrule",
        f"\\end{{{environment}}}",
        "\\end{adjustbox}",
    ]
    if _notes(table) and number == pages - 1:
        notes = " ".join(map(escape, _notes(table)))
        lines.append(f"\\par\\smallskip\\parbox{{\\linewidth}}{{\\scriptsize\\sloppy {notes}}}")
    return "\n".join([*lines, "\\end{table}\n"])


def _head(table: Table, stubs: int) -> list[str]:
    lines = []
    if table.has_column_groups:
        cells, rules, index = [""] * stubs, [], stubs + 1
        for group, size in runs_of([column.group for column in table.columns]):
            cells.append(f"\\multicolumn{{{size}}}{{c}}{{{escape(group)}}}")
            rules += [f"\\cmidrule(lr){{{index}-{index + size - 1}}}"] * bool(group)
            index += size
        lines += [_line(cells), " ".join(rules)]
    header = [table.group_header, table.row_header, *(column.label for column in table.columns)]
    return [
        *lines,
        _line(list(map(escape, header[0 if table.has_row_groups else 1 :]))),
        "\\midrule",
    ]


def _body(table: Table, rows: Sequence[Row]) -> list[str]:
    lines, group = [], None
    for row in rows:
        cells = [escape(row.label), *(_cell(cell, table.style) for cell in row.cells)]
        if table.has_row_groups:
            if lines and row.group != group:
                lines.append("\\midrule")
            cells.insert(0, escape(row.group) if row.group != group else "")
            group = row.group
        lines.append(_line(cells))
    return lines


def _line(cells: list[str]) -> str:
    # A cell that starts with [ would be read as the optional argument of the \\ before it.
    return " & ".join(f"{{}}{cell}" if cell.startswith("[") else cell for cell in cells) + " \\\\"


def _lines(cell: Cell, style: str) -> list[str]:
    """The lines of a cell, not escaped; a paper's style has the value and the reported one."""
    lines = lines_of(cell)
    reported = f"reported {lines.reported}" if lines.reported else ""
    difference = f"\u0394 {lines.difference}" if lines.difference else ""
    more = (reported,) if style == PAPER else (lines.interval, reported, difference)
    return [lines.main, *filter(None, more)]


def _cell(cell: Cell, style: str) -> str:
    first, *more = _lines(cell, style)
    main = escape(first) if cell.text is not None else _numbers(first)
    parts = [f"\\textbf{{{main}}}" if cell.bold else main]
    parts += [f"\\scriptsize {_numbers(line)}" for line in more]
    if len(parts) == 1:
        return parts[0]
    return "\\begin{tabular}[t]{@{}r@{}}" + "\\\\ ".join(parts) + "\\end{tabular}"


def _notes(table: Table) -> list[str]:
    """The notes on what is shown."""
    return [
        note for note in table.notes if table.style != PAPER or not note.startswith("[low, high]")
    ]


def _numbers(text: str) -> str:
    return escape(text.replace("-", "−"))
