"""From the files of a study to its report, for the report rule and ``tripleaudit report``."""

import logging
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write
from tripleaudit.report import charts, overview, page
from tripleaudit.report.browser import MAX_BYTES, browser_data
from tripleaudit.report.kinds import KINDS
from tripleaudit.report.origin import origin_of
from tripleaudit.report.study_files import ReportFiles, StudyFacts
from tripleaudit.report.table_files import Links, compared
from tripleaudit.scoring.scores import split_two_step
from tripleaudit.tables.frames import read_contrasts
from tripleaudit.tables.grid import NOISE_NOTE, mark_notes
from tripleaudit.tables.headlines import Headlines, make_headlines
from tripleaudit.tables.labels import SETTINGS_NOTE
from tripleaudit.tables.render.data_forms import read_table
from tripleaudit.tables.render.markup import templates
from tripleaudit.tables.study_facts import UNREAD

log = logging.getLogger(__name__)
WORDS = {"+EN": NOISE_NOTE, "NZ": SETTINGS_NOTE, "WZ": SETTINGS_NOTE}  # of the first screen


def make_report(
    files: ReportFiles, facts: StudyFacts, out: str | Path, max_bytes: int = MAX_BYTES
) -> int:
    """Write the report of a study, whole or not at all, and return its size in bytes.

    Raises:
        UserError: a file is bad, or there is no table.
    """
    if not files.tables:
        raise UserError(f"report: {facts.name} has no tables; expected at least one")
    files_of_tables = map(read_table, files.tables)
    stored = sorted(files_of_tables, key=lambda table: (table.order, table.name))
    tables = [table.in_percent() for table in stored]
    folder, predicted, plots = (
        Path(facts.folder or files.study),
        files.predicted,
        page.plots_of(files.plots),
    )
    links, origin = Links.to(predicted), origin_of(files.provenance, facts)
    browser = browser_data(predicted, max_bytes, unread_systems(files)) if predicted else None
    notes: dict[str, int] = {}  # every note once, numbered in the order in which they are needed
    sections: list[page.Section] = []
    drawn: dict[str, Any] = {}
    for table in tables:
        own = [plots.pop(name) for name in list(plots) if plots[name].table == table.name]
        numbers = sorted(notes.setdefault(note, len(notes) + 1) for note in table.notes)
        made = command(facts, folder / f"tables/{table.name}.md")
        sections.append(
            one := page.Section(table, made, own, charts.chart(table, links.address), numbers)
        )
        drawn |= {one.id: one.chart} if one.chart else {}
        drawn |= {id_: panel for plot in own for id_, panel in plot.charts.items()}
    found = overview.matrix(tables)
    front = overview.in_front(found)
    headlines = read_headlines(files)
    words = [
        text for headline in headlines.headlines for text in (headline.title, headline.numbers)
    ]
    words += [text for pair in (*front.heads, *front.rows) for text in pair]
    shown = "".join(words)
    shown += "".join(cell.mark for cells in front.rows.values() for cell in cells.values())
    first_notes = [(note[0], note) for note in mark_notes(shown)]
    first_notes += [(word, note) for word, note in WORDS.items() if word in shown]
    marks = [(label, notes.setdefault(note, len(notes) + 1)) for label, note in first_notes]
    lead = next(filter(None, map(charts.by_stratum, tables)), None)
    drawn |= {page.LEAD: lead} if lead else {}
    drawn |= {id_: panel for plot in plots.values() for id_, panel in plot.charts.items()}
    scripts = (
        [charts.script()] * bool(drawn)
        + [page.asset("browser.js")] * bool(browser)
        + [page.asset("page.js")]
    )
    text = (
        templates(page.ASSETS)
        .get_template("page.html")
        .render(
            facts=facts,
            origin=origin,
            entries=origin.entries,
            command=command(facts, folder / "report.html"),
            front=front,
            behind=overview.behind(found, front),
            lead=page.LEAD if lead else "",
            looked=bool(lead) and any(point["looked"] for point in lead["data"]["values"]),
            headlines=headlines,
            marks=marks,
            opened={overview.section_id(headline.table) for headline in headlines.headlines},
            sections=sections,
            table_names={table.name for table in tables},
            plots=list(plots.values()),
            warnings=[warning for table in tables for warning in table.warnings],
            browser=browser,
            errors=page.errors(browser) if browser else [],
            filters=page.FILTERS,
            kinds=list(KINDS.values()),
            notes=list(notes),
            charts=drawn,
            copies={
                overview.section_id(table.name): {
                    name: form(table) for name, form in page.FORMS.items()
                }
                for table in stored
            },
            scripts=list(map(Markup, scripts)),
            address=links.address,
            asset=lambda name: Markup(page.asset(name)),
            compared=compared,
            on_scale=overview.on_scale,
            rests_on=overview.rests_on,
            script_json=lambda value: Markup(page.script_json(value)),
            section_id=overview.section_id,
            title=overview.title,
            WIDE=page.WIDE,
            ROOMY=page.ROOMY,
        )
    )
    encoded = text.encode("utf-8", "replace")
    with atomic_write(out, "wb") as stream:
        stream.write(encoded)
    return len(encoded)


def read_headlines(files: ReportFiles) -> Headlines:
    """Make the headlines of a study; none for a study without scores of extraction."""
    if not files.contrasts:
        return Headlines()
    return make_headlines(read_contrasts(files.contrasts[0]))


def unread_systems(files: ReportFiles) -> set[tuple[str, str]]:
    """Return ``(corpus, system)`` of models with mostly unread answers on the original test set."""
    systems: set[tuple[str, str]] = set()
    if not files.contrasts:
        return systems
    for row in read_contrasts(files.contrasts[0]):
        for side in ("first", "second"):
            if UNREAD in row[f"mark_{side}"] and row[f"protocol_{side}"] == "original":
                system = split_two_step(row[f"extractor_{side}"])[1]
                systems.add((row["corpus"], system))
    return systems


def write_study_report(files: ReportFiles, facts: Mapping[str, Any], out: str | Path) -> None:
    """Write the report; ``facts`` are the fields of :class:`StudyFacts`."""
    size = make_report(files, StudyFacts(**facts), out)
    log.info("%s has %.1f MB", out, size / 1e6)


def command(facts: StudyFacts, target: Path) -> str:
    """Return the command that makes one file of the study."""
    parts = ["snakemake", "--cores", "2", target.as_posix()]
    return shlex.join([*parts, "--configfile", *facts.configfiles] if facts.configfiles else parts)
