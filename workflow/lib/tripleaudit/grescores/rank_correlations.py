"""Correlations of scores over systems that are measured on several data sets, with intervals over systems.

The rows of one system on several data sets are not independent, so intervals resample systems: a system is drawn with
its values on all data sets.
"""

from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
MIN_SYSTEMS = 5  # behind a correlation


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation with its 95 % interval over systems.

    Attributes:
        by_dataset: Spearman's correlation on each data set.
    """

    value: float
    low: float
    high: float
    by_dataset: tuple[float, ...]


def mean_spearman(
    first: np.ndarray, second: np.ndarray, resamples: int = RESAMPLES, seed: int = 0
) -> Correlation | None:
    """Return the mean over data sets of Spearman's correlation of two scores over systems.

    Args:
        first, second: ``[systems, data sets]``, nan where a system has no value.

    Returns:
        None where a data set has fewer than :data:`MIN_SYSTEMS` systems with both values.
    """
    measured = ~(np.isnan(first) | np.isnan(second))
    if (measured.sum(axis=0) < MIN_SYSTEMS).any():
        return None
    by_dataset = _spearman(first, second)
    rng = np.random.default_rng(seed)
    means = []
    for _ in range(resamples):
        drawn = rng.integers(len(first), size=len(first))
        means.append(np.nanmean(_spearman(first[drawn], second[drawn])))
    low, high = np.nanquantile(means, [0.025, 0.975])
    return Correlation(float(np.nanmean(by_dataset)), float(low), float(high), tuple(map(float, by_dataset)))


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    """Return the mean rank of each system over all columns, 1 for the greatest value.

    Args:
        scores: ``[systems, columns]`` without gaps.
    """
    ranks = np.stack([len(column) + 1 - _ranks(column) for column in scores.T], axis=1)
    return ranks.mean(axis=1)


def _spearman(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Spearman's correlation by data set; nan where a score does not vary."""
    correlations = []
    for x, y in zip(first.T, second.T, strict=True):
        measured = ~(np.isnan(x) | np.isnan(y))
        correlations.append(_pearson(_ranks(x[measured]), _ranks(y[measured])))
    return np.array(correlations)


def _pearson(x: np.ndarray, y: np.ndarray) -> float:
    x = x - x.mean()
    y = y - y.mean()
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / spread if spread > 0 else float("nan")


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of values from 1, the mean rank for equal ones."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
