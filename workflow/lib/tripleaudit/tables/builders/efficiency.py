"""``efficiency``: cost of each system on the original test set, and its F1 there."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Table, of_frame
from tripleaudit.tables.grid import row_notes
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec
from tripleaudit.tables.tidy import RunKey

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


def named(inputs: TableInputs) -> list[tuple[str, RunKey, list[dict[str, Any]]]]:
    """Return the runs with their names and costs, one record a seed, in the order of tables."""
    records = _records_by_run(inputs)
    named_runs = []
    for corpus in labels.corpora({run.corpus for run in records}):
        runs = [run for run in records if run.corpus == corpus]
        names = labels.ordered({run.extractor for run in runs}, labels.rte_order())
        runs.sort(key=lambda run: (names.index(run.extractor), run.training))
        has_settings = len({run.training for run in runs}) > 1
        for run in runs:
            name = labels.extractor(run.extractor)
            if has_settings and run.extractor not in inputs.untrained:
                name += f" (trained {labels.SETTINGS[run.training]})"
            named_runs.append((name, run, records[run]))
    return named_runs


def _records_by_run(inputs: TableInputs) -> dict[RunKey, list[dict[str, Any]]]:
    """Return what predictions of the original test sets took, by run."""
    original = [run for run in inputs.scores.runs if run.protocol == "original"]
    testing = "wz" if any(run.testing == "wz" for run in original) else "nz"
    records: dict[RunKey, list[dict[str, Any]]] = {}
    for fact in inputs.runs:
        keys = fact.get("keys", {})
        record = fact.get("predicted")
        if not record and "system" in fact:
            record = fact
        if not record or keys.get("protocol") != "original" or record.get("failed"):
            continue
        run = RunKey(
            keys["corpus"], "original", keys["training"], testing, keys["extractor"], keys["noise"]
        )
        records.setdefault(run, []).append(record)
    return records


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

    named_runs = named(study)
    index = [(labels.corpus(run.corpus), name) for name, run, _ in named_runs]
    frame = pd.DataFrame(
        [_row(study, run, records) for _, run, records in named_runs],
        index=pd.MultiIndex.from_tuples(index, names=["Corpus", "System"]),
        columns=list(COLUMNS),
    )
    has_zero = any(run.testing == "wz" for _, run, _ in named_runs)
    sentences = "with zero-triple sentences" if has_zero else "of sentences with triples"
    notes = [f"F1: on the test set {sentences}, {study.matching} matching.", *NOTES]
    notes += row_notes(study, [run for _, run, _ in named_runs], "original")
    caption = "What each system takes for the sentences of the original test set, and its F1 (%)."
    return of_frame(frame, caption, notes)


def _row(study: TableInputs, run: RunKey, records: list[dict[str, Any]]) -> dict[str, Cell]:
    """Return the cells of a system by column."""
    f1 = study.scores.cell(run, "f1", matching=study.matching)
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
