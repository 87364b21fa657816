"""One object for bold marks, ``compare`` and answers: what it can show, and how often it is
wrong.
"""

import numpy as np
import pytest

from tripleaudit.scoring.bootstrap import SHARED, Interval, difference_intervals, luck_of_runs
from tripleaudit.scoring.difference import Difference, between, significant_winner


def world(
    random,
    seeds: int,
    gain: float,
    together: float = 0.0,
    spread: float = 0.01,
    sentences: int = 703,
):
    """Counts ``[sentences, seeds, 3]`` of two systems: sentences are as hard for both, runs have
    luck of their own.

    Args:
        gain: of the second in finding a triple; its F1 gains about three quarters of that.
        together: correlation of the luck of runs with one seed.
        spread: standard deviation of that luck.
    """
    gold = random.choice([1, 2, 3], sentences, p=[0.6, 0.25, 0.15])
    ease = random.beta(1.6, 0.8, sentences)
    luck = random.normal(0, spread, seeds)
    lucks = (luck, together * luck + np.sqrt(1 - together**2) * random.normal(0, spread, seeds))
    found = []
    for own, more in zip(lucks, (0, gain), strict=True):
        likely = (ease + random.normal(0, 0.15, sentences))[:, None] + more + own
        right = random.binomial(gold[:, None], likely.clip(0, 1))
        wrong = random.poisson(0.75 * gold[:, None] * (1 - likely).clip(0, 1))
        found.append(np.stack([right, right + wrong, np.repeat(gold[:, None], seeds, 1)], axis=-1))
    return found


def reported(worlds: int, draws: int = 400, **how) -> tuple[float, float]:
    """How often a difference is reported, and its mean in points."""
    random, found = np.random.default_rng(1), []
    for number in range(worlds):
        one = between(
            *world(random, **how), shared=True, shuffles=draws, replicates=draws, seed=number
        )
        found.append((one.shown, 100 * one.change()))
    often, points = np.mean(found, axis=0)
    return float(often), float(points)


@pytest.mark.parametrize("together", [0.0, 0.8])
def test_three_seeds_find_a_gain_of_four_points_and_seldom_one_that_is_not_there(together):
    often, points = reported(40, 200, seeds=3, gain=0.058, together=together)
    assert 4 < points < 5 and often >= 0.7
    assert reported(40, 200, seeds=3, gain=0.0, together=together)[0] <= 0.05


@pytest.mark.thorough
@pytest.mark.parametrize("together", [0.0, 0.8])
@pytest.mark.parametrize("seeds", [3, 5])
def test_power_and_false_positives_of_the_methods_page(seeds, together):
    assert reported(300, seeds=seeds, gain=0.0, together=together)[0] <= 0.05
    wide = reported(300, seeds=seeds, gain=0.0, together=together, spread=0.02)
    assert wide[0] <= 0.055  # 15 of 300: half a point of error
    shares = [
        reported(300, seeds=seeds, gain=gain, together=together)[0]
        for gain in (0.027, 0.058, 0.105)
    ]
    assert shares == sorted(shares) and shares[1] >= 0.7 and shares[2] >= 0.98


def test_runs_that_share_a_seed_may_have_shared_luck():
    first, second = np.array([0.50, 0.52, 0.54]), np.array([0.60, 0.62, 0.64])
    alone = 2 * 0.0004 / 3
    assert luck_of_runs(first, second, shared=False) == pytest.approx(alone)
    assert luck_of_runs(first, second, shared=True) == pytest.approx(
        alone * (1 - SHARED)
    )  # all of it goes together
    assert luck_of_runs(first, second[::-1], shared=True) == pytest.approx(
        alone
    )  # what goes apart adds nothing
    assert luck_of_runs(first[:1], second, shared=True) == pytest.approx(alone / 2)
    assert luck_of_runs(first[:1], second[:1], shared=True) == 0


def nested_runs(*correct: int, sentences: int = 400) -> np.ndarray:
    """Counts of runs that find the triples of the first so many sentences, and no other."""
    found = (np.arange(sentences)[:, None] < np.array(correct)).astype(int)
    return np.stack([found, np.ones_like(found), np.ones_like(found)], axis=-1)


def test_a_winner_of_runs_that_vary_together_is_shown_only_if_they_share_their_seeds():
    systems = [nested_runs(178, 200, 222), nested_runs(218, 240, 262)]
    assert between(*systems, shared=True).shown
    assert not between(*systems, shared=False).shown
    assert significant_winner(systems, shared=True) == 1
    assert significant_winner(systems, shared=False) is None


def sided(p: float | None, low: float, high: float) -> Difference:
    scores = (0.5, 0.5, 0.5)
    return Difference(
        first=scores, second=scores, sentences=50, units=50, bounds={"f1": Interval(low, high)}, p=p
    )


@pytest.mark.parametrize(
    ("p", "low", "high", "is_shown"),
    [
        (0.04, 0.01, 0.2, True), (0.04, -0.2, -0.01, True), (None, 0.01, 0.2, True),
        (0.05, 0.01, 0.2, False), (0.04, -0.01, 0.2, False), (None, -0.01, 0.2, False), (0.04, 0.0, 0.2, False),
    ],
)  # fmt: skip
def test_interval_and_test_have_to_agree(p, low, high, is_shown):
    assert sided(p, low, high).shown is is_shown
    assert not Difference(
        first=(0.0,) * 3, second=(1.0,) * 3, sentences=9, units=9, p=0.001
    ).shown  # too few for an interval


def test_the_other_order_turns_the_signs():
    first, second = world(np.random.default_rng(3), seeds=3, gain=0.06, sentences=100)
    there, back = between(first, second, shared=True), between(second, first, shared=True)
    assert (there.p, there.runs, there.sentences) == (back.p, (3, 3), 100)
    bounds = there.bounds["f1"], back.bounds["f1"]
    assert (bounds[0].low, bounds[0].high) == pytest.approx((-bounds[1].high, -bounds[1].low))
    assert there.change() == pytest.approx(-back.change())
    assert between(first, first).p == 1.0 and not between(first, first).shown


def test_other_sentences_are_resampled_each_for_themselves():
    random = np.random.default_rng(5)
    first, second = (np.stack([right, np.ones(n), np.ones(n)], axis=-1) for n, share in ((400, 0.6), (100, 0.4))
                     for right in [random.random(n) < share])  # fmt: skip
    one = between(first, second, paired=False)
    errors = [np.sqrt(side[:, 0].var() / len(side)) for side in (first, second)]
    bound, change = one.bounds["f1"], one.change()
    assert (one.p, one.paired, one.sentences, one.shown) == (None, False, 100, True)
    assert (change - bound.low, bound.high - change) == pytest.approx(
        (1.96 * np.hypot(*errors),) * 2, rel=0.1
    )


def test_sentences_that_all_agree_are_no_certainty():
    """Of 30 sentences that are all wrong another 30 may not be: Wilson's interval is theirs."""
    ones = np.ones((200, 3), dtype=int)
    bound = difference_intervals(ones, ones[:30] * [0, 1, 1], paired=False)["f1"]
    assert bound.low == pytest.approx(-1) and -0.95 < bound.high < -0.85
