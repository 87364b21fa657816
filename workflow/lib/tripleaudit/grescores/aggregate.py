"""From one value per text to a score: the mean over texts, with a bootstrap interval."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tripleaudit.scoring.bootstrap import LEVEL, METRICS, intervals, scores_of


@dataclass(frozen=True)
class Score:
    """A corpus score (a fraction, or a count for #tri and #tok) with the bounds of its interval.

    Attributes:
        texts: number of texts behind it.
    """

    value: float
    low: float | None = None
    high: float | None = None
    texts: int = 0


def mean_score(values: Iterable[float], resamples: int = 1000, seed: int = 0) -> Score | None:
    """Return the unweighted mean over texts with a 95 % percentile bootstrap interval; None without values."""
    array = np.fromiter(values, dtype=float)
    if not array.size:
        return None
    low = high = None
    if resamples and array.size > 1:
        # A resample of the texts is a draw of how often each of them is taken.
        random = np.random.default_rng(seed)
        weights = random.multinomial(array.size, np.full(array.size, 1 / array.size), size=resamples)
        low, high = map(float, np.quantile(weights @ array / array.size, ((1 - LEVEL) / 2, (1 + LEVEL) / 2)))
    return Score(float(np.mean(array)), low, high, array.size)


def micro_scores(counts: Iterable[tuple[int, int, int]], resamples: int = 1000, seed: int = 0) -> dict[str, Score]:
    """Return micro precision, recall and F1 of ``(matched, predicted, gold)`` counts, one row per text.

    A ratio without a denominator is 0.
    """
    table = np.array(list(counts), dtype=np.int64).reshape(-1, 3)
    whole = scores_of(table.sum(axis=0))
    bounds = intervals(table, replicates=resamples, seed=seed) or {}
    scores = {}
    for index, name in enumerate(METRICS):
        low, high = (bounds[name].low, bounds[name].high) if bounds else (None, None)
        scores[name] = Score(float(whole[index]), low, high, len(table))
    return scores
