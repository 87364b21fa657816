"""Parts of the report's page: sections with tables and plots, outcomes of triples and facts."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tripleaudit.report import charts
from tripleaudit.report.browser import error_counts
from tripleaudit.report.overview import section_id, title
from tripleaudit.tables.cells import Table
from tripleaudit.tables.render import to_csv, to_latex, to_markdown

READS = ("report/assets/*",)
ASSETS = Path(__file__).parent / "assets"
WIDE = 12  # columns from which a table is printed smaller
LEAD = "lead"  # the id of the first screen's plot
ROOMY = 5  # columns up to which a plot stands next to its table
FORMS = {"CSV": to_csv, "Markdown": to_markdown, "LaTeX": to_latex}
PLOTS = {
    "zcc-curves": (
        "zcc",
        "Precision and recall of the zero-cardinality classifiers. On the class “has triples”, over all thresholds; "
        "the mark is the operating point, AP the average precision.",
    ),
    "f1-cost": (
        "efficiency",
        "F1 against what it takes. Up is better, left is cheaper. Each point is a row of the table, its line the 95 % "
        "interval of F1.",
    ),
    "lost-in-the-middle": (
        "lost-in-the-middle",
        "Redundancy by position in the document. The share of entities that come back when a part is shown once more. "
        "A model that uses its history repeats little; a rise between the ends is what “lost in the middle” means.",
    ),
    "training-curves": (
        "training-time",
        "Training loss and validation F1 over epochs. Dashed: with Entity Noising; pale: trained on other training "
        "sets than the original without zero triples.",
    ),
    "time-memory": (
        "training-time",
        "Time and memory of each extractor. Wall time, and the greatest main memory that a training held, from the "
        "jobs' benchmark files. A training that was stopped and resumed counts from its last start; memory of a GPU is "
        "not in it.",
    ),
}
"""Plot -> the table next to which it stands, and its caption."""
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


class Plot(NamedTuple):
    """A plot of the study: Vega-Lite specifications of its panels by their ids, what to see, and its table."""

    id: str
    charts: dict[str, dict[str, Any]]
    caption: str
    table: str = ""


class Section(NamedTuple):
    """The section of one table.

    Attributes:
        table: its table.
        command: that makes the table again.
        plots: further plots.
        chart: of the table's own scores.
        notes: numbers of the table's notes.
    """

    table: Table
    command: str
    plots: list[Plot]
    chart: dict[str, Any] | None
    notes: list[int]

    @property
    def id(self) -> str:
        return section_id(self.table.name)

    @property
    def drawn(self) -> bool:
        """Whether a plot stands next to the table."""
        return bool(self.chart or self.plots)


def plots_of(paths: Iterable[str | Path]) -> dict[str, Plot]:
    """Return plots by name, those of the program first."""
    files = {path.stem: path for path in map(Path, paths)}
    shipped = [name for name in PLOTS if name in files]
    others = [name for name in files if name not in PLOTS]
    plots: dict[str, Plot] = {}
    for name in (*shipped, *others):
        id_ = f"p0-{section_id(name)[2:]}"
        table, caption = PLOTS.get(name, ("", f"{title(name)}."))
        panels = charts.read_plot(files[name])
        numbered = {f"{id_}-{number}": panel for number, panel in enumerate(panels)}
        plots[name] = Plot(id_, numbered, caption, table)
    return plots


def script_json(value: Any) -> str:
    r"""Write JSON that may stand in a ``<script>``: ASCII, and no ``<``, ``>`` or ``&`` but as ``\u003c`` and so on."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def errors(browser: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return each system with the address and the number of its triples of each outcome."""
    rows = []
    for system, counts in zip(browser["systems"], error_counts(browser), strict=True):
        chosen = browser["sets"][system["set"]]
        name = system["name"] + (f", {chosen['name']}" if len(browser["sets"]) > 1 else "")
        of = {"set": chosen["key"], "system": system["key"]}
        rows.append(
            (
                name,
                [
                    (f"#sentences?{urlencode(of | {'kind': kind})}", count)
                    for kind, count in counts.items()
                ],
            )
        )
    return rows


def asset(name: str) -> str:
    """Return a file of the page."""
    return (ASSETS / name).read_text(encoding="utf-8")
