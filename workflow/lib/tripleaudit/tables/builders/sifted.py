"""``sifted``: results on the original and the overlap-sifted data sets, with Entity Noising and the change that it
makes (rte-generalization, table 4)."""

from dataclasses import replace

from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders._type_columns import STRATA_NOTE, reported_in, type_columns
from tripleaudit.tables.grid import (
    PERCENT,
    ScoreColumn,
    ScoreRow,
    as_columns,
    as_rows,
    extractor_rows,
    notes,
    score_grid,
)
from tripleaudit.tables.index import RunKey, mean_difference
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Table

NAME = "sifted"


def build(inputs: TableInputs) -> Table:
    """Build from scores: one row for each extractor, protocol and noise setting; columns are grouped by corpus.

    Rows with noising carry the change against the row without; the paper prints these rows only, and of the others
    those of the original split.
    """
    found = [run.protocol for run in inputs.scores.runs if run.protocol.startswith("sift-")]
    protocols = inputs.names("protocols", ["original", *found], labels.PROTOCOL_ORDER)
    wide = extractor_rows(
        inputs,
        [protocol for protocol in protocols if protocol != "original"],
        labels.RTE_ORDER,
        base=lambda corpus, name, noise: RunKey(corpus, "", "nz", "nz", name, noise),
    )
    corpora = list(dict.fromkeys(row.run.corpus for row in wide))
    columns = [
        column
        for corpus in corpora
        for column in type_columns(labels.corpus(corpus), lambda run, corpus=corpus: run._replace(corpus=corpus), False)
    ]
    methods = list(dict.fromkeys((row.run.extractor, row.run.noise) for row in wide))
    rows = [
        ScoreRow(
            labels.extractor(protocol.capitalize(), noise),
            RunKey("", protocol, "nz", "nz", extractor, noise),
            inputs.matching,
            group=labels.extractor(extractor),
            contest=protocol,
        )
        for extractor in dict.fromkeys(extractor for extractor, _ in methods)
        for protocol in protocols
        for noise in (noise for name, noise in methods if name == extractor)
    ]
    digits = inputs.digits(PERCENT["digits"])
    shape = {**PERCENT, "digits": digits}
    grid = score_grid(inputs.scores, rows, columns, reported=_reported, **shape)
    for row, cells in zip(rows, grid, strict=True):
        if row.run.noise == "noising":
            cells[:] = [
                _with_change(inputs, row, column, cell, shape) for column, cell in zip(columns, cells, strict=True)
            ]
    noised = any(row.run.noise == "noising" for row in rows)
    return Table(
        NAME,
        inputs.caption("F1 and type F1 (%) on the original and the overlap-sifted data sets."),
        as_columns(columns),
        as_rows(rows, grid),
        row_header="Data set",
        group_header="Method",
        notes=notes(
            (cell for cells in grid for cell in cells),
            inputs.matching,
            STRATA_NOTE,
            "+EN: trained with Entity Noising; in parentheses the change against the row without." if noised else "",
            "The mark for the winner compares all methods on one data set." if len(rows) > 1 else "",
        ),
    )


def _reported(row: ScoreRow, column: ScoreColumn) -> str | None:
    # The rows without noising are printed for the original split alone, in table 3.
    return reported_in(4 if row.run.noise == "noising" else 3)(row, column)


def _with_change(inputs: TableInputs, row: ScoreRow, column: ScoreColumn, cell: Cell, shape: dict) -> Cell:
    run = column.of(row.run)
    noised, baseline = (
        inputs.scores.values(run._replace(noise=noise), column.stratum, row.matching, column.metric)
        for noise in ("noising", "none")
    )
    paper = None
    if cell.reported is not None:
        metric = reported.METRICS[column.metric if column.stratum == "all" else column.stratum]
        paper = reported.rte(
            4, run.corpus, run.protocol, metric, model=run.extractor, variant="entity noising minus baseline"
        )
    change = mean_difference(noised, baseline, **shape).value
    return replace(cell, change=change, reported_change=paper)
