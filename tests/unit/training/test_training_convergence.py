"""When a training counts as converged, on histories of real shapes."""

import json

import pytest

from tripleaudit.training.convergence import convergence


def history(*scores: float, every: int = 10) -> list[dict]:
    rows = [{"step": every * number, "f1": score, "precision": 0.5} for number, score in enumerate(scores, 1)]
    return [{"step": 5, "loss": 1.0}, *rows]


def test_a_training_that_has_come_to_rest():
    found = convergence(history(0.2, 0.5, 0.7, 0.78, 0.80, 0.803, 0.799, 0.804, 0.802))
    assert found["converged"] is True
    assert (found["best_step"], found["last_step"], found["evaluations"]) == (80, 90, 9)
    assert found["rise"] == pytest.approx(0.001)
    assert abs(found["slope"]) < 0.005


def test_a_training_that_was_cut_while_it_rose():
    found = convergence(history(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8))
    assert found["converged"] is False
    assert found["rise"] == pytest.approx(0.3)
    assert found["slope"] == pytest.approx(0.09)  # a tenth of 90 steps is nine, at 0.1 for each ten


def test_a_late_start_is_no_rest():
    assert convergence(history(0, 0, 0, 0, 0, 0, 0, 0.2, 0.4))["converged"] is False


def test_a_training_that_never_learnt_has_not_converged():
    assert convergence(history(*[0.0] * 9))["converged"] is False
    assert convergence(history(*[0.0] * 9), stopped=True)["converged"] is False
    assert convergence(history(0.1, 0.2, 0.3, 0.4, 0.38), stopped=True)["converged"] is False


def test_too_few_evaluations_say_nothing_unless_it_was_stopped():
    assert convergence(history(0.6, 0.5, 0.6))["converged"] is None
    assert convergence(history(0.6, 0.5, 0.6), stopped=True)["converged"] is True
    assert convergence(history(0.5, 0.6), stopped=True)["converged"] is None  # one without a new best may be noise
    assert convergence([])["converged"] is None


def test_a_training_that_was_stopped_because_it_rose_too_slowly_has_not_converged():
    """Where progress is five points at least (``min_delta``), four at each evaluation are none."""
    assert convergence(history(0.1, 0.14, 0.18, 0.22), stopped=True)["converged"] is False
    assert convergence(history(0.1, 0.14, 0.18), stopped=True)["converged"] is None
    assert convergence(history(0.1, 0.11, 0.1, 0.1), stopped=True)["converged"] is True


def test_the_slope_is_that_of_three_evaluations_at_least():
    found = convergence(history(0.1, 0.2, 0.4, 0.4))
    assert found["slope"] == pytest.approx(0.04)  # 0.1 in ten of 40 steps
    assert found["rise"] == pytest.approx(0.3)


def test_the_trainings_on_a_gpu_are_told_apart(real_data):
    """Those that their notes call still rising or late are not converged; five had come to rest."""
    folder = real_data / "gpu-webnlg"
    found = {
        path.parent.name: convergence([json.loads(line) for line in path.read_text().splitlines()])["converged"]
        for path in folder.glob("*/history.jsonl")
    }
    assert {name for name, rest in found.items() if rest} == {"birte", "casrel", "pfn", "prgc", "ptrnet"}
    assert {"tplinker", "mp-tdeer"} <= {name for name, rest in found.items() if rest is False}


def test_the_last_third_counts_however_many_evaluations_it_has():
    found = convergence(history(*[0.1] * 8, 0.5, 0.7, 0.7, 0.7))  # its last three alone would be flat
    assert found["slope"] == pytest.approx(0.072) and found["converged"] is False


@pytest.mark.parametrize(("rise", "converged"), [(0.004, True), (0.006, False)])
def test_half_a_point_in_a_tenth_of_the_training_may_still_come(rise: float, converged: bool):
    scores = [0.5 + rise * number / 2 for number in range(20)]  # each of 20 evaluations is half a tenth
    found = convergence(history(*scores))
    assert found["slope"] == pytest.approx(rise) and found["converged"] is converged


@pytest.mark.parametrize(("best", "learnt"), [(0.0001, False), (0.00015, True)])
def test_what_is_stopped_has_converged_if_it_learnt_more_than_nothing(best: float, learnt: bool):
    assert convergence(history(0, 0, best, 0, 0, 0), stopped=True)["converged"] is learnt


@pytest.mark.parametrize(("best", "converged"), [(0.6, False), (0.7, True), (0.8, True)])
def test_what_brings_no_new_best_has_come_to_rest(best: float, converged: bool):
    """As a patience of a third of the training would have ended it, however the last evaluations lie."""
    found = convergence(history(0.2, best, 0.4, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7))
    assert (
        found["slope"] > 0.05 and found["rise"] == pytest.approx(max(0.7 - best, 0)) and found["converged"] is converged
    )


def test_the_last_third_begins_behind_two_thirds():
    found = convergence(history(*[0.0] * 5, 0.6, 0.2, 0.2, 0.2))  # the sixth of nine evaluations is at two thirds
    assert found["slope"] == pytest.approx(0) and found["rise"] == pytest.approx(0)
    assert convergence([{"step": 0, "f1": 0.5}] * 5)["converged"] is None  # no step was done
