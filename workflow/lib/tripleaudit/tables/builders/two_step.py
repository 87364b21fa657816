"""``two-step``: an NZ-trained extractor behind the zero-cardinality classifier (zero-cardinality, table 5)."""

from dataclasses import replace

from tripleaudit.scoring.run import split_two_step, two_step_name
from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders._cardinality import PARTIAL_NOTE, prf_columns, rows_of, variant_of
from tripleaudit.tables.grid import FRACTION, ScoreColumn, ScoreRow, notes, score_grid
from tripleaudit.tables.index import RunKey, mean_difference
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Column, Row, Table

NAME = "two-step"
PAPER_HEADS = {"zcc-binary": "binary", "zcc-mcml": "MCML"}


def build(inputs: TableInputs) -> Table:
    """Build from scores of two-step extraction on WZ test sets, with the change against end-to-end WZ training."""
    runs = [run for run in inputs.scores.runs if split_two_step(run.extractor)[0]]
    corpora = inputs.names("corpora", [run.corpus for run in runs], tuple(labels.CORPORA))
    pairs = [split_two_step(run.extractor) for run in runs]
    classifiers = inputs.names("classifiers", [one for one, _ in pairs], labels.CARDINALITY_ORDER)
    noises = inputs.names("noises", ["none"])
    rows: list[ScoreRow] = []
    for classifier in classifiers:
        found = [extractor for one, extractor in pairs if one == classifier]
        extractors = inputs.names("extractors", found, labels.CARDINALITY_ORDER)
        for noise in noises:
            for row in rows_of(
                inputs,
                extractors,
                lambda name, noise=noise: RunKey("", "original", "nz", "wz", name, noise),
                labels.extractor(classifier),
                noise=noise,
            ):
                name = two_step_name(classifier, row.run.extractor)
                rows.append(replace(row, run=row.run._replace(extractor=name)))
    shape = {**FRACTION, "digits": inputs.digits(FRACTION["digits"])}
    columns: list[Column] = []
    cells: list[list[Cell]] = [[] for _ in rows]
    for corpus in corpora:
        scores = prf_columns(labels.corpus(corpus), lambda run, corpus=corpus: run._replace(corpus=corpus))
        grid = score_grid(inputs.scores, rows, scores, reported=_reported, **shape)
        columns += [Column(column.label, column.group) for column in scores]
        columns.append(Column("Change (points)", labels.corpus(corpus)))
        for row, row_cells, whole in zip(rows, grid, cells, strict=True):
            whole += [*row_cells, _change(inputs, row, corpus)]
    table_rows = [Row(row.label, tuple(whole), row.group) for row, whole in zip(rows, cells, strict=True)]
    return Table(
        NAME,
        inputs.caption(
            "Two-step extraction on WZ test sets: the classifier lets a sentence through, or nothing is extracted."
        ),
        columns,
        table_rows,
        row_header="Model",
        group_header="Classifier",
        notes=notes(
            (cell for whole in cells for cell in whole),
            inputs.matching,
            "Extractors are trained on sentences with triples (NZ), the classifier on all (WZ).",
            "Change: F1 minus the F1 of the same extractor trained end to end on WZ, in percentage points (the column "
            "that the paper heads with %).",
            PARTIAL_NOTE if any(row.label.endswith("*") for row in rows) else "",
        ),
    )


def _setting(row: ScoreRow) -> str:
    head = PAPER_HEADS.get(split_two_step(row.run.extractor)[0], "")
    return f"two-step: {head} classifier, extractor trained NZ, test WZ"


def _paper(row: ScoreRow, corpus: str, metric: str) -> str | None:
    variant = variant_of(row)
    if variant is None:
        return None
    extractor = split_two_step(row.run.extractor)[1]
    return reported.cardinality(5, corpus, _setting(row), metric, model=extractor, variant=variant)


def _reported(row: ScoreRow, column: ScoreColumn) -> str | None:
    return _paper(row, column.of(row.run).corpus, reported.METRICS[column.metric])


def _change(inputs: TableInputs, row: ScoreRow, corpus: str) -> Cell:
    run = row.run._replace(corpus=corpus)
    end_to_end = run._replace(training="wz", extractor=split_two_step(run.extractor)[1])
    values = (inputs.scores.values(one, "all", row.matching, "f1") for one in (run, end_to_end))
    return replace(mean_difference(*values, digits=2), reported=_paper(row, corpus, "F1_gain_points"))
