"""``split-sizes``: sentences of each split under each protocol (rte-generalization, table 6)."""

from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders._audited import columns_of, notes_of
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Row, Table

NAME = "split-sizes"


def build(inputs: TableInputs) -> Table:
    """Build from audits. The augmented protocol is a test set only: its training and validation cells are gaps."""
    columns = columns_of(inputs)
    rows = []
    for split, label in labels.SPLITS.items():
        cells = []
        for corpus, protocol, _ in columns:
            audit = inputs.audits.get((corpus, protocol))
            own = audit is not None and (protocol != "augmented" or split == "test")
            value = audit["splits"].get(split, {}).get("sentences") if own else None
            cells.append(Cell(value, 0, reported=reported.rte(6, corpus, protocol, "instances", variant=split)))
        rows.append(Row(label, tuple(cells)))
    augmented = any(protocol == "augmented" for _, protocol, _ in columns)
    return Table(
        NAME,
        inputs.caption("Sentences with triples in each split."),
        [column for _, _, column in columns],
        rows,
        row_header="Split",
        notes=notes_of(
            [cell for row in rows for cell in row.cells],
            "The augmented protocol has a test set only; its extractors are those of the original training set."
            if augmented
            else "",
        ),
    )
