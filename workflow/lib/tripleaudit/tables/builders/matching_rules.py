"""``matching-rules``: F1 of the same predictions by every rule about when a triple is correct.

Results of papers that count by different rules cannot be compared (Taillé et al., EMNLP 2020); this
table has what the choice of a rule changes.
"""

from tripleaudit.scoring.spec import MATCHINGS
from tripleaudit.tables.cells import Table
from tripleaudit.tables.grid import (
    SETS_NOTE,
    concat_columns,
    extractor_rows,
    row_notes,
    score_columns,
    score_frame,
    score_table,
)
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec


def matching_rules(study: TableInputs) -> Table:
    """Build from the scores on the original test sets of sentences with triples."""
    rows = extractor_rows(study, ("original",))
    measured = {rule for run in rows.to_dict("records") for rule in study.frames.matchings(run)}
    rules = [rule for rule in MATCHINGS if rule in measured]
    columns = concat_columns(
        score_columns(only_f1=True, matching=rule).assign(column=rule) for rule in rules
    )
    heads = ("Method", "Corpus")
    frame = score_frame(study, rows, columns, heads=heads, mark_winners=False)
    caption = "F1 (%) on the original test sets by rule about when a triple is correct."
    rule_notes = [f"{rule}: {MATCHINGS[rule].note}" for rule in rules]
    more = [SETS_NOTE, *rule_notes, *row_notes(study, rows, "original")]
    return score_table(study, caption, frame, *more, ruled=False)


MATCHING_RULES = TableSpec(
    name="matching-rules",
    order=14.5,
    build=matching_rules,
    possible=lambda study: study.compared,
    question="How much of a score is the rule by which triples count as correct?",
)
