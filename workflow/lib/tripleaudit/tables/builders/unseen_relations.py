"""``unseen-relations``: who extracts triples of relations that no training sentence has."""

from tripleaudit.core.descriptors import EXTRACTORS, Headline, TableSpec
from tripleaudit.protocols.unseen_relations import NAME
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.tables.cells import Cell, Table, subject
from tripleaudit.tables.grid import (
    ScoreColumn,
    ScoreRow,
    extractor_rows,
    prf_columns,
    row_notes,
    score_table,
)
from tripleaudit.tables.inputs import TableInputs

CANNOT = "0: cannot name them"


def unseen_relations(inputs: TableInputs) -> Table:
    """Every system of the study; what was trained on its relations as weights has zeros without
    being run.
    """
    rows = _rows(inputs)
    named = [row for row in rows if _can_name(row.run.extractor)]
    return score_table(
        inputs,
        "Results (%) on triples of relations that were held out of training.",
        rows,
        prf_columns(),
        "Training and validation sentences with a held-out relation are left out; gold are the held-out triples of the "
        "test sentences that have any. Systems are given the held-out relations and no others, by name or, where the "
        "study describes them, by description.",
        "Cannot name them: relations are weights of the trained system, so that it scores 0 by construction; it was "
        "not run." * (len(named) < len(rows)),
        *row_notes(inputs, named, NAME),
        heads=("System", "Corpus"),
        change=_of_who_cannot,
    )


def _of_who_cannot(row: ScoreRow, column: ScoreColumn, cell: Cell) -> Cell:
    if _can_name(row.run.extractor):
        return cell
    of = subject(row.run._asdict(), matching=row.matching, metric="f1")
    return Cell(text=CANNOT, of=of) if column.metric == "f1" else Cell(text="0")


def _can_name(extractor: str) -> bool:
    """Whether a system reads relations: not an extractor with weights for each, nor a baseline."""
    return extractor not in BASELINES and (
        extractor not in EXTRACTORS or EXTRACTORS[extractor].takes_schema
    )


def _rows(inputs: TableInputs) -> list[ScoreRow]:
    """One row for each system of the corpora with the protocol; of systems that were not
    queried, none.
    """
    rows = extractor_rows(inputs, (NAME,), NAME)
    queried = {(run.corpus, run.extractor) for run in inputs.scores.runs if run.protocol == NAME}
    queried |= {
        (fact["keys"]["corpus"], fact["system"])
        for fact in inputs.systems
        if fact["keys"]["protocol"] == NAME
    }
    return [
        row
        for row in rows
        if (row.run.corpus, row.run.extractor) in queried
        or (row.run.noise == "none" and not _can_name(row.run.extractor))
    ]


UNSEEN_RELATIONS_TABLE = TableSpec(
    name="unseen-relations",
    order=4.5,
    build=unseen_relations,
    possible=lambda study: study.compared and NAME in study.protocols,
    question="Who extracts relations that training did not have?",
    overview=(Headline("Unseen relations", {"column": "F1"}),),
)
