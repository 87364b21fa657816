"""The report as one HTML page that loads nothing: a head with a policy that forbids it, and the sections in order."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tripleaudit.report import charts
from tripleaudit.report.browser import error_counts
from tripleaudit.report.glance import Matrix, draw, title
from tripleaudit.report.inputs import StudyFacts
from tripleaudit.report.kinds import KINDS
from tripleaudit.report.origin import Origin
from tripleaudit.report.sections import Drawn, Plot, Section, contents
from tripleaudit.report.table_files import Links
from tripleaudit.tables.render.escape import html as escape

READS = ("report/assets/*",)

ASSETS = Path(__file__).parent / "assets"
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
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


@dataclass
class About:
    """Where one study comes from.

    Attributes:
        facts, origin: of it.
        commands: table -> the command that makes it, and ``report``.
        plots: those that belong to no table.
    """

    facts: StudyFacts
    origin: Origin
    commands: Mapping[str, str]
    plots: Sequence[Plot] = ()


@dataclass
class Page:
    """What a report shows."""

    about: About
    matrix: Matrix
    sections: Sequence[Section]
    browser: Mapping[str, Any] | None
    links: Links


def page(shown: Page) -> str:
    """Return the page."""
    drawn, name = Drawn(shown.links.address), escape(shown.about.facts.name)
    sections = drawn.sections(shown.sections)
    about = _about(shown.about, drawn)
    glance = draw(shown.matrix, shown.links.address)
    described = shown.about.facts.description and f"<p>{escape(shown.about.facts.description)}</p>"
    items = [("glance", "At a glance"), ("questions", "Questions"), ("sentences", "Sentences"), ("about", "About")]
    links = "".join(f'<a href="#{id_}">{what}</a>' for id_, what in items if id_ != "sentences" or shown.browser)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{name} – tripleaudit report</title>",
        f"<style>\n{_asset('page.css')}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#glance">Skip to the results</a>',
        f'<div class="bar"><b>{name}</b><nav aria-label="Parts">{links}</nav></div>',
        "<main>",
        '<div class="view" id="study">',
        '<section id="glance" tabindex="-1" aria-labelledby="h-glance"><header><p class="kicker">tripleaudit report</p>'
        f'<h1 id="h-glance">{name}</h1>{described}</header>{glance}</section>',
        '<section id="questions" tabindex="-1" aria-labelledby="h-questions"><h2 id="h-questions">Questions</h2>'
        f"{contents(shown.sections)}{sections}</section>",
        drawn.glossary.html(),
        "</div>",
        _browser(shown.browser),
        '<div class="view" id="about" tabindex="-1">',
        about,
        "</div>",
        "</main>",
        f"<footer>Written by {escape(shown.about.origin.report_code)}. This page holds all of its data and loads "
        "nothing.</footer>",
        '<p id="said" role="status" aria-live="polite"></p>',
        _data("copies", drawn.copies),
        _data("charts", drawn.charts),
    ]
    scripts = [charts.script()] if drawn.charts else []
    if shown.browser:
        parts.append(_data("browser-data", shown.browser))
        scripts.append(_asset("browser.js"))
    parts += [f"<script>\n{text}</script>" for text in (*scripts, _asset("page.js"))]
    parts += ["</body>", "</html>"]
    return "\n".join(part for part in parts if part) + "\n"


def script_json(value: Any) -> str:
    r"""Write JSON that may stand in a ``<script>``: ASCII, and no ``<``, ``>`` or ``&`` but as ``\u003c`` and so on."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(id_: str, value: Any) -> str:
    return f'<script type="application/json" id="{id_}">{script_json(value)}</script>'


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


def _browser(browser: Mapping[str, Any] | None) -> str:
    if not browser:
        return ""
    shown, total = len(browser["sentences"]), browser["total"]
    capped = (
        f"This page holds {shown:,} of {total:,} test sentences, spread evenly over each test set, to stay small; the "
        "counts below are of these."
        if shown < total
        else f"All {total:,} test sentences are here."
    )
    selects = "".join(
        f'<label>{label} <select id="filter-{name}" name="{name}"><option value="">all</option></select></label>'
        for name, label in FILTERS
    )
    return f"""<div class="view" id="sentences" tabindex="-1" aria-labelledby="h-sentences">
<h2 id="h-sentences">Sentences</h2>
<form id="filters" class="filters" aria-label="Filter sentences">
<label>Text contains <input id="filter-text" name="text" type="search" autocomplete="off"></label>
{selects}
<button type="reset" id="clear-filters">Clear filters</button>
</form>
<p class="answer">Every test sentence with what it states and what was predicted (of the first seed), judged by exact
string matching. {escape(capped)}</p>
<details id="wrong" open><summary>What goes wrong in these sentences</summary><div id="errors"></div></details>
<div class="pager"><button type="button" id="previous-page">Previous</button>
<button type="button" id="next-page">Next</button><p id="browser-status" role="status" aria-live="polite"></p></div>
<p class="legend"><mark class="correct">found</mark>, <mark class="missed">missed</mark> and
<mark class="wrong">wrongly predicted</mark> arguments are marked in the text; point at a triple, or move to it with
the Tab key, to see its own.</p>
<ol id="sentence-list" aria-label="Sentences"></ol>
{_error_table(browser)}
<noscript><p>The sentences need JavaScript; everything else on this page does not.</p></noscript>
</div>"""


def _error_table(browser: Mapping[str, Any]) -> str:
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in ("found", *KINDS.values()))
    rows = []
    for system, counts in zip(browser["systems"], error_counts(browser), strict=True):
        chosen = browser["sets"][system["set"]]
        name = system["name"] + (f", {chosen['name']}" if len(browser["sets"]) > 1 else "")
        cells = []
        for kind, count in counts.items():
            query = urlencode({"set": chosen["key"], "system": system["key"], "kind": kind})
            cells.append(f'<td><a href="#sentences?{escape(query)}">{count:,}</a></td>')
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
    return (
        '<details open><summary>All systems</summary><div class="scroll" data-grid><table class="plain counts">'
        "<caption>Triples by system and outcome; each count leads to its sentences</caption><thead><tr>"
        f'<th scope="col">System</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div></details>'
    )


def _about(one: About, drawn: Drawn) -> str:
    facts, origin = one.facts, one.origin
    entries = [
        ("Report", [origin.report_code]),
        ("Trainings", origin.code),
        ("Finished", [" to ".join(dict.fromkeys(origin.finished))] if origin.finished else []),
        ("Devices", origin.devices),
        ("Seeds", origin.seeds or [str(seed) for seed in facts.seeds]),
        ("Settings", [setting.upper() for setting in facts.settings]),
        ("Versions", [f"{name} {' and '.join(found)}" for name, found in origin.versions.items()]),
        ("Configuration", [f"SHA-256 {facts.config_sha256}"] if facts.config_sha256 else []),
    ]
    facts_list = "".join(f"<dt>{name}</dt><dd>{escape(', '.join(values))}</dd>" for name, values in entries if values)
    rows = "".join(
        f'<tr><th scope="row">{escape(where)}</th><td>{escape(role)}</td><td><code>{escape(digest)}</code></td></tr>'
        for where, role, digest in origin.data
    )
    data = (
        '<details><summary>Digests of the data</summary><div class="scroll"><table class="plain"><thead><tr>'
        '<th class="stub" scope="col">Data set</th><th class="stub" scope="col">File</th>'
        f'<th class="stub" scope="col">SHA-256</th></tr></thead><tbody>{rows}</tbody></table></div></details>'
    )
    figures = "".join(map(drawn.figure, one.plots))
    return f"<section><h2>Provenance</h2><dl>{facts_list}</dl>{data if rows else ''}{figures}</section>" + _reproduce(
        one.commands
    )


def _reproduce(commands: Mapping[str, str]) -> str:
    whole = commands.get("report", "")
    rows = "".join(
        f'<tr><th scope="row">{escape(title(name))}</th><td><code>{escape(command)}</code></td></tr>'
        for name, command in commands.items()
        if name != "report"
    )
    return (
        "<section><h2>How to reproduce</h2>"
        "<p>In a checkout of the commit above; where the package is installed, <code>tripleaudit run STUDY.yaml</code> "
        "makes the same. What is up to date is not computed again; to start from the raw data, add "
        "<code>--forceall</code>.</p>"
        + (f"<pre>{escape(whole)}</pre>" if whole else "")
        + '<details><summary>The command of each table</summary><div class="scroll"><table class="plain"><tbody>'
        + f"{rows}</tbody></table></div></details></section>"
    )


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
