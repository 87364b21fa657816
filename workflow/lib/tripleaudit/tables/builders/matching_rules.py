"""``matching-rules``: F1 of the same predictions by every rule about when a triple is correct.

Results of papers that count by different rules cannot be compared (Taillé et al., EMNLP 2020); this
table has what the choice of a rule changes.
"""

from tripleaudit.core.descriptors import MATCHINGS, TableSpec
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.grid import (
    SETS_NOTE,
    ScoreColumn,
    ScoreRow,
    extractor_rows,
    row_notes,
    score_table,
)
from tripleaudit.tables.inputs import TableInputs


def matching_rules(inputs: TableInputs) -> Table:
    """Build from the scores on the original test sets of sentences with triples."""
    rows = extractor_rows(inputs, ("original",))
    measured = {rule for row in rows for rule in inputs.scores.matchings(row.run)}
    rules = [rule for rule in MATCHINGS if rule in measured]

    def cell(row: ScoreRow, column: ScoreColumn) -> Cell:
        return inputs.scores.cell(row.run, "f1", matching=column.label, digits=inputs.digits(1))

    return score_table(
        inputs,
        "F1 (%) on the original test sets by rule about when a triple is correct.",
        rows,
        [ScoreColumn(rule, cell=cell) for rule in rules],
        SETS_NOTE,
        *(f"{rule}: {MATCHINGS[rule].note}" for rule in rules),
        *row_notes(inputs, rows, "original"),
        heads=("Method", "Corpus"),
        ruled=False,
    )


MATCHING_RULES = TableSpec(
    name="matching-rules",
    order=14.5,
    build=matching_rules,
    possible=lambda study: study.compared,
    question="How much of a score is the rule by which triples count as correct?",
)
