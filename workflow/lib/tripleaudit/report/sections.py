"""The questions of a report: an answer, its table with sortable columns and linked numbers, and its plot beside it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from tripleaudit.report.charts import chart
from tripleaudit.report.glance import section_id, title, told
from tripleaudit.tables.cells import Cell, Table, runs_of
from tripleaudit.tables.render import to_csv, to_latex, to_markdown
from tripleaudit.tables.render.escape import html as escape
from tripleaudit.tables.render.lines import GAP, lines_of

WIDE = 12  # columns from which a table is printed smaller
SMALL, NARROW = 4, "item narrow"  # columns of a table that shares its row with another one
ROOMY = 5  # columns up to which a plot stands beside its table
Plot = tuple[str, Sequence[dict[str, Any]], str]  # id, panels, caption


@dataclass
class Glossary:
    """The notes of all tables, each once, in the order in which they are needed."""

    notes: dict[str, int] = field(default_factory=dict)

    def number(self, note: str) -> int:
        """Return the number of a note."""
        return self.notes.setdefault(note, len(self.notes) + 1)

    def html(self) -> str:
        """Return the list that the numbers under the tables point to."""
        if not self.notes:
            return ""
        items = "".join(f'<li id="note-{number}">{escape(note)}</li>' for note, number in self.notes.items())
        return (
            '<section id="glossary" aria-labelledby="h-glossary"><h2 id="h-glossary">Notes to the tables</h2>'
            f'<ol class="notes">{items}</ol></section>'
        )


@dataclass
class Section:
    """One question of the study.

    Attributes:
        table: its table, with question and answer.
        compared: one line on reported values, may be empty.
        command: that makes the table again, may be empty.
        plots: further plots: id, panels and caption of each.
    """

    table: Table
    compared: str = ""
    command: str = ""
    plots: Sequence[Plot] = ()


@dataclass
class Drawn:
    """What the sections of a page share: addresses of numbers, notes, plots and texts to copy."""

    address: Callable[[Cell], str]
    glossary: Glossary = field(default_factory=Glossary)
    charts: dict[str, dict[str, Any]] = field(default_factory=dict)
    copies: dict[str, dict[str, str]] = field(default_factory=dict)

    def sections(self, every: Sequence[Section]) -> str:
        """Return the questions as HTML; neighbours with small tables and no plot stand side by side."""
        rows = groupby(map(self.section, every), lambda text: f'class="{NARROW}"' in text)
        joined = (("".join(items), narrow) for narrow, items in rows)
        return "".join(f'<div class="row">{text}</div>' if narrow else text for text, narrow in joined)

    def section(self, one: Section) -> str:
        """Return one question as HTML."""
        id_ = section_id(one.table.name)
        if spec := chart(one.table, self.address):
            self.charts[id_] = spec
        self.copies[id_] = {
            "CSV": to_csv(one.table),
            "Markdown": to_markdown(one.table),
            "LaTeX": to_latex(one.table),
        }
        figures = _chart(id_, one.table.question) if id_ in self.charts else ""
        figures += "".join(map(self.figure, one.plots))
        beside = " beside" if figures and len(one.table.columns) <= ROOMY else ""
        kind = "item" if figures or len(one.table.columns) > SMALL else NARROW
        made = f"<details><summary>Make this table again</summary><pre>{escape(one.command)}</pre></details>"
        return (
            f'<article class="{kind}" id="{id_}"><h3>{escape(one.table.question)}</h3>'
            + (f'<p class="answer">{unbroken(escape(one.table.answer))}</p>' if one.table.answer else "")
            + (f'<p class="compared">{escape(one.compared)}</p>' if one.compared else "")
            + f'<div class="pair{beside}"><div>{self._table(one.table, id_)}</div>'
            + (f'<div class="figures">{figures}</div>' if figures else "")
            + "</div>"
            + self._foot(one.table, id_, made if one.command else "")
            + "</article>"
        )

    def figure(self, plot: Plot) -> str:
        """Return a plot as HTML, its panels side by side where there is room."""
        id_, panels, caption = plot
        ids = [f"{id_}-{number}" for number in range(len(panels))]
        self.charts |= dict(zip(ids, panels, strict=True))
        drawn = "".join(_chart(panel, caption) for panel in ids)
        return (
            f'<figure id="{id_}"><div class="panels">{drawn}</div><figcaption>{escape(caption)}</figcaption></figure>'
        )

    def _foot(self, table: Table, id_: str, made: str) -> str:
        numbers = sorted(map(self.glossary.number, table.notes))
        links = ", ".join(f'<a href="#note-{number}">{number}</a>' for number in numbers)
        buttons = "".join(
            f'<button type="button" class="copy" data-table="{id_}" data-form="{form}">{form}</button>'
            for form in self.copies[id_]
        )
        notes = f'<span class="refs">Notes {links}</span>' if links else ""
        return f'<div class="foot" data-grid>{notes}<span class="copies">Copy as {buttons}</span>{made}</div>'

    def _table(self, table: Table, id_: str) -> str:
        stubs = ([table.group_header] if table.has_row_groups else []) + [table.row_header]
        wide = " wide" if len(stubs) + len(table.columns) > WIDE else ""
        lines = [
            f'<p class="caption" id="{id_}-caption">{escape(table.caption)}</p>'
            f'<div class="scroll ta-table{wide}" data-grid><table data-sortable="{id_}" '
            f'aria-labelledby="{id_}-caption"><thead>',
            self._heads(table, stubs),
            "</thead><tbody>",
        ]
        before = None
        for number, row in enumerate(table.rows):
            again = row.group == before and number > 0
            before = row.group
            cells = []
            if table.has_row_groups:
                cells.append(f'<th scope="row" class="of{" again" if again else ""}">{escape(row.group)}</th>')
            cells.append(f'<th scope="row">{escape(row.label)}</th>')
            cells += [_cell(cell, self.address(cell)) for cell in row.cells]
            first = ' class="first"' if table.has_row_groups and number and not again else ""
            lines.append(f"<tr{first}>{''.join(cells)}</tr>")
        lines.append("</tbody></table></div>")
        return "".join(lines)

    def _heads(self, table: Table, stubs: Sequence[str]) -> str:
        def head(text: str, place: int, kind: str = "") -> str:
            button = f'<button type="button" class="sort" data-column="{place}">{escape(text) or "&nbsp;"}</button>'
            span = ' rowspan="2"' if kind and table.has_column_groups else ""
            return f'<th scope="col"{kind}{span}>{button}</th>'

        first = "".join(head(text, place, ' class="stub"') for place, text in enumerate(stubs))
        own = "".join(head(column.label, place) for place, column in enumerate(table.columns, len(stubs)))
        if not table.has_column_groups:
            return f"<tr>{first}{own}</tr>"
        groups = "".join(
            f'<th class="group" scope="colgroup" colspan="{size}">{escape(group)}</th>'
            if group
            else f'<td colspan="{size}"></td>'
            for group, size in runs_of([column.group for column in table.columns])
        )
        return f"<tr>{first}{groups}</tr><tr>{own}</tr>"


def _chart(id_: str, told: str) -> str:
    return f'<div class="chart" data-chart="{id_}" role="img" aria-label="{escape(told)}"></div>'


def _cell(cell: Cell, href: str) -> str:
    lines = lines_of(cell)
    main = escape(lines.main) if cell.text is not None else _numbers(lines.main)
    if lines.main == GAP:
        main = f'<span class="gap">{main}</span>'
    if cell.bold:
        main = f"<strong>{main}</strong>"
    if href:
        main = f'<a href="{escape(href)}" title="{escape(told(cell) or "sentences")}">{main}</a>'
    parts = [main]
    if lines.interval:
        parts.append(f'<span class="range">{_numbers(lines.interval)}</span>')
    if lines.reported:
        delta = f", \u0394 {lines.difference}" if lines.difference else ""
        parts.append(f'<span class="sub">reported {_numbers(lines.reported + delta)}</span>')
    value = "" if cell.value is None else f' data-v="{cell.value:.6g}"'
    return f"<td{value}>{' '.join(parts)}</td>"


def contents(sections: Sequence[Section]) -> str:
    """Return links to all questions by their short names."""
    items = "".join(
        f'<li><a href="#{section_id(one.table.name)}">{escape(title(one.table.name))}</a></li>' for one in sections
    )
    return f'<nav class="contents" aria-label="Questions" data-grid><ul>{items}</ul></nav>'


def unbroken(markup: str) -> str:
    """Escaped text whose percent signs stay on the line of their numbers."""
    return re.sub(r" %", "&nbsp;%", markup)


def _numbers(text: str) -> str:
    return escape(text.replace("-", "\u2212"))
