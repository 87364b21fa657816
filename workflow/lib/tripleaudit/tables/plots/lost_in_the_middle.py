"""``lost-in-the-middle``: redundancy by position of the part, a line for each model."""

import altair as alt

from tripleaudit.tables import panels
from tripleaudit.tables.builders.minea import model_label, runs_of, strata_of
from tripleaudit.tables.inputs import TableInputs

NAME = "lost-in-the-middle"


def draw(inputs: TableInputs) -> panels.Spec:
    """Draw one line per model.

    Positions are relative (0 = beginning, 1 = end), so that documents in different numbers of parts
    share the axis.
    """
    runs = runs_of(inputs, "parts")
    rows = []
    for run in runs:
        parts = sorted(int(part) for part in strata_of(inputs, run, "redundancy") if part.isdigit())
        values = [inputs.frames.mean(run, "redundancy", stratum=str(part)) for part in parts]
        rows += _points(model_label(run, runs), values)
    if not rows:
        return panels.plot([])
    names = list(dict.fromkeys(row["series"] for row in rows))
    line = alt.Chart(panels.values(rows)).mark_line(strokeWidth=1.6, point={"size": 30})
    panel = line.encode(
        panels.number(alt.X, "position", "position of the part in the document", (0, 1)),
        panels.number(alt.Y, "value", "redundancy", (0, 1)),
        panels.series(alt.Color, names, columns=1),
        tooltip=panels.tips(series="", part="", value="redundancy"),
    )
    return panels.plot([panel.properties(height=200)], width=420)


def _points(name: str, values: list[float | None]) -> list[dict]:
    """Return the points of one line, of parts in the order of the document."""
    return [
        {
            "series": name,
            "part": f"{part} of {len(values)}",
            "position": round((part - 0.5) / len(values), 4),
            "value": value,
        }
        for part, value in enumerate(values, 1)
    ]
