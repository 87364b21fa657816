"""What a test set shares with its training set: sentences, also nearly equal ones, triples and
entities.

Two sentences are *equal* (the same characters), equal once *normalised* (the same words in the same
order, without case, accents and punctuation), or *near*: the Jaccard similarity of their sets of
words is at least a threshold. Near ones are found exactly, without comparing all pairs, by prefix
filtering (Chaudhuri et al., ICDE 2006; Bayardo et al., WWW 2007): two sets of that similarity share
a word among the rarest few of each.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Any, Final, NamedTuple

from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.words import words
from tripleaudit.protocols.types import SeenTriples

THRESHOLD: Final = 0.8
MOST: Final = (
    5000  # sentences that one is compared with; only templates over a tiny vocabulary come near
)
KINDS: Final = ("equal", "normalised", "near")
SHOWN: Final = 5
_ACCENTS = re.compile("[\u0300-\u036f]+")


def folded_words(text: str) -> list[str]:
    """Return the words of a text without case, accents and punctuation."""
    text = text.lower()
    return words(text if text.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


class Copy(NamedTuple):
    """A sentence and another one that is like it; positions in their lists, and one of
    :data:`KINDS`.
    """

    position: int
    other: int
    kind: str
    similarity: float


class Copies:
    """Sentences among which copies of others are looked for.

    Args:
        threshold: similarity of word sets, above 0, from which two sentences are near.
    """

    def __init__(self, texts: Sequence[str], threshold: float = THRESHOLD) -> None:
        self.threshold = threshold
        self.texts = texts
        sequences = [folded_words(text) for text in texts]
        self.sets = [frozenset(found) for found in sequences]
        self.frequency = Counter(word for found in self.sets for word in found)
        self.first: dict[object, int] = {}  # of each text, and of each sequence of words
        self.by_word: dict[str, list[int]] = defaultdict(list)
        self.uncertain = 0  # sentences that were not compared with all that could be like them
        for position, text in enumerate(texts):
            self.first.setdefault(text, position)
            if sequences[position]:
                self.first.setdefault(tuple(sequences[position]), position)
            for word in self._prefix(self.sets[position]):
                self.by_word[word].append(position)

    def _prefix(self, found: frozenset[str]) -> list[str]:
        """The rarest words, so many that a near set must have one of them among its own."""
        size = len(found) - math.ceil(self.threshold * len(found) - 1e-9) + 1
        return sorted(found, key=lambda word: (self.frequency[word], word))[:size] if found else []

    def of(self, texts: Sequence[str] | None = None) -> list[Copy]:
        """Return for each text the first sentence most like it; by default for each of these,
        among those before it.
        """
        size = len(self.texts)
        looked = enumerate(self.texts if texts is None else texts)
        found = (self._copy(n, text, n if texts is None else size) for n, text in looked)
        return [copy for copy in found if copy]

    def _copy(self, position: int, text: str, before: int) -> Copy | None:
        sequence = folded_words(text)
        for key, kind in ((text, "equal"), (tuple(sequence), "normalised")):
            if (other := self.first.get(key, before)) < before:
                return Copy(position, other, kind, 1.0)
        mine = frozenset(sequence)
        compared = list(islice(self._candidates(mine, before), MOST))
        self.uncertain += len(compared) == MOST
        similar = (
            (len(mine & self.sets[other]) / len(mine | self.sets[other]), -other)
            for other in compared
        )
        similarity, other = max(similar, default=(0.0, 0))  # the first of equally similar ones
        return Copy(position, -other, "near", similarity) if similarity >= self.threshold else None

    def _candidates(self, mine: frozenset[str], before: int) -> Iterator[int]:
        """Yield the sentences before a position that share a rare word and have about as many
        words.
        """
        seen: set[int] = set()
        for word in self._prefix(mine):
            for other in takewhile(lambda other: other < before, self.by_word.get(word, ())):
                few, many = sorted((len(mine), len(self.sets[other])))
                if other not in seen and few >= self.threshold * many:
                    seen.add(other)
                    yield other


def leakage(train: Sequence[Sentence], test: Sequence[Sentence]) -> dict[str, Any]:
    """Say what a test set shares with its training set.

    Returns:
        ``sentences`` with, for each of :data:`KINDS`, how many test sentences have such a copy in
        training (each counted once, as the first kind that fits), ``total`` of them and their
        ``share`` of the test set; ``threshold``; ``uncertain``, the sentences that were not
        compared with all candidates; ``examples``, some of each kind; and ``triples`` and
        ``entities``: the different ones of the test set, how many of them occur in training, and
        the share.
    """
    copies = Copies([sentence.text for sentence in train])
    found = copies.of([sentence.text for sentence in test])
    kinds = Counter(copy.kind for copy in found)
    known, own = SeenTriples(train), SeenTriples(test)
    examples = [
        {
            "kind": copy.kind,
            "similarity": round(copy.similarity, 4),
            "test": test[copy.position].id,
            "train": train[copy.other].id,
            "test_text": test[copy.position].text,
            "train_text": train[copy.other].text,
        }
        for kind in KINDS
        for copy in [copy for copy in found if copy.kind == kind][:SHOWN]
    ]
    return {
        "sentences": {
            **{kind: kinds[kind] for kind in KINDS},
            "total": len(found),
            "share": len(found) / len(test) if test else 0.0,
        },
        "threshold": THRESHOLD,
        "uncertain": copies.uncertain,
        "triples": _shared(known.triples, own.triples),
        "entities": _shared(known.entities, own.entities),
        "examples": examples,
    }


def _shared(train: set[Any], test: set[Any]) -> dict[str, Any]:
    shared = len(train & test)
    return {"different": len(test), "shared": shared, "share": shared / len(test) if test else 0.0}
