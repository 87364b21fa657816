"""Percentile bootstrap intervals of micro scores, resampling sentences.

Sentences with the same counts are interchangeable, so a resample of n sentences is one multinomial draw over the
different count rows. That is the usual bootstrap exactly; where rows are few, its cost does not grow with the corpus.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

REPLICATES: Final = 1000
LEVEL: Final = 0.95
METRICS: Final = ("precision", "recall", "f1")
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval, as fractions."""

    low: float
    high: float


def scores_of(sums: np.ndarray) -> np.ndarray:
    """Turn summed counts ``[..., 3]`` (correct, predicted, gold) into ``[..., 3]`` (precision, recall, F1).

    A zero denominator gives 0, as :class:`tripleaudit.scoring.metrics.Micro` says.
    """
    correct, predicted, gold = (sums[..., column].astype(np.float64) for column in range(3))
    return np.stack(
        [
            correct / np.maximum(predicted, 1),
            correct / np.maximum(gold, 1),
            2 * correct / np.maximum(predicted + gold, 1),
        ],
        axis=-1,
    )


def intervals(
    counts: np.ndarray, *, replicates: int = REPLICATES, level: float = LEVEL, seed: int = 0
) -> dict[str, Interval] | None:
    """Return the bootstrap intervals of precision, recall and F1.

    Args:
        counts: per-sentence counts ``[sentences, 3]``, or ``[sentences, runs, 3]`` for the mean over several runs
            (seeds) on the same sentences: one resample of sentences then serves all runs.
        replicates: number of resamples.
        level: probability mass between the two percentiles.
        seed: of the resampling; the order of the sentences plays no part.

    Returns:
        Metric name -> interval, or ``None`` where there is no sentence or no resample.
    """
    if not len(counts) or not replicates:
        return None
    flat = counts.reshape(len(counts), -1)
    rows, frequencies = np.unique(flat, axis=0, return_counts=True)
    rows = rows.astype(np.float64)  # exact for counts, and much faster to multiply than integers
    random = np.random.default_rng(seed)
    samples = np.empty((replicates, len(METRICS)))
    step = max(1, _CELLS_AT_ONCE // len(flat))
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        weights = _resamples(random, frequencies, size)
        scores = scores_of((weights.astype(np.float64) @ rows).reshape(size, *counts.shape[1:]))
        samples[start : start + size] = scores if counts.ndim == 2 else scores.mean(axis=1)
    tail = (1 - level) / 2
    low, high = np.quantile(samples, [tail, 1 - tail], axis=0)
    return {name: Interval(float(low[i]), float(high[i])) for i, name in enumerate(METRICS)}


def _resamples(random: np.random.Generator, frequencies: np.ndarray, size: int) -> np.ndarray:
    """Draw how often each different row is in each resample, ``[size, rows]``; both ways have one distribution."""
    total, rows = int(frequencies.sum()), len(frequencies)
    if rows * 8 < total:
        return random.multinomial(total, frequencies / total, size=size)
    row_of = np.repeat(np.arange(rows), frequencies)
    drawn = row_of[random.integers(0, total, size=(size, total))]
    drawn += np.arange(size)[:, None] * rows
    return np.bincount(drawn.ravel(), minlength=size * rows).reshape(size, rows)
