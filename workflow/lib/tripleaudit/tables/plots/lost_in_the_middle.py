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
        for part in parts:
            value = cell_of(inputs, run, "redundancy", of=str(part)).value
            rows.append(_point(model_label(run, runs), part, len(parts), value))
    names = list(dict.fromkeys(row["series"] for row in rows))
    if not rows:
        return panels.plot([])
    for part in range(1, PAPER_PARTS + 1):
        value = float(printed(1, "key='name'", "redundancy", f"part {part} of {PAPER_PARTS}"))
        rows.append(_point(PAPER, part, PAPER_PARTS, value))
    known = [*names, PAPER]
    colour = panels.series(known, columns=1)
    dashes = {"domain": known, "range": [*([1, 0] for _ in names), [5, 3]]}
    panel = {
        "data": panels.values(rows),
        "height": 200,
        "mark": {"type": "line", "strokeWidth": 1.6, "point": {"size": 30}},
        "encoding": {
            "x": panels.number("place", "position of the part in the document", (0, 1)),
            "y": panels.number("value", "redundancy", (0, 1)),
            "color": colour,
            "strokeDash": {**colour, "scale": dashes},
            "tooltip": panels.tips(series="", part="", value="redundancy"),
        },
    }
    return panels.plot([panel], width=420)


def _point(name: str, part: int, parts: int, value: float | None) -> dict:
    return {"series": name, "part": f"{part} of {parts}", "place": round((part - 0.5) / parts, 4), "value": value}
