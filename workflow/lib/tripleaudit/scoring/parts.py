"""Counts by relation and by cardinality, where one number hides what an extractor can and cannot do."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tripleaudit.corpora.model import Sentence
from tripleaudit.descriptors import MATCHINGS
from tripleaudit.scoring.bootstrap import intervals
from tripleaudit.scoring.matching import reduced
from tripleaudit.scoring.metrics import micro

MOST = 5  # gold triples of a sentence from which sentences are counted together


def by_relation(gold: Sequence[Sentence], runs: Sequence[Sequence[Sentence]], matching: str) -> dict[str, np.ndarray]:
    """Return counts ``[sentences with it, runs, 3]`` (correct, predicted, gold) of each relation, most frequent first.

    A sentence has a relation where a gold triple has it, or one that any run predicts. Where a rule takes several names
    for one, the first that the gold has stands for all; a rule that compares no relations has one part, ``any``.
    """
    rows: dict[str, list[list[tuple[int, int, int]]]] = {}
    write, names = MATCHINGS[matching].relation, dict[str, str]()
    for triple in (triple for side in (gold, *runs) for each in side for triple in each.triples):
        names.setdefault(write(triple.relation), triple.relation)
    names[""] = "any"
    for sentences in zip(gold, *runs, strict=True):
        sides = [reduced(each.triples, matching) for each in sentences]
        for relation in sorted({triple[1] for side in sides for triple in side}):
            right, *found = ({triple for triple in side if triple[1] == relation} for side in sides)
            counted = [(len(one & right), len(one), len(right)) for one in found]
            rows.setdefault(names[relation], []).append(counted)
    counts = {relation: np.array(found, dtype=np.int64) for relation, found in rows.items()}
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1][:, 0, 2].sum(), pair[0])))


def by_cardinality(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Divide counts ``[sentences, 3]`` by their gold triples: ``0``, ``1``, …, ``5+``; without those that are empty."""
    size = np.minimum(counts[:, 2], MOST)
    names = {number: str(number) if number < MOST else f"{MOST}+" for number in range(MOST + 1)}
    return {name: counts[size == number] for number, name in names.items() if (size == number).any()}


def described(counts: np.ndarray, replicates: int, seed: int) -> dict[str, Any]:
    """Return the scores of some counts with their intervals, as JSON; an interval is missing where it would mislead."""
    total = micro(counts)
    bounds = intervals(counts, replicates=replicates, seed=seed) if total.gold else None
    return {
        **total.to_json(),
        "sentences": total.sentences,
        "intervals": {name: [bound.low, bound.high] for name, bound in (bounds or {}).items()},
    }
