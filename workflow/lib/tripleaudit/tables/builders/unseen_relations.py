"""``unseen-relations``: who extracts triples of relations that no training sentence has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.protocols.unseen_relations import NAME
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.tables.cells import Cell, Table, subject
from tripleaudit.tables.grid import (
    Keys,
    extractor_rows,
    row_notes,
    runs_of_rows,
    score_columns,
    score_frame,
    score_table,
)
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import Headline, TableSpec
from tripleaudit.tables.tidy import run_of

if TYPE_CHECKING:
    import pandas as pd

CANNOT = "0: cannot name them"


NOTES = (
    "Training and validation sentences with a held-out relation are left out; gold are the held-out triples of the "
    "test sentences that have any. Systems are given the held-out relations and no others, by name or, where the "
    "study describes them, by description.",
)
CANNOT_NOTE = (
    "Cannot name them: relations are weights of the trained system, so that it scores 0 by construction; it was "
    "not run."
)


def unseen_relations(study: TableInputs) -> Table:
    """Build rows for every system; extractors that learn relations as weights score zero."""
    rows = _rows(study)
    runs = runs_of_rows(rows)
    named = [run for run in runs if _can_name(run.extractor)]
    more = [*NOTES]
    if len(named) < len(runs):
        more.append(CANNOT_NOTE)
    more += row_notes(study, named, NAME)
    heads = ("System", "Corpus")
    frame = score_frame(study, rows, score_columns(), heads=heads, change=_zero_by_construction)
    caption = "Results (%) on triples of relations that were held out of training."
    return score_table(study, caption, frame, *more)


def _zero_by_construction(keys: Keys, cell: Cell) -> Cell:
    """Replace the cells of systems that cannot name the relations."""
    if _can_name(keys["extractor"]):
        return cell
    if keys["metric"] != "f1":
        return Cell(text="0")
    of = subject(run_of(keys)._asdict(), matching=keys["matching"], metric="f1")
    return Cell(text=CANNOT, of=of)


def _can_name(extractor: str) -> bool:
    """Whether a system reads relations: not an extractor with weights for each, nor a baseline."""
    return extractor not in BASELINES and (
        extractor not in EXTRACTORS or EXTRACTORS[extractor].takes_schema
    )


def _rows(study: TableInputs) -> pd.DataFrame:
    """Return a row for each system of the corpora with the protocol that was queried."""
    queried = {(run.corpus, run.extractor) for run in study.scores.runs if run.protocol == NAME}
    for fact in study.systems:
        if fact["keys"]["protocol"] == NAME:
            queried.add((fact["keys"]["corpus"], fact["system"]))
    rows = extractor_rows(study, (NAME,), NAME)
    is_shown = []
    for run in runs_of_rows(rows):
        cannot_name = run.noise == "none" and not _can_name(run.extractor)
        is_shown.append((run.corpus, run.extractor) in queried or cannot_name)
    return rows.loc[is_shown]


UNSEEN_RELATIONS_TABLE = TableSpec(
    name="unseen-relations",
    order=4.5,
    build=unseen_relations,
    possible=lambda study: study.compared and NAME in study.protocols,
    question="Who extracts relations that training did not have?",
    overview=(Headline("Unseen relations", {"column": "F1"}),),
)
