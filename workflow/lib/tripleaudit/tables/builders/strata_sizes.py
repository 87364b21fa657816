"""``strata-sizes``: test sentences by kind of triple (rte-generalization, table 7)."""

from tripleaudit.protocols.strata import STRATA
from tripleaudit.tables import labels
from tripleaudit.tables.audit_table import COUNTING, Audit, Quantity, audit_table
from tripleaudit.tables.cells import Table
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

READS = ("data/reported/rte_eval.csv",)

VARIANTS = {
    "entirely_seen": "entirely seen only",
    "partially_seen": "partially seen only",
    "unseen": "unseen only",
    "others": "mixed types",
    "all": "total",
}
"""Stratum -> variant of the paper's values."""


def strata_sizes(study: TableInputs) -> Table:
    """Test sentences in each stratum, those of mixed types, and their sum."""
    quantities = [
        Quantity(
            label=labels.TYPES.get(stratum, "Total"),
            value=lambda audit, stratum=stratum: stratum_size(audit, stratum),
            stratum=stratum,
            paper=(7, "test instances", VARIANTS[stratum]),
        )
        for stratum in (*STRATA, "all")
    ]
    caption = "Test sentences by stratum: all triples of one type, or else others."
    notes = [COUNTING, "Sentences with zero triples are in no stratum."]
    return audit_table(study.audits, caption, "Stratum", quantities, notes)


def stratum_size(audit: Audit, stratum: str) -> int:
    """Return the test sentences of a stratum, or of all strata."""
    strata = STRATA if stratum == "all" else (stratum,)
    return sum(audit["strata"][name]["count"] for name in strata)


STRATA_SIZES = TableSpec(
    name="strata-sizes",
    order=32,
    build=strata_sizes,
    needs="audits",
    possible=lambda study: bool(study.corpora),
    question="How many test sentences does each kind of triple rest on?",
)
