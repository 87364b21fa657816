"""``efficiency``: what each system takes for the test set of the original split, and its F1
there.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from tripleaudit.core.descriptors import TableSpec
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Row, Table
from tripleaudit.tables.grid import ScoreRow, row_notes
from tripleaudit.tables.inputs import RunKey, TableInputs

COLUMNS = ("F1", "Sentences / s", "s / 1,000", "Money / 1,000", "Peak memory (MB)", "Device")
NOT_TAKEN = "stored"


def named(inputs: TableInputs) -> list[tuple[str, RunKey, list[dict[str, Any]]]]:
    """Return the runs with their names and what their predictions took, one record a seed; in
    the order of tables.
    """
    testing = (
        "wz"
        if any(run.testing == "wz" and run.protocol == "original" for run in inputs.scores.runs)
        else "nz"
    )
    records: dict[RunKey, list[dict[str, Any]]] = {}
    for fact in inputs.runs:
        keys = fact.get("keys", {})
        record = fact.get("predicted") or (fact if "system" in fact else None)
        if record is not None and keys.get("protocol") == "original" and not record.get("failed"):
            run = RunKey(
                keys["corpus"],
                "original",
                keys["training"],
                testing,
                keys["extractor"],
                keys["noise"],
            )
            records.setdefault(run, []).append(record)
    found = []
    for corpus in labels.corpora({run.corpus for run in records}):
        mine = [run for run in records if run.corpus == corpus]
        order = labels.ordered({run.extractor for run in mine}, labels.rte_order())
        for run in sorted(mine, key=lambda run: (order.index(run.extractor), run.training)):
            several = (
                len({one.training for one in mine}) > 1 and run.extractor not in inputs.untrained
            )
            name = labels.extractor(run.extractor) + (
                f" (trained {labels.SETTINGS[run.training]})" if several else ""
            )
            found.append((name, run, records[run]))
    return found


def per_thousand(records: Sequence[Mapping[str, Any]], what: str) -> float | None:
    """Return the seconds or money of 1,000 sentences, the mean over seeds; None where a record
    does not say.
    """
    known = [one for one in records if one.get(what) is not None and one.get("sentences")]
    if len(known) < len(records) or not known or is_stored(records):
        return None
    return 1000 * fmean(one[what] / one["sentences"] for one in known)


def is_stored(records: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a run's predictions were made elsewhere."""
    return all(record.get("kind") == "predictions" for record in records)


def efficiency(inputs: TableInputs) -> Table:
    """Build from the facts of predictions; means over seeds."""
    found = named(inputs)
    rows = [
        Row(name, list(_cells(inputs, run, of)), labels.corpus(run.corpus))
        for name, run, of in found
    ]
    runs = [ScoreRow(name, run, inputs.matching) for name, run, _ in found]
    zero = any(run.testing == "wz" for _, run, _ in found)
    where = "with zero-triple sentences" if zero else "of sentences with triples"
    return inputs.table(
        "What each system takes for the sentences of the original test set, and its F1 (%).",
        COLUMNS,
        rows,
        ("System", "Corpus"),
        f"F1: on the test set {where}, {inputs.matching} matching.",
        "Seconds are wall time of this study's own jobs, with whatever else the machine did. Programs and classes: "
        "from their start to their last answer. Trained extractors: from reading the sentences to the last triple, "
        "without loading the model and without training. Language models: of the run that queried them; "
        "answers from the cache keep their time, and have none where only some were queried then.",
        "Stored outputs were made elsewhere: nothing is known of what they took.",
        "Money: that of the answers at the endpoint's prices, in their currency, also where the cache had them.",
        "Peak memory: of the process (trained extractors) or of the largest process that was started (programs).",
        GAPS,
        *row_notes(inputs, runs, "original"),
    )


def _cells(inputs: TableInputs, run: RunKey, records: list[dict[str, Any]]) -> Iterable[Cell]:
    f1 = inputs.scores.cell(run, "f1", matching=inputs.matching)
    yield f1
    seconds, stored = per_thousand(records, "seconds"), is_stored(records)
    yield Cell(1000 / seconds if seconds else None, 1, of=f1.of)
    yield Cell(seconds, 1, of=f1.of)
    yield Cell(per_thousand(records, "money"), 4, of=f1.of)
    peaks = [record["peak_mb"] for record in records if record.get("peak_mb") is not None]
    yield Cell(max(peaks) if peaks and not stored else None, 0, of=f1.of)
    yield Cell(text=NOT_TAKEN if stored else labels.device(str(records[0].get("device"))))


EFFICIENCY = TableSpec(
    name="efficiency",
    order=14,
    build=efficiency,
    possible=lambda study: study.compared,
    question="What does a system take, in time, money and memory?",
)
