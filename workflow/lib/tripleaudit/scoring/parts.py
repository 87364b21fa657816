"""Counts by relation and by cardinality."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tripleaudit.corpora.model import Sentence
from tripleaudit.scoring.bootstrap import intervals
from tripleaudit.scoring.matching import reduced
from tripleaudit.scoring.metrics import micro
from tripleaudit.scoring.spec import MATCHINGS
from tripleaudit.scoring.units import sum_by_unit

MOST = 5  # gold triples of a sentence from which sentences are counted together
CARDINALITIES: Final = (*map(str, range(MOST)), f"{MOST}+")
"""Numbers of gold triples of a sentence, as scores name them."""


@dataclass(frozen=True)
class Part:
    """Counts of some sentences of a test set.

    Attributes:
        counts: ``[sentences, 3]`` or ``[sentences, runs, 3]`` (correct, predicted, gold).
        positions: of these sentences in the test set.
    """

    counts: np.ndarray
    positions: Sequence[int]

    def units(self, units: Sequence[str]) -> list[str]:
        """Return the units of resampling of these sentences from those of the test set."""
        return [units[position] for position in self.positions]


def select(counts: np.ndarray, mask: np.ndarray) -> Part:
    """Return the part of a test set whose sentences are marked in a mask ``[sentences]``."""
    return Part(counts[mask], np.flatnonzero(mask).tolist())


def by_relation(
    gold: Sequence[Sentence], runs: Sequence[Sequence[Sentence]], matching: str
) -> dict[str, Part]:
    """Return counts ``[sentences with it, runs, 3]`` of each relation, most frequent first.

    A sentence has a relation where a gold triple has it, or one that any run predicts. Where a rule
    takes several names for one, the first that the gold has stands for all; a rule that compares no
    relations has one part, ``any``.
    """
    write, names = MATCHINGS[matching].relation, dict[str, str]()
    for triple in (triple for side in (gold, *runs) for each in side for triple in each.triples):
        names.setdefault(write(triple.relation), triple.relation)
    names[""] = "any"
    rows: dict[str, array[int]] = {name: array("q") for name in names.values()}
    positions: dict[str, array[int]] = {name: array("q") for name in names.values()}
    for position, sentences in enumerate(zip(gold, *runs, strict=True)):
        right, *guesses = (reduced(sentence.triples, matching) for sentence in sentences)
        relations = {triple[1] for side in (right, *guesses) for triple in side}
        for relation in sorted(relations):
            name = names[relation]
            positions[name].append(position)
            expected = {triple for triple in right if triple[1] == relation}
            for guess in guesses:
                predicted = {triple for triple in guess if triple[1] == relation}
                correct = len(expected & predicted)
                rows[name].extend((correct, len(predicted), len(expected)))
    parts = {}
    for name in names.values():
        if positions[name]:
            counts = np.array(rows[name], dtype=np.int64).reshape(-1, len(runs), 3)
            parts[name] = Part(counts, positions[name].tolist())

    def rank(relation: str) -> tuple[int, str]:
        return -int(parts[relation].counts[:, 0, 2].sum()), relation

    return {relation: parts[relation] for relation in sorted(parts, key=rank)}


def by_cardinality(counts: np.ndarray) -> dict[str, Part]:
    """Divide counts ``[sentences, 3]`` by gold triples: ``0``, ``1``, …, ``5+``; no empty ones."""
    size = np.minimum(counts[:, 2], MOST)
    return {
        name: select(counts, size == number)
        for number, name in enumerate(CARDINALITIES)
        if (size == number).any()
    }


def described(
    counts: np.ndarray, units: Sequence[str], replicates: int, seed: int
) -> dict[str, Any]:
    """Return scores of counts as JSON; intervals that would mislead are missing.

    Args:
        counts: ``[sentences, 3]``.
        units: of resampling, one for each sentence.
    """
    total = micro(counts)
    bounds = None
    if total.gold and replicates:
        by_unit = sum_by_unit(counts, units)
        bounds = intervals(by_unit, replicates=replicates, seed=seed)
    return {
        **total.to_json(),
        "sentences": total.sentences,
        "intervals": {name: [bound.low, bound.high] for name, bound in (bounds or {}).items()},
    }
