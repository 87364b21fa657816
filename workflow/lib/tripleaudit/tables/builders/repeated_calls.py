"""The tables of MINEA about parts of documents and follow-up calls (tables 1 and 2)."""

from dataclasses import replace

from tripleaudit.tables.builders.minea import (
    cell_of,
    coverage_note,
    group_of,
    model_label,
    runs_of,
    strata_of,
)
from tripleaudit.tables.cells import GAP, Cell, Row, Table
from tripleaudit.tables.frame_table import frame_of_rows, of_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec


def lost_in_the_middle(inputs: TableInputs) -> Table:
    """Build from the redundancy by part, a row for each model."""
    digits, runs = inputs.digits(3), runs_of(inputs, "parts")
    measured = {
        run: [part for part in strata_of(inputs, run, "redundancy") if part.isdigit()]
        for run in runs
    }
    parts = max(map(len, measured.values()), default=1)
    rows, remarks = [], []
    for run, own in measured.items():
        cells = [
            cell_of(inputs, run, "redundancy", digits, of=part) if part in own else Cell(text="")
            for part in map(str, range(1, parts + 1))
        ]
        rows.append(Row(model_label(run, runs), cells))
        empty = sum(cell_of(inputs, run, "empty", of=part).value or 0 for part in own)
        restarted, documents = (
            int(cell_of(inputs, run, name).value or 0) for name in ("restarted", "documents")
        )
        remarks.append(
            f"{run.extractor}: {documents} documents in {len(own)} parts; of {documents * len(own)} repetitions "
            f"{int(empty)} brought no entity (counted as 0) and {restarted} did not fit into the context, so that "
            "a new thread without history answered them."
        )
    frame = frame_of_rows(
        rows, [("Part", str(part)) for part in range(1, parts + 1)], ("Model", "")
    )
    notes = [
        "Redundancy compares names. After a whole document is extracted, each part is shown once more, every time "
        "from the same state of the thread; a model that uses its history returns little that is old.",
        *remarks,
        coverage_note(inputs, runs),
    ]
    return of_frame(
        frame,
        "Lost in the middle? Share of entities that a repeated extraction of each part returns although they were "
        "extracted from it before.",
        notes,
    )


# metric in the scores file -> whether high is better
SCORES = {
    "semantic_similarity": True,
    "relevance": True,
    "relevance_spread": False,
    "redundancy_avoidance(0.2)": True,
    "redundancy_avoidance(0.1)": True,
    "redundancy_avoidance(0.5,name)": True,
    "bias_avoidance": True,
    "supported_values": True,
    "incompleteness": False,
    "suswir": True,
}
GAIN = 0.01  # a smaller relative improvement counts as stagnation


def iterations(inputs: TableInputs) -> Table:
    """Build from the scores by iteration; the best value is bold, the turning point is named."""
    digits, runs, rows = inputs.digits(4), runs_of(inputs, "iterations"), []
    steps = sorted({step for run in runs for step in strata_of(inputs, run, "entities")}, key=int)
    for run in runs:
        entities = [cell_of(inputs, run, "entities", 1, of=step) for step in steps]
        for metric, high in SCORES.items():
            cells = [cell_of(inputs, run, metric, digits, of=step) for step in steps]
            values = [cell.value for cell in cells]
            turn = turning_point(values, high)
            # of equal values none is the best, and who finds one entity cannot repeat it
            many = [(cell.value or 0) > 1 for cell in entities]
            known = [
                value
                for value, repeatable in zip(values, many, strict=True)
                if repeatable and value is not None
            ]
            best = (max if high else min)(known) if len(set(known)) > 1 else None
            cells = [
                replace(cell, bold=repeatable and cell.value is not None and cell.value == best)
                for cell, repeatable in zip(cells, many, strict=True)
            ]
            cells.append(Cell(text="" if turn is None else steps[turn]))
            name = (
                "SUSWIR"
                if metric == "suswir"
                else metric.replace("_", " ").replace("(", " (").replace(",", ", ")
            )
            rows.append(Row(f"{name} {'↑' if high else '↓'}", cells, group_of(run, runs)))
        rows.append(Row("entities", [*entities, Cell(text="")], group_of(run, runs)))
    frame = frame_of_rows(
        rows, [*(("Follow-up calls", step) for step in steps), "Turning point"], ("Score", "Model")
    )
    notes = [
        "Means over documents. Column k holds what the first call and k follow-up calls of each part brought.",
        "↑: higher is better, ↓: lower. Bold: best value of the row, among columns of more "
        "than one entity: one repeats nothing.",
        f"Turning point: the number of follow-up calls after which the score never again improves by "
        f"{100 * GAIN:g} % or more.",
        "Scores compare extractions of one document with one another; they are no absolute measure.",
        "Bias avoidance: share of extracted entities whose name stands in the document. Supported values: the same "
        "of all their properties' values, so that a description in other words is no support.",
        coverage_note(inputs, runs),
        f"{GAP}: not defined.",
    ]
    return of_frame(
        frame,
        "Quality of the extraction by the number of follow-up calls, without a reference.",
        notes,
    )


def turning_point(values: list[float | None], high: bool) -> int | None:
    """Return the index of the last value that improves on the best earlier one by :data:`GAIN`."""
    best, turn = None, None
    for index, value in enumerate(values):
        if value is None:
            continue
        gain = None if best is None else (value - best if high else best - value)
        if best is None or gain > 0 and gain >= GAIN * abs(best):
            best, turn = value, index
    return turn


LOST_IN_THE_MIDDLE = TableSpec(
    name="lost-in-the-middle",
    order=27,
    build=lost_in_the_middle,
    needs="needles",
    possible=lambda study: bool(
        study.config["needles"].get("models") and study.config["needles"].get("parts")
    ),
    question="Does a model lose what stands in the middle of a document?",
    overview=None,
)
ITERATIONS = TableSpec(
    name="iterations",
    order=28,
    build=iterations,
    needs="needles",
    possible=lambda study: bool(study.config["needles"].get("models")),
    question="What do follow-up calls add?",
    overview=None,
)
