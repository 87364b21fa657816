"""Overlap of training and test sets: equal and similar sentences, triples and entities.

Two sentences are *equal* (the same characters), equal once *normalised* (the same words in the same
order, without case, accents and punctuation), or *near*: the Jaccard similarity of their sets of
words is at least a threshold. Near copies are found exactly, without comparing all pairs, by prefix
filtering (Chaudhuri et al., ICDE 2006; Bayardo et al., WWW 2007): sort the words of each sentence
from rare to frequent; two near copies then share a word of their prefixes, the first words of both.
The length of a prefix depends on the sizes of both word sets, so the index is keyed by size and
word, and holds the place of the word in its sentence (positional filtering, Xiao et al., WWW 2008).
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
MAX_COMPARED: Final = 5000
"""Sentences that one sentence is compared with; only templates over a tiny vocabulary reach it."""
KINDS: Final = ("equal", "normalised", "near")
MAX_EXAMPLES: Final = 5  # of each kind
TOLERANCE: Final = 1e-9  # keeps rounding errors from moving a whole number to the next one
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
        self.uncertain = 0  # sentences that were not compared with all candidates
        # a text, or its sequence of words -> position of the first sentence with it
        self.first: dict[object, int] = {}
        # position of a sentence -> position of the first sentence with the same words
        self.first_with_words: list[int] = []
        vocabulary: dict[str, str] = {}  # texts with the same word share one string
        sequences: list[tuple[str, ...]] = []
        for position, text in enumerate(texts):
            text_words = folded_words(text)
            sequence = tuple(map(vocabulary.setdefault, text_words, text_words))
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
        """Yield a copy for each sentence that is similar to an earlier one."""
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
        """Yield a copy for each of other texts that is similar to one of the sentences."""
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
                vocabulary = set(sequence)
                ranks = tuple(sorted(self.rank[word] for word in vocabulary if word in self.rank))
                copy = self._near_copy(position, ranks, len(vocabulary), index)
                if copy:
                    yield copy

    def _add(self, position: int, index: WordIndex, rarest: int = 0) -> None:
        """Add a sentence to an index under the words of its prefix.

        Args:
            rarest: words of a lower rank are left out; they occur in a single sentence.
        """
        ranks = self.word_ranks[position]
        size = len(ranks)
        prefix = ranks[: size - math.ceil(self.threshold * size - TOLERANCE) + 1]
        for place, rank in enumerate(prefix):
            if rank >= rarest:
                index[size][rank].append((position, place))

    def _near_copy(
        self, position: int, ranks: tuple[int, ...], size: int, index: WordIndex
    ) -> Copy | None:
        """Return the indexed sentence of the highest similarity, the first one on ties.

        Args:
            ranks: ranks of the text's words; words outside the vocabulary have none.
            size: number of all different words of the text.
        """
        best, similarity = 0, 0.0
        compared = 0
        text_ranks = set(ranks)
        for other in islice(self._candidates(ranks, size, index), MAX_COMPARED):
            compared += 1
            other_ranks = self.word_ranks[other]
            shared = len(text_ranks.intersection(other_ranks))
            jaccard = shared / (size + len(other_ranks) - shared)
            if jaccard > similarity or (jaccard == similarity and other < best):
                best, similarity = other, jaccard
        self.uncertain += compared == MAX_COMPARED
        return Copy(position, best, "near", similarity) if similarity >= self.threshold else None

    def _candidates(self, ranks: tuple[int, ...], size: int, index: WordIndex) -> Iterator[int]:
        """Yield indexed sentences that may have enough words in common.

        In both sentences, all other shared words come after the rarest shared word. It therefore
        has at least ``needed - 1`` words after it, which bounds its place in both.
        """
        seen: set[int] = set()
        unknown = size - len(ranks)  # words that no indexed sentence has are the rarest ones
        smallest = math.ceil(self.threshold * size - TOLERANCE)
        largest = math.floor(size / self.threshold + TOLERANCE)
        for other_size in range(smallest, largest + 1):
            if other_size not in index:
                continue
            by_word = index[other_size]
            # Jaccard >= t means: shared words >= t / (1 + t) * (size + other_size)
            share = self.threshold / (1 + self.threshold)
            needed = math.ceil(share * (size + other_size) - TOLERANCE)  # words in common
            last_place = other_size - needed
            for rank in ranks[: max(0, size - needed + 1 - unknown)]:
                for other, place in by_word.get(rank, ()):
                    if place <= last_place and other not in seen:
                        seen.add(other)
                        yield other


def leakage(train: Sequence[Sentence], test: Sequence[Sentence]) -> dict[str, Any]:
    """Return the overlap of a test set with its training set.

    Returns:
        A mapping with the keys

        * ``sentences``: number of test sentences with a copy in training, for each of
          :data:`KINDS` (each sentence counts once, as the first kind that fits), their ``total``
          and their ``share`` of the test set;
        * ``threshold``: similarity from which sentences are near;
        * ``uncertain``: number of sentences that were not compared with all candidates;
        * ``triples``, ``entities``: number of ``different`` ones in the test set, how many of them
          are ``shared`` with training, and the ``share``;
        * ``examples``: at most :data:`MAX_EXAMPLES` pairs of sentences of each kind.
    """
    copies = Copies([sentence.text for sentence in train])
    test_copies = copies.of([sentence.text for sentence in test])
    kinds = Counter(copy.kind for copy in test_copies)
    in_train, in_test = SeenTriples(train), SeenTriples(test)
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
        for copy in [copy for copy in test_copies if copy.kind == kind][:MAX_EXAMPLES]
    ]
    return {
        "sentences": {
            **{kind: kinds[kind] for kind in KINDS},
            "total": len(test_copies),
            "share": len(test_copies) / len(test) if test else 0.0,
        },
        "threshold": THRESHOLD,
        "uncertain": copies.uncertain,
        "triples": _shared(in_train.triples, in_test.triples),
        "entities": _shared(in_train.entities, in_test.entities),
        "examples": examples,
    }


def _shared(train: set[Any], test: set[Any]) -> dict[str, Any]:
    shared = len(train & test)
    return {"different": len(test), "shared": shared, "share": shared / len(test) if test else 0.0}
