"""``end-to-end``: extraction with and without zero-triple sentences (zero-cardinality, table 3)."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tripleaudit.descriptors import Headline, TableSpec
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import Cell, Column, Row, Table
from tripleaudit.tables.gates import contrast, pairs_of, sentences
from tripleaudit.tables.grid import (
    FRACTION,
    LAST_WORDS_ONLY,
    PRF,
    ScoreColumn,
    ScoreRow,
    as_columns,
    extracts,
    notes,
    row_notes,
    score_grid,
)
from tripleaudit.tables.inputs import RunKey, TableInputs
from tripleaudit.tables.leads import lead_end_to_end

READS = ("data/reported/zero_cardinality.csv",)

PARTIAL = "partial-last"
PARTIAL_EXTRACTOR = "pfn"
PARTIAL_NOTE = (
    "PFN*: partial matching, as the paper scores it: entities are compared by their last word. It is not compared with "
    "the other rows."
)
RECALL_NOTE = "Zero-triple sentences can add wrong triples only, so recall is the same for NZ and WZ testing."


def rows_of(inputs: TableInputs, extractors: Sequence[str], run: Callable[[str], RunKey], group: str) -> list[ScoreRow]:
    """Return one row for each extractor, and ``PFN*`` under partial matching.

    ``PFN*`` is the extractor ``pfn-star`` where the study trains it (then in any table), else, behind ``PFN``, the same
    trainings as ``PFN``, unless the whole table matches partially.
    """
    rows = []
    for extractor in extractors:
        label = labels.extractor(extractor)
        if extractor == LAST_WORDS_ONLY:
            rows.append(ScoreRow(label, run(extractor), PARTIAL, group, contest=f"{group} partial"))
            continue
        rows.append(ScoreRow(label, run(extractor), inputs.matching, group))
        if extractor == PARTIAL_EXTRACTOR and inputs.matching == PRIMARY and LAST_WORDS_ONLY not in extractors:
            rows.append(ScoreRow(f"{label}*", run(extractor), PARTIAL, group, contest=f"{group} partial"))
    return rows


def printed(row: ScoreRow, table: int, setting: str, metric: str, corpus: str = "") -> str | None:
    """Return what a table of the paper has for a row, ``None`` where its rule of matching is another one."""
    name, partial = row.run.extractor.rpartition("+")[2], row.matching == PARTIAL
    if row.matching not in (PRIMARY, PARTIAL) or (name in (PARTIAL_EXTRACTOR, LAST_WORDS_ONLY)) != partial:
        return None
    variant = f"{'partial' if partial else 'exact'} entity match"
    return reported.cardinality(table, corpus or row.run.corpus, setting, metric, model=name, variant=variant)


def prf_columns(group: str, of: Callable[[RunKey], RunKey]) -> list[ScoreColumn]:
    return [ScoreColumn(label, metric, group=group, of=of) for metric, label in PRF]


def end_to_end(inputs: TableInputs) -> Table:
    """Build from scores on the original protocol.

    The last two columns are drops of F1 in percentage points: from NZ to WZ testing of the same extractor, and, in WZ
    rows, from the usual evaluation (NZ training and testing) to the realistic one (WZ training and testing).
    """
    runs = [
        run
        for run in inputs.scores.runs
        if run.protocol == "original" and extracts(run.extractor) and "wz" in (run.training, run.testing)
    ]
    rows: list[ScoreRow] = []
    for corpus in labels.corpora(run.corpus for run in runs):
        found = [run.extractor for run in runs if run.corpus == corpus]
        lost = [fact["system"] for fact in inputs.systems if fact["failed"] and fact["keys"]["corpus"] == corpus]
        names = labels.ordered([*found, *lost], labels.cardinality_order())
        for training, setting in labels.SETTINGS.items():
            rows += rows_of(
                inputs,
                [name for name in names if name not in inputs.untrained],
                lambda name, corpus=corpus, training=training: RunKey(corpus, "original", training, "", name),
                f"{labels.corpus(corpus)}, trained {setting}",
            )
        rows += rows_of(
            inputs,
            [name for name in names if name in inputs.untrained],
            lambda name, corpus=corpus: RunKey(corpus, "original", "nz", "", name),
            f"{labels.corpus(corpus)}, not trained",
        )
    columns = [
        column
        for testing, label in labels.SETTINGS.items()
        for column in prf_columns(f"Test {label}", lambda run, testing=testing: run._replace(testing=testing))
    ]
    grid = score_grid(inputs, rows, columns, reported=_reported_end_to_end, **FRACTION)
    table_rows = [
        Row(row.label, (*cells, _drop(inputs, row), _realistic_drop(inputs, row)), row.group)
        for row, cells in zip(rows, grid, strict=True)
    ]
    cells = [cell for row in table_rows for cell in row.cells]
    return Table(
        "end-to-end",
        inputs.caption("End-to-end extraction with and without zero-triple sentences in training and testing."),
        [*as_columns(columns), Column("NZ→WZ", "Drop (points)"), Column("NZ/NZ→WZ/WZ", "Drop (points)")],
        table_rows,
        row_header="Model",
        group_header="Training",
        notes=notes(
            cells,
            inputs.matching,
            f"{labels.SETTINGS_NOTE} {RECALL_NOTE}",
            "Drop NZ→WZ: F1 tested on NZ minus F1 tested on WZ. Drop NZ/NZ→WZ/WZ: F1 trained and tested on NZ minus F1 "
            "trained and tested on WZ.",
            PARTIAL_NOTE if any(row.label.endswith("*") for row in rows) else "",
            *row_notes(inputs, rows, "original"),
        ),
    )


def _reported_end_to_end(row: ScoreRow, column: ScoreColumn) -> str | None:
    run = column.of(row.run)
    return printed(
        row, 3, f"train {run.training.upper()} / test {run.testing.upper()}", reported.METRICS[column.metric]
    )


def _drop(inputs: TableInputs, row: ScoreRow) -> Cell:
    nz, wz = (row.run._replace(testing=testing) for testing in ("nz", "wz"))
    drop = inputs.scores.difference(nz, wz, matching=row.matching)
    setting = f"train {row.run.training.upper()} / test NZ vs WZ"
    return replace(drop, reported=printed(row, 3, setting, "F1_drop_points"))


def _realistic_drop(inputs: TableInputs, row: ScoreRow) -> Cell:
    if row.run.training != "wz":
        return Cell(text="")
    usual, realistic = (row.run._replace(training=setting, testing=setting) for setting in ("nz", "wz"))
    drop = inputs.scores.difference(usual, realistic, matching=row.matching)
    return replace(drop, reported=printed(row, 3, "train NZ / test NZ vs train WZ / test WZ", "F1_drop_points"))


def answer_end_to_end(table: Table, inputs: TableInputs) -> str:
    cells = [cell.percent() for cell in table.find("F1")]
    usual, tested = {"training": "nz", "testing": "nz"}, {"training": "nz", "testing": "wz"}
    added = "when sentences without triples are added to the test"
    first = contrast(pairs_of(cells, usual, tested, inputs=inputs), "on sentences with triples", added)
    pairs = pairs_of(cells, tested, {"training": "wz", "testing": "wz"}, inputs=inputs)
    if not pairs:
        return first
    without, within = "trained without zero-triple sentences", "trained with them"
    return sentences(first, contrast(pairs, without, within, "F1 on that test", between_trainings=True))


TRAINED = {"nz": "without zeros", "wz": "with zeros"}

END_TO_END = TableSpec(
    name="end-to-end",
    order=10,
    build=end_to_end,
    possible=lambda study: study.compared and "wz" in study.settings,
    question="Does an extractor know when there is nothing to extract?",
    answer=answer_end_to_end,
    lead=lead_end_to_end,
    glance=tuple(
        Headline(f"trained {TRAINED[setting]}", {"training": setting, "testing": "wz", "metric": "f1"})
        for setting in labels.SETTINGS
    ),
)
