"""``lost-in-the-middle``: redundancy by position of the part, the paper's curve dashed (MINEA, table 1)."""

from typing import Any

from tripleaudit.tables.builders.found_needles import cell_of, model_label, printed, runs_of, strata_of
from tripleaudit.tables.builders.repeated_calls import PAPER_PARTS
from tripleaudit.tables.evidence import TableInputs

NAME = "lost-in-the-middle"


def draw(inputs: TableInputs) -> Any:
    """Draw one line per model.

    Positions are relative (0 = beginning, 1 = end), so that documents in different numbers of parts share the axis.
    """
    from tripleaudit.tables.plots import _style

    drawn, (axes,) = _style.figure(width=6.4, height=3.6)
    runs = runs_of(inputs, "parts")
    if not runs:
        return _style.nothing(drawn, axes)
    for number, run in enumerate(runs):
        parts = [int(part) for part in strata_of(inputs, run, "", "redundancy") if part.isdigit()]
        values = [cell_of(inputs, run, str(part), "", "redundancy", 3).value for part in parts]
        places = [(part - 0.5) / len(parts) for part in parts]
        axes.plot(places, values, label=_style.plain(model_label(run, runs)), **_style.look(number))
    places = [(part + 0.5) / PAPER_PARTS for part in range(PAPER_PARTS)]
    paper = [
        float(printed(1, "key='name'", "redundancy", f"part {part + 1} of {PAPER_PARTS}"))
        for part in range(PAPER_PARTS)
    ]
    axes.plot(places, paper, "--", color="#7F7F7F", linewidth=1, label="paper (gpt-4-1106-preview, private documents)")
    axes.set(xlabel="position of the part in the document", ylabel="redundancy", xlim=(0, 1), ylim=(-0.03, 1.03))
    axes.legend(fontsize=7)
    return drawn
