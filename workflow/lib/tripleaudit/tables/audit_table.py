"""Tables about the data sets of a study, from the audits of its protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import GAPS, REPORTED, Cell, Table, about, of_frame

COUNTING = (
    "A triple counts once in each sentence that holds it; types compare strings (with case) to the triples of the "
    "protocol's training set."
)
AUGMENTED = "augmented"
Audit = Mapping[str, Any]


@dataclass(frozen=True)
class Quantity:
    """A row of a table about data sets.

    Attributes:
        label: of the row.
        value: returns its number from an audit, None for a gap.
        stratum: of the test sentences that it counts; empty for sentences of other splits.
        digits: decimals shown.
        paper: number of a table of rte-generalization, metric and variant of the reported value.
    """

    label: str
    value: Callable[[Audit], float | None]
    stratum: str = "all"
    digits: int = 0
    paper: tuple[int, str, str] | None = None

    def cell(self, corpus: str, protocol: str, audit: Audit) -> Cell:
        """Return its cell in the column of an audit."""
        printed = None
        if self.paper is not None:
            table, metric, variant = self.paper
            printed = reported.rte(table, corpus, protocol, metric, variant=variant)
        subject = about(corpus, protocol, self.stratum) if self.stratum else None
        return Cell(self.value(audit), self.digits, reported=printed, of=subject)


def audit_table(
    audits: Mapping[tuple[str, str], Audit],
    caption: str,
    head: str,
    quantities: Sequence[Quantity],
    notes: Sequence[str] = (),
) -> Table:
    """Return a table with a column for each audit, in the papers' order.

    Args:
        audits: by corpus and protocol.
        caption: of the table.
        head: heading of the row labels.
        quantities: the rows.
        notes: in addition to those on reported values and gaps.
    """
    import pandas as pd

    keys = sort_audits(audits)
    columns = {
        number: [quantity.cell(*key, audits[key]) for quantity in quantities]
        for number, key in enumerate(keys)
    }
    names = [(labels.corpus(corpus), labels.protocol(protocol)) for corpus, protocol in keys]
    rows = pd.Index([quantity.label for quantity in quantities], name=head)
    frame = pd.DataFrame(columns, index=rows)
    frame.columns = pd.MultiIndex.from_tuples(names, names=["corpus", "protocol"])
    return of_frame(frame, caption, [*notes, REPORTED, GAPS])


def sort_audits(audits: Mapping[tuple[str, str], Audit]) -> list[tuple[str, str]]:
    """Return the keys of audits in the papers' order."""
    keys = []
    for corpus in labels.corpora(corpus for corpus, _ in audits):
        protocols = [protocol for name, protocol in audits if name == corpus]
        ordered = labels.ordered(protocols, labels.protocol_order())
        keys += [(corpus, protocol) for protocol in ordered]
    return keys
