"""#tri and #tok: how many triples a system writes and how long they are (GenRES, section 4)."""

from collections.abc import Iterable, Sequence
from typing import Any

from tripleaudit.grescores.tokens import count_tokens


def triple_tokens(triple: Sequence[Any]) -> int:
    """Return the tokens of subject, relation and object together; 0 if one of them is not a string."""
    if not all(isinstance(part, str) for part in triple):
        return 0
    return sum(map(count_tokens, triple))


def mean_tokens(triples: Iterable[Sequence[Any]]) -> float | None:
    """Return the mean tokens per triple of one text; None without triples (0 in the official mode)."""
    counts = [triple_tokens(triple) for triple in triples]
    return sum(counts) / len(counts) if counts else None
