"""``triple-types``: shares of entirely seen, partially seen and unseen test triples (rte-generalization, table 1)."""

from tripleaudit.protocols.types import TRIPLE_TYPES
from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders._audited import COUNTING, columns_of, notes_of
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Row, Table

NAME = "triple-types"


def build(inputs: TableInputs) -> Table:
    """Build from audits: percent of test triples by type, and their number."""
    columns = columns_of(inputs)
    digits = inputs.digits(2)
    rows = []
    for kind in TRIPLE_TYPES:
        cells = []
        for corpus, protocol, _ in columns:
            audit = inputs.audits.get((corpus, protocol))
            value = None if audit is None else 100 * audit["triple_types"][kind]["share"]
            paper = reported.rte(1, corpus, protocol, f"{kind}_pct", variant="test triples")
            cells.append(Cell(value, digits, reported=paper))
        rows.append(Row(f"{labels.TYPES[kind]} (%)", tuple(cells)))
    totals = [inputs.audits.get((corpus, protocol)) for corpus, protocol, _ in columns]
    rows.append(Row("Test triples", tuple(Cell(audit and audit["triples"], 0) for audit in totals)))
    return Table(
        NAME,
        inputs.caption("Triple types of the test sets."),
        [column for _, _, column in columns],
        rows,
        row_header="Triple type",
        notes=notes_of([cell for row in rows for cell in row.cells], COUNTING),
    )
