"""How a training had ended, on histories of real shapes and on curves of which it is known what
was left to gain.
"""

from dataclasses import replace

import numpy as np
import pytest

from support.scored import KINDS, TEXT
from tripleaudit.core.files import read_json, read_jsonl, write_json
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import save_sentences
from tripleaudit.systems.facts import write_training_facts
from tripleaudit.training.convergence import (
    CONVERGED,
    FLAT,
    MARGIN,
    RISING,
    convergence,
    doubled,
    pace,
    verdict,
)


def history(*scores: float, every: int = 10) -> list[dict]:
    rows = [
        {"step": every * number, "f1": score, "precision": 0.5}
        for number, score in enumerate(scores, 1)
    ]
    return [{"step": 5, "loss": 1.0}, *rows]


def test_a_training_that_was_flat_at_its_end_and_one_that_was_cut_while_it_rose():
    found = convergence(history(0.2, 0.5, 0.7, 0.78, 0.80, 0.803, 0.799, 0.804, 0.802))
    assert found["flat"] is True and found["slope"] + found["error"] <= 0.005
    assert (found["best_step"], found["last_step"], found["evaluations"]) == (80, 90, 9)
    found = convergence(history(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8))
    assert found["flat"] is False and found["error"] == pytest.approx(0, abs=1e-9)
    assert found["slope"] == pytest.approx(0.09)  # a tenth of 90 steps is nine, at 0.1 for each ten


def test_the_slope_is_that_of_the_last_half_and_its_error_by_hand():
    found = convergence(history(0.9, 0.0, 0.5, 0.5, 0.7, 0.7, every=1))  # steps 3 to 6
    x, y = np.arange(3, 7), np.array([0.5, 0.5, 0.7, 0.7])
    (slope, _), covariance = np.polyfit(x, y, 1, cov=True)
    assert found["slope"] == pytest.approx(slope * 6 / 10)
    assert found["error"] == pytest.approx(np.sqrt(covariance[0, 0]) * 6 / 10)
    assert convergence(history(0, 0, 0.4, 0.4))["slope"] == pytest.approx(
        0.16 * 4 / 10
    )  # four evaluations at least


@pytest.mark.parametrize(
    ("scores", "stopped", "flat"),
    [
        ((0, 0, 0, 0, 0, 0, 0, 0.2, 0.4), False, False),  # a late start
        ((0,) * 9, False, False),  # one that never learnt
        ((0,) * 9, True, False),
        ((0.6, 0.5, 0.6), False, None),  # too few evaluations
        ((0.6, 0.5, 0.5), True, None),
        ((), False, None),
        # what patience ended is flat where four evaluations brought no new best
        ((0.1, 0.2, 0.3, 0.5, 0.35, 0.4, 0.45, 0.49), True, True),
        ((0.1, 0.2, 0.3, 0.5, 0.35, 0.4, 0.45, 0.49), False, False),
        ((0.1, 0.2, 0.3, 0.3, 0.5, 0.35, 0.4, 0.45), True, False),
        ((0.1, 0.2, 0.3, 0.3, 0.5, 0.35, 0.4, 0.45), False, False),
    ],
)
def test_what_is_flat(scores, stopped, flat):
    assert convergence(history(*scores), stopped=stopped)["flat"] is flat


def test_a_training_without_steps_says_nothing():
    assert convergence([])["flat"] is None
    assert convergence([{"step": 0, "f1": 0.5}] * 5)["flat"] is None


@pytest.mark.parametrize(("rise", "flat"), [(0.004, True), (0.006, False)])
def test_half_a_point_in_a_tenth_of_the_training_may_still_come(rise: float, flat: bool):
    scores = [
        0.5 + rise * number / 2 for number in range(20)
    ]  # each of 20 evaluations is half a tenth
    found = convergence(history(*scores))
    assert found["slope"] == pytest.approx(rise) and found["flat"] is flat


def said(slope: float | None, flat: bool | None, error: float = 0.0) -> dict:
    return {"slope": slope, "flat": flat, "error": None if slope is None else error}


TWICE = {"best_f1": 0.8, "steps": 100, "epochs": 20}


@pytest.mark.parametrize(
    ("gain", "high", "history", "how"),
    [
        (0.1, 0.2, said(0.0, True), RISING),
        (
            0.002,
            0.0099,
            said(0.02, False),
            CONVERGED,
        ),  # shown to gain less than a point, whatever the slope
        (0.0, 0.0, said(None, None), CONVERGED),
        (0.002, 0.02, said(0.0, True), FLAT),  # not shown: as much as the history says, no more
        (0.002, 0.02, said(0.02, False), RISING),
        (0.002, None, said(0.0, True), FLAT),  # without predictions of both nothing is shown
        (0.0, 0.0, said(0.0, False), RISING),  # nothing learnt, however long
    ],
)
def test_a_training_has_converged_where_the_interval_of_the_gain_is_below_the_margin(
    gain, high, history, how
):
    twice = doubled({"best_f1": 0.8 - gain}, TWICE, None if high is None else (-0.01, high))
    assert twice["gain"] == pytest.approx(gain) and twice.get("high") == high
    assert verdict([history], twice) == how
    assert MARGIN == 0.01


@pytest.mark.parametrize(("changed", "how"), [(0, CONVERGED), (2, FLAT), (9, RISING)])
def test_the_gain_is_measured_on_the_predictions_of_both_trainings(tmp_path, changed, how):
    """Of 200 validation sentences the longer training finds some more: none, one point's worth
    not excluded, many.
    """
    gold = [Sentence(f"v{number}", TEXT, (KINDS["unseen"],)) for number in range(200)]
    files = {}
    for name, found in (("valid", 200), ("single", 150), ("double", 150 + changed)):
        files[name] = tmp_path / f"{name}.jsonl"
        rows = [
            replace(one, triples=one.triples if number < found else ())
            for number, one in enumerate(gold)
        ]
        save_sentences(files[name], rows)
    keys = {
        "corpus": "c",
        "protocol": "original",
        "training": "nz",
        "extractor": "casrel",
        "noise": "none",
        "seed": 1,
    }
    for name, found in (("single", 150), ("double", 150 + changed)):
        training = {
            "best_f1": 2 * found / (200 + found),
            "steps": 10,
            "epochs": 1,
            "convergence": said(0.0, True),
        }
        record = {"training": {**training, "settings": {}}, "device": "cpu", "finished": "now"}
        write_json(tmp_path / f"{name}.json", record)
    write_training_facts(
        [tmp_path / "single.json"], [keys], tmp_path / "facts.json", [tmp_path / "double.json"], [keys],
        validation=[files["valid"]], single_predictions=[files["single"]], double_predictions=[files["double"]],
    )  # fmt: skip
    (fact,) = read_json(tmp_path / "facts.json")
    twice = fact["doubled"]
    assert twice["low"] <= twice["gain"] <= twice["high"]
    assert verdict([fact["convergence"]], twice) == how


@pytest.mark.parametrize(
    ("trainings", "how"),
    [
        ([said(0.004, True)], FLAT),
        ([said(0.006, False)], RISING),
        ([said(0.004, False, 0.002)], RISING),
        ([said(None, None)], None),
        (
            [said(-0.002, True), said(0.004, True), said(0.012, False)],
            FLAT,
        ),  # 0.47 points in the mean
        ([said(-0.002, True), said(0.004, True), said(0.014, False)], RISING),  # 0.53
        ([said(0.004, False, 0.0015)] * 3, FLAT),  # the error of a mean is smaller
        ([said(0.004, False, 0.003)] * 3, RISING),
        ([said(0.02, True), said(0.009, False)], FLAT),  # stopped: it rises no more, 0 and 0.9
        ([said(0.02, True), said(0.011, False)], RISING),
        ([said(-0.05, True), said(0.0, False)], RISING),  # one that has learnt nothing
        ([said(0.001, True), said(None, None)], None),
    ],
)
def test_the_mean_slope_and_its_error_decide(trainings, how):
    assert verdict(trainings) == how == verdict(trainings[::-1])


def test_a_table_shows_the_slope_that_decides():
    """Of a training that early stopping ended the slope is 0 there, too."""
    assert pace([said(0.02, True), said(0.009, False, 0.002)]) == pytest.approx((0.0045, 0.001))


def test_the_trainings_on_a_gpu_are_distinguished(root):
    """CasRel, of which a longer training gains 2.7 points, and PtrNet, 7, are not flat."""
    found = {
        path.parent.name: convergence([row for _, row in read_jsonl(path)])["flat"]
        for path in (root / "resources" / "trainings" / "webnlg").glob("*/history.jsonl.gz")
    }
    assert {name for name, flat in found.items() if flat} == {"birte", "pfn"}
    assert {"casrel", "ptrnet", "tplinker", "mp-tdeer"} <= {
        name for name, flat in found.items() if flat is False
    }


CURVES = {
    2.2: lambda t: 0.8 - 0.6 * (1 + 20 * t) ** -0.8,
    4.4: lambda t: 0.8 - 0.6 * (1 + 20 * t) ** -0.3,
}


@pytest.mark.parametrize("evaluations", [4, 6, 8, 10, 12])
@pytest.mark.parametrize("left", CURVES)
def test_few_trainings_with_points_left_are_called_flat_or_converged(left, evaluations):
    """Learning curves that gain 2.2 or 4.4 points in twice the time; validation F1 has an error of
    one point.

    By the slope of the last third, 21 to 48 % of the first were called converged. Each epoch of the
    longer training is evaluated as often. docs/explanation/statistics.md has the shares of 4,000 trainings.
    """
    draws, runs, f = np.random.default_rng(5), 400, CURVES[left]
    t = np.arange(1, 2 * evaluations + 1) / evaluations
    assert 100 * (f(2.0) - f(1.0)) == pytest.approx(left, abs=0.05)
    flat = gained = 0
    for _ in range(runs):
        single, double = (
            f(t[:evaluations]) + draws.normal(0, 0.01, evaluations),
            f(t) + draws.normal(0, 0.01, len(t)),
        )
        came_to = convergence(history(*single, every=100))
        flat += verdict([came_to]) == FLAT
        twice = doubled({"best_f1": single.max()}, {**TWICE, "best_f1": double.max()})
        gained += verdict([came_to], twice) == CONVERGED
    assert flat <= 0.1 * runs and gained <= 0.1 * runs


@pytest.mark.parametrize("seeds", [1, 3])
def test_flat_trainings_are_seldom_called_rising(seeds):
    draws = np.random.default_rng(0)
    trained = [
        [convergence(history(*(0.7 + draws.normal(0, 0.01, 10)))) for _ in range(seeds)]
        for _ in range(400)
    ]
    assert np.mean([verdict(each) == FLAT for each in trained]) >= {1: 0.8, 3: 0.98}[seeds]
