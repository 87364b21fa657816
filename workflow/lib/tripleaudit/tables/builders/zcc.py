"""``zcc``: the zero-cardinality classifier on the class "has triples" (zero-cardinality, table 4)."""

from tripleaudit.scoring.scores import CLASSIFICATION
from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders._cardinality import prf_columns
from tripleaudit.tables.grid import FRACTION, ScoreColumn, ScoreRow, as_columns, as_rows, notes, score_grid
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Table

NAME = "zcc"


def build(inputs: TableInputs) -> Table:
    """Build from scores of the classifiers, trained and tested on WZ."""
    index = inputs.scores
    runs = [run for run in index.runs if CLASSIFICATION in index.matchings(run)]
    corpora = inputs.names("corpora", [run.corpus for run in runs], tuple(labels.CORPORA))
    classifiers = inputs.names("classifiers", [run.extractor for run in runs], labels.CARDINALITY_ORDER)
    rows = [
        ScoreRow(labels.extractor(name), RunKey("", "original", "wz", "wz", name), CLASSIFICATION)
        for name in classifiers
    ]
    columns = [
        column
        for corpus in corpora
        for column in prf_columns(labels.corpus(corpus), lambda run, corpus=corpus: run._replace(corpus=corpus))
    ]
    shape = {**FRACTION, "digits": inputs.digits(FRACTION["digits"])}
    grid = score_grid(index, rows, columns, reported=_reported, **shape)
    return Table(
        NAME,
        inputs.caption("The zero-cardinality classifier (ZCC): does a sentence have triples?"),
        as_columns(columns),
        as_rows(rows, grid),
        row_header="Classifier",
        notes=notes(
            (cell for cells in grid for cell in cells),
            None,
            "Precision, recall and F1 of the class “has triples”, trained and tested with zero-triple sentences (WZ).",
            "MCML: multi-class multi-label over the relations; a sentence is let through if any relation is.",
        ),
    )


def _reported(row: ScoreRow, column: ScoreColumn) -> str | None:
    run = column.of(row.run)
    return reported.cardinality(
        4,
        run.corpus,
        "train WZ / test WZ",
        reported.METRICS[column.metric],
        model=run.extractor,
        variant="zero-cardinality classification",
    )
