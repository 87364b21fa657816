"""The questions of a report: a table with its answer, the plots beside it, its notes and the forms to copy."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tripleaudit.report.charts import chart
from tripleaudit.report.glance import section_id
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.render import to_csv, to_latex, to_markdown

SMALL = 4  # columns of a table that shares its row with another one
FORMS = {"CSV": to_csv, "Markdown": to_markdown, "LaTeX": to_latex}


class Plot(NamedTuple):
    """A plot of the study: Vega-Lite specifications of its panels by their ids, and what to see."""

    id: str
    charts: dict[str, dict[str, Any]]
    caption: str


@dataclass
class Section:
    """One question of the study.

    Attributes:
        table: its table, with question and answer.
        command: that makes the table again.
        plots: further plots.
        chart: whether the page draws the table's own scores.
        notes: numbers of the table's notes.
    """

    table: Table
    command: str
    plots: list[Plot]
    chart: bool = False
    notes: list[int] = field(default_factory=list)

    @property
    def id(self) -> str:
        return section_id(self.table.name)

    @property
    def drawn(self) -> bool:
        """Whether a plot stands beside the table."""
        return self.chart or bool(self.plots)

    @property
    def narrow(self) -> bool:
        """Whether it shares its row with others."""
        return not self.drawn and len(self.table.columns) <= SMALL


@dataclass
class Shared:
    """What the sections of a page share: all notes with their numbers, all plots, and texts to copy, by section."""

    notes: dict[str, int] = field(default_factory=dict)
    charts: dict[str, dict[str, Any]] = field(default_factory=dict)
    copies: dict[str, dict[str, str]] = field(default_factory=dict)


def share(sections: Iterable[Section], address: Callable[[Cell], str]) -> Shared:
    """Number the notes in the order in which they are needed, and draw the tables' scores."""
    shared = Shared()
    for one in sections:
        if spec := chart(one.table, address):
            one.chart, shared.charts[one.id] = True, spec
        for plot in one.plots:
            shared.charts |= plot.charts
        one.notes = sorted(shared.notes.setdefault(note, len(shared.notes) + 1) for note in one.table.notes)
        shared.copies[one.id] = {name: form(one.table) for name, form in FORMS.items()}
    return shared
