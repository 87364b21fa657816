"""``co-occurrence``: false triples by the names of training that a sentence contains.

Two known names in a sentence that does not relate them are hard negatives: the names suggest a
triple that is wrong there.
"""

from collections.abc import Iterable, Mapping

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.bootstrap import rate_interval
from tripleaudit.scoring.counts import stack_counts
from tripleaudit.scoring.held_names import KINDS
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.scoring.scores import run_id, run_keys
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Row, Table, frame_of_rows, of_frame, subject
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


def co_occurrence(study: TableInputs) -> Table:
    """Build from the counts on the original test sets with zero-triple sentences."""
    runs = study.runs
    is_on_zero = (runs["protocol"] == "original") & (runs["testing"] == "wz")
    runs = runs[is_on_zero & (runs["noise"] == "none") & runs["extractor"].map(extracts)]
    rows: list[Row] = []
    for corpus in labels.corpora(runs["corpus"]):
        for training, setting in labels.SETTINGS.items():
            is_trained_so = (runs["corpus"] == corpus) & (runs["training"] == training)
            by_name = {run["extractor"]: run for run in runs[is_trained_so].to_dict("records")}
            for name in labels.ordered(by_name, labels.cardinality_order()):
                cells = [false_triples(study, by_name[name], kind) for kind in (*KINDS, "")]
                group = f"{labels.corpus(corpus)}, trained {setting}"
                if name in study.facts.untrained or name in BASELINES:
                    group = f"{labels.corpus(corpus)}, not trained"
                rows.append(Row(labels.extractor(name), cells, group))
    # what is not trained has the same row for either training
    by_labels: dict[tuple[str, str], Row] = {}
    for row in rows:
        if any(cell.value is not None for cell in row.cells):
            by_labels.setdefault((row.group, row.label), row)
    groups = list(dict.fromkeys(row.group for row in by_labels.values()))
    rows = sorted(by_labels.values(), key=lambda row: groups.index(row.group))
    notes = [NOTE]
    if len({row.group.partition(",")[0] for row in rows}) == 1:
        notes.append(_sizes_note(rows))
    notes += [*row_notes(study, runs.iloc[:0], "original"), GAPS]
    frame = frame_of_rows(rows, [*HEADS.values(), "All"], ("Model", "Training"))
    caption = (
        "False triples for 100 sentences without triples, by the names of training that they hold."
    )
    return of_frame(frame, caption, notes)


def false_triples(study: TableInputs, run: Mapping[str, str], names: str) -> Cell:
    """Return the predicted triples for 100 sentences without any; a gap without such sentences.

    Args:
        study: what the table is made from.
        run: keys of the run.
        names: kinds of names of training that the sentences hold
            (:mod:`tripleaudit.scoring.held_names`), with ``+`` between them; empty for all.
    """
    digits = study.digits(1)
    by_seed = study.frames.counts.get(run_id(run), {})
    stacked = stack_counts(by_seed, PRIMARY)
    if stacked is None:
        return Cell(digits=digits)
    held = next(iter(by_seed.values())).names
    kinds = names.split("+")
    positions = [
        position for position, kind in enumerate(held) if kind and (not names or kind in kinds)
    ]
    if not positions:
        return Cell(digits=digits)
    predicted = stacked[positions][:, :, 1]
    return Cell.mean(
        predicted.mean(axis=0).tolist(),
        rate_interval(predicted),
        digits=digits,
        cases=len(positions),
        seeds=sum(map(bool, by_seed)),
        mark=study.frames.mark(run),
        of=subject(run_keys(run), names or "zero", PRIMARY, "false_triples"),
    )


def _sizes_note(rows: Iterable[Row]) -> str:
    """Return the number of test sentences of each kind."""
    sizes = {cell.of["stratum"]: cell.cases for row in rows for cell in row.cells if cell.of}
    counts = [f"{HEADS[kind].lower()} {sizes.get(kind) or 0}" for kind in KINDS]
    return f"Test sentences: {', '.join(counts)}."


CO_OCCURRENCE = TableSpec(
    name="co-occurrence",
    order=13.5,
    build=co_occurrence,
    possible=lambda study: study.compared and "wz" in study.settings,
    question="Are triples invented where two known names meet and no relation holds?",
    overview=None,
)
