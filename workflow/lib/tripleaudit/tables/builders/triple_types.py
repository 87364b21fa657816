"""``triple-types``: what training has shown of the test triples (rte-generalization, table 1)."""

from tripleaudit.protocols.types import TRIPLE_TYPES
from tripleaudit.tables import labels
from tripleaudit.tables.audit_table import COUNTING, Audit, Quantity, audit_table
from tripleaudit.tables.cells import Table
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

READS = ("data/reported/rte_eval.csv",)


def triple_types(study: TableInputs) -> Table:
    """Percent of test triples by type, and their number."""
    quantities = [
        Quantity(
            label=f"{labels.TYPES[kind]} (%)",
            value=lambda audit, kind=kind: percent_of_type(audit, kind),
            digits=study.digits(2),
            paper=(1, f"{kind}_pct", "test triples"),
        )
        for kind in TRIPLE_TYPES
    ]
    quantities.append(Quantity("Test triples", lambda audit: audit["triples"]))
    caption = "Triple types of the test sets."
    return audit_table(study.audits, caption, "Triple type", quantities, [COUNTING])


def percent_of_type(audit: Audit, kind: str) -> float:
    """Return the share of a type in the test triples, in percent."""
    return 100 * float(audit["triple_types"][kind]["share"])


TRIPLE_TYPES_TABLE = TableSpec(
    name="triple-types",
    order=30,
    build=triple_types,
    needs="audits",
    possible=lambda study: bool(study.corpora),
    question="How much of each test set was already in its training set?",
)
