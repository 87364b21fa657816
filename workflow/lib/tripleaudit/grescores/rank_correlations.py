"""Correlations of scores over systems on several data sets, with intervals over systems.

The rows of one system on several data sets are not independent, so intervals resample systems: a
system is drawn with its values on all data sets.
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
    first = np.where(measured, first, np.nan)
    second = np.where(measured, second, np.nan)
    systems = len(first)
    drawn = np.random.default_rng(seed).integers(systems, size=(resamples, systems))
    by_dataset = []
    resampled = []
    for x, y in zip(first.T, second.T, strict=True):
        by_dataset.append(float(_spearman(x[None], y[None])[0]))
        resampled.append(_spearman(x[drawn], y[drawn]))
    if np.isnan(by_dataset).all():
        return None
    means = _mean_of_measured(np.array(resampled), axis=0)  # [1, resamples]
    low, high = np.nanquantile(means, [0.025, 0.975])
    return Correlation(float(np.nanmean(by_dataset)), float(low), float(high), tuple(by_dataset))


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    """Return the mean rank of each system over all columns, 1 for the greatest value.

    Args:
        scores: ``[systems, columns]`` without gaps.
    """
    ranks = len(scores) + 1 - _ranks(scores.T)  # [columns, systems]
    return ranks.mean(axis=0)


def _spearman(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Spearman's correlation of each row; nan where a score does not vary.

    Args:
        x, y: ``[rows, systems]``, nan in the same places.
    """
    rank_x = _ranks(x)
    rank_y = _ranks(y)
    deviation_x = rank_x - _mean_of_measured(rank_x, axis=1)
    deviation_y = rank_y - _mean_of_measured(rank_y, axis=1)
    covariance = np.nansum(deviation_x * deviation_y, axis=1)
    spread = np.sqrt(np.nansum(deviation_x**2, axis=1) * np.nansum(deviation_y**2, axis=1))
    return np.divide(covariance, spread, out=np.full_like(spread, np.nan), where=spread > 0)


def _mean_of_measured(values: np.ndarray, axis: int) -> np.ndarray:
    """Return means without nan, nan where there is nothing else; the axis is kept."""
    counts = (~np.isnan(values)).sum(axis=axis, keepdims=True)
    sums = np.nansum(values, axis=axis, keepdims=True)
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks in each row from 1, the mean rank for equal values, nan for nan.

    Args:
        values: ``[rows, systems]``.
    """
    smaller = (values[:, None, :] < values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    return np.where(np.isnan(values), np.nan, smaller + (equal + 1) / 2)
