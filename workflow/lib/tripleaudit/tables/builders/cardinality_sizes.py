"""``cardinality-sizes``: sentences with and without triples in each split (zero-cardinality, table 2)."""

from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders._audited import notes_of
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Column, Row, Table

NAME = "cardinality-sizes"
ROWS = {
    "sentences_with_triples": ("Sentences with triples", "sentences_with_triples"),
    "triples": ("Triples in these sentences", "triples"),
    "zero_triple_sentences": ("Sentences with zero triples", "sentences_without_triples"),
}
PAPER_SPLITS = {"train": "train", "valid": "validation", "test": "test"}


def build(inputs: TableInputs) -> Table:
    """Build from the audits of the original protocol, with its WZ splits."""
    audits = {corpus: audit for (corpus, protocol), audit in inputs.audits.items() if protocol == "original"}
    corpora = inputs.names("corpora", list(audits), tuple(labels.CORPORA))
    columns = [(corpus, split) for corpus in corpora for split in labels.SPLITS]
    rows = []
    for name, (label, metric) in ROWS.items():
        cells = []
        for corpus, split in columns:
            audit = audits.get(corpus, {})
            # Without a WZ set the splits themselves are what there is.
            sizes = (audit.get("cardinality") or audit.get("splits") or {}).get(split, {})
            paper = reported.cardinality(2, corpus, PAPER_SPLITS[split], metric)
            cells.append(Cell(sizes.get(name), 0, reported=paper))
        rows.append(Row(label, tuple(cells)))
    mixed = any(corpus in reported.CARDINALITY_DATASETS for corpus in corpora)
    return Table(
        NAME,
        inputs.caption("Sentences with triples and with zero triples in each split."),
        [Column(labels.SPLITS[split], labels.corpus(corpus)) for corpus, split in columns],
        rows,
        row_header="",
        notes=notes_of(
            [cell for row in rows for cell in row.cells],
            "A triple counts once in each sentence that holds it.",
            "The paper counts the triples of the NYT24* validation set with, and of its test set without, repetitions "
            "inside a sentence."
            if mixed
            else "",
        ),
    )
