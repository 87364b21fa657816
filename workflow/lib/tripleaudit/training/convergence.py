"""Whether a training had converged, from its history: free of PyTorch, so that tables can ask."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final

FEWEST: Final = 4
"""Evaluations under which nothing can be said."""
RISE: Final = 0.005
"""What validation F1 may still rise by in a tenth of a training that counts as converged."""
NOTHING: Final = 1e-4
"""F1 of a model that has not begun to learn."""


def convergence(history: Sequence[Mapping[str, Any]], stopped: bool = False) -> dict[str, Any]:
    """Say how far a training had come when it ended.

    Args:
        history: its rows; those with ``f1`` are evaluations.
        stopped: early stopping ended it. This counts where the last two evaluations at least are without a new best: a
            single one (a patience of 1) says little, and what is too little progress (``min_delta``) may be one.

    Returns:
        ``evaluations``; ``best_step`` and ``last_step``; ``slope``, by how much F1 rose per tenth of the training over
        the evaluations of its last third (at least the last three; least squares); ``rise``, the best F1 minus the best
        before that third; ``converged``, whether it was stopped, rose no faster than :data:`RISE` or had no new best in
        that third, and had learnt anything. The last three are None where there are fewer than :data:`FEWEST`
        evaluations, but a training for which ``stopped`` counts has converged.
    """
    points = [(row["step"], row["f1"]) for row in history if "f1" in row]
    found: dict[str, Any] = {"evaluations": len(points), "slope": None, "rise": None}
    if not points:
        return {**found, "best_step": None, "last_step": None, "converged": None}
    last = points[-1][0]
    best = max(points, key=lambda point: point[1])
    stopped = stopped and best not in points[-2:]
    found |= {"best_step": best[0], "last_step": last}
    if len(points) < FEWEST or not last:
        return {**found, "converged": True if stopped else None}
    late = max([point for point in points if point[0] > 2 / 3 * last], points[-3:], key=len)
    early = points[: -len(late)]
    steps, scores = fmean(step for step, _ in late), fmean(score for _, score in late)
    spread = sum((step - steps) ** 2 for step, _ in late)
    slope = sum((step - steps) * (score - scores) for step, score in late) / spread * last / 10
    rise = max(score for _, score in points) - max(score for _, score in early)
    learnt = max(score for _, score in points) > NOTHING
    return {**found, "slope": slope, "rise": rise, "converged": learnt and (stopped or slope <= RISE or rise <= 0)}
