"""From the files of a study to its report: what the workflow's report rule and ``tripleaudit report`` call."""

import logging
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write
from tripleaudit.report import charts, glance
from tripleaudit.report.browser import MAX_BYTES, browser_data
from tripleaudit.report.origin import origin_of
from tripleaudit.report.page import PLOTS, page
from tripleaudit.report.sections import Plot, Section
from tripleaudit.report.study_files import ReportFiles, StudyFacts
from tripleaudit.report.table_files import Links
from tripleaudit.tables.render.json_form import read_table

log = logging.getLogger(__name__)


def make_report(files: ReportFiles, facts: StudyFacts, out: str | Path, max_bytes: int = MAX_BYTES) -> int:
    """Write the report of a study and return its size in bytes.

    Args:
        files, facts: of the study.
        out: HTML file; written whole or not at all.
        max_bytes: room for the sentences.

    Raises:
        UserError: a file is bad, or there is no table.
    """
    if not files.tables:
        raise UserError(f"report: {facts.name} has no tables; expected at least one")
    tables = sorted(map(read_table, files.tables), key=lambda table: (table.order, table.name))
    drawn, folder = _plots(files), Path(facts.folder or files.study)
    sections = []
    for table in tables:
        plots = [drawn.pop(name) for name in list(drawn) if PLOTS.get(name, ("",))[0] == table.name]
        sections.append(Section(table, command(facts, folder / f"tables/{table.name}.md"), plots))
    predicted = files.predicted
    text = page(
        facts,
        origin_of(files.provenance),
        command(facts, folder / "report.html"),
        glance.matrix(tables),
        sections,
        list(drawn.values()),
        browser_data(predicted, max_bytes) if predicted else None,
        Links.to(predicted).address,
    )
    encoded = text.encode("utf-8", "replace")
    with atomic_write(out, "wb") as stream:
        stream.write(encoded)
    return len(encoded)


def write_study_report(files: ReportFiles, facts: Mapping[str, Any], out: str | Path) -> None:
    """Write the report; ``facts`` are the fields of :class:`StudyFacts`."""
    size = make_report(files, StudyFacts(**facts), out)
    log.info("%s has %.1f MB", out, size / 1e6)


def command(facts: StudyFacts, target: Path) -> str:
    """Return the command that makes one file of the study."""
    parts = ["snakemake", "--cores", "2", target.as_posix()]
    return shlex.join([*parts, "--configfile", *facts.configfiles] if facts.configfiles else parts)


def _plots(files: ReportFiles) -> dict[str, Plot]:
    """The plots that no table draws, in order: by name."""
    paths = {path.stem: path for path in map(Path, files.plots)}
    order = [*(name for name in PLOTS if name in paths), *(name for name in paths if name not in PLOTS)]
    found: dict[str, Plot] = {}
    for name in order:
        table, what, caption = PLOTS.get(name, ("", glance.title(name), ""))
        if caption or name not in PLOTS:
            id_ = f"p0-{glance.section_id(name)[2:]}"
            panels = {f"{id_}-{number}": panel for number, panel in enumerate(charts.read_plot(paths[name]))}
            found[name] = Plot(id_, panels, f"{what}. {caption}".strip())
    return found
