"""Templates of pages and cards, whose every value is escaped, whatever wrote it.

What is markup already has to say so: macros of a template, and values of type ``Markup``.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tripleaudit.tables.cells import GAP, Row, Table, lines_of, runs_of
from tripleaudit.tables.render import escape

READS = ("tables/render/templates/*",)
SHARED = Path(__file__).parent / "templates"


@cache
def templates(folder: Path = SHARED, escaped: Callable[[str], str] = escape.html) -> Environment:
    """Return the templates of a folder, which may import those of tables.

    Every value is shown as ``escaped``.
    """

    def shown(value: Any) -> Markup:
        return value if isinstance(value, Markup) else Markup(escaped(str(value)))

    found = Environment(
        loader=FileSystemLoader([folder, SHARED]),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.globals |= {"GAP": GAP, "lines_of": lines_of}
    found.filters |= {"grouped": grouped, "runs": runs_of}
    found.filters["minus"] = lambda text: text.replace("-", "\u2212")
    return found


def to_html(table: Table) -> str:
    """Render as an ASCII ``<section>`` with the table, its notes and a scoped style."""
    macros: Any = templates().get_template("table.html").module  # whose attributes they are
    return macros.fragment(table).encode("ascii", "xmlcharrefreplace").decode("ascii")


def grouped(table: Table) -> list[tuple[Row, int]]:
    """Return every row with the size of the group that it begins, 0 within a group."""
    sizes = [
        size * (not index)
        for _, size in runs_of([row.group for row in table.rows])
        for index in range(size)
    ]
    return list(zip(table.rows, sizes, strict=True))
