"""Convergence of trainings by their history and doubled ones; no PyTorch, for tables.

A schedule that goes to zero makes any training flat in the end, however much it could still learn.
So "flat" says what was seen, and "converged" is said where it was shown: the 90 % interval of what
twice the epochs gain lies below a margin.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final

FEWEST: Final = 4
"""Evaluations under which nothing can be said."""
RISE: Final = 0.005
"""What validation F1 may still rise by in a tenth of a training that is flat at its end."""
MARGIN: Final = 0.01
"""What twice the epochs may gain in validation F1 where a training has converged."""
NOTHING: Final = 1e-4
"""F1 of a model that has not begun to learn."""
RISING: Final = "rising"
FLAT: Final = "flat"
CONVERGED: Final = "converged"


def convergence(history: Sequence[Mapping[str, Any]], stopped: bool = False) -> dict[str, Any]:
    """Say how far a training had come when it ended.

    Args:
        history: its rows; those with ``f1`` are evaluations.
        stopped: early stopping ended it. This counts where the last :data:`FEWEST` evaluations at
            least are without a new best: fewer say little.

    Returns:
        ``evaluations``; ``best_step`` and ``last_step``; ``slope``, by how much F1 rose per tenth
        of the training over the evaluations of its last half (at least the last :data:`FEWEST`;
        least squares), and ``error``, the standard error of that; ``flat``, whether it was stopped
        or the slope plus one standard error is no more than :data:`RISE`, and had learnt anything.
        The last three are None where there are fewer than :data:`FEWEST` evaluations.
    """
    points = [(row["step"], row["f1"]) for row in history if "f1" in row]
    found: dict[str, Any] = {"evaluations": len(points), "slope": None, "error": None}
    if not points:
        return {**found, "best_step": None, "last_step": None, "flat": None}
    last = points[-1][0]
    best = max(points, key=lambda point: point[1])
    found |= {"best_step": best[0], "last_step": last}
    if len(points) < FEWEST or not last:
        return {**found, "flat": None}
    late = max([point for point in points if 2 * point[0] >= last], points[-FEWEST:], key=len)
    middle, level = fmean(step for step, _ in late), fmean(score for _, score in late)
    spread = sum((step - middle) ** 2 for step, _ in late)
    slope = sum((step - middle) * (score - level) for step, score in late) / spread
    left = sum((score - level - slope * (step - middle)) ** 2 for step, score in late)
    error = math.sqrt(left / (len(late) - 2) / spread)
    found |= {"slope": slope * last / 10, "error": error * last / 10}
    resting = stopped and best not in points[-FEWEST:]
    return {
        **found,
        "flat": best[1] > NOTHING and (resting or found["slope"] + found["error"] <= RISE),
    }


def doubled(
    single: Mapping[str, Any],
    double: Mapping[str, Any],
    interval: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Return what twice the epochs brought of a training with one seed, from both provenances.

    Args:
        single, double: provenances of both trainings.
        interval: 90 % interval of the gain, from both predictions of the validation set.

    Returns:
        ``gain`` of the best validation F1, its ``low`` and ``high`` where they are known,
        ``best_f1`` of the longer training, its ``steps`` and ``epochs``.
    """
    gain = {"gain": double["best_f1"] - single["best_f1"]}
    if interval is not None:
        gain |= {"low": interval[0], "high": interval[1]}
    return gain | {name: double[name] for name in ("best_f1", "steps", "epochs")}


def verdict(
    histories: Sequence[Mapping[str, Any]], twice: Mapping[str, Any] | None = None
) -> str | None:
    """Return how trainings ended that differ in their seed alone, None where that is not known.

    Where twice the epochs were tried, the trainings converged if the upper end of the interval of
    the gain is below :data:`MARGIN`, and were still rising if the gain is not. Else the mean slope
    decides, plus one standard error: a row shows the mean of its trainings, and each slope alone is
    that of few evaluations. One that was stopped rises no more, however its last evaluations lie.
    One that has learnt nothing decides for all.

    Args:
        histories: of each training what :func:`convergence` returns.
        twice: what :func:`doubled` returns for one of them.

    Returns:
        :data:`RISING`, :data:`FLAT` or :data:`CONVERGED`.
    """
    flats = [history.get("flat") for history in histories]
    for history in histories:
        if history.get("flat") is False and history["slope"] + history["error"] <= RISE:
            return RISING  # nothing learnt
    if twice is not None and twice["gain"] >= MARGIN:
        return RISING
    if twice is not None and twice.get("high", MARGIN) < MARGIN:
        return CONVERGED
    if None in flats:
        return None
    slope, error = pace(histories)
    return FLAT if slope + error <= RISE else RISING


def pace(said: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return mean slope of trainings and its standard error; stopped ones have slope 0."""
    going = [each for each in said if not (each["flat"] and each["slope"] + each["error"] > RISE)]
    return sum(each["slope"] for each in going) / len(said), math.hypot(
        *(each["error"] for each in going)
    ) / len(said)
