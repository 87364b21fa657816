"""``co-occurrence``: false triples by the names of training that a sentence contains.

Two known names in a sentence that does not relate them are hard negatives: the names suggest a
triple that is wrong there.
"""

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.held_names import KINDS
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Row, Table, frame_of_rows, of_frame
from tripleaudit.tables.grid import extracts, row_notes
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

HEADS = {
    "seen_pair": "Pair seen in training",
    "joinable": "Names that relations join",
    "names": "Other names",
    "none": "No name",
}
NOTE = (
    "False triples for 100 test sentences that have no triple, by the names of training that a sentence holds: two "
    "that a training triple joins; else two of types that some relation joins there (where entities have no types: one "
    "that a relation has as its subject and one that it has as its object); else any; or none. [low, high]: 95 % "
    "bootstrap over sentences, where nothing is predicted Wilson's for the share of sentences."
)


def co_occurrence(inputs: TableInputs) -> Table:
    """Build from the counts on the original test sets with zero-triple sentences."""
    runs = [
        run
        for run in inputs.scores.runs
        if (run.protocol, run.testing, run.noise) == ("original", "wz", "none")
        and extracts(run.extractor)
    ]
    rows: list[Row] = []
    for corpus in labels.corpora(run.corpus for run in runs):
        for training, setting in labels.SETTINGS.items():
            mine = {
                run.extractor: run
                for run in runs
                if (run.corpus, run.training) == (corpus, training)
            }
            for name in labels.ordered(mine, labels.cardinality_order()):
                found = tuple(
                    inputs.scores.false_triples(mine[name], kind, inputs.digits(1))
                    for kind in (*KINDS, "")
                )
                group = f"{labels.corpus(corpus)}, trained {setting}"
                if name in inputs.untrained or name in BASELINES:
                    group = f"{labels.corpus(corpus)}, not trained"
                one = Row(labels.extractor(name), found, group)
                again = any(
                    (row.label, row.group) == (one.label, group) for row in rows
                )  # for both trainings
                if any(cell.value is not None for cell in found) and not again:
                    rows.append(one)
    groups = [row.group for row in rows]
    rows = sorted(rows, key=lambda row: groups.index(row.group))
    sizes = {cell.of["stratum"]: cell.cases for row in rows for cell in row.cells if cell.of}
    sizes_note = (
        "Test sentences: "
        + ", ".join(f"{HEADS[kind].lower()} {sizes.get(kind) or 0}" for kind in KINDS)
        + "."
    )
    frame = frame_of_rows(rows, [*HEADS.values(), "All"], ("Model", "Training"))
    notes = [
        NOTE,
        len({row.group.partition(",")[0] for row in rows}) == 1 and sizes_note,
        *row_notes(inputs, (), "original"),
        GAPS,
    ]
    return of_frame(
        frame,
        "False triples for 100 sentences without triples, by the names of training that they hold.",
        notes,
    )


CO_OCCURRENCE = TableSpec(
    name="co-occurrence",
    order=13.5,
    build=co_occurrence,
    possible=lambda study: study.compared and "wz" in study.settings,
    question="Are triples invented where two known names meet and no relation holds?",
    overview=None,
)
