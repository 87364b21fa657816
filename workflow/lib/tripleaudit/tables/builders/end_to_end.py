"""``end-to-end``: extraction with and without zero-triple sentences (zero-cardinality, table 3)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from tripleaudit.core.descriptors import Headline, TableSpec
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.grid import (
    FRACTION,
    LAST_WORDS_ONLY,
    ScoreColumn,
    ScoreRow,
    extracts,
    prf_columns,
    row_in_paper,
    row_notes,
    score_table,
)
from tripleaudit.tables.inputs import RunKey, TableInputs

READS = ("data/reported/zero_cardinality.csv",)

PARTIAL = "partial-last"
PARTIAL_EXTRACTOR = "pfn"
PARTIAL_NOTE = (
    "PFN*: partial matching, as the paper scores it: entities are compared by their last word. It is not compared with "
    "the other rows."
)
RECALL_NOTE = (
    "Zero-triple sentences can add wrong triples only, so recall is the same for NZ and WZ testing."
)


def rows_of(
    inputs: TableInputs, extractors: Sequence[str], of: RunKey, group: str
) -> list[ScoreRow]:
    """Return one row for each extractor, and ``PFN*`` under partial matching.

    ``PFN*`` is the extractor ``pfn-star`` where the study trains it (then in any table), else,
    behind ``PFN``, the same trainings as ``PFN``, unless the whole table matches partially.
    """
    rows = []
    for extractor in extractors:
        label, run = labels.extractor(extractor), of._replace(extractor=extractor)
        if extractor == LAST_WORDS_ONLY:
            rows.append(ScoreRow(label, run, PARTIAL, group, contest=f"{group} partial"))
            continue
        rows.append(ScoreRow(label, run, inputs.matching, group))
        if (
            extractor == PARTIAL_EXTRACTOR
            and inputs.matching == PRIMARY
            and LAST_WORDS_ONLY not in extractors
        ):
            rows.append(ScoreRow(f"{label}*", run, PARTIAL, group, contest=f"{group} partial"))
    return rows


def printed(row: ScoreRow, table: int, setting: str, metric: str, corpus: str = "") -> str | None:
    """Return what a table of the paper has for a row, ``None`` where its rule of matching is
    another one.
    """
    name, partial = row.run.extractor.rpartition("+")[2], row.matching == PARTIAL
    if (
        row.matching not in (PRIMARY, PARTIAL)
        or (name in (PARTIAL_EXTRACTOR, LAST_WORDS_ONLY)) != partial
    ):
        return None
    variant = f"{'partial' if partial else 'exact'} entity match"
    return reported.cardinality(
        table, corpus or row.run.corpus, setting, metric, model=name, variant=variant
    )


def end_to_end(inputs: TableInputs) -> Table:
    """Build from scores on the original protocol.

    The last two columns are drops of F1 in percentage points: from NZ to WZ testing of the same
    extractor, and, in WZ rows, from the usual evaluation (NZ training and testing) to the realistic
    one (WZ training and testing).
    """
    runs = [
        run
        for run in inputs.scores.runs
        if run.protocol == "original"
        and extracts(run.extractor)
        and "wz" in (run.training, run.testing)
    ]
    rows = []
    for corpus in labels.corpora(run.corpus for run in runs):
        found = [run.extractor for run in runs if run.corpus == corpus]
        lost = [
            fact["system"]
            for fact in inputs.systems
            if fact["failed"] and fact["keys"]["corpus"] == corpus
        ]
        names = labels.ordered([*found, *lost], labels.cardinality_order())
        groups = [
            (training, f"trained {setting}", False) for training, setting in labels.SETTINGS.items()
        ]
        for training, how, untrained in (*groups, ("nz", "not trained", True)):
            mine = [name for name in names if (name in inputs.untrained) == untrained]
            run = RunKey(corpus, "original", training, "", "")
            rows += rows_of(inputs, mine, run, f"{labels.corpus(corpus)}, {how}")
    columns = [
        column
        for testing, label in labels.SETTINGS.items()
        for column in prf_columns(f"Test {label}", partial(RunKey._replace, testing=testing))
    ]
    columns += [
        ScoreColumn("NZ→WZ", group="Drop (points)", cell=partial(_drop, inputs)),
        ScoreColumn("NZ/NZ→WZ/WZ", group="Drop (points)", cell=partial(_realistic_drop, inputs)),
    ]
    return score_table(
        inputs,
        "End-to-end extraction with and without zero-triple sentences in training and testing.",
        rows,
        columns,
        f"{labels.SETTINGS_NOTE} {RECALL_NOTE}",
        "Drop NZ→WZ: F1 tested on NZ minus F1 tested on WZ. Drop NZ/NZ→WZ/WZ: F1 trained and tested on NZ minus F1 "
        "trained and tested on WZ.",
        PARTIAL_NOTE * any(row.label.endswith("*") for row in rows),
        *row_notes(inputs, rows, "original"),
        heads=("Model", "Training"),
        unit=FRACTION,
        reported=_reported_end_to_end,
    )


def _reported_end_to_end(row: ScoreRow, column: ScoreColumn) -> str | None:
    run = column.of(row.run)
    setting = f"train {run.training.upper()} / test {run.testing.upper()}"
    return printed(row, 3, setting, reported.METRICS[column.metric])


def _drop(inputs: TableInputs, row: ScoreRow, column: ScoreColumn) -> Cell:
    nz, wz = (row.run._replace(testing=testing) for testing in ("nz", "wz"))
    drop = inputs.scores.difference(nz, wz, matching=row.matching)
    setting = f"train {row.run.training.upper()} / test NZ vs WZ"
    return replace(
        drop, reported=printed(row_in_paper(inputs, row, column), 3, setting, "F1_drop_points")
    )


def _realistic_drop(inputs: TableInputs, row: ScoreRow, column: ScoreColumn) -> Cell:
    if row.run.training != "wz":
        return Cell(text="")
    usual, realistic = (
        row.run._replace(training=setting, testing=setting) for setting in ("nz", "wz")
    )
    drop = inputs.scores.difference(usual, realistic, matching=row.matching)
    setting = "train NZ / test NZ vs train WZ / test WZ"
    return replace(
        drop, reported=printed(row_in_paper(inputs, row, column), 3, setting, "F1_drop_points")
    )


TRAINED = {"nz": "without zeros", "wz": "with zeros"}

END_TO_END = TableSpec(
    name="end-to-end",
    order=10,
    build=end_to_end,
    possible=lambda study: study.compared and "wz" in study.settings,
    question="Does an extractor know when there is nothing to extract?",
    overview=tuple(
        Headline(
            f"trained {TRAINED[setting]}", {"training": setting, "testing": "wz", "metric": "f1"}
        )
        for setting in labels.SETTINGS
    ),
)
