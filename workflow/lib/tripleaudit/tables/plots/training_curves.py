"""``training-curves``: loss and validation F1 over epochs, one row of panels a corpus."""

from pathlib import Path
from typing import Any

import altair as alt

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_jsonl
from tripleaudit.tables import labels, panels
from tripleaudit.tables.inputs import TableInputs

NAME = "training-curves"
MOST_POINTS = 200  # of one training; more are not distinguishable on a panel
KINDS = {"loss": "training loss", "f1": "validation F1"}


def draw(inputs: TableInputs) -> panels.Spec:
    """Draw ``files["history"]``.

    A path ends in ``<corpus>/<training set>/<extractor>/<noise>/<seed>/history.jsonl``. A history
    is JSON lines with ``epoch`` and ``loss`` (training) or ``f1`` (validation); extractors share a
    colour.
    """
    histories = [(_named(path), _read(path)) for path in inputs.files.get("history", [])]
    corpora = labels.corpora((name[0] for name, _ in histories))
    last = max(
        (epoch for _, of in histories for points in of.values() for epoch, _ in points), default=1
    )
    drawn = []
    for corpus in corpora:
        mine = [(name, of) for name, of in histories if name[0] == corpus]
        names = [
            labels.extractor(one)
            for one in labels.ordered((name[2] for name, _ in mine), labels.rte_order())
        ]
        drawn += [_panel(kind, corpus, mine, names, last) for kind in KINDS]
    return panels.plot(drawn, columns=2, width=300)


def _panel(kind: str, corpus: str, histories: list, names: list[str], last: float) -> panels.Panel:
    rows = [
        {
            "series": labels.extractor(extractor),
            "run": f"{labels.extractor(extractor, noise)}, {trainset}, {seed}",
            "noise": "with Entity Noising" if noise == "noising" else "without",
            "main": trainset == "original-nz",
            "epoch": epoch,
            "value": value,
        }
        for (_, trainset, extractor, noise, seed), of in histories
        for epoch, value in of[kind]
    ]
    y = panels.number(alt.Y, "value", None, (0, 1))
    if kind == "loss":
        heights = [row["value"] for row in rows] or [1]
        y = panels.logarithm(alt.Y, "value", None, (min(heights), max(heights)))
    dashes = alt.Scale(domain=["without", "with Entity Noising"], range=[[1, 0], [5, 3]])
    points = {"size": 24} if kind == "f1" else False
    line = alt.Chart(panels.values(rows)).mark_line(strokeWidth=1.4, point=points)
    title = panels.clean(f"{labels.corpus(corpus)}: {KINDS[kind]}")
    return line.encode(
        panels.number(alt.X, "epoch", "epoch", (0, last)),
        y,
        panels.series(alt.Color, names, least=1),
        alt.StrokeDash("noise:N", scale=dashes, legend=None),
        opacity=alt.condition("datum.main", alt.value(0.95), alt.value(0.45)),
        detail="run:N",
        tooltip=panels.tips(run="", epoch="", value=KINDS[kind]),
    ).properties(title=title, height=170)


def _named(path: Path) -> tuple[str, str, str, str, str]:
    parts = path.parent.parts
    if len(parts) < 5:
        raise UserError(
            f"{path}: expected …/<corpus>/<training set>/<extractor>/<noise>/<seed>/{path.name}"
        )
    corpus, trainset, extractor, noise, seed = parts[-5:]
    return corpus, trainset, extractor, noise, seed


def _read(path: Path) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
    for number, row in read_jsonl(path):
        if not isinstance(row, dict) or not isinstance(row.get("epoch"), int | float):
            raise UserError(
                f"{path} line {number}: expected an object with 'epoch' and 'loss' or 'f1'"
            )
        for kind, points in found.items():
            value: Any = row.get(kind)
            if isinstance(value, int | float) and (kind == "f1" or value > 0):
                points.append((round(row["epoch"], 3), float(f"{value:.4g}")))
    return {kind: _thinned(points) for kind, points in found.items()}


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    step = -(-len(points) // MOST_POINTS) or 1
    return points[:-1:step] + points[-1:]
