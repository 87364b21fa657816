"""``zcc`` and ``two-step``: a classifier alone, and before extraction (zero-cardinality, tables
4 and 5).
"""

from dataclasses import replace
from functools import partial
from statistics import fmean

from tripleaudit.core.descriptors import Headline, TableSpec
from tripleaudit.scoring.rows import split_two_step, two_step_name
from tripleaudit.scoring.scores import CLASSIFICATION
from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders.end_to_end import PARTIAL_NOTE, printed, rows_of
from tripleaudit.tables.cells import Cell, Table, subject
from tripleaudit.tables.grid import (
    FRACTION,
    ScoreColumn,
    ScoreRow,
    prf_columns,
    row_in_paper,
    row_notes,
    score_table,
)
from tripleaudit.tables.inputs import RunKey, TableInputs

READS = ("data/reported/zero_cardinality.csv",)

CHANGE = "Change (points)"
PAPER_HEADS = {"zcc-binary": "binary", "zcc-mcml": "MCML"}
SAVED = ("Passed (%)", "Money / 1,000", "Saved (%)")
SAVED_NOTE = (
    "Passed: the share of sentences that pass the classifier. Systems without training were queried about all "
    "sentences, for the tables without a classifier; behind it, these would do."
)
PAID_NOTE = (
    "Money: of the answers about these sentences at the endpoint's prices, for 1,000 sentences of the test set; saved: "
    "the share that the other answers cost."
)


def zcc(inputs: TableInputs) -> Table:
    """Build from scores of the classifiers, trained and tested on WZ."""
    index = inputs.scores
    runs = [run for run in index.runs if CLASSIFICATION in index.matchings(run)]
    corpora = labels.corpora(run.corpus for run in runs)
    classifiers = labels.ordered((run.extractor for run in runs), labels.cardinality_order())
    rows = [
        ScoreRow(labels.extractor(name), RunKey("", "original", "wz", "wz", name), CLASSIFICATION)
        for name in classifiers
    ]
    columns = [
        column
        for corpus in corpora
        for column in prf_columns(labels.corpus(corpus), partial(RunKey._replace, corpus=corpus))
    ]
    return score_table(
        inputs,
        "The zero-cardinality classifier (ZCC): does a sentence have triples?",
        rows,
        columns,
        "Precision, recall and F1 of the class “has triples”, trained and tested with zero-triple sentences (WZ).",
        "MCML: multi-class multi-label over the relations; a sentence passes if any relation does.",
        *row_notes(inputs, rows, "original"),
        heads=("Classifier", ""),
        ruled=False,
        unit=FRACTION,
        reported=_reported_zcc,
    )


def _reported_zcc(row: ScoreRow, column: ScoreColumn) -> str | None:
    run, metric = column.of(row.run), reported.METRICS[column.metric]
    kind = "zero-cardinality classification"
    return reported.cardinality(
        4, run.corpus, "train WZ / test WZ", metric, model=run.extractor, variant=kind
    )


def two_step(inputs: TableInputs) -> Table:
    """Build from scores of two-step extraction on WZ test sets, with the change against
    end-to-end WZ training.
    """
    runs = [run for run in inputs.scores.runs if split_two_step(run.extractor)[0]]
    corpora = labels.corpora(run.corpus for run in runs)
    pairs = [split_two_step(run.extractor) for run in runs]
    rows: list[ScoreRow] = []
    for classifier in labels.ordered((one for one, _ in pairs), labels.cardinality_order()):
        found = labels.ordered(
            (name for one, name in pairs if one == classifier), labels.cardinality_order()
        )
        for row in rows_of(
            inputs, found, RunKey("", "original", "nz", "wz", ""), labels.extractor(classifier)
        ):
            name = two_step_name(classifier, row.run.extractor)
            rows.append(replace(row, run=row.run._replace(extractor=name)))
    untrained = any(split_two_step(row.run.extractor)[1] in inputs.untrained for row in rows)
    paid = untrained and any(inputs.scores.values(run, "all", "", "money_ungated") for run in runs)
    saved = SAVED if paid else SAVED[:1] if untrained else ()
    columns = []
    for corpus in corpora:
        group, of = labels.corpus(corpus), partial(RunKey._replace, corpus=corpus)
        columns += prf_columns(group, of)
        columns.append(ScoreColumn(CHANGE, group=group, of=of, cell=partial(_change, inputs)))
        columns += [
            ScoreColumn(label, group=group, of=of, cell=partial(_saved, inputs)) for label in saved
        ]
    return score_table(
        inputs,
        "Two-step extraction on WZ test sets: a sentence passes the classifier, or nothing is extracted.",
        rows,
        columns,
        "Extractors are trained on sentences with triples (NZ), the classifier on all (WZ).",
        "Change: F1 minus the F1 of the same extractor trained end to end on WZ, in percentage points (the column "
        "that the paper heads with %)"
        + (
            "; of a system without training, minus its own F1 without a classifier."
            if untrained
            else "."
        ),
        PARTIAL_NOTE * any(row.label.endswith("*") for row in rows),
        SAVED_NOTE * untrained,
        PAID_NOTE * paid,
        *row_notes(inputs, [_alone(row) for row in rows], "original"),
        heads=("Model", "Classifier"),
        unit=FRACTION,
        reported=lambda row, column: _paper_two_step(row, column, reported.METRICS[column.metric]),
    )


def _paper_two_step(row: ScoreRow, column: ScoreColumn, metric: str) -> str | None:
    head, corpus = (
        PAPER_HEADS.get(split_two_step(row.run.extractor)[0], ""),
        column.of(row.run).corpus,
    )
    return printed(
        row, 5, f"two-step: {head} classifier, extractor trained NZ, test WZ", metric, corpus
    )


def _alone(row: ScoreRow) -> ScoreRow:
    """Return the row of the extractor or system without its classifier."""
    return replace(row, run=row.run._replace(extractor=split_two_step(row.run.extractor)[1]))


def _saved(inputs: TableInputs, row: ScoreRow, column: ScoreColumn) -> Cell:
    """Return what remains to be queried after the classifier: of the sentences, of the money, or
    the share saved.
    """
    run = column.of(row.run)
    cases = inputs.scores.cases(run, "all", row.matching)
    passed, paid, whole = (
        list(inputs.scores.values(run, "all", "", name).values())
        for name in ("let_through", "money", "money_ungated")
    )
    if not cases or not passed:
        return Cell()
    classifier = run._replace(
        training="wz", extractor=split_two_step(run.extractor)[0], noise="none"
    )
    of, mark = (
        subject(run._asdict(), matching=row.matching, metric="let_through"),
        inputs.scores.mark(classifier),
    )
    if column.label == SAVED[0]:
        return Cell(100 * fmean(passed) / cases, 1, mark=mark, of=of)
    if not paid or not fmean(whole):
        return Cell()
    if column.label == SAVED[1]:
        return Cell(1000 * fmean(paid) / cases, 4, mark=mark, of=of)
    return Cell(100 * (1 - fmean(paid) / fmean(whole)), 1, mark=mark, of=of)


def _change(inputs: TableInputs, row: ScoreRow, column: ScoreColumn) -> Cell:
    run = column.of(row.run)
    alone = split_two_step(run.extractor)[1]
    end_to_end = run._replace(training="nz" if alone in inputs.untrained else "wz", extractor=alone)
    gain = inputs.scores.difference(run, end_to_end, matching=row.matching, digits=2)
    return replace(
        gain, reported=_paper_two_step(row_in_paper(inputs, row, column), column, "F1_gain_points")
    )


ZCC = TableSpec(
    name="zcc",
    order=11,
    build=zcc,
    possible=lambda study: bool(study.classifiers),
    question="Can a classifier tell the sentences that have triples from those that have none?",
    overview=(Headline("F1", {"metric": "f1"}),),
)


TWO_STEP = TableSpec(
    name="two-step",
    order=12,
    build=two_step,
    possible=lambda study: bool(study.two_step_runs or study.two_step_systems),
    question="Does a classifier before the extractor beat training it with zero-triple sentences?",
    overview=(
        Headline("classifier first", {"metric": "f1", "column": "F1"}),
        Headline("gain", {"column": CHANGE}),
    ),
)
