"""Overlap of training and test sets: equal and similar sentences, triples and entities.

Two sentences are *equal* (the same characters), equal once *normalised* (the same words in the same
order, without case, accents and punctuation), or *near*: the Jaccard similarity of their sets of
words is at least a threshold. Near ones are found exactly, without comparing all pairs, by prefix
filtering (Chaudhuri et al., ICDE 2006; Bayardo et al., WWW 2007): two sets of that similarity share
a word among the rarest few of each. How few depends on both sizes, so that sentences are indexed by
their sizes and words, with the places of the words (Xiao et al., WWW 2008).
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, islice
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
TOLERANCE: Final = 1e-9  # of rounding, for limits that are whole numbers
WordIndex = dict[int, dict[int, list[tuple[int, int]]]]
"""Size of a set of words -> rank of a word -> position and place among the words of each sentence."""
_ACCENTS = re.compile("[\u0300-\u036f]+")


def folded_words(text: str) -> list[str]:
    """Return the words of a text without case, accents and punctuation."""
    text = text.lower()
    return words(text if text.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def new_index() -> WordIndex:
    """Return an index without sentences."""
    return defaultdict(lambda: defaultdict(list))


class Copy(NamedTuple):
    """Two similar sentences: positions in their lists, and one of :data:`KINDS`."""

    position: int
    other: int
    kind: str
    similarity: float


class Copies:
    """Search for sentences that are similar to others.

    Args:
        threshold: similarity of word sets, above 0, from which two sentences are near.
    """

    def __init__(self, texts: Sequence[str], threshold: float = THRESHOLD) -> None:
        self.threshold = threshold
        self.texts = texts
        self.uncertain = 0  # sentences that were not compared with all that could be like them
        self.first: dict[object, int] = {}  # of each text, and of each sequence of words
        self.first_with_words: list[int] = []  # of each position, the first with the same words
        vocabulary: dict[str, str] = {}  # texts with the same word share one string
        sequences: list[tuple[str, ...]] = []
        for position, text in enumerate(texts):
            found = folded_words(text)
            sequence = tuple(map(vocabulary.setdefault, found, found))
            sequences.append(sequence)
            self.first.setdefault(text, position)
            same = self.first.setdefault(sequence, position) if sequence else position
            self.first_with_words.append(same)
        frequency = Counter(chain.from_iterable(map(set, sequences)))
        rarest_first = sorted(vocabulary, key=frequency.__getitem__)
        self.rank = {word: rank for rank, word in enumerate(rarest_first)}
        self.words_of_one_text = sum(count == 1 for count in frequency.values())
        # the different words of each text by their ranks, rarest first
        self.word_ranks = [self._ranks_of(sequence) for sequence in sequences]

    def _ranks_of(self, sequence: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(sorted(map(self.rank.__getitem__, set(sequence))))

    def of(self, texts: Sequence[str] | None = None) -> list[Copy]:
        """Return for each text the first most similar sentence, by default among earlier texts."""
        return list(self._earlier_copies() if texts is None else self._copies_of(texts))

    def _earlier_copies(self) -> Iterator[Copy]:
        """Yield, for sentences of these, the first most similar one of those before it."""
        index = new_index()
        for position, text in enumerate(self.texts):
            same_text = self.first[text]
            same_words = self.first_with_words[position]
            if same_text < position:
                yield Copy(position, same_text, "equal", 1.0)
            elif same_words < position:
                yield Copy(position, same_words, "normalised", 1.0)
            else:
                ranks = self.word_ranks[position]
                copy = self._near_copy(position, ranks, len(ranks), index)
                if copy:
                    yield copy
                self._add(position, index, rarest=self.words_of_one_text)

    def _copies_of(self, texts: Sequence[str]) -> Iterator[Copy]:
        """Yield, for other texts, the first most similar one of these sentences."""
        index = new_index()
        for position, same_words in enumerate(self.first_with_words):
            if same_words == position:
                self._add(position, index)
        for position, text in enumerate(texts):
            sequence = tuple(folded_words(text))
            if text in self.first:
                yield Copy(position, self.first[text], "equal", 1.0)
            elif sequence in self.first:
                yield Copy(position, self.first[sequence], "normalised", 1.0)
            else:
                found = set(sequence)
                ranks = tuple(sorted(self.rank[word] for word in found if word in self.rank))
                copy = self._near_copy(position, ranks, len(found), index)
                if copy:
                    yield copy

    def _add(self, position: int, index: WordIndex, rarest: int = 0) -> None:
        """Add a sentence to an index at its first words, from the rank of the rarest one on."""
        ranks = self.word_ranks[position]
        size = len(ranks)
        prefix = ranks[: size - math.ceil(self.threshold * size - TOLERANCE) + 1]
        for place, rank in enumerate(prefix):
            if rank >= rarest:
                index[size][rank].append((position, place))

    def _near_copy(
        self, position: int, ranks: tuple[int, ...], size: int, index: WordIndex
    ) -> Copy | None:
        """Return the first indexed sentence with most words in common.

        Args:
            ranks: those of the text's words that the indexed sentences have.
            size: number of all different words of the text.
        """
        best, similarity = 0, 0.0
        compared = 0
        mine = set(ranks)
        for other in islice(self._candidates(ranks, size, index), MOST):
            compared += 1
            theirs = self.word_ranks[other]
            shared = len(mine.intersection(theirs))
            new = shared / (size + len(theirs) - shared)
            if new > similarity or (new == similarity and other < best):
                best, similarity = other, new
        self.uncertain += compared == MOST
        return Copy(position, best, "near", similarity) if similarity >= self.threshold else None

    def _candidates(self, ranks: tuple[int, ...], size: int, index: WordIndex) -> Iterator[int]:
        """Yield indexed sentences that may have enough words in common.

        If two sets share enough words, then the rarest shared word is followed in each of them by
        all others, so that it cannot be one of the last words of either.
        """
        seen: set[int] = set()
        unknown = size - len(ranks)  # words that no indexed sentence has are the rarest ones
        smallest = math.ceil(self.threshold * size - TOLERANCE)
        largest = math.floor(size / self.threshold + TOLERANCE)
        for other_size in range(smallest, largest + 1):
            if other_size not in index:
                continue
            by_word = index[other_size]
            share = self.threshold / (1 + self.threshold)
            needed = math.ceil(share * (size + other_size) - TOLERANCE)  # words in common
            last_place = other_size - needed
            for rank in ranks[: max(0, size - needed + 1 - unknown)]:
                for other, place in by_word.get(rank, ()):
                    if place <= last_place and other not in seen:
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
