"""``efficiency``: cost of each system on the original test set, and its F1 there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from tripleaudit.scoring.scores import RUN_KEYS, run_id, run_keys
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Table, of_frame
from tripleaudit.tables.grid import row_notes, score_cells
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("F1", "Sentences / s", "s / 1,000", "Money / 1,000", "Peak memory (MB)", "Device")
NOT_TAKEN = "stored"


NOTES = (
    "Seconds are wall time of this study's own jobs, with whatever else the machine did. Programs and classes: "
    "from their start to their last answer. Trained extractors: from reading the sentences to the last triple, "
    "without loading the model and without training. Language models: of the run that queried them; "
    "answers from the cache keep their time, and have none where only some were queried then.",
    "Stored outputs were made elsewhere: nothing is known of what they took.",
    "Money: that of the answers at the endpoint's prices, in their currency, also where the cache had them.",
    "Peak memory: of the process (trained extractors) or of the largest process that was started (programs).",
    GAPS,
)


def costs_by_run(study: TableInputs) -> pd.DataFrame:
    """Return what predictions of the original test sets took, a row for each run.

    The columns are the keys of the run, its ``name`` in tables, its cell of F1 (``f1``) and
    ``records``, one for each seed. Rows are in the order of tables.
    """
    import pandas as pd

    on_original = study.runs["protocol"] == "original"
    has_zero = (study.runs.loc[on_original, "testing"] == "wz").any()
    records: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for fact in study.facts.rows:
        keys = fact.get("keys", {})
        record = fact.get("predicted")
        if not record and "system" in fact:
            record = fact
        if not record or keys.get("protocol") != "original" or record.get("failed"):
            continue
        run = run_keys(keys, testing="wz" if has_zero else "nz")
        records.setdefault(run_id(run), []).append(record)
    costs = pd.DataFrame(list(records), columns=list(RUN_KEYS), dtype=object)
    costs["records"] = list(records.values())
    costs = _sort_costs(costs)
    cells = costs.assign(stratum="all", matching=study.matching, metric="f1")
    costs["f1"] = score_cells(study, cells)
    settings = costs.groupby("corpus")["training"].transform("nunique")
    costs["name"] = costs["extractor"].map(labels.extractor)
    for row in costs[(settings > 1) & ~costs["extractor"].isin(study.facts.untrained)].index:
        costs.loc[row, "name"] += f" (trained {labels.SETTINGS[costs.loc[row, 'training']]})"
    return costs


def _sort_costs(costs: pd.DataFrame) -> pd.DataFrame:
    """Sort runs by the papers' order of corpora and extractors."""
    orders = {
        "corpus": labels.corpora(costs["corpus"]),
        "extractor": labels.ordered(costs["extractor"], labels.rte_order()),
    }

    def rank(column: pd.Series) -> pd.Series:
        return column.map(orders[column.name].index) if column.name in orders else column

    names = ["corpus", "extractor", "training"]
    return costs.sort_values(names, key=rank, kind="stable", ignore_index=True)


def per_thousand(records: Sequence[Mapping[str, Any]], cost: str) -> float | None:
    """Return the seconds or money of 1,000 sentences, the mean over seeds.

    Args:
        records: of the seeds.
        cost: ``seconds`` or ``money``.

    Returns:
        None where a record does not have the cost.
    """
    if is_stored(records):
        return None
    costs = []
    for record in records:
        if record.get(cost) is None or not record.get("sentences"):
            return None
        costs.append(record[cost] / record["sentences"])
    return 1000 * fmean(costs)


def is_stored(records: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a run's predictions were made elsewhere."""
    return all(record.get("kind") == "predictions" for record in records)


def efficiency(study: TableInputs) -> Table:
    """Build from the facts of predictions; means over seeds."""
    import pandas as pd

    costs = costs_by_run(study)
    index = [costs["corpus"].map(labels.corpus), costs["name"]]
    frame = pd.DataFrame(
        [_row(run) for run in costs.to_dict("records")],
        index=pd.MultiIndex.from_arrays(index, names=["Corpus", "System"]),
        columns=list(COLUMNS),
    )
    has_zero = (costs["testing"] == "wz").any()
    sentences = "with zero-triple sentences" if has_zero else "of sentences with triples"
    notes = [f"F1: on the test set {sentences}, {study.matching} matching.", *NOTES]
    notes += row_notes(study, costs, "original")
    caption = "What each system takes for the sentences of the original test set, and its F1 (%)."
    return of_frame(frame, caption, notes)


def _row(run: Mapping[str, Any]) -> dict[str, Cell]:
    """Return the cells of a system by column."""
    f1, records = run["f1"], run["records"]
    seconds = per_thousand(records, "seconds")
    peaks = [record["peak_mb"] for record in records if record.get("peak_mb") is not None]
    device = labels.device(str(records[0].get("device")))
    if is_stored(records):
        peaks, device = [], NOT_TAKEN
    return {
        "F1": f1,
        "Sentences / s": Cell(1000 / seconds if seconds else None, 1, of=f1.of),
        "s / 1,000": Cell(seconds, 1, of=f1.of),
        "Money / 1,000": Cell(per_thousand(records, "money"), 4, of=f1.of),
        "Peak memory (MB)": Cell(max(peaks, default=None), 0, of=f1.of),
        "Device": Cell(text=device),
    }


EFFICIENCY = TableSpec(
    name="efficiency",
    order=14,
    build=efficiency,
    possible=lambda study: study.compared,
    question="What does a system take, in time, money and memory?",
)
