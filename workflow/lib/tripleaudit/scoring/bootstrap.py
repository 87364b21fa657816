"""Bootstrap intervals of micro scores over sentences and trained runs.

Sentences with the same counts are interchangeable, so a resample of n sentences is one multinomial
draw over the different count rows. That is the usual bootstrap exactly; where rows are few, its
cost does not grow with the corpus.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from tripleaudit.core.errors import UserError

REPLICATES: Final = 1000
MOST: Final = 10**5
LEVEL: Final = 0.95
METRICS: Final = ("precision", "recall", "f1")
FEWEST: Final = 10
"""Sentences under which no interval is given: so few say nothing about others."""
SHARED: Final = 0.5
"""Share of the runs' covariance that counts where both sides share seeds: three pairs of runs hardly show how far they
go together, and all of it would call equal systems different too often (docs/explanation/statistics.md)."""
_CELLS_AT_ONCE = 4_000_000
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval, as fractions."""

    low: float
    high: float


def scores_of(sums: np.ndarray) -> np.ndarray:
    """Turn counts ``[..., 3]`` (correct, predicted, gold) into ``[..., 3]`` (P, R, F1).

    A zero denominator gives 0, as :class:`tripleaudit.scoring.metrics.Micro` says.
    """
    correct, predicted, gold = np.moveaxis(sums.astype(np.float64), -1, 0)
    precision = correct / np.maximum(predicted, 1)
    recall = correct / np.maximum(gold, 1)
    f1 = 2 * correct / np.maximum(predicted + gold, 1)
    return np.stack([precision, recall, f1], axis=-1)


def intervals(
    counts: np.ndarray, *, replicates: int = REPLICATES, seed: int = 0
) -> dict[str, Interval] | None:
    """Return the intervals of precision, recall and F1.

    One run: the percentile bootstrap over sentences, about this trained model. Several runs (seeds)
    on the same sentences: an interval about the system, over both levels. Each resample draws
    sentences, the same for all runs, and the luck of the runs: Student's t times the standard error
    of their mean. (Three runs drawn with replacement show too little of the spread that they come
    from; t corrects that.)

    Where the resampled interval reaches 0 or 1, or is a single point, and runs do not differ, it
    has collapsed (all of twelve sentences right give [1, 1]); that end is then Wilson's for the
    number of sentences that the score is about (:func:`sample_sizes`). Runs that differ have shown
    how far: two of precision 1 and 0.5 leave everything open.

    Args:
        counts: counts of sentences, or of units that are drawn together
            (:mod:`tripleaudit.scoring.units`), ``[sentences, 3]`` or ``[sentences, runs, 3]``.
        seed: of the resampling; the order of the sentences plays no part.

    Returns:
        Metric name -> interval, or ``None`` where there are fewer than :data:`FEWEST` sentences or
        no resample.
    """
    if len(counts) < FEWEST or not replicates:
        return None
    if not 0 < replicates <= MOST:
        raise UserError(
            f"bootstrap: {replicates} resamples; expected at most {MOST}, beyond which no digit changes"
        )
    random = np.random.default_rng(seed)
    counts = by_run(counts)
    whole = scores_of(counts.sum(axis=0))
    samples = _samples(random, counts, replicates).mean(axis=1) + _luck(random, whole, replicates)
    values, unlike = whole.mean(axis=0).tolist(), (whole != whole[0]).any(axis=0).tolist()
    found = dict(zip(METRICS, _bounds(samples, 0, 1), strict=True))
    for name, value, runs_differ, size in zip(
        METRICS, values, unlike, sample_sizes(counts), strict=True
    ):
        if not runs_differ:
            found[name] = _inside(found[name], value, size)
    return found


def sample_sizes(counts: np.ndarray) -> tuple[int, int, int]:
    """Return sentences behind precision (predicted), recall (gold) and F1 (either).

    Several predictions of a sentence are not independent, so each sentence counts once.

    Args:
        counts: ``[sentences, runs, 3]``.
    """
    present = np.any(counts[..., 1:] > 0, axis=1)  # [sentences, 2]
    predicted, gold = present.sum(axis=0).tolist()
    return predicted, gold, int(present.any(axis=1).sum())


def rate_interval(predicted: np.ndarray) -> Interval | None:
    """Return the interval of the number of triples predicted for a sentence.

    Args:
        predicted: numbers ``[sentences, runs]``; sentences are resampled, and with several runs
            their luck as in :func:`intervals`. Where none is predicted at all, the upper bound is
            Wilson's for the share of sentences.

    Returns:
        ``None`` where there are fewer than :data:`FEWEST` sentences.
    """
    count = len(predicted)
    if count < FEWEST:
        return None
    if not predicted.any():
        return _inside(Interval(0.0, 0.0), 0.0, count)
    random = np.random.default_rng(0)
    rows, times = np.unique(predicted, axis=0, return_counts=True)
    samples = (random.multinomial(count, times / count, size=REPLICATES) @ rows / count).mean(
        axis=1
    )
    samples = np.maximum(samples + _luck(random, predicted.mean(axis=0), REPLICATES), 0)
    return _bounds(samples[:, None])[0]


def luck_of_runs(
    first: np.ndarray, second: np.ndarray, shared: bool, same_models: bool = False
) -> np.ndarray | float:
    """Return the variance that runs give to a difference of two means over runs.

    Args:
        first, second: scores ``[runs, …]``; a single run has no spread to show.
        shared: whether the runs of both, one by one, share a seed, so that their luck may cancel.
        same_models: whether they are, one by one, the same trained models under two conditions.
            What runs have in common cancels then, and only the spread of their differences is left.
    """
    paired = len(first) == len(second) > 1
    if same_models and paired:
        return (second - first).var(axis=0, ddof=1) / len(first)
    independent = sum(
        side.var(axis=0, ddof=1) / len(side) for side in (first, second) if len(side) > 1
    )
    if not (shared and paired):
        return independent
    covariance = independent - (second - first).var(axis=0, ddof=1) / len(first)
    return independent - SHARED * np.maximum(covariance, 0)


def freedom_of(first: np.ndarray, second: np.ndarray, same_models: bool = False) -> int:
    """Return degrees of freedom of :func:`luck_of_runs`; none for equal runs.

    Args:
        first, second: per-sentence counts ``[sentences, runs, 3]`` of each.
        same_models: as of :func:`luck_of_runs`.
    """
    varying = [side.shape[1] - 1 for side in (first, second) if (side != side[:, :1]).any()]
    if same_models and first.shape[1] == second.shape[1]:
        return max(varying, default=0)
    return sum(varying)


def difference_intervals(
    first: np.ndarray,
    second: np.ndarray,
    *,
    paired: bool = True,
    replicates: int = REPLICATES,
    seed: int = 0,
    shared: bool = False,
    same_models: bool = False,
    level: float = LEVEL,
) -> dict[str, Interval] | None:
    """Return the intervals of ``second`` minus ``first``, of precision, recall and F1.

    Each resample draws sentences and, with several runs, the luck of both sides: Student's t times
    the standard error of the difference of their means. On the same sentences both systems and all
    their runs get the same draw, and exchanging the systems turns the signs. Other sentences, such
    as those of two strata, are drawn each for themselves; where all of one side score alike, the
    interval comes from Wilson's of both.

    Args:
        first, second: per-sentence counts ``[sentences, 3]``, or ``[sentences, runs, 3]``.
        paired: whether both are about the same sentences, in the same order.
        replicates, seed: as of :func:`intervals`.
        shared: whether the runs of both, one by one, share a seed (:func:`luck_of_runs`).
        same_models: whether they are the same trained models (:func:`luck_of_runs`).
        level: of the interval; sides that all score alike have one of 95 %.

    Returns:
        Metric name -> interval from -1 to 1, or ``None`` where :func:`intervals` has none.

    Raises:
        ValueError: two on the same sentences do not have the same shape.
    """
    if paired:
        check_pair(first, second)
    if min(len(first), len(second)) < FEWEST or not replicates:
        return None
    turned = (
        paired and first.tobytes() > second.tobytes()
    )  # so that both orders draw the same resamples
    pair = (second, first) if turned else (first, second)
    sides = (by_run(pair[0]), by_run(pair[1]))
    random = np.random.default_rng(seed)
    if paired:
        drawn = _samples(random, np.stack(sides, axis=1), replicates).mean(axis=2).swapaxes(0, 1)
    else:
        drawn = np.stack([_samples(random, side, replicates).mean(axis=1) for side in sides])
    samples = drawn[1] - drawn[0]
    before, after = (scores_of(side.sum(axis=0)) for side in sides)
    if freedom := freedom_of(sides[0], sides[1], same_models):
        luck = luck_of_runs(before, after, shared, same_models)
        if paired and same_models:
            luck = unresampled_luck(luck, *sides)
        samples += np.sqrt(luck) * random.standard_t(freedom, size=(replicates, 1))
    found = dict(zip(METRICS, _bounds(samples, -1, 1, level), strict=True))
    if turned:
        found = {
            name: Interval(-bound.high + 0.0, -bound.low + 0.0) for name, bound in found.items()
        }  # no -0.0
    if paired:
        return found
    sizes = [sample_sizes(side) for side in sides]
    for position, name in enumerate(METRICS):
        if min(len(np.unique(side[:, position])) for side in drawn) == 1:
            one, other = (float(side[:, position].mean()) for side in (before, after))
            found[name] = _of_wilson(one, other, sizes[0][position], sizes[1][position])
    return found


def unresampled_luck(luck: np.ndarray | float, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the runs' variance, by metric, that resampling sentences does not show.

    Runs differ from sentence to sentence by chance; drawing other sentences draws other such
    differences with them. At least half of the variance counts, as few runs hardly show how large
    it is.

    Args:
        luck: of the same models under two conditions (:func:`luck_of_runs`).
        first, second: their counts ``[sentences, runs, 3]`` on the same sentences.
    """
    changes = [
        influence_of(second, column) - influence_of(first, column) for column in range(len(METRICS))
    ]
    by_sentence = np.array(
        [change.var(axis=1, ddof=1).sum() / change.shape[1] for change in changes]
    )
    return np.maximum(luck - by_sentence, luck / 2)


def influence_of(counts: np.ndarray, column: int) -> np.ndarray:
    """Return what each sentence adds to a score of each run, linearised.

    Args:
        counts: ``[sentences, runs, 3]``.
        column: of the score in :data:`METRICS`.

    Returns:
        ``[sentences, runs]``.
    """
    counts = counts.astype(np.float64)
    part = (counts[..., 1], counts[..., 2], counts[..., 1] + counts[..., 2])[column]
    gain = counts[..., 0] * (2 if METRICS[column] == "f1" else 1)
    score = scores_of(counts.sum(axis=0))[..., column]
    return (gain - score * part) / np.maximum(part.sum(axis=0), 1)


def check_pair(first: np.ndarray, second: np.ndarray) -> None:
    """Raise :class:`ValueError` where counts are not of the same sentences and as many runs."""
    if first.shape != second.shape:
        raise ValueError(
            f"counts of shape {first.shape} cannot be paired with counts of shape {second.shape}"
        )


def _luck(random: np.random.Generator, values: np.ndarray, replicates: int) -> np.ndarray | float:
    """Draw the luck ``[replicates, …]`` in a mean of runs ``[runs, …]``; 0 for one run."""
    runs = len(values)
    if runs < 2:
        return 0.0
    luck = random.standard_t(runs - 1, size=(replicates, *[1] * (values.ndim - 1))) / math.sqrt(
        runs
    )
    return values.std(axis=0, ddof=1) * luck


def _bounds(
    samples: np.ndarray, least: float = -math.inf, most: float = math.inf, level: float = LEVEL
) -> list[Interval]:
    """Return the percentile interval of each column of ``[replicates, columns]``."""
    tail = (1 - level) / 2
    low, high = np.quantile(samples, [tail, 1 - tail], axis=0).clip(least, most)
    return [Interval(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]


def _of_wilson(first: float, second: float, before: int, after: int) -> Interval:
    """Return a difference's interval from Wilson's intervals, with independent errors."""
    one, other = (
        _inside(Interval(first, first), first, before),
        _inside(Interval(second, second), second, after),
    )
    change = second - first
    low = change - math.hypot(second - other.low, one.high - first)
    return Interval(
        max(-1.0, low), min(1.0, change + math.hypot(other.high - second, first - one.low))
    )


def by_run(counts: np.ndarray) -> np.ndarray:
    """Return the counts of one run or of several as ``[sentences, runs, 3]``."""
    return counts.reshape(len(counts), -1, len(METRICS))


def _samples(random: np.random.Generator, counts: np.ndarray, replicates: int) -> np.ndarray:
    """Return scores ``[replicates, …, 3]`` of resampled counts ``[sentences, …, 3]``."""
    flat = counts.reshape(len(counts), -1)
    rows, frequencies = np.unique(flat, axis=0, return_counts=True)
    rows = rows.astype(np.float64)  # exact for counts, and much faster to multiply than integers
    samples = np.empty((replicates, *counts.shape[1:]))
    step = max(1, _CELLS_AT_ONCE // len(flat))
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        weights = _resamples(random, frequencies, size)
        samples[start : start + size] = scores_of(
            (weights.astype(np.float64) @ rows).reshape(size, *counts.shape[1:])
        )
    return samples


def _inside(bound: Interval, value: float, sentences: int) -> Interval:
    """Replace interval ends at 0 or 1, or beyond, by Wilson's; nothing without sentences."""
    if not sentences:
        return Interval(0.0, 1.0)
    z, whole = _Z, 1 + _Z * _Z / sentences
    middle = (value + z * z / (2 * sentences)) / whole
    half = z / whole * math.sqrt(value * (1 - value) / sentences + z * z / (4 * sentences**2))
    low = bound.low if bound.low > 0 else middle - half
    high = bound.high if bound.high < 1 else middle + half
    if bound.low == bound.high:  # nothing varied
        low, high = middle - half, middle + half
    return Interval(max(0.0, min(low, value)), min(1.0, max(high, value)))


def _resamples(random: np.random.Generator, frequencies: np.ndarray, size: int) -> np.ndarray:
    """Draw how often each distinct row is in each resample, ``[size, rows]``.

    Both ways have one distribution.
    """
    total, rows = int(frequencies.sum()), len(frequencies)
    if rows * 8 < total:
        return random.multinomial(total, frequencies / total, size=size)
    row_of = np.repeat(np.arange(rows), frequencies)
    drawn = row_of[random.integers(0, total, size=(size, total))]
    drawn += np.arange(size)[:, None] * rows
    return np.bincount(drawn.ravel(), minlength=size * rows).reshape(size, rows)
