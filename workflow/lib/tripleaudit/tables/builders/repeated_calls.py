"""The tables of MINEA about parts of documents and follow-up calls (tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tripleaudit.scoring.scores import Run, run_id
from tripleaudit.tables.builders.minea import (
    coverage_note,
    group_of,
    model_label,
    runs_of,
    strata_of,
)
from tripleaudit.tables.cells import GAP, Cell, Table, of_frame
from tripleaudit.tables.grid import FRACTION, Keys, make_row, row_frame, score_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

if TYPE_CHECKING:
    import pandas as pd


def lost_in_the_middle(study: TableInputs) -> Table:
    """Build from the redundancy by part, a row for each model."""
    runs = runs_of(study, "parts")
    parts_of_run = {}
    for run in runs:
        strata = strata_of(study, run, "redundancy")
        parts_of_run[run_id(run)] = [part for part in strata if part.isdigit()]
    count = max(map(len, parts_of_run.values()), default=1)
    rows = row_frame(make_row(model_label(run, runs), run, "") for run in runs)
    columns = stratum_columns("Part", [str(part) for part in range(1, count + 1)])
    frame = score_frame(
        study,
        rows.assign(metric="redundancy"),
        columns,
        heads=("Model", ""),
        unit=FRACTION,
        change=_without_gaps,
        mark_winners=False,
    )
    notes = [
        "Redundancy compares names. After a whole document is extracted, each part is shown once more, every time "
        "from the same state of the thread; a model that uses its history returns little that is old.",
        *[_repetition_note(study, run, parts_of_run[run_id(run)]) for run in runs],
        coverage_note(study, runs),
    ]
    caption = (
        "Lost in the middle? Share of entities that a repeated extraction of each part returns although they were "
        "extracted from it before."
    )
    return of_frame(frame, caption, notes)


def stratum_columns(group: str, strata: Sequence[str]) -> pd.DataFrame:
    """Return a column for each stratum, under one heading."""
    import pandas as pd

    frame = pd.DataFrame({"column": strata, "stratum": strata}, dtype=object)
    return frame.assign(column_group=group)


def _without_gaps(keys: Keys, cell: Cell) -> Cell:
    """Leave the parts empty that a model's documents do not have."""
    return cell if cell.value is not None else Cell(text="")


def _repetition_note(study: TableInputs, run: Run, parts: Sequence[str]) -> str:
    """Return how many repeated extractions brought nothing, or had no room in the context."""
    empty = sum(study.frames.mean(run, "empty", stratum=part) or 0 for part in parts)
    restarted = int(study.frames.mean(run, "restarted") or 0)
    documents = int(study.frames.mean(run, "documents") or 0)
    return (
        f"{run['extractor']}: {documents} documents in {len(parts)} parts; of {documents * len(parts)} repetitions "
        f"{int(empty)} brought no entity (counted as 0) and {restarted} did not fit into the context, so that "
        "a new thread without history answered them."
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
ENTITIES = "entities"  # per document
GAIN = 0.01  # a smaller relative improvement counts as stagnation


def iterations(study: TableInputs) -> Table:
    """Build from the scores by iteration; the best value is bold, the turning point is named."""
    runs = runs_of(study, "iterations")
    steps = sorted({step for run in runs for step in strata_of(study, run, "entities")}, key=int)
    rows = []
    metrics = []
    for run in runs:
        for metric in (*SCORES, ENTITIES):
            rows.append(make_row(_score_label(metric), run, "", group_of(run, runs)))
            metrics.append(metric)
    frame = score_frame(
        study,
        row_frame(rows).assign(metric=metrics),
        stratum_columns("Follow-up calls", steps),
        heads=("Score", "Model"),
        unit={"scale": 1, "digits": 4},
        change=_with_own_digits,
        mark_winners=False,
    )
    turning_points = []
    for position, metric in enumerate(metrics):
        turn = None
        if metric != ENTITIES:
            entities = position + metrics[position:].index(ENTITIES)
            _mark_best(frame, position, entities, SCORES[metric])
            turn = turning_point([cell.value for cell in frame.iloc[position]], SCORES[metric])
        turning_points.append(Cell(text="" if turn is None else steps[turn]))
    frame["", "Turning point"] = turning_points
    notes = [
        "Means over documents. Column k holds what the first call and k follow-up calls of each part brought.",
        "↑: higher is better, ↓: lower. Bold: best value of the row, among columns of more "
        "than one entity: one repeats nothing.",
        f"Turning point: the number of follow-up calls after which the score never again improves by "
        f"{100 * GAIN:g} % or more.",
        "Scores compare extractions of one document with one another; they are no absolute measure.",
        "Bias avoidance: share of extracted entities whose name stands in the document. Supported values: the same "
        "of all their properties' values, so that a description in other words is no support.",
        coverage_note(study, runs),
        f"{GAP}: not defined.",
    ]
    caption = "Quality of the extraction by the number of follow-up calls, without a reference."
    return of_frame(frame, caption, notes)


def _score_label(metric: str) -> str:
    """Return the label of a metric, with an arrow to its better values."""
    if metric == ENTITIES:
        return metric
    name = "SUSWIR"
    if metric != "suswir":
        name = metric.replace("_", " ").replace("(", " (").replace(",", ", ")
    return f"{name} {'↑' if SCORES[metric] else '↓'}"


def _with_own_digits(keys: Keys, cell: Cell) -> Cell:
    return replace(cell, digits=1) if keys["metric"] == ENTITIES else cell


def _mark_best(frame: pd.DataFrame, row: int, entities: int, is_high_better: bool) -> None:
    """Mark the best values of a row, if they differ.

    Columns of at most one entity do not compete: one entity cannot be repeated.

    Args:
        frame: of cells, a column for each number of follow-up calls.
        row: position of the score.
        entities: position of the row with the numbers of entities.
        is_high_better: whether a high score is good.
    """
    competing = []
    for column in range(frame.shape[1]):
        has_several = (frame.iat[entities, column].value or 0) > 1
        if has_several and frame.iat[row, column].value is not None:
            competing.append(column)
    values = [frame.iat[row, column].value for column in competing]
    if len(set(values)) < 2:
        return
    best = max(values) if is_high_better else min(values)
    for column in competing:
        cell = frame.iat[row, column]
        frame.iat[row, column] = replace(cell, bold=cell.value == best)


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
