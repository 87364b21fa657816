"""Paired significance over sentences and trained runs, with Holm's correction.

With one trained run of each system the null hypothesis says that the two outputs on a sentence
could as well be exchanged: approximate randomisation (Noreen 1989; Yeh 2000). It speaks of these
two trained models.

With several runs (seeds) of each system it speaks of the systems. Exchanging sentences alone would
take the luck of the runs for skill, more so the more sentences there are, so a difference under the
null hypothesis has two parts here: the exchange of sentences, scaled to what sentences tell apart
the *systems* (without what tells apart runs of one system); and the luck of the runs, Student's t
with the runs' own spread. Exchanging whole runs cannot do it: with three runs of each, only 20
exchanges exist, and no p-value is below 0.1.
"""

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import numpy as np

from tripleaudit.scoring.bootstrap import (
    METRICS,
    Interval,
    by_run,
    check_pair,
    freedom_of,
    influence_of,
    luck_of_runs,
    scores_of,
    unresampled_luck,
)

SHUFFLES: Final = 10_000
ALPHA: Final = 0.05
MIN_CASES: Final = 30
"""Independent units (sentences, texts, needles) below which nothing is concluded."""
MAX_CELLS = 4_000_000


def is_significant(interval: Interval | None, p_value: float | None, cases: int) -> bool:
    """Return whether a difference counts as significant, in every command and table.

    Args:
        interval: 95 % interval of the difference; None if there is none.
        p_value: of the randomisation test, corrected where several comparisons are made; None if
            the two sides are about different sentences.
        cases: independent units of the side that has fewer.
    """
    if interval is None or cases < MIN_CASES:
        return False
    if p_value is not None and p_value >= ALPHA:
        return False
    return interval.low > 0 or interval.high < 0


def randomisation_test(
    first: np.ndarray,
    second: np.ndarray,
    *,
    metric: str = "f1",
    shuffles: int = SHUFFLES,
    seed: int = 0,
    shared: bool = False,
    same_models: bool = False,
) -> float:
    """Return the two-sided p-value of the difference of one micro score between two systems.

    Args:
        first, second: counts ``[sentences, 3]`` on the same sentences, or ``[sentences, runs, 3]``:
            the statistic is then the difference of the means over runs.
        shuffles: number of draws from the null hypothesis.
        shared: whether the runs of both, one by one, share a seed.
        same_models: whether they are, one by one, the same trained models under two conditions.

    Raises:
        ValueError: the two do not have the same shape.
    """
    check_pair(first, second)
    column, first, second = METRICS.index(metric), by_run(first), by_run(second)
    scores = [scores_of(side.sum(axis=0))[:, column] for side in (first, second)]
    observed = abs(float(scores[0].mean() - scores[1].mean()))
    random = np.random.default_rng(seed)
    null = _exchanges(first, second, column, shuffles, random)
    if freedom := freedom_of(first, second, same_models):
        luck = luck_of_runs(scores[0], scores[1], shared, same_models)
        if same_models:
            own, of_runs = 1.0, float(unresampled_luck(luck, first, second)[column])
        else:
            own, least = _spreads(first, second, column)
            of_runs = max(
                float(luck), least
            )  # runs differ at least by what the sentences say about each of them
        null = null * own + math.sqrt(of_runs) * random.standard_t(freedom, size=shuffles)
    return (int((np.abs(null) >= observed - 1e-12).sum()) + 1) / (shuffles + 1)


def _exchanges(
    first: np.ndarray, second: np.ndarray, column: int, shuffles: int, random: np.random.Generator
) -> np.ndarray:
    """Return differences ``[shuffles]`` after exchanging outputs on half of the sentences."""
    # Only the difference of the two count rows matters for an exchange, so equal differences are
    # drawn together.
    steps, frequencies = np.unique(
        (second - first).reshape(len(first), -1), axis=0, return_counts=True
    )
    steps, frequencies = steps[steps.any(axis=1)], frequencies[steps.any(axis=1)]
    if not len(steps):
        return np.zeros(shuffles)
    order = np.argsort(frequencies, kind="stable")
    steps, frequencies = (
        steps[order].astype(np.float32),
        frequencies[order],
    )  # exact for counts below 2^24
    singles = int((frequencies == 1).sum())
    found = np.empty(shuffles)
    step = max(1, MAX_CELLS // len(steps))
    for start in range(0, shuffles, step):
        size = min(step, shuffles - start)
        swaps = np.empty((size, len(steps)), dtype=np.float32)
        bits = random.integers(0, 256, size=(size, -(-singles // 8)), dtype=np.uint8)
        swaps[:, :singles] = np.unpackbits(bits, axis=1, count=singles)
        swaps[:, singles:] = random.binomial(
            frequencies[singles:], 0.5, size=(size, len(steps) - singles)
        )
        moved = (swaps @ steps).astype(np.float64).reshape(size, *first.shape[1:])
        totals = first.sum(axis=0) + moved, second.sum(axis=0) - moved
        one, other = (scores_of(total)[..., column] for total in totals)
        found[start : start + size] = (one - other).mean(axis=1)
    return found


def _spreads(first: np.ndarray, second: np.ndarray, column: int) -> tuple[float, float]:
    """Where the variance of a difference of two means over runs comes from.

    Returns:
        share of the sentences' standard deviation that is the systems' own (0 to 1); variance that
        runs have already because they differ sentence by sentence.
    """
    influence = [influence_of(side, column) for side in (first, second)]  # [sentences, runs] each
    runs = first.shape[1]
    of_runs = sum(float(each.var(axis=1, ddof=1).sum()) for each in influence) / runs
    paired = influence[0].mean(axis=1) - influence[1].mean(axis=1)
    by_sentence = float((paired**2).sum())
    own = math.sqrt(max(0.0, by_sentence - of_runs) / by_sentence) if by_sentence else 0.0
    return own, of_runs


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm-adjusted p-values in order; alpha then bounds the family-wise error."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    steps = (min(1.0, (len(p_values) - rank) * p_values[index]) for rank, index in enumerate(order))
    adjusted = dict(zip(order, accumulate(steps, max), strict=True))
    return [adjusted[index] for index in range(len(p_values))]
