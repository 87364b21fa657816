"""The forms of a table: CSV, Markdown, LaTeX, HTML, and JSON for the report."""

from pathlib import Path

from tripleaudit.core.files import atomic_write
from tripleaudit.tables.cells import Table
from tripleaudit.tables.render.data_forms import to_csv, to_json
from tripleaudit.tables.render.latex_form import to_latex
from tripleaudit.tables.render.markdown_form import to_markdown
from tripleaudit.tables.render.markup import to_html
from tripleaudit.tables.render.text_form import SIGNIFICANT, to_text

FORMS = {"csv": to_csv, "md": to_markdown, "tex": to_latex, "html": to_html, "json": to_json}
"""File ending -> renderer."""

__all__ = [
    "FORMS",
    "to_csv",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "SIGNIFICANT",
    "to_text",
    "write_table",
]


def write_table(table: Table, prefix: str | Path) -> list[Path]:
    """Write ``PREFIX.csv`` and the other forms of :data:`FORMS`; return their paths."""
    paths = []
    for ending, render in FORMS.items():
        path = Path(f"{prefix}.{ending}")
        with atomic_write(path) as stream:
            stream.write(render(table))
        paths.append(path)
    return paths
