"""From the files of a study to its report: what the workflow's report rule and ``tripleaudit report`` call."""

import logging
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tripleaudit.descriptors import TABLES
from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write
from tripleaudit.report.browser import MAX_BYTES, browser_data
from tripleaudit.report.inputs import ReportFiles, StudyFacts
from tripleaudit.report.origin import origin_of
from tripleaudit.report.page import page, plot_rank, plot_title
from tripleaudit.report.svg import inline_svg
from tripleaudit.report.table_files import load_table
from tripleaudit.tables.evidence import TableInputs, load_inputs


@dataclass
class Evidence:
    """The values behind all tables of a study, by the kind of scores file that they come from.

    Attributes:
        extraction: scores of extractors, audits and facts of trainings.
        gre, needles: GREScores, scores about needles.
        facts: of the study; its table options are applied.
    """

    extraction: TableInputs = field(default_factory=TableInputs)
    gre: TableInputs = field(default_factory=TableInputs)
    needles: TableInputs = field(default_factory=TableInputs)
    facts: StudyFacts = field(default_factory=lambda: StudyFacts(""))

    def answer(self, table: str) -> tuple[str, str]:
        """Return the question and the answer of a table; the answer is empty for a table that is not known."""
        if table not in TABLES:
            return "What does this table show?", ""
        spec = TABLES[table]
        inputs = {"gre": self.gre, "needles": self.needles}.get(spec.needs, self.extraction)
        options = dict(self.facts.table_options.get(table) or {})
        return spec.question, spec.answer(replace(inputs, options=options))


def load_evidence(files: ReportFiles, facts: StudyFacts) -> Evidence:
    """Read scores, audits and facts of trainings.

    Raises:
        UserError: a file is bad.
    """
    return Evidence(
        load_inputs(scores=files.scores, counts=files.counts, audits=files.audits, runs=files.runs),
        load_inputs(scores=files.gre),
        load_inputs(scores=files.needles),
        facts,
    )


def make_report(files: ReportFiles, facts: StudyFacts, out: str | Path, max_bytes: int = MAX_BYTES) -> int:
    """Write the report of a study and return its size in bytes.

    Args:
        files: what it is made from.
        facts: about the study.
        out: HTML file; written whole or not at all.
        max_bytes: room for the sentences of the error browser.

    Raises:
        UserError: a file is bad, or there is no table.
    """
    if not files.tables:
        raise UserError("report: the study has no tables; expected at least one")
    tables = sorted(map(load_table, files.tables), key=lambda table: _rank(table.name))
    evidence = load_evidence(files, facts)
    commands = {table.name: command(facts, table.path.with_suffix(".md")) for table in tables}
    commands["report"] = command(facts, Path(out))
    text = page(
        facts,
        [(table, *evidence.answer(table.name)) for table in tables],
        {path.stem: inline_svg(path, f"plot{place}", plot_title(path.stem)) for place, path in _plots(files)},
        browser_data(files.predicted, max_bytes) if files.predictions else None,
        origin_of(files.provenance, [*files.scores, *files.gre, *files.needles]),
        commands,
    )
    encoded = text.encode("utf-8", "replace")
    with atomic_write(out, "wb") as stream:
        stream.write(encoded)
    return len(encoded)


def write_study_report(files: ReportFiles, facts: Mapping[str, Any], out: str | Path) -> None:
    """Write the report; ``facts`` are the fields of :class:`StudyFacts`."""
    size = make_report(files, StudyFacts(**facts), out)
    logging.info("%s has %.1f MB", out, size / 1e6)


def command(facts: StudyFacts, target: Path) -> str:
    """Return the command that makes one file of the study."""
    parts = ["snakemake", "--cores", "2", target.as_posix()]
    return shlex.join([*parts, "--configfile", *facts.configfiles] if facts.configfiles else parts)


def _plots(files: ReportFiles) -> list[tuple[int, Path]]:
    return list(enumerate(sorted(map(Path, files.plots), key=lambda path: plot_rank(path.stem))))


def _rank(name: str) -> int:
    return list(TABLES).index(name) if name in TABLES else len(TABLES)
