"""The tables about other test sets than the original one (rte-generalization, tables 3 to 5)."""

from dataclasses import replace
from functools import partial

from tripleaudit.core.descriptors import Headline, TableSpec
from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.grid import (
    STRATA_NOTE,
    ScoreColumn,
    ScoreRow,
    compared,
    extractor_rows,
    prf_columns,
    row_notes,
    score_table,
    strata_columns,
)
from tripleaudit.tables.inputs import RunKey, TableInputs

READS = ("data/reported/rte_eval.csv",)


def rearranged(inputs: TableInputs) -> Table:
    """Each extractor is trained and tested on either split."""
    columns = strata_columns("Original") + strata_columns(
        "Rearranged", partial(RunKey._replace, protocol="rearranged")
    )
    caption = "Results (%) on the original and the rearranged data sets."
    return compared(inputs, caption, columns, reported.in_rte(3), "rearranged")


def augmented(inputs: TableInputs) -> Table:
    """Trained on the original split, tested on its augmented test set."""
    caption = "Results (%) on the augmented test sets, trained on the original split."
    return compared(inputs, caption, prf_columns(), reported.in_rte(5), "augmented")


def sifted(inputs: TableInputs) -> Table:
    """One row for each extractor, protocol and noise setting; columns are grouped by corpus.

    Rows with noising carry the change against the row without; the paper prints these rows only,
    and of the others those of the original split.
    """
    found = sorted({run.protocol for run in inputs.scores.runs if run.protocol.startswith("sift-")})
    protocols = labels.ordered({"original", *found}, labels.protocol_order())
    wide = extractor_rows(inputs, found)
    corpora = dict.fromkeys(row.run.corpus for row in wide)
    columns = [
        column
        for corpus in corpora
        for column in strata_columns(
            labels.corpus(corpus), partial(RunKey._replace, corpus=corpus), False
        )
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
    return score_table(
        inputs,
        "F1 and type F1 (%) on the original and the overlap-sifted data sets.",
        rows,
        columns,
        STRATA_NOTE,
        "+EN: trained with Entity Noising; in parentheses the change against the row without."
        * any(row.run.noise == "noising" for row in rows),
        "The mark for the winner compares all methods on one data set." * (len(rows) > 1),
        *row_notes(inputs, rows, *protocols),
        heads=("Data set", "Method"),
        # the rows without noising are printed for the original split alone, in table 3
        reported=lambda row, column: reported.in_rte(4 if row.run.noise == "noising" else 3)(
            row, column
        ),
        change=partial(_with_change, inputs),
    )


def _with_change(inputs: TableInputs, row: ScoreRow, column: ScoreColumn, cell: Cell) -> Cell:
    run, stratum = column.of(row.run), column.stratum
    if run.noise == "none":
        return cell
    change = inputs.scores.difference(
        run, run._replace(noise="none"), column.metric, stratum=stratum, matching=row.matching
    )
    paper = None
    if cell.reported is not None:
        metric, variant = (
            reported.METRICS[stratum if stratum != "all" else "f1"],
            "entity noising minus baseline",
        )
        model = inputs.scores.as_in_paper(run).extractor
        paper = reported.rte(4, run.corpus, run.protocol, metric, model=model, variant=variant)
    # the change rests on both trainings
    return replace(cell, change=change.value, reported_change=paper, mark=change.mark or cell.mark)


REARRANGED = TableSpec(
    name="rearranged",
    order=1,
    build=rearranged,
    possible=lambda study: study.compared and "rearranged-nz" in study.trainsets,
    question="What is left of the scores when the split is rearranged to hold more unseen triples?",
    overview=(Headline("F1", {"protocol": "rearranged", "metric": "f1", "stratum": "all"}),),
)
SIFTED = TableSpec(
    name="sifted",
    order=2,
    build=sifted,
    possible=lambda study: (
        study.compared and any(name.startswith("sift-") for name in study.trainsets)
    ),
    question="What is left of the scores when test triples that overlap with training are sifted out?",
    overview=(Headline("F1", {"protocol": "sift-*", "metric": "f1", "stratum": "all"}),),
)
AUGMENTED = TableSpec(
    name="augmented",
    order=3,
    build=augmented,
    possible=lambda study: study.compared and "augmented" in study.protocols,
    question="What is left of the scores when entities of the test set are replaced by new ones?",
    overview=(Headline("other names", {"metric": "f1"}),),
)
