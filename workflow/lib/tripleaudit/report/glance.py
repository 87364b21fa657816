"""The study at a glance: a matrix of systems and questions, a value and its interval in each cell.

Rows and columns are found in the tables: every cell that says what it is of names its system, and a table's descriptor
says what of it stands here (:class:`tripleaudit.descriptors.Headline`). A new table needs nothing else to appear.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tripleaudit.report.table_files import NO_SYSTEMS
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.rows import split_two_step
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Column, Table
from tripleaudit.tables.render.escape import html as escape
from tripleaudit.tables.render.lines import lines_of

WORDS = {"f1": "F1", "zcc": "ZCC", "gre": "GREScores:", "minea": "MINEA", "llm": "LLM"}
Address = Callable[[Cell], str]


@dataclass
class Matrix:
    """Columns of questions and rows of systems.

    Attributes:
        tables: those that it was collected from, by name, in the order of the page.
        heads: ``(table, heading)`` of each column.
        rows: ``(corpus, system)`` -> column -> cell.
    """

    tables: dict[str, Table]
    heads: list[tuple[str, str]] = field(default_factory=list)
    rows: dict[tuple[str, str], dict[tuple[str, str], Cell]] = field(default_factory=dict)


def matrix(tables: Iterable[Table]) -> Matrix:
    """Collect the headline cells of tables; systems stand in the order of the tables."""
    found = Matrix({table.name: table for table in tables})
    for table in found.tables.values():
        named = [
            (cell, column)
            for row in table.rows
            for cell, column in zip(row.cells, table.columns, strict=True)
            if cell.of and cell.value is not None and cell.of["extractor"] not in NO_SYSTEMS
        ]
        if table.glance is None or not named:
            continue
        first = named[0][1].label
        for label, of in table.glance or [(first, {"column": first})]:
            for cell, column in named:
                if _fits(of, cell, column):
                    head, row = (table.name, label), found.rows.setdefault(system_of(cell), {})
                    row.setdefault(head, cell)
                    found.heads += [head] * (head not in found.heads)
    order = list(found.tables)
    found.heads.sort(key=lambda head: order.index(head[0]))
    last = {labels.extractor(name) for name in BASELINES}
    found.rows = dict(sorted(found.rows.items(), key=lambda row: row[0][1] in last))
    return found


def system_of(cell: Cell) -> tuple[str, str]:
    """Return corpus and system of a cell as people read them; two steps belong to their extractor."""
    of = cell.of or {}
    extractor = split_two_step(of["extractor"])[1]
    return labels.corpus(of["corpus"]), labels.extractor(extractor, of["noise"])


def _fits(of: Mapping[str, str], cell: Cell, column: Column) -> bool:
    known = {**(cell.of or {}), "column": column.label}
    return all(fnmatchcase(known.get(name, ""), value) for name, value in of.items())


def draw(found: Matrix, address: Address) -> str:
    """Return the matrix as HTML, empty without a cell."""
    if not found.rows:
        return ""
    several = len({corpus for corpus, _ in found.rows}) > 1
    stubs = [*(["Corpus"] if several else []), "System"]
    groups: dict[str, list[str]] = {}
    for table, label in found.heads:
        groups.setdefault(table, []).append(label)
    top = "".join(f'<th class="stub" scope="col" rowspan="2">{name}</th>' for name in stubs)
    for table, names in groups.items():
        question = found.tables[table].question
        top += (
            f'<th class="group" scope="colgroup" colspan="{len(names)}"><a href="#{section_id(table)}" '
            f'title="{escape(question)}">{escape(title(table))}</a></th>'
        )
    below = "".join(f'<th scope="col">{escape(label)}</th>' for _, label in found.heads)
    body = []
    for key, cells in found.rows.items():
        stub = "".join(f'<th scope="row">{escape(name)}</th>' for name in (key if several else key[1:]))
        body.append(f"<tr>{stub}{''.join(_cell(cells.get(head), head, address) for head in found.heads)}</tr>")
    return (
        '<p class="caption" id="matrix-caption">Each number links to its sentences or its table; the line is its 95 % '
        "interval, from 0 to the best possible score.</p>"
        '<div class="scroll wide" data-grid><table class="matrix" aria-labelledby="matrix-caption">'
        f"<thead><tr>{top}</tr><tr>{below}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(cell: Cell | None, head: tuple[str, str], address: Address) -> str:
    if cell is None:
        return '<td class="gap">·</td>'
    href = address(cell) or f"#{section_id(head[0])}"
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
