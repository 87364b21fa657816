"""``split-sizes``: sentences of training, validation and test sets (rte-generalization, table 6)."""

from tripleaudit.tables import labels
from tripleaudit.tables.audit_table import AUGMENTED, Audit, Quantity, audit_table
from tripleaudit.tables.cells import Table
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

READS = ("data/reported/rte_eval.csv",)

AUGMENTED_NOTE = "The augmented protocol has a test set only; its extractors are those of the original training set."


def split_sizes(study: TableInputs) -> Table:
    """Sentences with triples in each split."""
    quantities = [
        Quantity(
            label=label,
            value=lambda audit, split=split: split_size(audit, split),
            stratum="all" if split == "test" else "",
            paper=(6, "instances", split),
        )
        for split, label in labels.SPLITS.items()
    ]
    has_augmented = any(protocol == AUGMENTED for _, protocol in study.audits)
    notes = [AUGMENTED_NOTE] if has_augmented else []
    caption = "Sentences with triples in each split."
    return audit_table(study.audits, caption, "Split", quantities, notes)


def split_size(audit: Audit, split: str) -> int | None:
    """Return the sentences of a split; the augmented protocol has a test set only."""
    if audit["keys"]["protocol"] == AUGMENTED and split != "test":
        return None
    return audit["splits"].get(split, {}).get("sentences")


SPLIT_SIZES = TableSpec(
    name="split-sizes",
    order=31,
    build=split_sizes,
    needs="audits",
    possible=lambda study: bool(study.corpora),
    question="How large are the training, validation and test sets of each protocol?",
)
