"""Unseen triples in random splits of the same sizes (rte-generalization 3.1, footnote 2).

A trial divides all sentences of a corpus at random into sets of the sizes that they have. A test
triple is unseen where no sentence of the trial's training set has its relation with its subject,
nor with its object (:meth:`tripleaudit.protocols.types.SeenTriples.type_of`). Hundreds of trials
are one array.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.core.progress import Progress
from tripleaudit.corpora.model import Sentence
from tripleaudit.protocols.types import distinct_triples

BATCH: Final = 4096  # trials that are drawn at a time
COUNTED: Final = 256  # trials that are counted at a time


@dataclass(frozen=True)
class RandomSplits:
    """Shares (0 to 1) of unseen test triples in random splits; quantiles at 2.5, 50, 97.5 %."""

    trials: int
    mean: float
    most: float
    quantiles: list[float]


def random_splits(
    train: Sequence[Sentence],
    valid: Sequence[Sentence],
    test: Sequence[Sentence],
    trials: int,
    seed: int = 0,
) -> RandomSplits:
    """Return what random splits into sets of these sizes have of unseen triples.

    Raises:
        UserError: a set but ``valid`` has no sentence, or no sentence has triples.
    """
    sentences = [*train, *valid, *test]
    if not train or not test or not any(each.triples for each in sentences):
        raise UserError(
            "random splits: expected training and test sentences, and triples in some of them"
        )
    corpus, random = _Corpus(sentences), np.random.default_rng(seed)
    shares = np.empty(trials)
    with Progress("random splits", trials, "splits") as progress:
        for start in range(0, trials, BATCH):
            part = shares[start : start + BATCH]
            tested, held = _drawn(random, len(sentences), len(test), len(valid))
            for at in range(0, len(part), COUNTED):
                some = slice(at, min(at + COUNTED, len(part)))
                part[some] = corpus.unseen(tested[some], held[some])
            progress.add(len(part))
    return RandomSplits(
        trials,
        float(shares.mean()),
        float(shares.max()),
        np.quantile(shares, (0.025, 0.5, 0.975)).tolist(),
    )


def _drawn(
    random: np.random.Generator, size: int, test: int, valid: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return test sentences, and sentences not trained on, as masks ``[trials, size]``.

    Sentences are drawn one after the other; who was drawn before is drawn again, so that each set
    is equally likely.
    """
    held = np.zeros(
        (BATCH, size + 1), dtype=bool
    )  # the last column takes what a trial does not need
    _fill(random, held, size, test)
    tested = held[:, :size].copy()
    _fill(random, held, size, test + valid)
    return tested, held[:, :size]


def _fill(random: np.random.Generator, held: np.ndarray, size: int, wanted: int) -> None:
    rows = np.arange(len(held))
    while len(rows):
        missing = wanted - np.count_nonzero(held[rows, :size], axis=1)
        rows, missing = rows[missing > 0], missing[missing > 0]
        if len(rows):
            draws = random.integers(0, size, (len(rows), missing.max()), dtype=np.uint32)
            draws[np.arange(draws.shape[1]) >= missing[:, None]] = size
            held[rows[:, None], draws] = True


class _Corpus:
    """Triples of a corpus, each counted once per sentence, with the sentences that give their parts away."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        listed = sorted(
            (distinct_triples(each) for each in sentences), key=len
        )  # the order that was published with
        triples = [(position, triple) for position, each in enumerate(listed) for triple in each]
        self.sentence = np.array([position for position, _ in triples])
        self.sizes = np.array([len(each) for each in listed])
        self.heads, self.head_of = self._grouped([triple[:2] for _, triple in triples])
        self.tails, self.tail_of = self._grouped([triple[1:] for _, triple in triples])

    def _grouped(
        self, pairs: Sequence[tuple[str, str]]
    ) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """Return sentences by pair, where pairs begin, and the number of each one's triples."""
        numbers: dict[tuple[str, str], int] = {}
        of = np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs])
        order = np.argsort(of, kind="stable")
        return (self.sentence[order], np.searchsorted(of[order], np.arange(len(numbers)))), of

    def unseen(self, tested: np.ndarray, held: np.ndarray) -> np.ndarray:
        """Return the share of unseen triples per trial ``[trials]``; masks as of :func:`_drawn`."""
        test, out = tested.T, held.T  # [sentences, trials]
        # in which trials all sentences of a pair are held out
        no_head, no_tail = (
            np.logical_and.reduceat(out[members], starts)
            for members, starts in (self.heads, self.tails)
        )
        unseen = (
            test[self.sentence] & no_head[self.head_of] & no_tail[self.tail_of]
        )  # [triples, trials]
        return unseen.sum(axis=0) / np.maximum(self.sizes @ test, 1)
