"""``iterations``: scores without reference by the number of follow-up calls (MINEA, table 2)."""

from dataclasses import replace

from tripleaudit.tables.builders import _minea as shared
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Column, Row, Table

NAME = "iterations"
# metric in the scores file -> label, whether high is better, variant and metric in the paper's table
SCORES = {
    "semantic_similarity": ("semantic similarity", True, "", "semantic_similarity"),
    "relevance": ("relevance", True, "", "relevance"),
    "relevance_spread": ("relevance spread", False, "", "relevance_spread"),
    "redundancy_avoidance(0.2)": ("redundancy avoidance (0.2)", True, "threshold 0.2", "redundancy_avoidance"),
    "redundancy_avoidance(0.1)": ("redundancy avoidance (0.1)", True, "threshold 0.1", "redundancy_avoidance"),
    "redundancy_avoidance(0.5,name)": (
        "redundancy avoidance (0.5, name)",
        True,
        "threshold 0.5 on 'name'",
        "redundancy_avoidance",
    ),
    "bias_avoidance": ("bias avoidance", True, "", "bias_avoidance"),
    "incompleteness": ("incompleteness", False, "", "incompleteness"),
    "suswir": ("SUSWIR", True, None, None),
}
GAIN = 0.01  # a smaller relative improvement counts as stagnation


def build(inputs: TableInputs) -> Table:
    """Build from the scores by iteration; the best value of a row is bold, its turning point named."""
    digits = inputs.digits(4)
    runs = shared.runs_of(inputs, "iterations")
    steps = sorted({int(s) for run in runs for s in shared.strata(inputs, run, "", "entities")})
    columns = [Column(str(step), "Follow-up calls") for step in steps]
    rows = []
    for run in runs:
        group = shared.label(run, runs) if len(runs) > 1 else ""
        for metric, (name, high, variant, paper) in SCORES.items():
            cells = [shared.cell(inputs, run, str(step), "", metric, digits) for step in steps]
            values = [cell.value for cell in cells]
            turn = turning_point(values, high)
            known = [value for value in values if value is not None]
            best = (max if high else min)(known) if known else None
            cells = [
                replace(
                    cell,
                    bold=cell.value is not None and cell.value == best,
                    reported=paper and shared.printed(2, variant, paper, f"{step} iterations"),
                )
                for cell, step in zip(cells, steps, strict=True)
            ]
            cells.append(Cell(text="" if turn is None else str(steps[turn])))
            rows.append(Row(f"{name} {'↑' if high else '↓'}", tuple(cells), group))
        rows.append(_entities(inputs, run, steps, group))
    shown = [cell for row in rows for cell in row.cells]
    return Table(
        NAME,
        inputs.caption("Quality of the extraction by the number of follow-up calls, without a reference."),
        [*columns, Column("Turning point")],
        rows,
        row_header="Score",
        group_header="Model",
        notes=shared.note_list(
            "Means over documents. Column k holds what the first call and k follow-up calls of each part brought in "
            "one extraction. ↑: higher is better, ↓: lower. Bold: best value of the row.",
            f"Turning point: the number of follow-up calls after which the score never again improves by "
            f"{100 * GAIN:g} % or more.",
            "Scores compare extractions of one document with one another; they are no absolute measure.",
            shared.coverage_note(inputs, runs),
            "“reported” is the value that the paper prints; Δ is measured minus reported. " + shared.PRIVATE
            if any(cell.reported is not None for cell in shown)
            else "",
            "–: not defined." if any(cell.value is None and cell.text is None for cell in shown) else "",
        ),
    )


def turning_point(values: list[float | None], high: bool) -> int | None:
    """Return the index of the last value that improves on the best one before it by at least :data:`GAIN`."""
    best, turn = None, None
    for index, value in enumerate(values):
        if value is None:
            continue
        gain = None if best is None else (value - best if high else best - value)
        if best is None or gain > 0 and gain >= GAIN * abs(best):
            best, turn = value, index
    return turn


def _entities(inputs: TableInputs, run: RunKey, steps: list[int], group: str) -> Row:
    cells = [shared.cell(inputs, run, str(step), "", "entities", 1) for step in steps]
    return Row("entities", (*cells, Cell(text="")), group)
