"""The report as one HTML page that loads nothing: a head with a policy that forbids it, and the sections in order."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.report.browser import error_counts
from tripleaudit.report.inputs import StudyFacts
from tripleaudit.report.kinds import KINDS
from tripleaudit.report.origin import Origin
from tripleaudit.report.table_files import TableFile
from tripleaudit.tables.render.escape import html as escape

ASSETS = Path(__file__).parent / "assets"
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
WIDE = 12  # columns from which a table is printed smaller
WORDS = {"f1": "F1", "zcc": "ZCC", "gre": "GREScores:", "minea": "MINEA", "llm": "LLM"}
PLOTS = {
    "type-f1": (
        "Type F1",
        "F1 by kind of triple",
        "Entirely seen, partially seen and unseen in training. Lines are 95 % bootstrap intervals over test sentences.",
    ),
    "cardinality-drop": (
        "Drop from NZ to WZ",
        "F1 when sentences without triples are added to the test",
        "From the test set with triples only (NZ) to the one with zero-triple sentences (WZ); the number is the drop "
        "in points, lines are 95 % intervals.",
    ),
    "zcc-curves": (
        "Classifier curves",
        "Precision and recall of the zero-cardinality classifiers",
        "On the class “has triples”, over all thresholds; the mark is the operating point, AP the average precision.",
    ),
    "gre-scores": (
        "GREScores",
        "GREScores",
        "One panel a score, in percent; lines are 95 % bootstrap intervals over texts, a diamond is the value that the "
        "paper prints.",
    ),
    "lost-in-the-middle": (
        "Lost in the middle",
        "Redundancy by position in the document",
        "The share of entities that come back when a part is shown once more. A model that uses its history repeats "
        "little; a rise between the ends is what “lost in the middle” means.",
    ),
    "training-curves": (
        "Training curves",
        "Training loss and validation F1 over epochs",
        "Dashed: with Entity Noising; pale: trained on other training sets than the original without zero triples.",
    ),
    "time-memory": (
        "Time and memory",
        "Time and memory of each extractor",
        "Wall time, and the greatest main memory that a training held, from the jobs' benchmark files. A training that "
        "was stopped and resumed counts from its last start; memory of a GPU is not in it.",
    ),
}
"""Plot -> name, title and what to see, in the order of the page."""


def page(
    facts: StudyFacts,
    tables: Sequence[tuple[TableFile, str, str]],
    plots: Mapping[str, str],
    browser: Mapping[str, Any] | None,
    origin: Origin,
    commands: Mapping[str, str],
) -> str:
    """Return the whole page.

    Args:
        facts: of the study.
        tables: each with its question and answer.
        plots: name -> SVG markup (:func:`tripleaudit.report.svg.inline_svg`).
        browser: :func:`tripleaudit.report.browser.browser_data`, or ``None`` for no error browser.
        origin: provenance.
        commands: target file name -> command that makes it again, plain text.
    """
    links = "".join(f'<li><a href="#{_id(table.name)}">{escape(_title(table.name))}</a></li>' for table, _, _ in tables)
    plot_links = "".join(
        f'<li><a href="#{_plot_id(name)}">{escape(PLOTS[name][0] if name in PLOTS else _title(name))}</a></li>'
        for name in plots
    )
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(facts.name)} – tripleaudit report</title>",
        f"<style>\n{_asset('page.css')}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#content">Skip to the tables</a>',
        '<div class="page">',
        f'<header><p class="kicker">tripleaudit report</p><h1>{escape(facts.name)}</h1>'
        f"<p>{escape(facts.description)}</p></header>",
        '<nav aria-label="Contents"><ul>',
        f'<li><a href="#tables">Tables</a><ul>{links}</ul></li>' if tables else "",
        f'<li><a href="#plots">Plots</a><ul>{plot_links}</ul></li>' if plots else "",
        '<li><a href="#errors">Error browser</a></li>' if browser else "",
        '<li><a href="#provenance">Provenance</a></li><li><a href="#reproduce">How to reproduce</a></li>',
        "</ul></nav>",
        '<main id="content">',
        _tables(tables, commands),
        _plots(plots),
        _browser(browser),
        _provenance(facts, origin),
        _reproduce(commands),
        "</main>",
        f"<footer>Written by {escape(origin.report_code)}. This page holds all of its data and loads nothing.</footer>",
        "</div>",
    ]
    if browser:
        parts.append(f'<script type="application/json" id="browser-data">{script_json(browser)}</script>')
        parts.append(f"<script>\n{_asset('browser.js')}</script>")
    parts += ["</body>", "</html>"]
    return "\n".join(part for part in parts if part) + "\n"


def script_json(value: Any) -> str:
    r"""Write JSON that may stand in a ``<script>``: ASCII, and no ``<``, ``>`` or ``&`` but as ``\u003c`` and so on."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _tables(tables: Sequence[tuple[TableFile, str, str]], commands: Mapping[str, str]) -> str:
    items = []
    for table, question, answer in tables:
        command = commands.get(table.name, "")
        items.append(
            f'<div class="item" id="{_id(table.name)}"><h3>{escape(question)}</h3>'
            + (f'<p class="answer">{_unbroken(escape(answer))}</p>' if answer else "")
            + (f'<p class="compared">{escape(table.compared)}</p>' if table.compared else "")
            + _scrollable(table)
            + (f"<details><summary>Make this table again</summary>{_command(command)}</details>" if command else "")
            + "</div>"
        )
    return f'<section id="tables" aria-labelledby="h-tables"><h2 id="h-tables">Tables</h2>{"".join(items)}</section>'


def _scrollable(table: TableFile) -> str:
    """The fragment as a region that the keyboard reaches and scrolls."""
    last_head = table.fragment.partition("</thead>")[0].rpartition("<tr")[2]
    wide = "ta-table wide" if last_head.count("<th") > WIDE else "ta-table"
    return table.fragment.replace(
        '<section class="ta-table"', f'<section tabindex="0" aria-label="{table.caption}" class="{wide}"', 1
    )


def _plots(plots: Mapping[str, str]) -> str:
    if not plots:
        return ""
    figures = "".join(
        f'<figure id="{_plot_id(name)}"><h3>{escape(plot_title(name))}</h3>{svg}'
        f"<figcaption>{escape(PLOTS[name][2] if name in PLOTS else '')}</figcaption></figure>"
        for name, svg in plots.items()
    )
    return (
        f'<section id="plots" aria-labelledby="h-plots"><h2 id="h-plots">Plots</h2><div class="plots">{figures}</div>'
        "</section>"
    )


def plot_title(name: str) -> str:
    """What a plot shows, in words."""
    return PLOTS[name][1] if name in PLOTS else _title(name)


def plot_rank(name: str) -> tuple[int, str]:
    """Sort key of plots: the order of the page, others behind by name."""
    return (list(PLOTS).index(name) if name in PLOTS else len(PLOTS), name)


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
    return f"""<section id="errors" aria-labelledby="h-errors"><h2 id="h-errors">Error browser</h2>
<p class="answer">Every test sentence with what it states and what was predicted, judged by exact string matching.
{escape(capped)}</p>
{_error_table(browser)}
<form id="filters" class="filters" aria-label="Filter sentences">
<label>Text contains <input id="filter-text" name="text" type="search" autocomplete="off"></label>
<label>Corpus <select id="filter-corpus" name="corpus"><option value="">all</option></select></label>
<label>Extractor <select id="filter-system" name="system"><option value="">all</option></select></label>
<label>Relation <select id="filter-relation" name="relation"><option value="">all</option></select></label>
<label>Stratum <select id="filter-stratum" name="stratum"><option value="">all</option></select></label>
<label>Kind of triple <select id="filter-kind" name="kind"><option value="">all</option></select></label>
<button type="reset">Clear filters</button>
</form>
<p class="legend"><mark class="correct">found</mark>, <mark class="missed">missed</mark> and
<mark class="wrong">wrongly predicted</mark> arguments are marked in the text; point at a triple, or move to it with
the Tab key, to see its own.</p>
<div class="pager"><button type="button" id="previous-page">Previous</button>
<button type="button" id="next-page">Next</button><p id="browser-status" role="status" aria-live="polite"></p></div>
<ol id="sentences" aria-label="Sentences"></ol>
<noscript><p>The error browser needs JavaScript; everything else on this page does not.</p></noscript>
</section>"""


def _error_table(browser: Mapping[str, Any]) -> str:
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in ("found", *KINDS.values()))
    several = len(browser["corpora"]) > 1
    rows = []
    for system, counts in zip(browser["systems"], error_counts(browser), strict=True):
        name = system["name"] + (f", {browser['corpora'][system['corpus']]}" if several else "")
        cells = "".join(f'<td class="number">{count:,}</td>' for count in counts.values())
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return (
        '<div class="scroll"><table class="plain counts"><caption>Triples by extractor and kind of error</caption>'
        f'<thead><tr><th scope="col">Extractor</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _provenance(facts: StudyFacts, origin: Origin) -> str:
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
    return (
        '<section id="provenance" aria-labelledby="h-provenance"><h2 id="h-provenance">Provenance</h2>'
        f"<dl>{facts_list}</dl>{data if rows else ''}</section>"
    )


def _reproduce(commands: Mapping[str, str]) -> str:
    whole = commands.get("report", "")
    rows = "".join(
        f'<tr><th scope="row">{escape(_title(name))}</th><td><code>{escape(command)}</code></td></tr>'
        for name, command in commands.items()
        if name != "report"
    )
    return (
        '<section id="reproduce" aria-labelledby="h-reproduce"><h2 id="h-reproduce">How to reproduce</h2>'
        "<p>In a checkout of the commit above. What is up to date is not computed again; to start from the raw data, "
        "add <code>--forceall</code>.</p>"
        + (_command(whole) if whole else "")
        + f'<div class="scroll"><table class="plain"><tbody>{rows}</tbody></table></div></section>'
    )


def _unbroken(markup: str) -> str:
    """Escaped text whose percent signs stay on the line of their numbers."""
    return markup.replace(" %", "&nbsp;%")


def _command(command: str) -> str:
    return f"<pre>{escape(command)}</pre>"


def _title(name: str) -> str:
    words = [WORDS.get(word, word) for word in name.split("-")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def _plot_id(name: str) -> str:
    return "p" + _id(name)[1:]


def _id(name: str) -> str:
    return "t-" + "".join(char if char.isascii() and (char.isalnum() or char == "-") else "-" for char in name)


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
