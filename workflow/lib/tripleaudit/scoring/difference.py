"""Differences of two systems or conditions, for bold marks, ``compare`` and contrasts.

:func:`tripleaudit.scoring.significance.is_significant` decides whether a difference is significant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tripleaudit.scoring.bootstrap import (
    METRICS,
    REPLICATES,
    Interval,
    by_run,
    difference_intervals,
    scores_of,
)
from tripleaudit.scoring.significance import (
    ALPHA,
    SHUFFLES,
    holm,
    is_significant,
    randomisation_test,
)
from tripleaudit.scoring.units import sum_by_unit


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Micro scores of two sides, as fractions, and how sure their difference is.

    Attributes:
        first, second: precision, recall and F1, means over runs.
        sentences: that it rests on, of the side that has fewer.
        units: independent units (:mod:`tripleaudit.scoring.units`) of the side that has fewer.
        runs: trainings behind either side.
        paired: whether both sides are about the same sentences.
        bounds: metric -> 95 % interval of second minus first; None under ten sentences.
        metric: that ``p`` is about.
        p: of the randomisation test, two-sided; None where the sentences are others.
    """

    first: tuple[float, ...]
    second: tuple[float, ...]
    sentences: int
    units: int
    runs: tuple[int, int] = (1, 1)
    paired: bool = True
    bounds: Mapping[str, Interval] | None = None
    metric: str = "f1"
    p: float | None = None

    def change(self, metric: str = "f1") -> float:
        position = METRICS.index(metric)
        return self.second[position] - self.first[position]

    @property
    def shown(self) -> bool:
        """Whether it is significant, without a correction for further comparisons."""
        return is_significant(self.interval, self.p, self.units)

    @property
    def interval(self) -> Interval | None:
        """Interval of the change of the tested metric."""
        return None if self.bounds is None else self.bounds[self.metric]


def between(
    first: np.ndarray,
    second: np.ndarray,
    *,
    paired: bool = True,
    metric: str = "f1",
    shared: bool = False,
    same_models: bool = False,
    units: tuple[Sequence[str], Sequence[str]] | None = None,
    replicates: int = REPLICATES,
    shuffles: int = SHUFFLES,
    seed: int = 0,
) -> Difference:
    """Compare two sides; of the same sentences, the other order turns the signs and nothing else.

    Args:
        first, second: counts ``[sentences, 3]``, or ``[sentences, runs, 3]``.
        paired: whether both are about the same sentences; others, such as strata or test sets, are
            resampled each for itself, and not tested.
        metric: that is tested.
        shared: whether the runs of both sides, one by one, share a seed.
        same_models: whether they are, one by one, the same trained models under two conditions.
        units: of the sentences of either side, which are drawn and exchanged whole
            (:mod:`tripleaudit.scoring.units`); each sentence by itself if there are none given.
        replicates, shuffles, seed: of the interval and of the test.

    Raises:
        ValueError: two on the same sentences do not have the same shape.
    """
    first, second = by_run(first), by_run(second)
    sentences = min(len(first), len(second))
    if units is not None:
        first, second = sum_by_unit(first, units[0]), sum_by_unit(second, units[1])
    runs = {"shared": shared, "same_models": same_models}
    p = None
    if paired:
        p = _p_value(first, second, metric=metric, shuffles=shuffles, seed=seed, **runs)
    return Difference(
        first=_means(first),
        second=_means(second),
        sentences=sentences,
        units=min(len(first), len(second)),
        runs=(first.shape[1], second.shape[1]),
        paired=paired,
        bounds=difference_intervals(
            first, second, paired=paired, replicates=replicates, seed=seed, **runs
        ),
        metric=metric,
        p=p,
    )


def significant_winner(
    systems: Sequence[np.ndarray],
    *,
    shared: bool,
    metric: str = "f1",
    units: Sequence[str] | None = None,
) -> int | None:
    """Return the index of the system whose difference to every other one is shown, or ``None``.

    The p-values are Holm-corrected over all pairs of the systems, as those of contrasts are.

    Args:
        systems: counts of each system on the same sentences, shapes as in :func:`between`.
        shared: as of :func:`between`.
        metric: what the systems compete in.
        units: of the sentences, as of :func:`between`.
    """
    if len(systems) < 2 or len({system.shape for system in systems}) > 1 or not len(systems[0]):
        return None
    column = METRICS.index(metric)
    scores = [scores_of(system.sum(axis=0))[..., column].mean() for system in systems]
    best = int(np.argmax(scores))
    # The closest rival first: if it is not beaten, no correction can make the best one a winner.
    rivals = sorted(
        (index for index in range(len(systems)) if index != best), key=lambda index: -scores[index]
    )
    p_values: list[float] = []
    for rival in rivals:
        pair = None if units is None else (units, units)
        found = between(systems[rival], systems[best], metric=metric, shared=shared, units=pair)
        if not found.shown:
            return None
        p_values.append(found.p or 0.0)
    pairs = len(systems) * (len(systems) - 1) // 2
    if max(p_values) * pairs < ALPHA:  # shown whatever the p-values of the other pairs are
        return best
    for one, other in combinations(rivals, 2):
        sides = [by_run(systems[index]) for index in (one, other)]
        if units is not None:
            sides = [sum_by_unit(side, units) for side in sides]
        p_values.append(_p_value(*sides, metric=metric, shared=shared))
    return best if max(holm(p_values)[: len(rivals)]) < ALPHA else None


def _p_value(first: np.ndarray, second: np.ndarray, **how: Any) -> float:
    """Return the p-value of the randomisation test, the same for either order of the sides."""
    if np.array_equal(first, second):
        return 1.0
    sides = sorted((first, second), key=lambda side: side.tobytes())
    return randomisation_test(sides[0], sides[1], **how)


def _means(counts: np.ndarray) -> tuple[float, ...]:
    return tuple(scores_of(counts.sum(axis=0)).mean(axis=0).tolist())
