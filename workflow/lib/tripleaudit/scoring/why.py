"""Why a score is low for another reason than the extractor: names, case, blanks, order, direction.

Each hint comes from counting again with one difference forgiven, so that it says how many triples hang on it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from tripleaudit.corpora.model import Sentence
from tripleaudit.scoring.metrics import Micro

SHARE: Final = 0.05  # of the gold triples: what fewer would gain is the extractor's own
SHOWN: Final = 3
Strings = tuple[str, ...]  # subject, relation, object


def _bare(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


# what is forgiven -> how both sides are written then; the first that gains most is said
FORGIVEN: Final[dict[str, Callable[[Strings], Strings]]] = {
    "if case did not count": lambda triple: tuple(part.casefold() for part in triple),
    "if blanks did not count": lambda triple: tuple("".join(part.split()) for part in triple),
    "if relations were compared without case, blanks and punctuation": lambda t: (t[0], _bare(t[1]), t[2]),
    "if case, blanks and punctuation did not count": lambda triple: tuple(_bare(part) for part in triple),
    "if the relation did not count": lambda triple: (triple[0], "", triple[2]),
}
ORDERS: Final = {
    "with subject and object exchanged": (2, 1, 0),
    "read as subject, object, relation (--predicted-column order=sor)": (0, 2, 1),
    "read as relation, subject, object (--predicted-column order=rso)": (1, 0, 2),
}


def hints(gold: Sequence[Sentence], predictions: Sequence[Sentence], total: Micro) -> list[str]:
    """Return sentences about what may be wrong with the files rather than with the extractor; none where all is well.

    Args:
        gold, predictions: the same sentences in the same order.
        total: their score.
    """
    if not total.gold:
        return ["the gold sentences have no triples, so that every score is 0 whatever is predicted"]
    if not total.predicted:
        return ["no triple is predicted for any sentence"]
    right: list[set[Strings]] = [{triple.strings for triple in sentence.triples} for sentence in gold]
    guess: list[set[Strings]] = [{triple.strings for triple in sentence.triples} for sentence in predictions]
    found = _relations(right, guess)
    plain = _correct(right, guess)
    least = max(1, SHARE * total.gold)
    gains = {text: _correct(_written(right, write), _written(guess, write)) - plain for text, write in FORGIVEN.items()}
    gains |= {
        f"if predicted triples were {text}": _correct(
            right, [{(t[o[0]], t[o[1]], t[o[2]]) for t in each} for each in guess]
        )
        - plain
        for text, o in ORDERS.items()
    }
    best = max(gains.values())
    said = 0
    for text, gain in gains.items():  # a wider one is said only where it gains more than those before it
        if gain >= least and gain > said:
            found.append(f"{gain} more triples would be correct {text}{_example(right, guess, text)}")
            said = gain
    if not found and total.correct == 0 and best < least:
        found.append("no predicted triple is correct, whatever difference is forgiven: are these the same sentences?")
    return found


def _relations(right: list[set[Strings]], guess: list[set[Strings]]) -> list[str]:
    known, named = (Counter(triple[1] for each in side for triple in each) for side in (right, guess))
    unknown = [name for name in _frequent(named) if name not in known]
    if len(unknown) < len(named):
        count = sum(named[name] for name in unknown)
        if count < SHARE * named.total():
            return []
        return [
            f"{count} of {named.total()} predicted triples have a relation that the gold never has: {_list(unknown)}"
        ]
    return [
        f"no predicted relation occurs in the gold: predicted are {_list(unknown)}; the gold has "
        f"{_list(_frequent(known))}"
    ]


def _frequent(counts: Counter[str]) -> list[str]:
    """Return the most frequent first; equally frequent ones by name, for sets have another order in each process."""
    return sorted(counts, key=lambda name: (-counts[name], name))


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more


def _written(side: list[set[Strings]], write: Callable[[Strings], Strings]) -> list[set[Strings]]:
    return [{write(triple) for triple in each} for each in side]


def _correct(right: list[set[Strings]], guess: list[set[Strings]]) -> int:
    return sum(len(one & other) for one, other in zip(right, guess, strict=True))


def _example(right: list[set[Strings]], guess: list[set[Strings]], text: str) -> str:
    """Return the first pair of triples that only the forgiven difference tells apart."""
    if (write := FORGIVEN.get(text)) is None:
        return ""
    for expected, found in zip(right, guess, strict=True):
        here = {write(triple): triple for triple in sorted(expected - found)}
        for triple in sorted(found - expected):
            if write(triple) in here:
                return f": ({'; '.join(triple)}) is ({'; '.join(here[write(triple)])}) in the gold"
    return ""
