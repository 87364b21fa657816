"""Tables of scores on other test sets than the original one (rte-generalization, tables 3 to 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tripleaudit.scoring.scores import run_keys
from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.grid import (
    STRATA_NOTE,
    Keys,
    concat_columns,
    extractor_rows,
    make_row,
    row_frame,
    row_notes,
    score_columns,
    score_frame,
    score_table,
    strata_table,
    with_parts,
)
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import OverviewColumn, TableSpec

if TYPE_CHECKING:
    import pandas as pd

READS = ("data/reported/rte_eval.csv",)


CHANGE_NOTE = "+EN: trained with Entity Noising; in parentheses the change against the row without."


def rearranged(study: TableInputs) -> Table:
    """Build the table of extractors trained and tested on the original and the rearranged split."""
    columns = concat_columns(
        [
            score_columns("Original", with_strata=True),
            score_columns("Rearranged", with_strata=True, protocol="rearranged"),
        ]
    )
    caption = "Results (%) on the original and the rearranged data sets."
    return strata_table(study, caption, columns, reported.in_rte(3), "rearranged")


def augmented(study: TableInputs) -> Table:
    """Build the table of extractors trained on the original split, tested on the augmented set."""
    caption = "Results (%) on the augmented test sets, trained on the original split."
    return strata_table(study, caption, score_columns(), reported.in_rte(5), "augmented")


def sifted(study: TableInputs) -> Table:
    """Build the table of sifted splits: rows per extractor, protocol and noise, columns per corpus.

    Rows with Entity Noising show the change from the row without it. The paper prints the rows with
    noising; of the rows without, it prints only those of the original split.
    """
    protocols_of_runs = study.runs["protocol"]
    sifted_protocols = set(protocols_of_runs[protocols_of_runs.str.startswith("sift-")])
    protocols = labels.ordered({"original", *sifted_protocols}, labels.protocol_order())
    sifted_runs = extractor_rows(study, sorted(sifted_protocols))
    columns = concat_columns(
        score_columns(labels.corpus(corpus), with_strata=True, only_f1=True, corpus=corpus)
        for corpus in sifted_runs["corpus"].unique()
    )
    rows = row_frame(_sifted_rows(study, sifted_runs, protocols))
    notes = [STRATA_NOTE]
    if (rows["noise"] == "noising").any():
        notes.append(CHANGE_NOTE)
    if len(rows) > 1:
        notes.append("The mark for the winner compares all methods on one data set.")
    frame = score_frame(
        study,
        rows,
        columns,
        heads=("Data set", "Method"),
        reported=_reported,
        change=partial(_with_change, study),
    )
    by_corpus = {labels.corpus(name): {"corpus": name} for name in sifted_runs["corpus"].unique()}
    frame = with_parts(study, frame, rows, by_corpus)
    caption = "F1 and type F1 (%) on the original and the overlap-sifted data sets."
    notes += row_notes(study, rows, *protocols)
    return score_table(study, caption, frame, *notes)


def _sifted_rows(
    study: TableInputs, runs: pd.DataFrame, protocols: Sequence[str]
) -> list[dict[str, str]]:
    """Return a row for each extractor, protocol and noise setting; the columns add the corpus."""
    rows = []
    base = run_keys(training="nz", testing="nz")
    for extractor, runs_of_extractor in runs.groupby("extractor", sort=False):
        for protocol in protocols:
            for noise in runs_of_extractor["noise"].unique():
                label = labels.extractor(protocol.capitalize(), noise)
                run = {**base, "protocol": protocol, "extractor": extractor, "noise": noise}
                group = labels.extractor(extractor)
                rows.append(make_row(label, run, study.matching, group, contest=protocol))
    return rows


def _reported(keys: Keys) -> str | None:
    """Return the printed value: with noising from table 4, without (original split) from table 3."""
    return reported.in_rte(4 if keys["noise"] == "noising" else 3)(keys)


def _with_change(study: TableInputs, keys: Keys, cell: Cell) -> Cell:
    """Add the change from the training without Entity Noising to a cell with it."""
    if keys["noise"] == "none":
        return cell
    change = study.frames.difference(keys, {**keys, "noise": "none"})
    paper = None
    if cell.reported is not None:
        stratum = keys["stratum"]
        metric = reported.METRICS["f1" if stratum == "all" else stratum]
        paper = reported.rte(
            4,
            keys["corpus"],
            keys["protocol"],
            metric,
            model=study.facts.keys_in_paper(keys)["extractor"],
            variant="entity noising minus baseline",
        )
    # The change depends on both trainings, so its mark replaces that of the cell.
    return replace(cell, change=change.value, reported_change=paper, mark=change.mark or cell.mark)


REARRANGED = TableSpec(
    name="rearranged",
    order=1,
    build=rearranged,
    possible=lambda study: study.compared and "rearranged-nz" in study.trainsets,
    takes_by=True,
    question="What is left of the scores when the split is rearranged to hold more unseen triples?",
    overview=(OverviewColumn("F1", {"protocol": "rearranged", "metric": "f1", "stratum": "all"}),),
)
SIFTED = TableSpec(
    name="sifted",
    order=2,
    build=sifted,
    possible=lambda study: (
        study.compared and any(name.startswith("sift-") for name in study.trainsets)
    ),
    takes_by=True,
    question="What is left of the scores when test triples that overlap with training are sifted out?",
    overview=(OverviewColumn("F1", {"protocol": "sift-*", "metric": "f1", "stratum": "all"}),),
)
AUGMENTED = TableSpec(
    name="augmented",
    order=3,
    build=augmented,
    possible=lambda study: study.compared and "augmented" in study.protocols,
    takes_by=True,
    question="What is left of the scores when entities of the test set are replaced by new ones?",
    overview=(OverviewColumn("other names", {"metric": "f1"}),),
)
