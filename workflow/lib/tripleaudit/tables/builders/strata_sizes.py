"""``strata-sizes``: test sentences whose triples are all of one type (rte-generalization, table 7)."""

from tripleaudit.protocols.strata import STRATA
from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders._audited import COUNTING, columns_of, notes_of
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Row, Table

NAME = "strata-sizes"
VARIANTS = {
    "entirely_seen": "entirely seen only",
    "partially_seen": "partially seen only",
    "unseen": "unseen only",
    "others": "mixed types",
    "total": "total",
}


def build(inputs: TableInputs) -> Table:
    """Build from audits: sentences in each stratum, those of mixed types, and their sum."""
    columns = columns_of(inputs)
    rows = []
    for name in (*STRATA, "total"):
        cells = []
        for corpus, protocol, _ in columns:
            audit = inputs.audits.get((corpus, protocol))
            value = None
            if audit is not None:
                strata = {kind: audit["strata"][kind]["count"] for kind in STRATA}
                value = sum(strata.values()) if name == "total" else strata[name]
            paper = reported.rte(7, corpus, protocol, "test instances", variant=VARIANTS[name])
            cells.append(Cell(value, 0, reported=paper))
        rows.append(Row(labels.TYPES.get(name, "Total"), tuple(cells)))
    return Table(
        NAME,
        inputs.caption("Test sentences by stratum: all triples of one type, or else others."),
        [column for _, _, column in columns],
        rows,
        row_header="Stratum",
        notes=notes_of(
            [cell for row in rows for cell in row.cells], COUNTING, "Sentences with zero triples are in no stratum."
        ),
    )
