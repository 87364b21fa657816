"""``end-to-end``: training and testing with and without zero-triple sentences (zero-cardinality, table 3)."""

from dataclasses import replace

from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders._cardinality import PARTIAL_NOTE, SETTINGS_NOTE, prf_columns, rows_of, variant_of
from tripleaudit.tables.grid import FRACTION, ScoreColumn, ScoreRow, as_columns, is_extractor, notes, score_grid
from tripleaudit.tables.index import RunKey, mean_difference
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Column, Row, Table

NAME = "end-to-end"


def build(inputs: TableInputs) -> Table:
    """Build from scores on the original protocol.

    The last two columns are drops of F1 in percentage points: from NZ to WZ testing of the same extractor, and, in WZ
    rows, from the usual evaluation (NZ training and testing) to the realistic one (WZ training and testing).
    """
    runs = [
        run
        for run in inputs.scores.runs
        if run.protocol == "original" and is_extractor(run.extractor) and "wz" in (run.training, run.testing)
    ]
    corpora = inputs.names("corpora", [run.corpus for run in runs], tuple(labels.CORPORA))
    noises = inputs.names("noises", ["none"])
    rows: list[ScoreRow] = []
    for corpus in corpora:
        found = [run.extractor for run in runs if run.corpus == corpus]
        for training, noise in ((training, noise) for training in labels.SETTINGS for noise in noises):
            rows += rows_of(
                inputs,
                inputs.names("extractors", found, labels.CARDINALITY_ORDER),
                lambda name, corpus=corpus, training=training, noise=noise: RunKey(
                    corpus, "original", training, "", name, noise
                ),
                f"{labels.corpus(corpus)}, trained {labels.SETTINGS[training]}",
                noise=noise,
            )
    columns = [
        column
        for testing, label in labels.SETTINGS.items()
        for column in prf_columns(f"Test {label}", lambda run, testing=testing: run._replace(testing=testing))
    ]
    shape = {**FRACTION, "digits": inputs.digits(FRACTION["digits"])}
    grid = score_grid(inputs.scores, rows, columns, reported=_reported, **shape)
    table_rows = [
        Row(row.label, (*cells, _drop(inputs, row), _realistic_drop(inputs, row)), row.group)
        for row, cells in zip(rows, grid, strict=True)
    ]
    cells = [cell for row in table_rows for cell in row.cells]
    return Table(
        NAME,
        inputs.caption("End-to-end extraction with and without zero-triple sentences in training and testing."),
        [*as_columns(columns), Column("NZ→WZ", "Drop (points)"), Column("NZ/NZ→WZ/WZ", "Drop (points)")],
        table_rows,
        row_header="Model",
        group_header="Training",
        notes=notes(
            cells,
            inputs.matching,
            SETTINGS_NOTE,
            "Drop NZ→WZ: F1 tested on NZ minus F1 tested on WZ. Drop NZ/NZ→WZ/WZ: F1 trained and tested on NZ minus F1 "
            "trained and tested on WZ.",
            PARTIAL_NOTE if any(row.label.endswith("*") for row in rows) else "",
        ),
    )


def _reported(row: ScoreRow, column: ScoreColumn) -> str | None:
    run, variant = column.of(row.run), variant_of(row)
    if variant is None:
        return None
    setting = f"train {run.training.upper()} / test {run.testing.upper()}"
    metric = reported.METRICS[column.metric]
    return reported.cardinality(3, run.corpus, setting, metric, model=run.extractor, variant=variant)


def _drop(inputs: TableInputs, row: ScoreRow) -> Cell:
    nz, wz = (_f1(inputs, row, row.run.training, testing) for testing in ("nz", "wz"))
    setting = f"train {row.run.training.upper()} / test NZ vs WZ"
    return replace(mean_difference(nz, wz), reported=_reported_drop(row, setting))


def _realistic_drop(inputs: TableInputs, row: ScoreRow) -> Cell:
    if row.run.training != "wz":
        return Cell(text="")
    usual, realistic = _f1(inputs, row, "nz", "nz"), _f1(inputs, row, "wz", "wz")
    setting = "train NZ / test NZ vs train WZ / test WZ"
    return replace(mean_difference(usual, realistic), reported=_reported_drop(row, setting))


def _f1(inputs: TableInputs, row: ScoreRow, training: str, testing: str) -> dict[str, float]:
    return inputs.scores.values(row.run._replace(training=training, testing=testing), "all", row.matching, "f1")


def _reported_drop(row: ScoreRow, setting: str) -> str | None:
    variant = variant_of(row)
    if variant is None:
        return None
    run = row.run
    return reported.cardinality(3, run.corpus, setting, "F1_drop_points", model=run.extractor, variant=variant)
