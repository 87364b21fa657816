"""Overlap of training and test sets: equal and similar sentences, triples and entities.

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
from itertools import islice
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
    """Two similar sentences: positions in their lists, and one of :data:`KINDS`."""

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
        self.uncertain = 0  # sentences that were not compared with all that could be like them
        self.first: dict[object, int] = {}  # of each text, and of each sequence of words
        self.first_with_words: list[int] = []  # of each position, the first with the same words
        self.sets: list[frozenset[str]] = []
        shared: dict[str, str] = {}  # texts with the same word share one string
        for position, text in enumerate(texts):
            sequence = tuple(shared.setdefault(word, word) for word in folded_words(text))
            self.sets.append(frozenset(sequence))
            self.first.setdefault(text, position)
            same = self.first.setdefault(sequence, position) if sequence else position
            self.first_with_words.append(same)
        frequency = Counter(word for found in self.sets for word in found)
        rarest_first = sorted(frequency, key=lambda word: (frequency[word], word))
        self.rank = {word: rank for rank, word in enumerate(rarest_first)}
        self.by_word: dict[str, list[int]] = defaultdict(list)
        for position, found in enumerate(self.sets):
            for word in self._prefix(found):
                self.by_word[word].append(position)

    def _prefix(self, found: frozenset[str]) -> list[str]:
        """Return the rarest words of a set, one of which every similar set must share.

        Words that no text has are left out.
        """
        size = len(found) - math.ceil(self.threshold * len(found) - 1e-9) + 1
        known = [word for word in found if word in self.rank]
        unknown = len(found) - len(known)
        if unknown >= size:
            return []
        known.sort(key=self.rank.__getitem__)
        return known[: size - unknown]

    def of(self, texts: Sequence[str] | None = None) -> list[Copy]:
        """Return for each text the first most similar sentence, by default among earlier texts."""
        if texts is None:
            copies = (self._copy_before(position) for position in range(len(self.texts)))
        else:
            copies = (self._copy(position, text) for position, text in enumerate(texts))
        return [copy for copy in copies if copy]

    def _copy_before(self, position: int) -> Copy | None:
        """Return the first sentence most like one of these, among those before it."""
        other = self.first[self.texts[position]]
        if other < position:
            return Copy(position, other, "equal", 1.0)
        other = self.first_with_words[position]
        if other < position:
            return Copy(position, other, "normalised", 1.0)
        return self._near(position, self.sets[position], position)

    def _copy(self, position: int, text: str) -> Copy | None:
        """Return the first sentence most like another text, whose position is given."""
        other = self.first.get(text)
        if other is not None:
            return Copy(position, other, "equal", 1.0)
        sequence = tuple(folded_words(text))
        other = self.first.get(sequence)
        if other is not None:
            return Copy(position, other, "normalised", 1.0)
        return self._near(position, frozenset(sequence), len(self.texts))

    def _near(self, position: int, mine: frozenset[str], before: int) -> Copy | None:
        """Return the first sentence before a position with most words of a text in common."""
        best, similarity = 0, 0.0
        compared = 0
        for other in islice(self._candidates(mine, before), MOST):
            compared += 1
            theirs = self.sets[other]
            shared = len(mine & theirs)
            new = shared / (len(mine) + len(theirs) - shared)
            if new > similarity or (new == similarity and other < best):
                best, similarity = other, new
        self.uncertain += compared == MOST
        return Copy(position, best, "near", similarity) if similarity >= self.threshold else None

    def _candidates(self, mine: frozenset[str], before: int) -> Iterator[int]:
        """Yield earlier sentences with a common rare word and a similar number of words."""
        seen: set[int] = set()
        least, most = self.threshold * len(mine), len(mine)
        for word in self._prefix(mine):
            for other in self.by_word.get(word, ()):
                if other >= before:
                    break
                size = len(self.sets[other])
                is_close = size >= least and most >= self.threshold * size
                if is_close and other not in seen:
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
