"""When a predicted triple counts as correct: four matching rules over the set of triples of one sentence.

``exact-string``   subject text, relation and object text are equal (the primary rule: what the official scorers of
                   most extractors compute);
``exact-span``     both character spans and the relation are equal; a correct prediction on another mention of the
                   same string is wrong here;
``partial-first``  entities are reduced to their first whitespace word before they are compared;
``partial-last``   the same with the last word, the only word that the "star" corpora annotate (zero-cardinality 4.1).

Gold and predicted triples become sets after the reduction, so duplicates count once on both sides, and two triples
that a partial rule makes equal count as one.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final

import numpy as np

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.errors import UserError


def _string(span: Span) -> Hashable:
    return span.text


def _place(span: Span) -> Hashable:
    # An entity that is not in the text stays itself: it is gold that nobody finds by its place.
    return (span.start, span.end) if span.located else span.text


def _first_word(span: Span) -> Hashable:
    return next(iter(span.text.split()), "")


def _last_word(span: Span) -> Hashable:
    words = span.text.split()
    return words[-1] if words else ""


_REDUCTIONS: Final[dict[str, Callable[[Span], Hashable]]] = {
    "exact-string": _string,
    "exact-span": _place,
    "partial-first": _first_word,
    "partial-last": _last_word,
}
MATCHINGS: Final = tuple(_REDUCTIONS)
PRIMARY: Final = "exact-string"


def matching_names() -> tuple[str, ...]:
    """Return what a study may write: the names of the rules, and ``exact``, which is short for the primary one."""
    return ("exact", *MATCHINGS)


def check_matching(matching: str) -> str:
    """Return the name in :data:`MATCHINGS` that is meant; ``exact`` is short for ``exact-string``.

    Raises:
        UserError: there is no such rule.
    """
    name = PRIMARY if matching == "exact" else matching
    if name not in _REDUCTIONS:
        raise UserError(f"unknown matching {matching!r}; expected one of {', '.join(MATCHINGS)}")
    return name


def reduced(triples: Sequence[Triple], matching: str = PRIMARY) -> set[tuple[Hashable, str, Hashable]]:
    """Return the triples as the set that ``matching`` compares."""
    reduce = _REDUCTIONS[matching]
    return {(reduce(triple.subject), triple.relation, reduce(triple.object)) for triple in triples}


def sentence_counts(gold: Sequence[Sentence], predictions: Sequence[Sentence], matching: str = PRIMARY) -> np.ndarray:
    """Count correct, predicted and gold triples of each sentence.

    Args:
        gold, predictions: the same sentences in the same order (see :mod:`tripleaudit.scoring.pairs`).
        matching: one of :data:`MATCHINGS`.

    Returns:
        Integers of shape ``[sentences, 3]``: correct, predicted, gold.
    """
    rows = np.zeros((len(gold), 3), dtype=np.int64)
    for row, (right, guess) in enumerate(zip(gold, predictions, strict=True)):
        expected, found = reduced(right.triples, matching), reduced(guess.triples, matching)
        rows[row] = len(expected & found), len(found), len(expected)
    return rows
