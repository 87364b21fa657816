"""From the files of studies to their report: what the workflow's report rule and ``tripleaudit report`` call."""

import logging
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tripleaudit.descriptors import TABLES
from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write
from tripleaudit.report import charts, glance
from tripleaudit.report.browser import MAX_BYTES, browser_data
from tripleaudit.report.inputs import Predicted, ReportFiles, StudyFacts
from tripleaudit.report.origin import origin_of
from tripleaudit.report.page import PLOTS, About, Page, page
from tripleaudit.report.sections import Plot, Section
from tripleaudit.report.table_files import Links, TableFile, load_table
from tripleaudit.tables.evidence import TableInputs, load_inputs


@dataclass
class Evidence:
    """The values behind all tables of a study, by the kind of scores file that they come from.

    Attributes:
        extraction: scores of extractors, audits and facts of trainings.
        gre, needles: GREScores, scores about needles, each with the same facts.
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
        load_inputs(scores=files.gre, runs=files.runs),
        load_inputs(scores=files.needles, runs=files.runs),
        facts,
    )


def make_report(studies: Sequence[tuple[ReportFiles, StudyFacts]], out: str | Path, max_bytes: int = MAX_BYTES) -> int:
    """Write the report of one study, or of several with their differences, and return its size in bytes.

    Args:
        studies: files and facts of each.
        out: HTML file; written whole or not at all.
        max_bytes: room for the sentences.

    Raises:
        UserError: a file is bad, there is no table, or two studies have one name.
    """
    names = [facts.name for _, facts in studies]
    if len(set(names)) < len(names):
        raise UserError(f"report: two studies are called {max(names, key=names.count)}; expected different names")
    several = len(studies) > 1
    tables: list[tuple[str, TableFile]] = []
    sections: list[Section] = []
    predicted: list[Predicted] = []
    about: list[About] = []
    for number, (files, facts) in enumerate(studies):
        if not files.tables:
            raise UserError(f"report: {facts.name} has no tables; expected at least one")
        study = facts.name if several else ""
        own = sorted(map(load_table, files.tables), key=lambda table: glance.table_rank(table.name))
        commands = {table.name: command(facts, table.path.with_suffix(".md")) for table in own}
        evidence = load_evidence(files, facts)
        drawn = _plots(files, number)
        for table in own:
            question, answer = evidence.answer(table.name)
            plots = [drawn.pop(name) for name in list(drawn) if PLOTS.get(name, ("",))[0] == table.name]
            section = Section(table.table, question, answer, study, table.compared, commands[table.name], plots)
            sections.append(replace(section, id=f"{glance.section_id(table.name)}-{number}") if several else section)
        tables += [(study, table) for table in own]
        predicted += [replace(run, study=study) for run in files.predicted]
        origin = origin_of(files.provenance, [*files.scores, *files.gre, *files.needles])
        about.append(About(facts, origin, {**commands, "report": command(facts, Path(out))}, list(drawn.values())))
    if several:
        sections.sort(key=lambda one: (glance.table_rank(one.table.name), one.table.name))
        beside = {table.name: table for table in glance.differences(tables)}
        ordered: list[Section] = []
        for section in sections:
            if section.table.name in beside:
                ordered.append(Section(beside.pop(section.table.name), section.question))
            ordered.append(section)
        sections = ordered
    text = page(
        Page(
            about,
            glance.matrix(tables),
            sections,
            browser_data(predicted, max_bytes) if predicted else None,
            Links.to(predicted),
        )
    )
    encoded = text.encode("utf-8", "replace")
    with atomic_write(out, "wb") as stream:
        stream.write(encoded)
    return len(encoded)


def write_study_report(files: ReportFiles, facts: Mapping[str, Any], out: str | Path) -> None:
    """Write the report; ``facts`` are the fields of :class:`StudyFacts`."""
    size = make_report([(files, StudyFacts(**facts))], out)
    logging.info("%s has %.1f MB", out, size / 1e6)


def command(facts: StudyFacts, target: Path) -> str:
    """Return the command that makes one file of the study."""
    parts = ["snakemake", "--cores", "2", target.as_posix()]
    return shlex.join([*parts, "--configfile", *facts.configfiles] if facts.configfiles else parts)


def _plots(files: ReportFiles, number: int) -> dict[str, Plot]:
    """The plots that no table draws, in order: name -> id, panels and caption."""
    paths = {path.stem: path for path in map(Path, files.plots)}
    order = [*(name for name in PLOTS if name in paths), *(name for name in paths if name not in PLOTS)]
    found: dict[str, Plot] = {}
    for name in order:
        table, what, caption = PLOTS.get(name, ("", glance.title(name), ""))
        if caption or name not in PLOTS:
            id_ = f"p{number}-{glance.section_id(name)[2:]}"
            found[name] = (id_, charts.read_plot(paths[name]), f"{what}. {caption}".strip())
    return found
