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
MOST: Final = 10**5  # replicates
LEVEL: Final = 0.95
METRICS: Final = ("precision", "recall", "f1")
FEWEST: Final = 10
"""Sentences under which no interval is given: so few say nothing about others."""
MIN_UNITS: Final = 30
"""Effective sentences behind a score under which resampling them gives too narrow an interval."""
TRIAL_NUMBERS: Final = 10
"""How many numbers of trials, from the effective number to that of triples,
:func:`score_interval` tries.
"""
ROUNDING: Final = 1e-9
SHARED: Final = 0.5
"""Share of the runs' covariance that counts where both sides share seeds: three pairs of runs hardly show how far they
go together, and all of it would call equal systems different too often (docs/explanation/statistics.md)."""
MAX_CELLS = 4_000_000
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)
# fmt: off
_STUDENT: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
)
"""Student's quantiles at .975 for 1, 2, ... degrees of freedom; the normal one is close beyond."""
# fmt: on


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

    Resampling does not work where few sentences decide a score: with all predictions in one
    sentence, each resample has the same precision or none. Below :data:`MIN_UNITS` effective units
    (:class:`SampleSize`) the interval is Wilson's with a continuity correction for the effective
    number of predictions (precision), gold triples (recall) or both (F1); runs that differ widen it
    by their own spread. From :data:`MIN_UNITS` on, an end at 0, at 1 or at the value itself is
    replaced by Wilson's, unless runs differ.

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
    runs_differ = (whole != whole[0]).any(axis=0)
    bounds = {}
    for column, (name, bound) in enumerate(zip(METRICS, _bounds(samples, 0, 1), strict=True)):
        value = float(whole[:, column].mean())
        size = sample_size(counts, column)
        if not runs_differ[column]:
            bounds[name] = _bounded_by_share(bound, value, size)
        elif size.is_small:
            bounds[name] = _join(bound, share_interval(value, size))
        else:
            bounds[name] = bound
    return bounds


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The amount of evidence behind a score.

    Attributes:
        units: effective number of sentences (or other units) behind the score: Kish's
            ``sum(b) ** 2 / sum(b ** 2)`` of their denominators ``b``; 0 without a denominator.
        trials: effective number of independent predictions or gold triples.
        triples: number of predictions or gold triples, which is the greatest number of trials.
    """

    units: float
    trials: float
    triples: float

    @property
    def is_small(self) -> bool:
        """Whether resampling units cannot give an interval."""
        return self.units < MIN_UNITS


def sample_size(counts: np.ndarray, column: int) -> SampleSize:
    """Return the evidence behind precision (predictions), recall (gold triples) or F1 (both).

    Triples of one sentence tend to be right or wrong together. As Korn and Graubard (1998) do for
    surveys, the number of triples is divided by the design effect (the linearised variance between
    sentences over the variance of as many independent trials) and by ``(t / z) ** 2``, because few
    sentences show that variance badly. The result lies between the effective number of sentences
    (all triples of a sentence agree) and the number of triples.

    Args:
        counts: ``[sentences, runs, 3]``.
        column: of the score in :data:`METRICS`.
    """
    parts = _denominators(counts, column).mean(axis=1)
    triples = math.fsum(parts.tolist())
    if not triples:
        return SampleSize(0.0, 0.0, 0.0)
    units = triples**2 / math.fsum((parts**2).tolist())
    value = float(scores_of(counts.sum(axis=0))[:, column].mean())
    freedom = math.floor(units - 1 + ROUNDING)
    if freedom < 1 or not 0 < value < 1:
        # the variance between sentences is unknown: assume that all triples of a sentence agree
        return SampleSize(units, trials=units, triples=triples)
    influence = influence_of(counts, column).mean(axis=1)
    present = int(np.count_nonzero(parts))
    # exact sums, so that the order of the sentences plays no part
    variance = math.fsum((influence**2).tolist()) * present / (present - 1)
    if not variance:
        return SampleSize(units, trials=triples, triples=triples)
    trials = value * (1 - value) / variance * (_Z / _student(freedom)) ** 2
    trials = min(max(trials, units), triples)
    return SampleSize(units, trials, triples)


def score_interval(value: float, size: SampleSize) -> Interval:
    """Return Wilson's interval with a continuity correction (Newcombe 1998, method 4).

    The correction matters with few trials: without it, 5 trials cover a precision of .9 in less
    than 92 % of samples. The interval is [0, 1] without trials and holds the value in its interior
    unless it is 0 or 1.

    Few sentences hardly show how far their triples agree, so that the number of trials is uncertain
    itself: it lies between ``trials`` and ``triples``. The smallest one does not always give the
    widest interval, because near 0 or 1 an end may move towards the value with fewer trials. So the
    result covers the intervals of :data:`TRIAL_NUMBERS` numbers in this range.
    """
    if not size.trials:
        return Interval(0.0, 1.0)
    most_trials = max(size.trials, size.triples)
    numbers = np.geomspace(size.trials, most_trials, TRIAL_NUMBERS).tolist()
    low = min(_lower_end(value, trials) for trials in numbers)
    high = 1 - min(_lower_end(1 - value, trials) for trials in numbers)
    return Interval(low, high)


def _lower_end(value: float, trials: float) -> float:
    """Return the lower end of :func:`score_interval`; ``trials`` is 1 or more."""
    if value == 0:
        return 0.0
    square = _Z * _Z
    root = square - 2 - 1 / trials + 4 * value * (trials * (1 - value) + 1)
    low = (2 * trials * value + square - 1 - _Z * math.sqrt(max(root, 0.0))) / (
        2 * (trials + square)
    )
    return max(0.0, low)


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
        return wilson_interval(0.0, count)
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
    interval comes from Wilson's of both, and it is widened to that one where few sentences decide
    a score (:class:`SampleSize`) or where it would end at the difference itself.

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
    # both orders of a pair are computed in the same one, so that they draw the same resamples
    turned = paired and first.tobytes() > second.tobytes()
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
    bounds = dict(zip(METRICS, _bounds(samples, -1, 1, level), strict=True))
    changes = (after.mean(axis=0) - before.mean(axis=0)).tolist()
    if turned:
        # adding 0.0 turns -0.0 into 0.0
        bounds = {
            name: Interval(-bound.high + 0.0, -bound.low + 0.0) for name, bound in bounds.items()
        }
        changes = [-change for change in changes]
        sides = sides[::-1]
    for column, (name, change) in enumerate(zip(METRICS, changes, strict=True)):
        bound = bounds[name]
        is_constant = min(len(np.unique(side[:, column])) for side in drawn) == 1
        at_the_end = change != 0 and not bound.low < change < bound.high
        is_small = any(sample_size(side, column).is_small for side in sides)
        if not paired and is_constant:
            bounds[name] = _difference_of_shares(*sides, column)
        elif at_the_end or (not paired and is_small):
            bounds[name] = _join(bound, _difference_of_shares(*sides, column))
    return bounds


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
    part = _denominators(counts, column)
    gain = counts[..., 0] * (2 if METRICS[column] == "f1" else 1)
    score = scores_of(counts.sum(axis=0))[..., column]
    return (gain - score * part) / np.maximum(part.sum(axis=0), 1)


def _denominators(counts: np.ndarray, column: int) -> np.ndarray:
    """Return the denominators ``[sentences, runs]`` of a score of :data:`METRICS`."""
    predicted, gold = counts[..., 1].astype(np.float64), counts[..., 2].astype(np.float64)
    return (predicted, gold, predicted + gold)[column]


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


def _difference_of_shares(first: np.ndarray, second: np.ndarray, column: int) -> Interval:
    """Return a difference's interval from those of both scores, with independent errors.

    Args:
        first, second: counts ``[sentences, runs, 3]``; ``second`` minus ``first`` is meant.
        column: of the score in :data:`METRICS`.
    """
    before = float(scores_of(first.sum(axis=0))[:, column].mean())
    after = float(scores_of(second.sum(axis=0))[:, column].mean())
    of_before = share_interval(before, sample_size(first, column))
    of_after = share_interval(after, sample_size(second, column))
    change = after - before
    low = change - math.hypot(after - of_after.low, of_before.high - before)
    high = change + math.hypot(of_after.high - after, before - of_before.low)
    return Interval(max(-1.0, low), min(1.0, high))


def by_run(counts: np.ndarray) -> np.ndarray:
    """Return the counts of one run or of several as ``[sentences, runs, 3]``."""
    return counts.reshape(len(counts), -1, len(METRICS))


def _samples(random: np.random.Generator, counts: np.ndarray, replicates: int) -> np.ndarray:
    """Return scores ``[replicates, …, 3]`` of resampled counts ``[sentences, …, 3]``."""
    flat = counts.reshape(len(counts), -1)
    rows, frequencies = np.unique(flat, axis=0, return_counts=True)
    rows = rows.astype(np.float64)  # exact for counts, and much faster to multiply than integers
    samples = np.empty((replicates, *counts.shape[1:]))
    step = max(1, MAX_CELLS // len(flat))
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        weights = _resamples(random, frequencies, size)
        samples[start : start + size] = scores_of(
            (weights.astype(np.float64) @ rows).reshape(size, *counts.shape[1:])
        )
    return samples


def share_interval(value: float, size: SampleSize) -> Interval:
    """Return the interval of a score without resampling units."""
    if size.is_small:
        return score_interval(value, size)
    return wilson_interval(value, size.trials)


def _student(freedom: int) -> float:
    """Return Student's quantile at .975; the normal one from :data:`MIN_UNITS` on."""
    return _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else _Z


def _join(first: Interval, second: Interval) -> Interval:
    """Return the smallest interval that holds both."""
    return Interval(min(first.low, second.low), max(first.high, second.high))


def _bounded_by_share(bound: Interval, value: float, size: SampleSize) -> Interval:
    """Replace interval ends at 0, 1 or the value; both where few units decide the score."""
    replacement = share_interval(value, size)
    if size.is_small:
        return replacement
    collapsed = bound.low == bound.high
    replaces_low = collapsed or bound.low <= 0 or bound.low >= value
    replaces_high = collapsed or bound.high >= 1 or bound.high <= value
    low = replacement.low if replaces_low else bound.low
    high = replacement.high if replaces_high else bound.high
    return Interval(low, high)


def wilson_interval(value: float, trials: float) -> Interval:
    """Return Wilson's interval of a share; [0, 1] without trials."""
    if not trials:
        return Interval(0.0, 1.0)
    square = _Z * _Z
    scale = 1 + square / trials
    middle = (value + square / (2 * trials)) / scale
    variance = value * (1 - value) / trials + square / (4 * trials**2)
    half = _Z / scale * math.sqrt(variance)
    return Interval(max(0.0, min(middle - half, value)), min(1.0, max(middle + half, value)))


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
