"""Zero-triple sentences of a raw corpus beside a prepared data set (zero-cardinality 4, table 2).

The prepared NYT24 and NYT29 hold sentences with triples only; NYT24* and NYT29* add sentences that the raw NYT11 and
NYT10 training corpora list without any relation.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from tripleaudit.errors import UserError


class _Sentence(Protocol):
    """A :class:`~tripleaudit.corpora.model.Sentence`, or one as its file states it."""

    @property
    def text(self) -> str: ...

    @property
    def triples(self) -> Sequence: ...


S = TypeVar("S", bound=_Sentence)


def text_key(text: str) -> str:
    """Texts that differ in blanks, case and quotes around them alone are one sentence.

    The raw NYT files have other quotes than the prepared ones, and NYT29 is lower-cased.
    """
    return " ".join(text.split()).strip("\" '").casefold()


def find_zero(positive: Iterable[str], raw: Iterable[S]) -> list[S]:
    """Return the sentences of a raw corpus that have zero triples wherever they occur, each text once.

    Args:
        positive: texts of the prepared data set's sentences with triples.
        raw: every sentence of the raw corpus; one may occur several times, with triples and without.
    """
    taken = {text_key(text) for text in positive}
    candidates: dict[str, S] = {}
    for sentence in raw:
        key = text_key(sentence.text)
        if sentence.triples:
            taken.add(key)
        else:
            candidates.setdefault(key, sentence)
    return [sentence for key, sentence in candidates.items() if key not in taken]


def deal(sentences: Sequence[S], sizes: Mapping[str, int], seed: int) -> dict[str, list[S]]:
    """Shuffle with ``seed``, fill the sets from the last of ``sizes`` to the first, and restore corpus order in each.

    Raises:
        UserError: there are fewer sentences than the sets take.
    """
    if len(sentences) < sum(sizes.values()):
        raise UserError(f"{len(sentences)} sentences, expected at least {sum(sizes.values())}")
    order = list(range(len(sentences)))
    random.Random(seed).shuffle(order)
    chosen, at = {}, 0
    for name, size in reversed(list(sizes.items())):
        chosen[name] = [sentences[number] for number in sorted(order[at : at + size])]
        at += size
    return chosen


def fitting_sizes(found: int, sizes: Mapping[str, int], least: float) -> dict[str, int]:
    """Return ``sizes``, or if fewer sentences are there, all of them in the same proportions.

    Args:
        found: zero-triple sentences at hand.
        sizes: of the published sets.
        least: share of the published sum that must be there.

    Raises:
        UserError: less than that is there.
    """
    wanted = sum(sizes.values())
    if found >= wanted:
        return dict(sizes)
    if found < least * wanted:
        raise UserError(
            f"the raw corpus has {found} different sentences with zero triples, expected {wanted} as published, or at "
            f"least {least:.0%} of them"
        )
    fitted = {name: found * size // wanted for name, size in sizes.items()}
    first = next(iter(fitted))
    fitted[first] += found - sum(fitted.values())
    return fitted
