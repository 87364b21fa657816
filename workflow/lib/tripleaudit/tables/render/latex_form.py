"""LaTeX: a ``table`` environment for the ``booktabs`` package."""

from tripleaudit.tables.cells import Cell, Table, runs_of
from tripleaudit.tables.render.escape import latex as escape
from tripleaudit.tables.render.lines import lines_of


def to_latex(table: Table) -> str:
    r"""Render as ``\begin{table}`` … ``\end{table}``; nothing but ``booktabs`` is needed."""
    stubs = 2 if table.has_row_groups else 1
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering\\small\\setlength{\\tabcolsep}{3pt}",
        f"\\caption{{{escape(table.caption)}}}",
        f"\\label{{tab:{_label(table.name)}}}",
        f"\\begin{{tabular}}{{{'l' * stubs}{'r' * len(table.columns)}}}",
        "\\toprule",
    ]
    if table.has_column_groups:
        cells, rules, place = [""] * stubs, [], stubs + 1
        for group, size in runs_of([column.group for column in table.columns]):
            cells.append(f"\\multicolumn{{{size}}}{{c}}{{{escape(group)}}}")
            if group:
                rules.append(f"\\cmidrule(lr){{{place}-{place + size - 1}}}")
            place += size
        lines += [_line(cells), " ".join(rules)]
    header = [table.group_header, table.row_header] if table.has_row_groups else [table.row_header]
    lines += [_line([escape(text) for text in (*header, *(column.label for column in table.columns))]), "\\midrule"]
    group = None
    for number, row in enumerate(table.rows):
        cells = []
        if table.has_row_groups:
            if number and row.group != group:
                lines.append("\\midrule")
            cells.append(escape(row.group) if row.group != group else "")
            group = row.group
        cells.append(escape(row.label))
        lines.append(_line(cells + [_cell(cell) for cell in row.cells]))
    lines += ["\\bottomrule", "\\end{tabular}"]
    if table.notes:
        notes = " ".join(escape(note) for note in table.notes)
        lines.append(f"\\par\\smallskip\\parbox{{\\linewidth}}{{\\footnotesize {notes}}}")
    lines.append("\\end{table}")
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    # A cell that starts with [ would be read as the optional argument of the \\ before it.
    return " & ".join(f"{{}}{cell}" if cell.startswith("[") else cell for cell in cells) + " \\\\"


def _cell(cell: Cell) -> str:
    lines = lines_of(cell)
    main = escape(lines.main) if cell.text is not None else _numbers(lines.main)
    parts = [f"\\textbf{{{main}}}" if cell.bold else main]
    if lines.interval:
        parts.append(f"\\scriptsize {_numbers(lines.interval)}")
    if lines.reported:
        parts.append(f"\\scriptsize reported {_numbers(lines.reported)}")
    if lines.difference:
        parts.append(f"\\scriptsize {_numbers(f'Δ {lines.difference}')}")
    if len(parts) == 1:
        return parts[0]
    return "\\begin{tabular}[t]{@{}r@{}}" + "\\\\ ".join(parts) + "\\end{tabular}"


def _numbers(text: str) -> str:
    return escape(text.replace("-", "−"))


def _label(name: str) -> str:
    return "".join(char if char.isalnum() and char.isascii() or char == "-" else "-" for char in name)
