"""Overview of the study: a matrix of systems and questions.

Rows and columns are found in the tables: every cell that says what it is of names its system, and a
table's descriptor says what of it stands here (:class:`tripleaudit.tables.spec.OverviewColumn`). A
new table needs nothing else to appear. F1 stands first, all of it in percent and no number twice;
what has another unit or meaning is folded away.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tripleaudit.report.table_files import NO_SYSTEMS
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.scores import CLASSIFICATION, split_two_step
from tripleaudit.scoring.significance import MIN_CASES
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Column, Table, lines_of

MOST_SENTENCES = 5  # of the first screen
WORDS = {"f1": "F1", "zcc": "ZCC", "gre": "GREScores:", "minea": "MINEA", "llm": "LLM"}


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


def in_front(found: Matrix) -> Matrix:
    """Return the F1 of extraction in percent that the page shows first, each number once.

    Systems that extract nothing and questions with too few cases are left out.
    """
    heads, shown = [], set()
    for head in found.heads:
        cells = _under(found, head)
        measured = _measured(cells)
        extracts = all(
            of["metric"] == "f1" and of["matching"] != CLASSIFICATION
            for cell in cells
            if (of := cell.of)
        )
        enough = any(cell.cases is None or cell.cases >= MIN_CASES for cell in cells)
        if extracts and enough and not measured <= shown and found.tables[head[0]].full:
            heads.append(head)
            shown |= measured
    front = _part(found, heads)
    front.rows = {
        key: {
            head: cell.percent() if found.tables[head[0]].full == 1 else cell
            for head, cell in cells.items()
        }
        for key, cells in front.rows.items()
        if any(cell.value for cell in cells.values())
    }
    return front


def behind(found: Matrix, front: Matrix) -> Matrix:
    """Return what of a matrix does not stand in sight, without what repeats it."""
    shown = set().union(*(_measured(_under(found, head)) for head in front.heads))
    return _part(
        found, [head for head in found.heads if not _measured(_under(found, head)) <= shown]
    )


def _under(found: Matrix, head: tuple[str, str]) -> list[Cell]:
    return [cells[head] for cells in found.rows.values() if head in cells]


def _measured(cells: Iterable[Cell]) -> set[tuple]:
    """Return what cells are of."""
    return {tuple(sorted((cell.of or {}).items())) for cell in cells}


def _part(found: Matrix, heads: list[tuple[str, str]]) -> Matrix:
    rows = {
        key: {head: cell for head, cell in cells.items() if head in heads}
        for key, cells in found.rows.items()
    }
    return Matrix(found.tables, heads, {key: cells for key, cells in rows.items() if cells})


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
        if table.overview is None or not named:
            continue
        first = named[0][1].label
        for label, of in table.overview or [(first, {"column": first})]:
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
    """Return corpus and system of a cell as labels; two-step systems count as their extractor."""
    of = cell.of or {}
    extractor = split_two_step(of["extractor"])[1]
    return labels.corpus(of["corpus"]), labels.extractor(extractor, of["noise"])


def _fits(of: Mapping[str, str], cell: Cell, column: Column) -> bool:
    known = {**(cell.of or {}), "column": column.label}
    return all(fnmatchcase(known.get(name, ""), value) for name, value in of.items())


def rests_on(cell: Cell) -> str:
    """A number's interval and cases, for who points at it."""
    parts = (
        [f"95 % interval {lines_of(cell).interval}"]
        if cell.low is not None and cell.high is not None
        else []
    )
    if cell.cases is not None:
        parts.append(f"{cell.cases:,} {'case' if cell.cases == 1 else 'cases'}")
    return ", ".join(parts)


def on_scale(cell: Cell) -> list[str] | None:
    """Return lower bound, value and upper bound in percent of a perfect score, else None."""
    if not cell.full or cell.value is None:
        return None
    bounds = (cell.value if bound is None else bound for bound in (cell.low, cell.value, cell.high))
    return [f"{min(max(100 * bound / cell.full, 0), 100):.1f}" for bound in bounds]


def title(name: str) -> str:
    """The short name of a table or plot."""
    words = " ".join(WORDS.get(word, word) for word in name.split("-"))
    return words[:1].upper() + words[1:]


def section_id(name: str) -> str:
    """The id of a table's section."""
    return "t-" + re.sub("[^A-Za-z0-9-]", "-", name)
