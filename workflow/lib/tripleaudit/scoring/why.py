"""Why a score is low for another reason than the extractor: names, case, blanks, form of Unicode,
order, direction.

Each hint comes from counting again with one difference forgiven, so that it says how many triples
it concerns.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final

from tripleaudit.core.descriptors import MATCHINGS
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.verbaliser import bare
from tripleaudit.scoring.matching import PRIMARY, reduced, sentence_counts
from tripleaudit.scoring.metrics import Micro, micro

SHARE: Final = 0.05  # of the gold triples: what fewer would gain is the extractor's own
LITTLE: Final = 0.05  # F1 below which a system finds next to nothing
SHOWN: Final = 3
Strings = tuple[str, ...]  # subject, relation, object
MAPPED: Final = "a map of names puts that right (tripleaudit relations proposes one)"


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
ORDERS: Final = {
    "read as subject, object, relation (--predicted-column order=sor)": (0, 2, 1),
    "read as relation, subject, object (--predicted-column order=rso)": (1, 0, 2),
}
TURNED: Final = "with subject and object exchanged"
_turned: Final[Callable[[Strings], Strings]] = itemgetter(2, 1, 0)


def hints(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], total: Micro, matching: str = PRIMARY
) -> list[str]:
    """Return sentences about what may be wrong with the files rather than with the extractor; none
    where all is well.

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
            "no predicted triple is correct, whatever difference is forgiven: are these the same sentences?"
        )
    return found


def reasons(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], relations: Collection[str] = ()
) -> list[str]:
    """Return :func:`hints` where a system finds next to nothing, or where most that it finds is
    written differently.

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
    right, guess = ([_strings(each, matching) for each in side] for side in (gold, predictions))
    plain, least = _correct(right, guess), max(1, SHARE * total.gold)
    gains = {
        text: _correct_as_written(right, guess, write) - plain for text, write in FORGIVEN.items()
    }
    both_directions = (triples | set(map(_turned, triples)) for triples in guess)
    gains[TURNED] = _correct(right, both_directions) - plain
    for text, order in ORDERS.items():
        reordered = (set(map(itemgetter(*order), triples)) for triples in guess)
        gains[f"if predicted triples were {text}"] = _correct(right, reordered) - plain
    found = [
        *_relations(right, guess, relations),
        *_offsets_and_types(gold, predictions, total, matching, plain),
    ]
    stated = 0
    for text, gain in gains.items():
        # a wider difference is stated only if it gains more than those before it; none of them
        # exchanges entities
        if gain >= least and (gain > stated or text == TURNED):
            found.append(
                f"{gain} more triples would be correct {text}{_example(right, guess, text)}"
            )
            stated = max(stated, gain)
    return found, max(gains.values())


def _strings(sentence: Sentence, matching: str) -> set[Strings]:
    """Return the triples of a sentence as a rule writes them; of one that compares offsets, as
    they are.
    """
    found = reduced(sentence.triples, matching)
    if all(isinstance(part, str) for triple in found for part in triple):
        return {tuple(map(str, triple)) for triple in found}
    return {triple.strings for triple in sentence.triples}


def _offsets_and_types(
    gold: Sequence[Sentence],
    predictions: Sequence[Sentence],
    total: Micro,
    matching: str,
    plain: int,
) -> Iterator[str]:
    """Say what a rule costs that compares types of entities, or their offsets, as well as their
    strings.
    """
    least, correct = max(1, SHARE * total.gold), total.correct
    if MATCHINGS[matching].typed:
        placed = micro(sentence_counts(gold, predictions, "exact-span")).correct
        if placed - correct >= least:
            yield f"{placed - correct} more triples would be correct if types did not count{_typed(gold, predictions)}"
        correct = placed
    if plain - correct >= least:
        yield f"{plain - correct} more triples would be correct if entities were compared as strings, not by positions"


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


def _relations(
    right: list[set[Strings]], guess: list[set[Strings]], others: Collection[str]
) -> Iterator[str]:
    # equally frequent ones by name, for sets have another order in each process
    known, named = (
        Counter(sorted(triple[1] for each in side for triple in each)) for side in (right, guess)
    )
    unknown = [name for name, _ in named.most_common() if name not in known and name not in others]
    count = sum(named[name] for name in unknown)
    if len(unknown) == len(named):
        yield (
            f"no predicted relation occurs in the gold: predicted are {_list(unknown)}; the gold has "
            f"{_list([name for name, _ in known.most_common()])}; {MAPPED}"
        )
    elif count >= SHARE * named.total():
        yield (
            f"{count} of {named.total()} predicted triples have a relation that the gold never has: {_list(unknown)}; "
            f"{MAPPED}"
        )


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more


def _correct_as_written(
    right: list[set[Strings]], guess: list[set[Strings]], write: Callable[[Strings], Strings]
) -> int:
    """Count the predicted triples that are correct once both sides are written in another way."""
    correct = 0
    for expected, predicted in zip(right, guess, strict=True):
        if len(predicted) == 1 and predicted <= expected:  # correct however it is written
            correct += 1
        elif predicted and expected:
            correct += len(set(map(write, expected)) & set(map(write, predicted)))
    return correct


def _correct(right: Iterable[set[Strings]], guess: Iterable[set[Strings]]) -> int:
    return sum(len(one & other) for one, other in zip(right, guess, strict=True))


def _example(right: list[set[Strings]], guess: list[set[Strings]], text: str) -> str:
    """Return the first pair of triples that only the forgiven difference tells apart."""
    write = _turned if text == TURNED else FORGIVEN.get(text)
    if write is None:
        return ""
    for expected, found in zip(right, guess, strict=True):
        missed = sorted(expected - found)
        here = {triple if text == TURNED else write(triple): triple for triple in missed}
        for triple in sorted(found - expected):
            if write(triple) in here:
                return f": ({'; '.join(triple)}) is ({'; '.join(here[write(triple)])}) in the gold"
    return ""
