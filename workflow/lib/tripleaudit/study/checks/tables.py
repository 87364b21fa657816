"""Checks of the section ``tables``."""

from collections.abc import Iterator

from tripleaudit.core.errors import hint
from tripleaudit.study.problems import LeftOut
from tripleaudit.study.report import TABLES_WITHOUT_MATCHING, Report
from tripleaudit.tables.spec import TABLES

SOURCES_OF_SCORES = ("corpora", "protocols", "settings", "extractors", "zcc", "systems")
SOURCE_SECTIONS = {
    "audits": ("corpora", "protocols"),
    "gre": ("grescores", "grescores/datasets", "generative/datasets", "generative/systems"),
    "needles": ("needles", "generative/endpoints"),
    "collection": ("collections",),
}
"""``needs`` of a table -> sections whose entries fill it; others are :data:`SOURCES_OF_SCORES`."""


class TableChecks:
    """Checks of the tables that the user chose.

    Args:
        report: the tables of the study.
        left_out: values that do not fit, each of which is a problem already.
    """

    def __init__(self, report: Report, left_out: LeftOut):
        self.report, self.left_out = report, left_out

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
                if self._lacks_source(name):
                    continue
                known = ", ".join(self.report.possible) or "none"
                yield f"tables: this study cannot fill {name}; it can fill {known}"
            elif "matching" in options and not _follows_matching(name):
                yield f"tables/{name}/matching: has no meaning, the table follows no one matching rule"
            elif "by" in options and not TABLES[name].takes_by:
                tables = ", ".join(sorted(name for name in TABLES if TABLES[name].takes_by))
                yield (
                    f"tables/{name}/by: has no meaning for this table, whose columns are no scores of extraction "
                    f"on one test set; the tables that take it are {tables}"
                )

    def _lacks_source(self, name: str) -> bool:
        """Return whether an entry was left out that may have been the source of a table."""
        sections = SOURCE_SECTIONS.get(TABLES[name].needs, SOURCES_OF_SCORES)
        training_files = [f"corpora/{name}/files/train" for name in self.report.config.corpora]
        return self.left_out.includes("noising", *training_files) or any(
            map(self.left_out.includes_entry_of, sections)
        )


def _follows_matching(name: str) -> bool:
    """Return whether a table follows one matching rule."""
    return TABLES[name].needs == "scores" and name not in TABLES_WITHOUT_MATCHING
