"""``unseen-relations``: who extracts triples of relations that no training sentence has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.protocols.unseen_relations import NAME
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.scores import run_keys
from tripleaudit.tables.cells import Cell, Table, subject
from tripleaudit.tables.grid import (
    Keys,
    extractor_rows,
    row_notes,
    score_columns,
    score_frame,
    score_table,
)
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import OverviewColumn, TableSpec

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
    named = rows[rows["extractor"].map(_can_name).astype(bool)]
    more = [*NOTES]
    if len(named) < len(rows):
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
    of = subject(run_keys(keys), matching=keys["matching"], metric="f1")
    return Cell(text=CANNOT, of=of)


def _can_name(extractor: str) -> bool:
    """Whether a system reads relations: not an extractor with weights for each, nor a baseline."""
    return extractor not in BASELINES and (
        extractor not in EXTRACTORS or EXTRACTORS[extractor].takes_schema
    )


def _rows(study: TableInputs) -> pd.DataFrame:
    """Return a row for each system of the corpora with the protocol that was queried."""
    runs = study.runs[study.runs["protocol"] == NAME]
    queried = set(zip(runs["corpus"], runs["extractor"], strict=True))
    for fact in study.facts.systems:
        if fact["keys"]["protocol"] == NAME:
            queried.add((fact["keys"]["corpus"], fact["system"]))
    rows = extractor_rows(study, (NAME,), NAME)
    is_shown = []
    for run in rows.to_dict("records"):
        cannot_name = run["noise"] == "none" and not _can_name(run["extractor"])
        is_shown.append((run["corpus"], run["extractor"]) in queried or cannot_name)
    return rows.loc[is_shown]


UNSEEN_RELATIONS_TABLE = TableSpec(
    name="unseen-relations",
    order=4.5,
    build=unseen_relations,
    possible=lambda study: study.compared and NAME in study.protocols,
    question="Who extracts relations that training did not have?",
    overview=(OverviewColumn("Unseen relations", {"column": "F1"}),),
)
