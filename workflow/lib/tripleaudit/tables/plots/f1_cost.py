"""``f1-cost``: F1 against seconds and money for 1,000 sentences, a point for each system."""

from collections.abc import Iterable, Mapping
from textwrap import wrap
from typing import Any

import altair as alt

from tripleaudit.tables import labels, panels
from tripleaudit.tables.builders.efficiency import costs_by_run, is_stored, per_thousand
from tripleaudit.tables.inputs import TableInputs

NAME = "f1-cost"
COSTS = ("seconds", "money")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
"""One fewer than colours, so that no two of 56 systems look alike."""


def draw(inputs: TableInputs) -> panels.Spec:
    """Draw the table ``efficiency``: a panel for the time of each corpus, one for money.

    A system whose cost is unknown or zero cannot be on a logarithmic axis: it is named above the
    panel.
    """
    drawn = []
    for corpus, runs in costs_by_run(inputs).groupby("corpus", sort=False):
        points = [_point(run) for run in runs.to_dict("records")]
        for cost in COSTS:
            shown = [point for point in points if point[cost] and "value" in point]
            left = [point for point in points if point not in shown]
            if shown:
                drawn.append(_panel(labels.corpus(corpus), cost, shown, left))
    return panels.plot(drawn, columns=2, width=300)


def _point(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the point of a row of :func:`costs_by_run`; without values if it has no F1."""
    f1, records = run["f1"], run["records"]
    name = run["name"]
    partial = [record for record in records if record.get("queried", 0) < record.get("of", 0)]
    if partial:
        name += f" ({partial[0]['queried']} of {partial[0]['of']} sentences)"
    name += f1.mark
    point = {"row": name, "stored": is_stored(records)}
    point |= {cost: per_thousand(records, cost) for cost in COSTS}
    return point if f1.value is None else point | panels.point(name, name, f1)


def _panel(
    corpus: str, cost: str, points: list[dict[str, Any]], left: Iterable[Mapping[str, Any]]
) -> panels.Panel:
    title = f"{cost} for 1,000 sentences"
    costs = [point[cost] for point in points]
    fields = ("series", "value", "shown", "low", "high", "cases")
    rows = []
    for point in points:
        row = {name: point[name] for name in fields if name in point}
        rows.append({**row, "cost": float(f"{point[cost]:.4g}")})
    names = [row["series"] for row in rows]
    base = alt.Chart(panels.values(rows)).encode(
        panels.logarithm(alt.X, "cost", title, (min(costs) / 1.5, max(costs) * 1.5)),
        panels.series(alt.Color, names, least=1),
        tooltip=panels.tips(series="", shown="F1 (%)", low="", high="", cost=title, cases=""),
    )
    bounds = panels.number(alt.Y, "low", "F1 (%)", (0, 100)), alt.Y2("high")
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        panels.number(alt.Y, "value", "F1 (%)", (0, 100)),
        panels.series(alt.Shape, names, least=1, range=list(SHAPES)),
    )
    heading = alt.Title(
        panels.clean(f"{corpus}: F1 against {title}"), subtitle=_missing(cost, left)
    )
    layers = base.mark_rule(strokeWidth=1.5).encode(*bounds), dots
    return alt.layer(*layers).properties(title=heading, height=200)


def _missing(cost: str, left: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say who has no point, and why."""
    why: dict[str, list[str]] = {}
    for one in left:
        reason = (
            "not known"
            if one[cost] is None
            else "nothing"
            if "value" in one
            else "known, but no F1"
        )
        name = f"{one['row']} (F1 {one['shown']} %)" if "value" in one else one["row"]
        why.setdefault("of stored outputs not known" if one["stored"] else reason, []).append(
            panels.clean(name)
        )
    stated = [f"Not shown, {cost} {reason}: {', '.join(names)}" for reason, names in why.items()]
    return [line for sentence in stated for line in wrap(sentence, 75)]
