"""Micro precision, recall and F1, overall and by stratum (type F1).

Type F1 is defined in rte-generalization 2.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Micro:
    """Summed counts of a set of sentences and the fractions that follow from them.

    A fraction whose denominator is zero is 0: a model that predicts nothing has precision 0, and a
    test set without triples gives recall 0 and F1 0 whatever is predicted.
    """

    correct: int
    predicted: int
    gold: int
    sentences: int = 0

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """``2PR / (P + R)``, computed from the counts."""
        total = self.predicted + self.gold
        return 2 * self.correct / total if total else 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            name: getattr(self, name)
            for name in ("precision", "recall", "f1", "correct", "predicted", "gold")
        }


def micro(counts: np.ndarray) -> Micro:
    """Sum per-sentence counts ``[sentences, 3]`` (correct, predicted, gold)."""
    correct, predicted, gold = (int(value) for value in counts.sum(axis=0))
    return Micro(correct, predicted, gold, len(counts))


def in_stratum(strata: Sequence[str | None], name: str) -> np.ndarray:
    """Return a mask ``[sentences]`` of a stratum, of several (``"a+b"``), or of ``"all"``.

    A sentence belongs to a stratum if all its gold triples are of that type, else to ``others``;
    sentences with zero triples belong to none. Every triple predicted for a sentence of a stratum
    counts there.
    """
    if name == "all":
        return np.ones(len(strata), dtype=bool)
    names = name.split("+")
    return np.fromiter((stratum in names for stratum in strata), dtype=bool, count=len(strata))
