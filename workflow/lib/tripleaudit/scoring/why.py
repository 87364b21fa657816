"""Reasons of low scores outside the extractor: names, case, blanks, order, direction.

Each hint comes from counting again with one difference forgiven, so that it says how many triples
it concerns.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final, cast

from tripleaudit.corpora.corpus import MALFORMED
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.verbaliser import bare
from tripleaudit.scoring.matching import PRIMARY, reduced, sentence_counts
from tripleaudit.scoring.metrics import Micro, micro
from tripleaudit.scoring.spec import MATCHINGS

SHARE: Final = 0.05  # of the gold triples: what fewer would gain is the extractor's own
LITTLE: Final = 0.05  # F1 below which a system finds next to nothing
SHOWN: Final = 3
Strings = tuple[str, ...]  # subject, relation, object
MAPPED: Final = "map the names with --relations (tripleaudit relations proposes a map)"


def _parts(write: Callable[[str], str]) -> Callable[[Strings], Strings]:
    return lambda triple: tuple(map(write, triple))


# what is forgiven -> how both sides are written then; the first that gains most is said
FORGIVEN: Final[dict[str, Callable[[Strings], Strings]]] = {
    "if case did not count": _parts(str.casefold),
    "if blanks did not count": _parts(lambda part: "".join(part.split())),
    "if the form of Unicode did not count (NFC, NFD)": _parts(
        lambda part: unicodedata.normalize("NFC", part)
    ),
    "if relations were compared without case, blanks and punctuation": lambda t: (
        t[0],
        bare(t[1]),
        t[2],
    ),
    "if case, blanks and punctuation did not count (--matching normalised)": _parts(bare),
    "if the relation did not count (--matching pairs)": lambda triple: (triple[0], "", triple[2]),
}
ORDERS: Final[dict[str, Callable[[Strings], Strings]]] = {
    "read as subject, object, relation (--predicted-column order=sor)": itemgetter(0, 2, 1),
    "read as relation, subject, object (--predicted-column order=rso)": itemgetter(1, 0, 2),
}
PLAIN: Final = "as they are written"
TURNED: Final = "with subject and object exchanged"
_turned: Final[Callable[[Strings], Strings]] = itemgetter(2, 1, 0)


def hints(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], total: Micro, matching: str = PRIMARY
) -> list[str]:
    """Return sentences about possible mistakes in the files; empty if there are none.

    Args:
        gold, predictions: the same sentences in the same order.
    """
    if not total.gold:
        return [
            "the gold sentences have no triples, so that every score is 0 whatever is predicted"
        ]
    if not total.predicted:
        return ["no triple is predicted for any sentence"]
    found, gained = _differences(gold, predictions, total, matching)
    if not found and total.correct == 0 and gained < max(1, SHARE * total.gold):
        found.append(
            "no predicted triple is correct, even without case, blanks, order, types and positions: are "
            "these the same sentences?"
        )
    return found


def reasons(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], relations: Collection[str] = ()
) -> list[str]:
    """Return :func:`hints` for systems with few matches, or matches in another spelling.

    Args:
        gold, predictions: the same sentences in the same order. relations: of the corpus; where
        ``gold`` is a part of it, a name that others of its sentences have is known.
    """
    total = micro(sentence_counts(gold, predictions))
    if not total.gold:
        return []
    if not total.predicted:
        return hints(gold, predictions, total)
    found, gained = _differences(gold, predictions, total, PRIMARY, relations)
    return found if total.f1 < LITTLE or gained >= total.correct else []


def _differences(
    gold: Sequence[Sentence],
    predictions: Sequence[Sentence],
    total: Micro,
    matching: str,
    relations: Collection[str] = (),
) -> tuple[list[str], int]:
    """Return what stands between the two sides, and how many triples most of it costs."""
    counted = _count(_pairs(gold, predictions, matching))
    least = max(1, SHARE * total.gold)
    plain = counted.correct[PLAIN]
    gains = {text: counted.correct[text] - plain for text in (*FORGIVEN, TURNED)}
    for text in ORDERS:
        gains[f"if predicted triples were {text}"] = counted.correct[text] - plain
    found = [
        *_malformed(predictions, total),
        *_relations(counted, relations),
        *_offsets_and_types(gold, predictions, total, matching, plain),
    ]
    stated = 0
    for text, gain in gains.items():
        # a wider difference is stated only if it gains more than those before it; none of them
        # exchanges entities
        if gain >= least and (gain > stated or text == TURNED):
            example = _example(_pairs(gold, predictions, matching), text)
            found.append(f"{_more(gain)} {text}{example}")
            stated = max(stated, gain)
    return found, max(gains.values())


@dataclass(frozen=True)
class _Counted:
    """Counts of all sentences, by what is forgiven.

    Attributes:
        correct: what is forgiven (:data:`PLAIN`: nothing) -> correct triples.
        gold, predicted: relation -> triples of a side.
    """

    correct: Counter[str] = field(default_factory=Counter)
    gold: Counter[str] = field(default_factory=Counter)
    predicted: Counter[str] = field(default_factory=Counter)


def _pairs(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], matching: str
) -> Iterator[tuple[set[Strings], set[Strings]]]:
    """Yield the gold and the predicted triples of each sentence, as a rule writes them."""
    for right, guess in zip(gold, predictions, strict=True):
        yield _strings(right, matching), _strings(guess, matching)


def _count(pairs: Iterable[tuple[set[Strings], set[Strings]]]) -> _Counted:
    """Count the correct triples again and again, each time with another difference forgiven."""
    counted = _Counted()
    correct = counted.correct
    for expected, predicted in pairs:
        for triple in expected:
            counted.gold[triple[1]] += 1
        for triple in predicted:
            counted.predicted[triple[1]] += 1
        if not expected or not predicted:
            continue
        correct[PLAIN] += len(expected & predicted)
        for text, write in FORGIVEN.items():
            correct[text] += _correct_as_written(expected, predicted, write)
        for triple in expected:
            correct[TURNED] += triple in predicted or _turned(triple) in predicted
        for text, reorder in ORDERS.items():
            for triple in predicted:
                correct[text] += reorder(triple) in expected
    return counted


def _strings(sentence: Sentence, matching: str) -> set[Strings]:
    """Return triples as a rule compares them; unchanged for rules that compare offsets."""
    triples = reduced(sentence.triples, matching)
    if matching == PRIMARY or all(isinstance(part, str) for triple in triples for part in triple):
        return cast(set[Strings], triples)
    return {triple.strings for triple in sentence.triples}


def _offsets_and_types(
    gold: Sequence[Sentence],
    predictions: Sequence[Sentence],
    total: Micro,
    matching: str,
    plain: int,
) -> Iterator[str]:
    """Return the cost of comparing types or offsets of entities as well as strings."""
    least, correct = max(1, SHARE * total.gold), total.correct
    if MATCHINGS[matching].typed:
        placed = micro(sentence_counts(gold, predictions, "exact-span")).correct
        if placed - correct >= least:
            yield f"{_more(placed - correct)} if types did not count{_typed(gold, predictions)}"
        correct = placed
    if plain - correct >= least:
        yield f"{_more(plain - correct)} if entities were compared as strings, not by positions"


def _more(count: int) -> str:
    return f"{count} more triple{'s' if count > 1 else ''} would be correct"


def _typed(gold: Sequence[Sentence], predictions: Sequence[Sentence]) -> str:
    """Return the first triple whose types alone are others."""
    for right, guess in zip(gold, predictions, strict=True):
        types = {triple: (triple.subject.type, triple.object.type) for triple in right.triples}
        for triple in guess.triples:
            own = triple.subject.type, triple.object.type
            if types.get(triple, own) != own:
                there, here = (" and ".join(map(str, pair)) for pair in (own, types[triple]))
                return f": ({'; '.join(triple.strings)}) has the types {there}, in the gold {here}"
    return ""


def _malformed(predictions: Sequence[Sentence], total: Micro) -> Iterator[str]:
    """Say what items of the predictions that are no triples cost."""
    triples = [triple for sentence in predictions for triple in set(sentence.triples)]
    count = sum(triple.relation == MALFORMED for triple in triples)
    if count:
        others = Micro(total.correct, total.predicted - count, total.gold)
        yield (
            f"{count} of {total.predicted} predictions are no triples and count as wrong; without them F1 is "
            f"{100 * others.f1:.2f}"
        )


def _relations(counted: _Counted, others: Collection[str]) -> Iterator[str]:
    """Yield a sentence about predicted relations that the gold never has, most frequent first."""
    gold, predicted = (_by_frequency(counts) for counts in (counted.gold, counted.predicted))
    named = [name for name in predicted if name != MALFORMED]
    unknown = [name for name in named if name not in counted.gold and name not in others]
    count = sum(counted.predicted[name] for name in unknown)
    if unknown and len(unknown) == len(named):
        yield (
            f"no predicted relation occurs in the gold: predicted are {_list(unknown)}; the gold has "
            f"{_list(gold)}; {MAPPED}"
        )
    elif unknown and count >= SHARE * counted.predicted.total():
        yield (
            f"{count} of {counted.predicted.total()} predicted triples have a relation that the gold never has: "
            f"{_list(unknown)}; {MAPPED}"
        )


def _by_frequency(counts: Counter[str]) -> list[str]:
    """Return the names of counts, most frequent first, equally frequent ones by name."""
    return sorted(counts, key=lambda name: (-counts[name], name))


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more


def _correct_as_written(
    expected: set[Strings], predicted: set[Strings], write: Callable[[Strings], Strings]
) -> int:
    """Count the correct triples of a sentence once both sides are written in another way."""
    if predicted <= expected:  # correct however they are written, which may make some equal
        return len(set(map(write, predicted))) if len(predicted) > 1 else 1
    return len(set(map(write, expected)) & set(map(write, predicted)))


def _example(pairs: Iterable[tuple[set[Strings], set[Strings]]], text: str) -> str:
    """Return the first pair of triples that only the forgiven difference tells apart."""
    write = _turned if text == TURNED else FORGIVEN.get(text)
    if write is None:
        return ""
    for expected, found in pairs:
        missed = sorted(expected - found)
        here = {triple if text == TURNED else write(triple): triple for triple in missed}
        for triple in sorted(found - expected):
            if write(triple) in here:
                return f": ({'; '.join(triple)}) is ({'; '.join(here[write(triple)])}) in the gold"
    return ""
