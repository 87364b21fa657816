"""``lost-in-the-middle``: redundancy by position of the part, the paper's curve dashed (MINEA, table 1)."""

from tripleaudit.tables import panels
from tripleaudit.tables.builders.found_needles import cell_of, model_label, printed, runs_of, strata_of
from tripleaudit.tables.builders.repeated_calls import PAPER_PARTS
from tripleaudit.tables.inputs import TableInputs

NAME = "lost-in-the-middle"
PAPER = "paper (gpt-4-1106-preview, private documents)"


def draw(inputs: TableInputs) -> panels.Spec:
    """Draw one line per model.

    Positions are relative (0 = beginning, 1 = end), so that documents in different numbers of parts share the axis.
    """
    runs = runs_of(inputs, "parts")
    rows = []
    for run in runs:
        parts = sorted(int(part) for part in strata_of(inputs, run, "redundancy") if part.isdigit())
        values = [cell_of(inputs, run, "redundancy", of=str(part)).value for part in parts]
        rows += _points(model_label(run, runs), values)
    if not rows:
        return panels.plot([])
    names = list(dict.fromkeys(row["series"] for row in rows))
    paper = [printed(1, "key='name'", "redundancy", f"part {n + 1} of {PAPER_PARTS}") for n in range(PAPER_PARTS)]
    rows += _points(PAPER, [float(value) for value in paper])
    known = [*names, PAPER]
    colour = panels.series(known, columns=1)
    dashes = {"domain": known, "range": [*([1, 0] for _ in names), [5, 3]]}
    panel = {
        "data": panels.values(rows),
        "height": 200,
        "mark": {"type": "line", "strokeWidth": 1.6, "point": {"size": 30}},
        "encoding": {
            "x": panels.number("position", "position of the part in the document", (0, 1)),
            "y": panels.number("value", "redundancy", (0, 1)),
            "color": colour,
            "strokeDash": {**colour, "scale": dashes},
            "tooltip": panels.tips(series="", part="", value="redundancy"),
        },
    }
    return panels.plot([panel], width=420)


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
