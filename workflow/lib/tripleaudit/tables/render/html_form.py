"""HTML: one fragment that brings its own style, in ASCII, so that it reads the same in every page and encoding."""

from typing import Any

from tripleaudit.tables.cells import Table
from tripleaudit.tables.render.markup import templates


def to_html(table: Table) -> str:
    """Render as a ``<section>`` with the table, its notes and a style that touches nothing else."""
    macros: Any = templates().get_template("table.html").module  # whose attributes they are
    text = macros.fragment(table)
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")
