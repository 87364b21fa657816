"""The report as one HTML page that loads nothing: a head with a policy that forbids it, and the sections in order."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from tripleaudit.report import charts, glance
from tripleaudit.report.browser import error_counts
from tripleaudit.report.glance import Matrix, on_scale, rests_on, section_id, title
from tripleaudit.report.kinds import KINDS
from tripleaudit.report.origin import Origin
from tripleaudit.report.sections import Plot, Section, share
from tripleaudit.report.study_files import StudyFacts
from tripleaudit.report.table_files import compared
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell
from tripleaudit.tables.grid import NOISE_NOTE, mark_notes
from tripleaudit.tables.render import escape
from tripleaudit.tables.render.markup import templates

READS = ("report/assets/*",)
ASSETS = Path(__file__).parent / "assets"
WIDE = 12  # columns from which a table is printed smaller
LEAD = "lead"  # the id of the first screen's plot
ROOMY = 5  # columns up to which a plot stands beside its table
PLOTS = {
    "type-f1": ("type-f1", "F1 by kind of triple", ""),
    "cardinality-drop": ("end-to-end", "F1 when sentences without triples are added to the test", ""),
    "zcc-curves": (
        "zcc",
        "Precision and recall of the zero-cardinality classifiers",
        "On the class “has triples”, over all thresholds; the mark is the operating point, AP the average precision.",
    ),
    "f1-cost": (
        "efficiency",
        "F1 against what it takes",
        "Up is better, left is cheaper. Each point is a row of the table, its line the 95 % interval of F1.",
    ),
    "gre-scores": ("gre-sentence", "GREScores", ""),
    "lost-in-the-middle": (
        "lost-in-the-middle",
        "Redundancy by position in the document",
        "The share of entities that come back when a part is shown once more. A model that uses its history repeats "
        "little; a rise between the ends is what “lost in the middle” means.",
    ),
    "training-curves": (
        "training-time",
        "Training loss and validation F1 over epochs",
        "Dashed: with Entity Noising; pale: trained on other training sets than the original without zero triples.",
    ),
    "time-memory": (
        "training-time",
        "Time and memory of each extractor",
        "Wall time, and the greatest main memory that a training held, from the jobs' benchmark files. A training that "
        "was stopped and resumed counts from its last start; memory of a GPU is not in it.",
    ),
}
"""Plot -> the table beside which it stands, its title, and what to see; nothing to see: drawn from the table itself."""


FILTERS = (
    ("set", "Test set"),
    ("system", "System"),
    ("stratum", "Kind of triples"),
    ("kind", "Outcome"),
    ("relation", "Relation"),
    ("number", "Gold triples"),
    ("words", "Words"),
    ("among", "Also in"),
)


def page(
    facts: StudyFacts,
    origin: Origin,
    command: str,
    found: Matrix,
    sections: Sequence[Section],
    plots: Sequence[Plot],
    browser: Mapping[str, Any] | None,
    address: Callable[[Cell], str],
) -> str:
    """Return the page.

    Args:
        facts, origin: where the study comes from.
        command: that makes the page again.
        found, sections, plots: the matrix, the questions, and the plots that belong to none.
        browser: the sentences (:func:`tripleaudit.report.browser.browser_data`), None for none.
        address: where the sentences behind a number are found.
    """
    shared = share(sections, address)
    front, findings = glance.in_front(found), glance.findings(found.tables.values())
    noised = [NOISE_NOTE] * any("+EN" in system for _, system in front.rows)
    shown = [cell.mark for cells in front.rows.values() for cell in cells.values()]
    drawn = next(filter(None, map(charts.by_stratum, found.tables.values())), None)
    if drawn:
        shared.charts[LEAD] = drawn
    for plot in plots:
        shared.charts |= plot.charts
    scripts = [*([charts.script()] if shared.charts else []), *([_asset("browser.js")] if browser else [])]
    return (
        templates(ASSETS)
        .get_template("page.html")
        .render(
            facts=facts,
            origin=origin,
            entries=_entries(facts, origin),
            command=command,
            front=front,
            behind=glance.behind(found, front),
            findings=findings,
            lead=LEAD if drawn else "",
            looked=bool(drawn) and any(point["looked"] for point in drawn["data"]["values"]),
            marks=[*mark_notes("".join([*shown, *(text for _, text in findings)])), *noised],
            sections=sections,
            rows=[(narrow, list(row)) for narrow, row in groupby(sections, lambda one: one.narrow)],
            plots=plots,
            warnings=[warning for one in sections for warning in one.table.warnings],
            browser=browser,
            errors=_errors(browser) if browser else [],
            filters=FILTERS,
            kinds=list(KINDS.values()),
            notes=list(shared.notes),
            charts=shared.charts,
            copies=shared.copies,
            scripts=list(map(Markup, (*scripts, _asset("page.js")))),
            address=address,
            asset=lambda name: Markup(_asset(name)),
            compared=compared,
            on_scale=on_scale,
            rests_on=rests_on,
            script_json=lambda value: Markup(script_json(value)),
            section_id=section_id,
            title=title,
            unbroken=unbroken,
            WIDE=WIDE,
            ROOMY=ROOMY,
        )
    )


def script_json(value: Any) -> str:
    r"""Write JSON that may stand in a ``<script>``: ASCII, and no ``<``, ``>`` or ``&`` but as ``\u003c`` and so on."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def unbroken(text: str) -> Markup:
    """Escape a text whose percent signs stay on the line of their numbers."""
    return Markup(escape.html(text).replace(" %", "&nbsp;%"))


def _errors(browser: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return each system with the address and the number of its triples of each outcome."""
    rows = []
    for system, counts in zip(browser["systems"], error_counts(browser), strict=True):
        chosen = browser["sets"][system["set"]]
        name = system["name"] + (f", {chosen['name']}" if len(browser["sets"]) > 1 else "")
        of = {"set": chosen["key"], "system": system["key"]}
        rows.append((name, [(f"#sentences?{urlencode(of | {'kind': kind})}", count) for kind, count in counts.items()]))
    return rows


def _entries(facts: StudyFacts, origin: Origin) -> list[tuple[str, list[str]]]:
    return [
        ("Report", [origin.report_code]),
        ("Trainings", origin.code),
        ("Finished", [" to ".join(dict.fromkeys(origin.finished))] if origin.finished else []),
        ("Devices", origin.devices),
        ("Seeds", origin.seeds or [str(seed) for seed in facts.seeds]),
        ("Settings", [setting.upper() for setting in facts.settings] + [labels.SETTINGS_NOTE] * bool(facts.settings)),
        ("Versions", [f"{name} {' and '.join(found)}" for name, found in origin.versions.items()]),
        ("Configuration", [f"SHA-256 {facts.config_sha256}"] if facts.config_sha256 else []),
    ]


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
