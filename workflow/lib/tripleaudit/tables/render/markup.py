"""Templates of pages and cards, whose every value is escaped, whatever wrote it.

What is markup already has to say so: macros of a template, and values of type ``Markup``.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tripleaudit.tables.cells import Row, Table, runs_of
from tripleaudit.tables.render import escape
from tripleaudit.tables.render.lines import GAP, lines_of

READS = ("tables/render/templates/*",)
SHARED = Path(__file__).parent / "templates"


@cache
def templates(folder: Path = SHARED, escaped: Callable[[str], str] = escape.html) -> Environment:
    """Return the templates of a folder, which may import from those of tables.

    Args:
        folder: of the templates.
        escaped: makes of a text what shows it in the language of these templates.
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
    found.filters |= {"minus": minus, "grouped": grouped, "runs": runs_of}
    return found


def minus(text: str) -> str:
    """Write numbers with the sign that typography has for it."""
    return text.replace("-", "\u2212")


def grouped(table: Table) -> list[tuple[Row, int]]:
    """Return every row with the size of the group that it begins, 0 within a group."""
    sizes = [
        size if place == 0 else 0 for _, size in runs_of([row.group for row in table.rows]) for place in range(size)
    ]
    return list(zip(table.rows, sizes, strict=True))
