"""Panels of plots in Altair: shared parts, and the conversion of a plot to an image.

A panel is a chart; a plot is a Vega-Lite specification of panels side by side. The report's page
draws the same specifications in its own colours, one panel next to the other.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

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
Panel = alt.Chart | alt.LayerChart | alt.FacetChart
Spec = dict[str, Any]


def plot(panels: Sequence[Panel], columns: int = 3, width: int = WIDTH) -> Spec:
    """Return a plot of panels side by side; of none, the words that there is nothing to show."""
    if not panels:
        text = alt.Text("text:N")
        panels = [alt.Chart(values([{"text": "not measured"}])).mark_text(color=FAINT).encode(text)]
    return {
        "concat": [{"width": width, **to_spec(panel)} for panel in panels],
        "columns": columns,
        "resolve": {"scale": {"color": "independent", "shape": "independent"}},
    }


def to_spec(panel: Panel) -> Spec:
    """Return a panel as Vega-Lite, without a theme and with its data in it."""
    with alt.data_transformers.enable("default", consolidate_datasets=False, max_rows=None):
        spec = panel.to_dict()
    return {key: value for key, value in spec.items() if key not in ("$schema", "config")}


def to_svg(spec: Spec) -> str:
    """Draw a plot for paper; nothing is loaded, and equal plots give equal text."""
    import vl_convert

    text = vl_convert.vegalite_to_svg(spec, config=PAPER, allowed_base_urls=[])
    ids = {id_: f"clip{number}" for number, id_ in enumerate(dict.fromkeys(CLIP.findall(text)))}
    return CLIP.sub(lambda match: ids[match[0]], text)


def values(rows: Iterable[Mapping[str, Any]]) -> alt.Data:
    """Return rows as the data of a panel, with names that a page can show."""
    cleaned = [
        {key: clean(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows
    ]
    return alt.Data(values=cleaned)


def number(
    channel: Any, field: str, title: str | None, domain: Sequence[float] | None = None
) -> Any:
    """Return a position by a number.

    Args:
        channel: ``alt.X`` or ``alt.Y``.
        field: of the data.
        title: of the axis; None for none.
        domain: that several panels share; None for that of the data.
    """
    scale = alt.Scale(domain=list(domain)) if domain else alt.Undefined
    axis = alt.Axis(title=title, tickCount=5)
    return channel(field, type="quantitative", scale=scale, axis=axis)


def logarithm(channel: Any, field: str, title: str | None, domain: tuple[float, float]) -> Any:
    """Return a position by the logarithm of a number, with labels that stay apart."""
    scale = alt.Scale(domain=list(domain), type="log")
    axis = alt.Axis(title=title, values=log_ticks(*domain), format="~r")
    return channel(field, type="quantitative", scale=scale, axis=axis)


def log_ticks(low: float, high: float) -> list[float]:
    """Return the ticks of a logarithmic axis: 1, 2, 5 of a decade, or powers of ten."""
    steps = (1,) if high > 100 * low else (1, 2, 5)
    first = math.floor(math.log10(low))
    last = math.ceil(math.log10(high))
    ticks = []
    for decade in range(first, last + 1):
        candidates = [float(f"{step}e{decade}") for step in steps]
        ticks += [tick for tick in candidates if low <= tick <= high]
    return ticks


def series(
    channel: Any, names: Sequence[str], columns: int = 2, least: int = 2, **scale: Any
) -> Any:
    """Return the colour or shape of a series, each panel's names in the same order.

    Args:
        channel: ``alt.Color`` or ``alt.Shape``.
        names: of the series.
        columns: of the legend.
        least: number of names from which there is a legend.
        scale: further properties of the scale, such as its ``range``.
    """
    names = list(map(clean, names))
    legend = None
    if len(names) >= least:
        limit = 360 // columns
        legend = alt.Legend(title=None, orient="bottom", columns=columns, labelLimit=limit)
    return channel("series:N", sort=names, scale=alt.Scale(domain=names, **scale), legend=legend)


def tips(**titles: str) -> list[alt.Tooltip]:
    """Return what is shown of a point: field -> title, its own name where that is empty."""
    return [
        alt.Tooltip(name, type="nominal", title=title or alt.Undefined)
        for name, title in titles.items()
    ]


def intervals(
    points: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    domain: Sequence[float],
    title: str,
    rows: Sequence[str] = (),
) -> Panel:
    """Return points with intervals, one row below another, series of a row side by side.

    A point has ``row``, ``series``, ``value``, ``shown`` and, where they are known, ``low``,
    ``high`` and ``cases``. Rows are given where panels side by side shall have the same; an empty
    title is none.
    """
    rows = list(dict.fromkeys(map(clean, rows or (point["row"] for point in points))))
    names = list(map(clean, names))
    axis = alt.Axis(title=None, labelLimit=190)
    base = alt.Chart(values(points)).encode(
        alt.Y("row:N", sort=rows, scale=alt.Scale(domain=rows), axis=axis),
        alt.YOffset("series:N", sort=names, scale=alt.Scale(domain=names)),
        series(alt.Color, names),
        tooltip=tips(row="", series="", shown="value", low="", high="", cases=""),
    )
    x_axis = title or None
    bounds = number(alt.X, "low", x_axis, domain), alt.X2("high")
    dots = base.mark_point(filled=True, size=45, opacity=1, cursor="pointer")
    layers = (
        base.mark_rule(strokeWidth=2).encode(*bounds),
        dots.encode(number(alt.X, "value", x_axis, domain), series(alt.Shape, names)),
    )
    height = ROW_HEIGHT * (len(names) + 1) * max(len(rows), 1)
    return alt.layer(*layers).properties(height=height)


def falling(
    points: Sequence[Mapping[str, Any]], names: Sequence[str], strata: Sequence[str]
) -> Panel:
    """Return F1 in percent by stratum as lines with intervals, that of looking up dashed and pale.

    Points are those of :func:`intervals`, with ``stratum`` and ``looked``.
    """
    names = list(map(clean, names))
    base = alt.Chart(values(points)).encode(
        alt.X(
            "stratum:N",
            sort=list(strata),
            axis=alt.Axis(title=None, labelAngle=0),
            scale=alt.Scale(type="point", padding=0.3),
        ),
        alt.XOffset("series:N", sort=names, scale=alt.Scale(range=[-9, 9])),
        series(alt.Color, names),
        tooltip=tips(series="", stratum="", shown="F1 (%)", low="", high="", cases=""),
    )
    f1 = number(alt.Y, "value", "F1 (%)", (0, 100))
    dashed = alt.condition("datum.looked", alt.value([5, 4]), alt.value([1, 0]))
    bounds = number(alt.Y, "low", "F1 (%)", (0, 100)), alt.Y2("high")
    layers = (
        base.mark_line(strokeWidth=2).encode(f1, strokeDash=dashed),
        base.mark_rule(strokeWidth=2, opacity=0.6).encode(*bounds),
        base.mark_point(filled=True, size=55, opacity=1).encode(f1, series(alt.Shape, names)),
    )
    return alt.layer(*layers).properties(height=230)


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
