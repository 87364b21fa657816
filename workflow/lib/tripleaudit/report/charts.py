"""Plots of the report as Vega-Lite specifications, which the page's script draws.

Every table of scores has the same plot: a point and its interval for each cell, on one scale for
the whole study.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.significance import MIN_CASES
from tripleaudit.tables import labels, panels
from tripleaudit.tables.cells import Cell, Column, Table

MOST_SERIES, MOST_POINTS = 8, 90  # of one plot; a longer table speaks for itself
Address = Callable[[Cell], str]


def chart(table: Table, address: Address) -> dict[str, Any] | None:
    """Return the plot of a table's scores; None without intervals or with too few cases.

    If some columns are F1, only they are drawn.
    """
    full = table.full
    columns = [
        position for position in range(len(table.columns)) if _drawn(table, position, full, "")
    ]
    columns = [position for position in columns if _drawn(table, position, full, "f1")] or columns
    columns = columns[:MOST_SERIES]
    if full is None or not 0 < len(columns) * len(table.rows) <= MOST_POINTS:
        return None
    groups = len({row.group for row in table.rows}) > 1
    points, series = [], [_name(table.columns[position]) for position in columns]
    for row in table.rows:
        for position, name in zip(columns, series, strict=True):
            cell = row.cells[position]
            if cell.value is None or cell.full != full:
                continue
            of = f"{row.group}: {row.label}" if groups and row.group else row.label
            href = address(cell)
            points.append(panels.point(of, name, cell) | ({"href": href} if href else {}))
    if all(point.get("cases", MIN_CASES) < MIN_CASES for point in points):  # also without a point
        return None
    drawn = panels.intervals(points, series, (0, int(full)), "%" if full == 100 else "")
    return responsive(panels.to_spec(drawn))


def by_stratum(table: Table) -> dict[str, Any] | None:
    """Return F1 by stratum: a line for each system, and a dashed line for the look-up.

    Of a table with several corpora, those of the first are drawn; None for a table without these
    scores. Where there are more systems than lines fit, those with the greatest F1 are drawn.
    """
    cells = [
        cell
        for cell in table.find(metric="f1")
        if table.full == 100 and cell.of["stratum"] in labels.SHORT_TYPES
    ]
    corpora = dict.fromkeys(labels.corpus(cell.of["corpus"]) for cell in cells)
    cells = [cell for cell in cells if cell.of["corpus"] == cells[0].of["corpus"]]
    named = [(labels.extractor(cell.of["extractor"], cell.of["noise"]), cell) for cell in cells]
    drawn = Counter(name for name, _ in named)
    trivial = list(map(labels.extractor, BASELINES))
    looked = [name for name in trivial if drawn[name] > 1][:1]  # a line needs two
    systems = [name for name, points in drawn.items() if points > 1 and name not in trivial]
    names = _most_important(systems, table, next(iter(corpora), ""))
    points = [
        {
            **panels.point(name, name, cell),
            "stratum": labels.TYPES[cell.of["stratum"]],
            "looked": name in looked,
        }
        for name, cell in named
        if name in (*names, *looked)
    ]
    if not names:
        return None
    panel = panels.to_spec(
        panels.falling(points, [*names, *looked], list(labels.TYPES.values())[:3])
    )
    return responsive({**panel, "title": next(iter(corpora))} if len(corpora) > 1 else panel)


def _most_important(systems: list[str], table: Table, corpus: str) -> list[str]:
    """Return the systems that get a line, in the order of the table."""
    f1: dict[str, float] = {}
    for cell in table.find(metric="f1", stratum="all"):
        if labels.corpus(cell.of["corpus"]) == corpus:
            f1.setdefault(labels.extractor(cell.of["extractor"], cell.of["noise"]), cell.value)

    chosen = sorted(systems, key=lambda name: -f1.get(name, 0.0))[: MOST_SERIES - 1]
    return [name for name in systems if name in chosen]


def responsive(panel: dict[str, Any]) -> dict[str, Any]:
    """Return a panel that is as wide as its column on the page."""
    return {**panel, "width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}


def read_plot(path: str | Path) -> list[dict[str, Any]]:
    """Return the panels of ``plots/NAME.json``.

    Raises:
        UserError: the file is missing or is no plot of this program.
    """
    spec = read_json(path)
    drawn = spec.get("concat") if isinstance(spec, dict) else None
    if not isinstance(drawn, list) or not all(isinstance(panel, dict) for panel in drawn):
        raise UserError(f"{path}: not a plot; expected a Vega-Lite specification with 'concat'")
    return list(map(responsive, drawn))


def script() -> str:
    """Return the script that draws: Vega-Lite and its dependencies from vl-convert-python."""
    import vl_convert

    return vl_convert.javascript_bundle(None)


def _drawn(table: Table, position: int, full: float | None, metric: str) -> bool:
    cells = [row.cells[position] for row in table.rows]
    return any(
        cell.full and cell.full == full and cell.of and metric in ("", cell.of["metric"])
        for cell in cells
    )


def _name(column: Column) -> str:
    return " ".join(filter(None, (column.group, column.label)))
