"""Plots of a page as Vega-Lite specifications: drawn by the page's own script, in its colours, with what they show.

Every table of scores has the same plot: a point and its interval for each cell, on one scale for the whole study.
"""

from collections.abc import Callable
from typing import Any

from tripleaudit.tables.cells import Cell, Column, Table

MOST_SERIES, MOST_POINTS = 8, 90  # of one plot; a longer table speaks for itself
ROW_HEIGHT = 9  # pixels of one point
Address = Callable[[Cell], str]


def chart(table: Table, address: Address) -> dict[str, Any] | None:
    """Return the plot of a table's scores, None for a table without intervals.

    Where some columns are F1, they alone are drawn: precision and recall stand in the table.
    """
    columns = [place for place in range(len(table.columns)) if _drawn(table, place, "")]
    columns = [place for place in columns if _drawn(table, place, "f1")] or columns
    full = max((cell.full for row in table.rows for cell in row.cells if cell.full), default=None)
    columns = columns[:MOST_SERIES]
    if full is None or not 0 < len(columns) * len(table.rows) <= MOST_POINTS:
        return None
    groups = len({row.group for row in table.rows}) > 1
    values, series = [], [_name(table.columns[place]) for place in columns]
    for row in table.rows:
        for place, name in zip(columns, series, strict=True):
            cell = row.cells[place]
            if cell.value is None or cell.full != full:
                continue
            of = f"{row.group}: {row.label}" if groups and row.group else row.label
            point: dict[str, Any] = {"row": of, "series": name}
            point |= {"value": round(cell.value, 4), "shown": cell.shown + cell.mark}
            if cell.low is not None and cell.high is not None:
                point |= {"low": round(cell.low, 4), "high": round(cell.high, 4)}
            if cell.cases is not None:
                point["cases"] = cell.cases
            if href := address(cell):
                point["href"] = href
            values.append(point)
    if not values:
        return None
    percent = full == 100
    x = {
        "type": "quantitative",
        "scale": {"domain": [0, full]},
        "axis": {"title": "%" if percent else None, "tickCount": 5},
    }
    y = {"field": "row", "type": "nominal", "sort": None, "axis": {"title": None, "labelLimit": 190}}
    offset = {"field": "series", "sort": series}
    colour = {
        "field": "series",
        "type": "nominal",
        "sort": series,
        "legend": {"title": None, "orient": "bottom", "columns": 2, "labelLimit": 190} if len(series) > 1 else None,
    }
    tips = [("row", ""), ("series", ""), ("shown", "value"), ("low", ""), ("high", ""), ("cases", "")]
    tooltip = [{"field": name, **({"title": label} if label else {})} for name, label in tips]
    shape = {"field": "series", "type": "nominal", "sort": series, "legend": None}
    return {
        "data": {"values": values},
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "height": ROW_HEIGHT * (len(series) + 1) * len({point["row"] for point in values}),
        "encoding": {"y": y, "yOffset": offset, "color": colour, "tooltip": tooltip},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1, "cursor": "pointer"},
                "encoding": {"x": {**x, "field": "value"}, "shape": shape},
            },
        ],
    }


def script() -> str:
    """Return the script that draws: Vega-Lite with what it needs, as the package vl-convert-python carries it."""
    import vl_convert

    return vl_convert.javascript_bundle(None)


def _drawn(table: Table, place: int, metric: str) -> bool:
    cells = [row.cells[place] for row in table.rows]
    return any(cell.full and cell.of and metric in ("", cell.of["metric"]) for cell in cells)


def _name(column: Column) -> str:
    return " ".join(filter(None, (column.group, column.label)))
