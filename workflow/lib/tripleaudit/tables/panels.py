"""Panels of plots as Vega-Lite specifications: what several plots share, and how a plot becomes a
picture on paper.

The report's page draws the same specifications in its own colours, one panel next to the other.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tripleaudit.tables.render.escape import clean

# Okabe and Ito's palette without yellow, which is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
CLIP = re.compile(r"\bclip\d+\b")  # ids that are counted on from one drawing to the next
FAINT = "#8a8f96"  # of what matters less, on white and on black
PAPER = {
    "background": "white",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "gridColor": "#dddddd",
        "labelFontSize": 10,
        "labelLimit": 220,
        "titleFontWeight": "normal",
    },
    "title": {
        "fontSize": 11,
        "fontWeight": "normal",
        "anchor": "start",
        "subtitleFontSize": 9,
        "subtitleColor": FAINT,
    },
    "range": {"category": list(COLOURS)},
}
ROW_HEIGHT = 9  # pixels of one point
WIDTH = 260
Spec = dict[str, Any]


def plot(panels: Sequence[Spec], columns: int = 3, width: int = WIDTH) -> Spec:
    """Return a plot of panels side by side; of none, the words that there is nothing to show."""
    if not panels:
        panels = [
            {
                "data": {"values": [{"text": "not measured"}]},
                "mark": {"type": "text", "color": FAINT},
            }
        ]
        panels[0]["encoding"] = {"text": {"field": "text", "type": "nominal"}}
    sized = [{"width": width, **panel} for panel in panels]
    return {
        "concat": sized,
        "columns": columns,
        "resolve": {"scale": {"color": "independent", "shape": "independent"}},
    }


def to_svg(spec: Spec) -> str:
    """Draw a plot for paper; nothing is loaded, and equal plots give equal text."""
    import vl_convert

    text = vl_convert.vegalite_to_svg(spec, config=PAPER, allowed_base_urls=[])
    ids = {id_: f"clip{number}" for number, id_ in enumerate(dict.fromkeys(CLIP.findall(text)))}
    return CLIP.sub(lambda match: ids[match[0]], text)


def values(rows: Iterable[Mapping[str, Any]]) -> Spec:
    """Return rows as the data of a panel; names of corpora and models hold no characters that a
    page cannot show.
    """
    return {
        "values": [
            {key: clean(one) if isinstance(one, str) else one for key, one in row.items()}
            for row in rows
        ]
    }


def number(
    field: str, title: str | None, domain: Sequence[float] | None = None, **scale: Any
) -> Spec:
    """Return the encoding of a position by a number; with a domain, on a scale that several
    panels share.
    """
    axis = {"title": title, "tickCount": 5}
    return {
        "field": field,
        "type": "quantitative",
        "scale": {**({"domain": list(domain)} if domain else {}), **scale},
        "axis": axis,
    }


def logarithm(field: str, title: str | None, domain: tuple[float, float]) -> Spec:
    """Return the encoding of a position by the logarithm of a number, with labels that stay
    apart.
    """
    low, high = domain
    steps = (1,) if high > 100 * low else (1, 2, 5)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [
        tick
        for decade in decades
        for step in steps
        if low <= (tick := float(f"{step}e{decade}")) <= high
    ]
    return {
        **number(field, title, domain, type="log"),
        "axis": {"title": title, "values": ticks, "format": "~r"},
    }


def series(names: Sequence[str], columns: int = 2, least: int = 2) -> Spec:
    """Return the encoding of a colour (or shape) by name, each panel's names in the same order.

    There is a legend, in so many columns, from so many names on.
    """
    names = list(map(clean, names))
    legend = {"title": None, "orient": "bottom", "columns": columns, "labelLimit": 360 // columns}
    shown = legend if len(names) >= least else None
    return {
        "field": "series",
        "type": "nominal",
        "sort": names,
        "scale": {"domain": names},
        "legend": shown,
    }


def tips(**titles: str) -> list[Spec]:
    """Return what is shown of a point: field -> title, its own name where that is empty."""
    return [
        {"field": name, **({"title": title} if title else {})} for name, title in titles.items()
    ]


def rule(axis: str, of: Spec, **mark: Any) -> Spec:
    """Return the layer of lines from the lower to the upper bound, along an axis with the
    encoding of a position.
    """
    return {
        "mark": {"type": "rule", **mark},
        "encoding": {axis: {**of, "field": "low"}, f"{axis}2": {"field": "high"}},
    }


def dots(size: int, **encoding: Any) -> Spec:
    """Return the layer of points."""
    return {
        "mark": {"type": "point", "filled": True, "size": size, "opacity": 1},
        "encoding": encoding,
    }


def intervals(
    points: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    domain: Sequence[float],
    title: str,
    rows: Sequence[str] = (),
) -> Spec:
    """Return points with their intervals, rows below one another and the series of a row side by
    side.

    A point has ``row``, ``series``, ``value``, ``shown`` and, where they are known, ``low``,
    ``high`` and ``cases``. Rows are given where panels side by side shall have the same; an empty
    title is none.
    """
    rows = list(dict.fromkeys(map(clean, rows or (point["row"] for point in points))))
    axis = {"title": None, "labelLimit": 190}
    x = number("value", title or None, domain)
    colour = series(names)
    return {
        "data": values(points),
        "height": ROW_HEIGHT * (len(names) + 1) * max(len(rows), 1),
        "encoding": {
            "y": {
                "field": "row",
                "type": "nominal",
                "sort": rows,
                "scale": {"domain": rows},
                "axis": axis,
            },
            "yOffset": {
                "field": "series",
                "sort": colour["sort"],
                "scale": {"domain": colour["sort"]},
            },
            "color": colour,
            "tooltip": tips(row="", series="", shown="value", low="", high="", cases=""),
        },
        "layer": [rule("x", x, strokeWidth=2), dots(45, x=x, shape=colour)],
    }


def falling(
    points: Sequence[Mapping[str, Any]], names: Sequence[str], strata: Sequence[str]
) -> Spec:
    """Return F1 in percent by stratum as lines with intervals, that of looking up dashed and pale.

    Points are those of :func:`intervals`, with ``stratum`` and ``looked``.
    """
    colour = series(names)
    x = {
        "field": "stratum",
        "type": "nominal",
        "sort": strata,
        "axis": {"title": None, "labelAngle": 0},
    }
    x["scale"] = {"type": "point", "padding": 0.3}
    y = number("value", "F1 (%)", (0, 100))
    offset = {"field": "series", "sort": list(names), "scale": {"range": [-9, 9]}}
    ranges = rule("y", y, strokeWidth=2, opacity=0.6)
    ranges["encoding"]["xOffset"] = offset
    dashed = {"condition": {"test": "datum.looked", "value": [5, 4]}, "value": [1, 0]}
    return {
        "data": values(points),
        "height": 230,
        "encoding": {
            "x": x,
            "color": colour,
            "tooltip": tips(series="", stratum="", shown="F1 (%)", low="", high="", cases=""),
        },
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"y": y, "strokeDash": dashed, "xOffset": offset},
            },
            ranges,
            dots(55, y=y, shape=colour, xOffset=offset),
        ],
    }


def point(row: str, name: str, cell: Any) -> dict[str, Any]:
    """Return one cell of a table as a point of :func:`intervals`."""
    found: dict[str, Any] = {
        "row": row,
        "series": name,
        "value": round(cell.value, 4),
        "shown": cell.shown + cell.mark,
    }
    if cell.low is not None and cell.high is not None:
        found |= {"low": round(cell.low, 4), "high": round(cell.high, 4)}
    return found | ({} if cell.cases is None else {"cases": cell.cases})
