"""``cardinality-sizes``: sentences with and without triples (zero-cardinality, table 2)."""

from tripleaudit.tables import labels, reported
from tripleaudit.tables.audit_table import Audit
from tripleaudit.tables.cells import GAPS, REPORTED, Cell, Table, about, of_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

READS = ("data/reported/zero_cardinality.csv",)

ROWS = {
    "sentences_with_triples": ("Sentences with triples", "sentences_with_triples"),
    "triples": ("Triples in these sentences", "triples"),
    "zero_triple_sentences": ("Sentences with zero triples", "sentences_without_triples"),
}
"""Count of an audit -> label of the row, the paper's metric."""
PAPER_SPLITS = {"train": "train", "valid": "validation", "test": "test"}
PAPER_NOTE = (
    "The paper counts the triples of the NYT24* validation set with, and of its test set without, repetitions "
    "inside a sentence."
)


def cardinality_sizes(study: TableInputs) -> Table:
    """Sentences with and without triples in each split of the original protocol."""
    import pandas as pd

    audits = {
        corpus: audit
        for (corpus, protocol), audit in study.audits.items()
        if protocol == "original"
    }
    columns: dict[tuple[str, str], list[Cell]] = {}
    for corpus in labels.corpora(audits):
        for split, label in labels.SPLITS.items():
            cells = [size_cell(audits[corpus], count, corpus, split) for count in ROWS]
            columns[labels.corpus(corpus), label] = cells
    frame = pd.DataFrame(columns, index=[label for label, _ in ROWS.values()])
    notes = ["A triple counts once in each sentence that holds it."]
    if not reported.CARDINALITY_DATASETS.keys().isdisjoint(audits):
        notes.append(PAPER_NOTE)
    caption = "Sentences with triples and with zero triples in each split."
    return of_frame(frame, caption, [*notes, REPORTED, GAPS])


def size_cell(audit: Audit, count: str, corpus: str, split: str) -> Cell:
    """Return a count of a split with zero-triple sentences; without such a set, of the split."""
    splits = audit.get("cardinality") or audit.get("splits") or {}
    _, metric = ROWS[count]
    subject = None
    if split == "test":
        is_zero = count == "zero_triple_sentences"
        subject = about(corpus, "original", "zero", "wz") if is_zero else about(corpus, "original")
    return Cell(
        value=splits.get(split, {}).get(count),
        digits=0,
        reported=reported.cardinality(2, corpus, PAPER_SPLITS[split], metric),
        of=subject,
    )


CARDINALITY_SIZES = TableSpec(
    name="cardinality-sizes",
    order=33,
    build=cardinality_sizes,
    needs="audits",
    possible=lambda study: bool(study.corpora) and "wz" in study.settings,
    question="How many sentences have no triple at all?",
)
