"""``matching-rules``: F1 of the same predictions by every rule about when a triple is correct.

Results of papers that count by different rules cannot be compared (Taillé et al., EMNLP 2020); this table has what the
choice of a rule changes.
"""

from tripleaudit.descriptors import MATCHINGS, TableSpec
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.tables import labels
from tripleaudit.tables.builders.generalisation import base_runs, name_of
from tripleaudit.tables.cells import Cell, Column, Table
from tripleaudit.tables.evidence import TableInputs
from tripleaudit.tables.gates import Pair, contrast
from tripleaudit.tables.grid import SETS_NOTE, as_rows, extractor_rows, notes, row_notes
from tripleaudit.tables.score_index import RunKey

PLACES = "exact-span"


def cell(inputs: TableInputs, run: RunKey, rule: str) -> Cell:
    """Return the F1 of a run by a rule, in percent with its interval; a gap where it was not scored by it."""
    return inputs.scores.cell(run, "f1", matching=rule, digits=inputs.digits(1))


def matching_rules(inputs: TableInputs) -> Table:
    """Build from the scores on the original test sets of sentences with triples."""
    rows = extractor_rows(
        inputs,
        ("original",),
        labels.rte_order(),
        base=lambda corpus, extractor, noise: RunKey(corpus, "original", "nz", "nz", extractor, noise),
    )
    measured = {rule for row in rows for rule in inputs.scores.matchings(row.run)}
    rules = [rule for rule in MATCHINGS if rule in measured]
    grid = [[cell(inputs, row.run, rule) for rule in rules] for row in rows]
    return Table(
        "matching-rules",
        inputs.caption("F1 (%) on the original test sets by rule about when a triple is correct."),
        [Column(rule) for rule in rules],
        as_rows(rows, grid),
        row_header="Method",
        group_header="Corpus",
        notes=notes(
            (one for cells in grid for one in cells),
            None,
            SETS_NOTE,
            *(f"{rule}: {MATCHINGS[rule].note}" for rule in rules),
            *row_notes(inputs, rows, "original"),
        ),
    )


def told(inputs: TableInputs) -> str:
    """Say what is lost where places are compared, and not strings."""
    runs = [run for run in base_runs(inputs) if run.noise == "none"]
    pairs = [Pair(name_of(run, runs), cell(inputs, run, PRIMARY), cell(inputs, run, PLACES)) for run in runs]
    return contrast(pairs, "where entities are compared as strings", "where they are compared by their places")


MATCHING_RULES = TableSpec(
    name="matching-rules",
    order=14.5,
    build=matching_rules,
    possible=lambda study: study.compared,
    question="How much of a score is the rule by which triples count as correct?",
    answer=told,
)
