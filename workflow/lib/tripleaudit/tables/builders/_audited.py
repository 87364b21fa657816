"""What the tables about data share: their columns are the protocols of each corpus."""

from tripleaudit.tables import labels
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Column


def columns_of(inputs: TableInputs) -> list[tuple[str, str, Column]]:
    """Return ``(corpus, protocol, column)`` for every audit, and for every corpus and protocol that options name."""
    corpora = inputs.names("corpora", [corpus for corpus, _ in inputs.audits], tuple(labels.CORPORA))
    asked = inputs.options.get("protocols")
    return [
        (corpus, protocol, Column(labels.protocol(protocol), labels.corpus(corpus)))
        for corpus in corpora
        for protocol in (asked or labels.ordered((p for c, p in inputs.audits if c == corpus), labels.PROTOCOL_ORDER))
    ]


COUNTING = (
    "A triple counts once in each sentence that holds it; types compare strings (with case) to the triples of the "
    "protocol's training set."
)
EXPECTED = "“reported” is the value that the paper prints; Δ is measured minus reported."
GAPS = "–: not measured."


def notes_of(cells: list, *first: str) -> tuple[str, ...]:
    """Return the given notes and those that the cells call for."""
    more = [EXPECTED] if any(cell.reported is not None for cell in cells) else []
    more += [GAPS] if any(cell.value is None for cell in cells) else []
    return (*(note for note in first if note), *more)
