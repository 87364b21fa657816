"""Entity Noising: gold entities of training sentences replaced by meaningless words.

Lee et al., "Does it Really Generalize Well on Unseen Data? Systematic Evaluation of Relational
Triple Extraction Methods", NAACL 2022, Section 4. With probability ``p_en`` a sentence is replaced
by a noised copy: an entity of ``l`` tokens becomes a word of ``l``, ``l - 1`` or ``l + 1`` tokens,
drawn from all words of the training split with that many tokens. Relations and the structure of
triples stay. Drawn again at every fetch, fixed by (run seed, epoch, sentence id).

What the paper leaves open is settled so: one noise word per distinct entity string of a sentence,
put at all of its occurrences; for ``l = 1`` the length 0 counts as 1; lengths for which the split
has fewer than ``WELL_FILLED`` words are composed of several words; a noise word never equals the
entity, another noise word, or anything that already stands in the sentence, and a sentence for
which 25 draws in a row fail at that passes unchanged, as do sentences with overlapping entities. In
scripts without blanks between words, an entity becomes a sequence of single characters of other
words, without blanks.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import Section, Share
from tripleaudit.core.randomness import generator
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.spans import find_spans
from tripleaudit.corpora.words import has_unspaced, segments
from tripleaudit.protocols.substitution import Offsets, entity_positions, substitute

WELL_FILLED = 50  # words of one length from which a single word is drawn; below, words are composed
TRIES = 25  # redraws of a sentence before it is left as it is


class NoiseSettings(Section):
    """Settings of Entity Noising, the one definition of the keys of ``noising``."""

    probability: Share = 0.1
    """p_en, share of noised sentences (paper: 0.1 on NYT, 0.05 on WebNLG)."""
    keep_length: Share = 0.4
    """p_len, probability of an unchanged number of tokens (paper: 0.4); the rest is shared equally by one token fewer
    and one token more."""


class WordPool:
    """Words to draw from, by number of tokens.

    Args:
        buckets: number of tokens -> distinct words, sorted.
        separator: between the words of a sequence.
    """

    def __init__(self, buckets: Mapping[int, list[str]], separator: str = " ") -> None:
        self.buckets, self.separator = buckets, separator
        full = sorted(length for length, words in buckets.items() if len(words) >= WELL_FILLED)
        self.filled = full or sorted(length for length, words in buckets.items() if words)
        if not self.filled:
            raise UserError("Entity Noising needs training sentences to draw words from, got none")
        self._fewest = [0.0]

    def fewest(self, length: int) -> float:
        """Return the fewest words whose tokens sum up to ``length``; infinity if impossible."""
        while len(self._fewest) <= length:
            target = len(self._fewest)
            rests = (self._fewest[target - part] for part in self.filled if part <= target)
            self._fewest.append(1 + min(rests, default=math.inf))
        return self._fewest[length]

    def draw(self, length: int, words: int, rng: np.random.Generator) -> str | None:
        """Draw a word of ``length`` tokens, or a sequence of up to ``words`` words."""
        if length in self.filled:
            return self._one(length, rng)
        if self.fewest(length) == math.inf:
            return self._one(length, rng) if self.buckets.get(length) else None
        budget, rest, parts = max(words, self.fewest(length)), length, []
        while rest:
            fitting = [
                part
                for part in self.filled
                if part <= rest and self.fewest(rest - part) <= budget - 1
            ]
            part = fitting[rng.integers(len(fitting))]
            parts.append(self._one(part, rng))
            rest, budget = rest - part, budget - 1
        rng.shuffle(parts)
        return self.separator.join(parts)

    def _one(self, length: int, rng: np.random.Generator) -> str:
        bucket = self.buckets[length]
        return bucket[rng.integers(len(bucket))]


class EntityNoising:
    """Noises the sentences of one training run.

    Args:
        sentences: the training split, from which the vocabulary is taken.
        token_counts: number of tokens of each of the given strings under the encoder's tokenizer.

    Attributes:
        counts: ``nested`` (sentences that will never be noised), and what happened so far in this
            process: ``noised``, ``unchanged_nested``, ``given_up``.
    """

    def __init__(
        self,
        sentences: Sequence[Sentence],
        token_counts: Callable[[Sequence[str]], list[int]],
        settings: NoiseSettings,
        seed: int,
    ):
        self.settings, self.seed = settings, seed
        words = sorted({word for sentence in sentences for word in segments(sentence.text)})
        spaced: dict[int, list[str]] = {}
        unspaced: dict[int, list[str]] = {}
        for word, count in zip(words, token_counts(words), strict=True):
            buckets = unspaced if has_unspaced(word) else spaced
            buckets.setdefault(count, []).append(word)
        spaced.pop(0, None)
        unspaced.pop(0, None)
        self.pools = {}
        if spaced or not unspaced:
            self.pools[" "] = WordPool(spaced)
        if unspaced:
            self.pools[""] = WordPool(unspaced, separator="")
        self._length = cache(lambda text: token_counts([text])[0])
        self.counts = Counter(
            nested=sum(_overlapping(entity_positions(sentence).values()) for sentence in sentences)
        )

    @property
    def words(self) -> list[str]:
        """The words that noise is made of."""
        return [
            word
            for pool in self.pools.values()
            for bucket in pool.buckets.values()
            for word in bucket
        ]

    def pool_for(self, entity: str) -> WordPool:
        """Return the words that may replace an entity: those of its kind of script."""
        separator = "" if has_unspaced(entity) else " "
        return self.pools.get(separator) or next(iter(self.pools.values()))

    def __call__(self, sentence: Sentence, epoch: int) -> Sentence | None:
        """Return the noised copy of ``sentence`` in ``epoch``; None to use it unchanged."""
        rng = generator(self.seed, epoch, sentence.id, "noise")
        positions = (
            _in_order(entity_positions(sentence))
            if rng.random() < self.settings.probability
            else {}
        )
        if not positions:
            return None
        if _overlapping(positions.values()):
            self.counts["unchanged_nested"] += 1
            return None
        for _ in range(TRIES):
            fresh = self._draw_all(list(positions), rng)
            result = fresh and _substituted(sentence, positions, fresh)
            if result:
                self.counts["noised"] += 1
                return result
        self.counts["given_up"] += 1
        return None

    def _draw_all(self, entities: Sequence[str], rng: np.random.Generator) -> dict[str, str] | None:
        """Draw a noise word per entity string; None if one equals its entity or another one."""
        fresh: dict[str, str] = {}
        for entity in entities:
            length = self._length(entity)
            keep = self.settings.keep_length
            length = max(
                1, length + int(rng.choice([0, -1, 1], p=[keep, (1 - keep) / 2, (1 - keep) / 2]))
            )
            word = self.pool_for(entity).draw(length, len(segments(entity)), rng)
            if word is None or word == entity or word in fresh.values():
                return None
            fresh[entity] = word
        return fresh


def _in_order(positions: Mapping[str, Iterable[Offsets]]) -> dict[str, list[Offsets]]:
    """Return strings by first position, positions left to right."""
    return {
        text: sorted(found)
        for text, found in sorted(positions.items(), key=lambda item: (min(item[1]), item[0]))
    }


def _overlapping(positions: Iterable[Iterable[Offsets]]) -> bool:
    spans = sorted(span for found in positions for span in found)
    return any(left[1] > right[0] for left, right in itertools.pairwise(spans))


def _substituted(
    sentence: Sentence, positions: dict[str, list[Offsets]], fresh: dict[str, str]
) -> Sentence | None:
    """Put the noise words in place; None if a noise word makes entities ambiguous."""
    if any(_stands_in(sentence.text, word) for word in fresh.values()):
        return None
    noised, shift = substitute(
        sentence, {at: fresh[entity] for entity, found in positions.items() for at in found}
    )
    for entity, found in positions.items():
        expected = {shift(start) for start, _ in found}
        standing = {start for start, _ in find_spans(noised.text, fresh[entity], every=True)[0]}
        if standing != expected or _stands_in(noised.text, entity):
            return None
    return noised


def _stands_in(text: str, words: str) -> bool:
    """Return whether a text has these words between blanks, or anywhere without blanks."""
    return words in text if has_unspaced(words) else find_spans(text, words)[1] == "word"
