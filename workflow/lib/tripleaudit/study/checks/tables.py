"""Checks of the section ``tables``."""

from collections.abc import Iterator

from tripleaudit.core.errors import hint
from tripleaudit.study.report import TABLES_WITHOUT_MATCHING, Report
from tripleaudit.tables.spec import TABLES


class TableChecks:
    """Checks of the tables that the user chose.

    Args:
        report: the tables of the study.
    """

    def __init__(self, report: Report):
        self.report = report

    def problems(self) -> Iterator[str]:
        """Yield a sentence for each table that the study cannot fill."""
        double = self.report.config.double
        if isinstance(double, str):
            yield from self.report.paths.problems_of_file("double", double)
        if self.report.chosen == {}:
            yield "tables: names none, so that there is no report; expected one at least, or null for all"
        for name, options in (self.report.chosen or {}).items():
            if name not in TABLES:
                yield f"tables: unknown table '{name}'{hint(name, TABLES)}"
            elif name not in self.report.possible:
                known = ", ".join(self.report.possible) or "none"
                yield f"tables: this study cannot fill {name}; it can fill {known}"
            elif "matching" in options and not _follows_matching(name):
                yield f"tables/{name}/matching: has no meaning, the table follows no one matching rule"


def _follows_matching(name: str) -> bool:
    """Return whether a table follows one matching rule."""
    return TABLES[name].needs == "scores" and name not in TABLES_WITHOUT_MATCHING
