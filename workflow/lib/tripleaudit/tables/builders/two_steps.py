"""``zcc`` and ``two-step``: classifiers alone and before extraction (zero-cardinality, 4, 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tripleaudit.scoring.scores import CLASSIFICATION, run_keys, split_two_step, two_step_name
from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders.end_to_end import PARTIAL_NOTE, has_partial_rows, printed, rows_of
from tripleaudit.tables.cells import Cell, Table, subject
from tripleaudit.tables.grid import (
    FRACTION,
    Keys,
    concat_columns,
    keys_in_paper,
    make_row,
    row_frame,
    row_notes,
    score_columns,
    score_frame,
    score_table,
    with_parts,
)
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import OverviewColumn, TableSpec

if TYPE_CHECKING:
    import pandas as pd

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


ZCC_NOTES = (
    "Precision, recall and F1 of the class “has triples”, trained and tested with zero-triple sentences (WZ).",
    "MCML: multi-class multi-label over the relations; a sentence passes if any relation does.",
)
TRAINING_NOTE = "Extractors are trained on sentences with triples (NZ), the classifier on all (WZ)."
CHANGE_NOTE = (
    "Change: F1 minus the F1 of the same extractor trained end to end on WZ, in percentage points (the column "
    "that the paper heads with %)"
)
UNTRAINED_CHANGE_NOTE = "; of a system without training, minus its own F1 without a classifier."


def zcc(study: TableInputs) -> Table:
    """Build from scores of the classifiers, trained and tested on WZ."""
    scores = study.scores
    scores = scores[scores["matching"] == CLASSIFICATION]
    base = run_keys(protocol="original", training="wz", testing="wz")
    rows = row_frame(
        make_row(labels.extractor(name), {**base, "extractor": name}, CLASSIFICATION)
        for name in labels.ordered(scores["extractor"], labels.cardinality_order())
    )
    corpora = labels.corpora(scores["corpus"])
    columns = concat_columns(
        score_columns(labels.corpus(corpus), corpus=corpus) for corpus in corpora
    )
    heads = ("Classifier", "")
    frame = score_frame(study, rows, columns, heads=heads, unit=FRACTION, reported=_reported_zcc)
    caption = "The zero-cardinality classifier (ZCC): does a sentence have triples?"
    more = [*ZCC_NOTES, *row_notes(study, rows, "original")]
    return score_table(study, caption, frame, *more, ruled=False)


def _reported_zcc(keys: Keys) -> str | None:
    metric, kind = reported.METRICS[keys["metric"]], "zero-cardinality classification"
    setting = "train WZ / test WZ"
    return reported.cardinality(
        4, keys["corpus"], setting, metric, model=keys["extractor"], variant=kind
    )


def two_step(study: TableInputs) -> Table:
    """Build from scores of two-step extraction on WZ test sets, next to end-to-end training."""
    runs = study.runs
    runs = runs[runs["extractor"].str.contains("+", regex=False)]
    rows = row_frame(_two_step_rows(study, runs["extractor"]))
    alone = rows.assign(extractor=[split_two_step(name)[1] for name in rows["extractor"]])
    has_untrained = alone["extractor"].isin(study.facts.untrained).any()
    has_costs = (study.scores["metric"] == "money_ungated").any()
    is_paid = has_untrained and has_costs
    saved: Sequence[str] = SAVED[:1] if has_untrained else ()
    if is_paid:
        saved = SAVED
    corpora = labels.corpora(runs["corpus"])
    columns = concat_columns(
        score_columns(labels.corpus(corpus), corpus=corpus) for corpus in corpora
    )
    heads = ("Model", "Classifier")
    scores = score_frame(study, rows, columns, heads=heads, unit=FRACTION, reported=_reported_f1)
    order = []
    for corpus in corpora:
        group = labels.corpus(corpus)
        of_corpus = rows.assign(corpus=corpus)
        order += [column for column in scores if column[0] == group]
        scores[group, CHANGE] = _changes(study, of_corpus)
        for column in saved:
            cells = [_saved(study, keys, column) for keys in of_corpus.to_dict("records")]
            scores[group, column] = cells
        order += [(group, column) for column in (CHANGE, *saved)]
    more = [TRAINING_NOTE, CHANGE_NOTE + (UNTRAINED_CHANGE_NOTE if has_untrained else ".")]
    if has_partial_rows(rows["row"]):
        more.append(PARTIAL_NOTE)
    if has_untrained:
        more.append(SAVED_NOTE)
    if is_paid:
        more.append(PAID_NOTE)
    more += row_notes(study, alone, "original")
    caption = "Two-step extraction on WZ test sets: a sentence passes the classifier, or nothing is extracted."
    by_corpus = {labels.corpus(corpus): {"corpus": corpus} for corpus in corpora}
    frame = with_parts(study, scores[order], rows, by_corpus)
    return score_table(study, caption, frame, *more)


def _two_step_rows(study: TableInputs, systems: Iterable[str]) -> list[dict[str, str]]:
    """Return the rows of each classifier, from names such as ``zcc-binary+casrel``."""
    pairs = [split_two_step(system) for system in systems]
    rows = []
    for classifier in labels.ordered((gate for gate, _ in pairs), labels.cardinality_order()):
        extractors = [extractor for gate, extractor in pairs if gate == classifier]
        names = labels.ordered(extractors, labels.cardinality_order())
        base = run_keys(protocol="original", training="nz", testing="wz")
        rows += [
            {**row, "extractor": two_step_name(classifier, row["extractor"])}
            for row in rows_of(study, names, base, labels.extractor(classifier))
        ]
    return rows


def _reported_f1(keys: Keys) -> str | None:
    return _paper_two_step(keys, reported.METRICS[keys["metric"]])


def _paper_two_step(keys: Keys, metric: str) -> str | None:
    head = PAPER_HEADS.get(split_two_step(keys["extractor"])[0], "")
    setting = f"two-step: {head} classifier, extractor trained NZ, test WZ"
    return printed(keys, 5, setting, metric)


def _saved(study: TableInputs, keys: Keys, column: str) -> Cell:
    """Return the share of sentences or money that remains, or is saved, behind a classifier."""
    frames, matching = study.frames, keys["matching"]
    cases = frames.mean(keys, "sentences", matching=matching)
    passed, paid = frames.mean(keys, "let_through"), frames.mean(keys, "money")
    whole = frames.mean(keys, "money_ungated")
    if not cases or passed is None:
        return Cell()
    gate = split_two_step(keys["extractor"])[0]
    mark = frames.mark(run_keys(keys, training="wz", extractor=gate, noise="none"))
    of = subject(run_keys(keys), matching=matching, metric="let_through")
    if column == SAVED[0]:
        return Cell(100 * passed / cases, 1, mark=mark, of=of)
    if paid is None or not whole:
        return Cell()
    if column == SAVED[1]:
        return Cell(1000 * paid / cases, 4, mark=mark, of=of)
    return Cell(100 * (1 - paid / whole), 1, mark=mark, of=of)


def _changes(study: TableInputs, rows: pd.DataFrame) -> list[Cell]:
    """Return F1 minus that of the extractor trained end to end, or of the system alone."""
    alone = [split_two_step(name)[1] for name in rows["extractor"]]
    training = ["nz" if name in study.facts.untrained else "wz" for name in alone]
    f1 = rows.assign(metric="f1", stratum="all")
    gains = study.frames.differences(f1, f1.assign(training=training, extractor=alone), digits=2)
    cells = []
    for keys, gain in zip(rows.to_dict("records"), gains, strict=True):
        paper = _paper_two_step(keys_in_paper(study, keys), "F1_gain_points")
        cells.append(replace(gain, reported=paper))
    return cells


ZCC = TableSpec(
    name="zcc",
    order=11,
    build=zcc,
    possible=lambda study: bool(study.classifiers),
    question="Can a classifier tell the sentences that have triples from those that have none?",
    overview=(OverviewColumn("F1", {"metric": "f1"}),),
)


TWO_STEP = TableSpec(
    name="two-step",
    order=12,
    build=two_step,
    possible=lambda study: bool(study.runs.two_steps or study.runs.two_step_systems),
    takes_by=True,
    question="Does a classifier before the extractor beat training it with zero-triple sentences?",
    overview=(
        OverviewColumn("classifier first", {"metric": "f1", "column": "F1"}),
        OverviewColumn("gain", {"column": CHANGE}),
    ),
)
