"""The study at a glance: a matrix of systems and questions, a value and its interval in each cell.

Rows and columns are found in the tables: every cell that says what it is of names its system, and a table's descriptor
says what of it stands here (:class:`tripleaudit.descriptors.Headline`). A new table needs nothing else to appear.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tripleaudit.descriptors import BASELINES, TABLES, Headline
from tripleaudit.report.table_files import NO_SYSTEMS, TableFile
from tripleaudit.scoring.rows import split_two_step
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Column, Row, Table
from tripleaudit.tables.render.escape import html as escape
from tripleaudit.tables.render.lines import lines_of

WORDS = {"f1": "F1", "zcc": "ZCC", "gre": "GREScores:", "minea": "MINEA", "llm": "LLM"}
Address = Callable[[Cell, str], str]


@dataclass
class Matrix:
    """Columns of questions and rows of systems.

    Attributes:
        heads: ``(table, heading)`` of each column.
        rows: ``(study, corpus, system)`` -> column -> cell.
    """

    heads: list[tuple[str, str]] = field(default_factory=list)
    rows: dict[tuple[str, str, str], dict[tuple[str, str], Cell]] = field(default_factory=dict)


def matrix(tables: Iterable[tuple[str, TableFile]]) -> Matrix:
    """Collect the headline cells of ``(study, table)`` pairs; systems stand in the order of the tables."""
    found, unnamed = Matrix(), []
    for study, file in tables:
        spec = TABLES.get(file.name)
        headlines = spec.glance if spec else ()
        if headlines is None:
            continue
        named = [
            (cell, column)
            for row in file.table.rows
            for cell, column in zip(row.cells, file.table.columns, strict=True)
            if cell.of and cell.value is not None and cell.of["extractor"] not in NO_SYSTEMS
        ]
        if not named:
            unnamed.append((study, file, headlines))
        first = next((column.label for _, column in named), "")
        for headline in headlines or (Headline(first, {"column": first}),):
            for cell, column in named:
                if _fits(headline, cell, column):
                    _put(found, (study, *system_of(cell)), (file.name, headline.label), cell)
    systems = {(study, name): (study, corpus, name) for study, corpus, name in reversed(list(found.rows))}
    for study, file, headlines in unnamed:  # tables about other things than scores: rows are found by their label
        for row in file.table.rows:
            key = systems.get((study, row.label))
            for headline in headlines or (Headline(file.table.columns[0].label if file.table.columns else ""),):
                label = headline.of.get("column", headline.label)
                cells = zip(row.cells, file.table.columns, strict=True)
                cell = next((one for one, column in cells if column.label == label and one.value is not None), None)
                if key and cell:
                    _put(found, key, (file.name, headline.label), cell)
    found.heads.sort(key=lambda head: table_rank(head[0]))
    last = {labels.extractor(name) for name in BASELINES}
    found.rows = dict(sorted(found.rows.items(), key=lambda row: row[0][2] in last))
    return found


def system_of(cell: Cell) -> tuple[str, str]:
    """Return corpus and system of a cell as people read them; two steps belong to their extractor."""
    of = cell.of or {}
    extractor = split_two_step(of["extractor"])[1]
    return labels.corpus(of["corpus"]), labels.extractor(extractor, of["noise"])


def _fits(headline: Headline, cell: Cell, column: Column) -> bool:
    known = {**(cell.of or {}), "column": column.label}
    return all(fnmatchcase(known.get(name, ""), value) for name, value in headline.of.items())


def _put(found: Matrix, row: tuple[str, str, str], head: tuple[str, str], cell: Cell) -> None:
    if head not in found.heads:
        found.heads.append(head)
    found.rows.setdefault(row, {}).setdefault(head, cell)


def table_rank(name: str) -> int:
    """The place of a table on the page; unknown ones stand last."""
    return list(TABLES).index(name) if name in TABLES else len(TABLES)


def draw(found: Matrix, address: Address) -> str:
    """Return the matrix as HTML, empty without a cell."""
    if not found.rows:
        return ""
    several = [len({row[place] for row in found.rows}) > 1 for place in (0, 1)]
    stubs = [name for name, shown in zip(("Study", "Corpus"), several, strict=True) if shown] + ["System"]
    groups: dict[str, list[str]] = {}
    for table, label in found.heads:
        groups.setdefault(table, []).append(label)
    top = "".join(f'<th class="stub" scope="col" rowspan="2">{name}</th>' for name in stubs)
    for table, names in groups.items():
        question = TABLES[table].question if table in TABLES else ""
        top += (
            f'<th class="group" scope="colgroup" colspan="{len(names)}"><a href="#{section_id(table)}" '
            f'title="{escape(question)}">{escape(title(table))}</a></th>'
        )
    below = "".join(f'<th scope="col">{escape(label)}</th>' for _, label in found.heads)
    body = []
    for key, cells in found.rows.items():
        names = [name for name, shown in zip(key, several, strict=False) if shown] + [key[2]]
        stub = "".join(f'<th scope="row">{escape(name)}</th>' for name in names)
        body.append(f"<tr>{stub}{''.join(_cell(cells.get(head), head, key[0], address) for head in found.heads)}</tr>")
    return (
        '<p class="caption" id="matrix-caption">Each number links to its sentences or its table; the line is its 95 % '
        "interval, from 0 to the best possible score.</p>"
        '<div class="scroll wide" data-grid><table class="matrix" aria-labelledby="matrix-caption">'
        f"<thead><tr>{top}</tr><tr>{below}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(cell: Cell | None, head: tuple[str, str], study: str, address: Address) -> str:
    if cell is None:
        return '<td class="gap">·</td>'
    href = address(cell, study) or f"#{section_id(head[0])}"
    shown = escape((cell.shown + cell.mark).replace("-", "\u2212"))
    return f'<td><a href="{escape(href)}" title="{escape(told(cell))}">{shown}{mark(cell)}</a></td>'


def told(cell: Cell) -> str:
    """A number's interval and cases, for who points at it."""
    parts = [f"95 % interval {lines_of(cell).interval}"] if cell.low is not None and cell.high is not None else []
    if cell.cases is not None:
        parts.append(f"{cell.cases:,} {'case' if cell.cases == 1 else 'cases'}")
    return ", ".join(parts)


def mark(cell: Cell) -> str:
    """A value and its interval as a small drawing, on the scale up to a perfect score; empty without a scale."""
    if not cell.full or cell.value is None:
        return ""

    def at(value: float) -> str:
        return f"{min(max(100 * value / cell.full, 0), 100):.1f}"

    low, high = (cell.value if bound is None else bound for bound in (cell.low, cell.high))
    return (
        '<svg class="mark" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        '<line class="rail" x1="0" x2="100" y1="6" y2="6"/>'
        f'<line class="range" x1="{at(low)}" x2="{at(high)}" y1="6" y2="6"/>'
        f'<line class="point" x1="{at(cell.value)}" x2="{at(cell.value)}" y1="1" y2="11"/></svg>'
    )


def title(name: str) -> str:
    """The short name of a table or plot."""
    words = [WORDS.get(word, word) for word in name.split("-")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def section_id(name: str) -> str:
    """The id of a table's section."""
    return "t-" + "".join(char if char.isascii() and (char.isalnum() or char == "-") else "-" for char in name)


def differences(tables: Sequence[tuple[str, TableFile]]) -> list[Table]:
    """Return, for each table that several studies have, their values side by side and each minus the first study's."""
    by_name: dict[str, list[tuple[str, Table]]] = {}
    for study, file in tables:
        by_name.setdefault(file.name, []).append((study, file.table))
    return [_beside(name, of) for name, of in by_name.items() if len(of) > 1]


def _beside(name: str, of: Sequence[tuple[str, Table]]) -> Table:
    (first, base), others = of[0], of[1:]
    known = [{(row.group, row.label): row for row in table.rows} for _, table in others]
    columns, picks = [], []
    for place, column in enumerate(base.columns):
        if any(row.cells[place].value is not None for row in base.rows):
            group = " ".join(filter(None, (column.group, column.label)))
            columns.append(Column(first, group))
            columns += [Column(text, group) for study, _ in others for text in (study, f"{study} − {first}")]
            picks.append((place, [_place(table, column) for _, table in others]))
    rows = []
    order = dict.fromkeys((row.group, row.label) for _, table in of for row in table.rows)
    own = {(row.group, row.label): row for row in base.rows}
    for group, label in order:
        cells: list[Cell] = []
        for place, elsewhere in picks:
            before = own[group, label].cells[place] if (group, label) in own else Cell()
            cells.append(before)
            for rows_of, there in zip(known, elsewhere, strict=True):
                other = rows_of.get((group, label))
                cell = other.cells[there] if other and there is not None else Cell()
                cells += [cell, _minus(cell, before)]
        if any(cell.value is not None for cell in cells):
            rows.append(Row(label, tuple(cells), group))
    said = dict.fromkeys(note for _, table in of for note in table.notes)
    notes = ["*: the 95 % intervals of the two values do not overlap.", *said]
    return Table(
        name, f"{base.caption} Differences to {first}.", columns, rows, base.row_header, base.group_header, notes
    )


def _place(table: Table, column: Column) -> int | None:
    return list(table.columns).index(column) if column in table.columns else None


def _minus(cell: Cell, base: Cell) -> Cell:
    """A difference with the marks of both values, and one more where their intervals do not overlap."""
    if cell.value is None or base.value is None:
        return Cell(digits=base.digits)
    bounds = (cell.low, cell.high, base.low, base.high)
    apart = None not in bounds and (cell.low > base.high or cell.high < base.low)
    marks = "".join(dict.fromkeys(cell.mark + base.mark))
    return Cell(cell.value - base.value, base.digits, mark=marks + "*" * apart)
