"""Paired significance of differences between extractors: approximate randomisation and Holm's correction.

The null hypothesis says that the two systems' outputs on a sentence could as well be exchanged. Each shuffle exchanges
them on a random half of the sentences; the p-value is the share of shuffles (the observed one included) whose absolute
difference is at least the observed one (Noreen 1989; Yeh 2000).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from tripleaudit.scoring.bootstrap import METRICS, scores_of

SHUFFLES: Final = 10_000
ALPHA: Final = 0.05
_CELLS_AT_ONCE = 4_000_000


def randomisation_test(
    first: np.ndarray, second: np.ndarray, *, metric: str = "f1", shuffles: int = SHUFFLES, seed: int = 0
) -> float:
    """Return the two-sided p-value of the difference of one micro score between two systems.

    Args:
        first, second: counts ``[sentences, 3]`` on the same sentences, or ``[sentences, runs, 3]``: the statistic is
            then the difference of the means over runs, and a sentence's outputs of all runs are exchanged together.
        metric: ``precision``, ``recall`` or ``f1``.
        shuffles: number of random exchanges.
        seed: of the exchanges.

    Raises:
        ValueError: the two do not have the same shape.
    """
    if first.shape != second.shape:
        raise ValueError(f"counts of shape {first.shape} cannot be paired with counts of shape {second.shape}")
    column = METRICS.index(metric)
    shape = first.shape[1:]
    first, second = first.reshape(len(first), -1), second.reshape(len(second), -1)
    total_first, total_second = first.sum(axis=0), second.sum(axis=0)

    def difference(exchanged: np.ndarray) -> np.ndarray:
        """Difference of the scores after moving counts ``[shuffles, …]`` from one side to the other."""
        sides = [
            scores_of((total + exchanged * sign).reshape(len(exchanged), *shape))[..., column]
            for total, sign in ((total_first, 1), (total_second, -1))
        ]
        return (sides[0] - sides[1]).reshape(len(exchanged), -1).mean(axis=1)

    # Only the difference of the two count rows matters for an exchange, so equal differences are drawn together.
    steps, frequencies = np.unique(second - first, axis=0, return_counts=True)
    steps, frequencies = steps[steps.any(axis=1)], frequencies[steps.any(axis=1)]
    if not len(steps):
        return 1.0
    order = np.argsort(frequencies, kind="stable")
    steps, frequencies = steps[order].astype(np.float32), frequencies[order]  # exact for counts below 2^24
    singles = int((frequencies == 1).sum())
    observed = abs(float(difference(np.zeros((1, first.shape[1]), dtype=np.int64))[0]))
    random = np.random.default_rng(seed)
    as_extreme = 0
    step = max(1, _CELLS_AT_ONCE // len(steps))
    for start in range(0, shuffles, step):
        size = min(step, shuffles - start)
        swaps = np.empty((size, len(steps)), dtype=np.float32)
        bits = random.integers(0, 256, size=(size, -(-singles // 8)), dtype=np.uint8)
        swaps[:, :singles] = np.unpackbits(bits, axis=1, count=singles)
        swaps[:, singles:] = random.binomial(frequencies[singles:], 0.5, size=(size, len(steps) - singles))
        as_extreme += int((np.abs(difference((swaps @ steps).astype(np.float64))) >= observed - 1e-12).sum())
    return (as_extreme + 1) / (shuffles + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm-adjusted p-values in the given order: comparing each with alpha controls the family-wise error."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def significant_winner(
    systems: Sequence[np.ndarray], *, metric: str = "f1", alpha: float = ALPHA, seed: int = 0
) -> int | None:
    """Return the index of the system that beats every other one significantly, or ``None``.

    Args:
        systems: counts of each system on the same sentences, shapes as in :func:`randomisation_test`.
        metric: what the systems compete in.
        alpha: level of the test of the best system against each other one, Holm-corrected for their number.
    """
    if len(systems) < 2 or len({system.shape for system in systems}) > 1 or not len(systems[0]):
        return None
    column = METRICS.index(metric)
    scores = [scores_of(system.sum(axis=0))[..., column].mean() for system in systems]
    best = int(np.argmax(scores))
    # The closest rival first: if it is not beaten, no correction can make the best one a winner.
    rivals = sorted((index for index in range(len(systems)) if index != best), key=lambda index: -scores[index])
    p_values: list[float] = []
    for rival in rivals:
        p_values.append(randomisation_test(systems[best], systems[rival], metric=metric, seed=seed))
        if p_values[-1] >= alpha:
            return None
    return best if max(holm(p_values)) < alpha else None
