"""Whether trainings that differ in their seed alone had converged, as the row that shows their mean says."""

import numpy as np
import pytest

from tripleaudit.tables.inputs import RunKey, ScoreIndex
from tripleaudit.tables.loading import at_rest, came_to
from tripleaudit.training.convergence import convergence


def said(slope: float | None, converged: bool | None, rise: float | None = None) -> dict:
    return {"slope": slope, "converged": converged, "rise": rise}


@pytest.mark.parametrize(
    ("trainings", "verdict"),
    [
        ([said(0.004, True)], True),
        ([said(0.006, False)], False),
        ([said(None, None)], None),
        ([said(-0.002, True), said(0.004, True), said(0.012, False)], True),  # 0.47 points in the mean
        ([said(-0.002, True), said(0.004, True), said(0.014, False)], False),  # 0.53
        ([said(0.0025, True), said(0.0075, False)], True),  # half a point may still come
        ([said(0.02, True), said(0.009, False)], True),  # stopped: it rises no more, 0 and 0.9
        ([said(None, True), said(0.011, False)], False),  # likewise, with few evaluations
        ([said(-0.05, True), said(0.0, False)], False),  # one that has learnt nothing
        ([said(0.0, False, 0.0), said(0.0, True)], False),
        ([said(0.02, True, -0.01)] * 2, True),  # none has gained anything
        ([said(0.02, False, -0.01)], True),  # as an earlier version judged it
        ([said(0.006, True, 0.0), said(0.008, False, 0.017), said(0.007, False, 0.019)], False),  # but two have
        ([said(0.006, True, 0.0), said(0.003, True, 0.017), said(0.003, True, 0.019)], True),
        ([said(0.001, True), said(None, None)], None),
        ([said(0.009, False), said(None, None)], None),
    ],
)
def test_the_mean_slope_decides(trainings, verdict):
    assert at_rest(trainings) is verdict
    assert at_rest(trainings[::-1]) is verdict


def test_a_run_is_named_once_and_its_augmented_test_has_its_mark():
    keys = {"corpus": "a", "protocol": "original", "training": "nz", "extractor": "casrel"}
    facts = [{"keys": {**keys, "seed": slope}, "convergence": said(slope, slope == 0)} for slope in (0, 1)]
    assert [run.protocol for run in came_to(False, facts)] == ["original"]
    index = ScoreIndex()
    index.unfinished = set(came_to(False, facts))
    tested = RunKey("a", "augmented", "nz", "nz", "casrel")
    assert index.mark(tested) == "†" and index.mark(tested._replace(protocol="rearranged")) == ""
    assert list(came_to(True, facts)) == [] == list(came_to(None, [*facts, {"keys": keys}]))
    assert [run.protocol for run in came_to(True, facts[:1])] == ["original"]


@pytest.mark.parametrize("seeds", [1, 3, 5])
def test_more_seeds_make_the_mark_surer(seeds):
    """Trainings at rest, and some that rise by a point a tenth, each evaluated 20 times with an error of 1.3 points."""
    draws = np.random.default_rng(0)

    def marked(rise: float) -> float:
        def one() -> dict:
            level = 0.4 + rise * np.arange(20) / 2
            scores = level + draws.normal(0, 0.013, 20)
            return convergence([{"step": 100 * n, "f1": float(f1)} for n, f1 in enumerate(scores, 1)])

        return float(np.mean([at_rest([one() for _ in range(seeds)]) is False for _ in range(300)]))

    at_most, at_least = {1: (0.12, 0.75), 3: (0.06, 0.9), 5: (0.03, 0.95)}[seeds]
    assert marked(0.0) <= at_most and marked(0.01) >= at_least
