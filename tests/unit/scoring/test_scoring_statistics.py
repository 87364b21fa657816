import itertools
import math

import numpy as np
import pytest

from tripleaudit.scoring import bootstrap, significance
from tripleaudit.scoring.bootstrap import (
    FEWEST,
    LEVEL,
    REPLICATES,
    Interval,
    difference_intervals,
    influence_of,
    intervals,
    scores_of,
)
from tripleaudit.scoring.difference import significant_winner
from tripleaudit.scoring.metrics import micro
from tripleaudit.scoring.significance import ALPHA, SHUFFLES, holm, randomisation_test


def some_counts(sentences: int, quality: float, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    gold = random.integers(1, 4, sentences)
    correct = random.binomial(gold, quality)
    return np.stack([correct, correct + random.integers(0, 2, sentences), gold], axis=1)


def test_scores_of_sums_are_the_micro_scores() -> None:
    counts = some_counts(50, 0.6, 1)
    score = micro(counts)
    assert scores_of(counts.sum(axis=0)) == pytest.approx(
        [score.precision, score.recall, score.f1], abs=1e-15
    )
    assert scores_of(np.zeros(3)).tolist() == [0, 0, 0]
    assert scores_of(np.array([1, 1, 2])).tolist() == [1, 0.5, 2 / 3]


def test_interval_agrees_with_resampling_sentence_by_sentence() -> None:
    counts = some_counts(300, 0.6, 2)
    random = np.random.default_rng(5)
    plain = [scores_of(counts[random.integers(0, 300, 300)].sum(axis=0))[2] for _ in range(4000)]
    low, high = np.quantile(plain, [0.025, 0.975])
    found = intervals(counts, replicates=4000, seed=3)["f1"]
    assert found.low == pytest.approx(low, abs=0.004)
    assert found.high == pytest.approx(high, abs=0.004)
    assert found.low < micro(counts).f1 < found.high


def test_no_interval_is_given_for_few_sentences_or_without_resamples() -> None:
    assert intervals(np.zeros((0, 3), dtype=int)) is None
    assert intervals(some_counts(FEWEST - 1, 0.6, 1)) is None
    assert intervals(some_counts(FEWEST, 0.6, 1)) is not None
    assert intervals(np.ones((30, 3), dtype=int), replicates=0) is None


@pytest.mark.parametrize(("right", "low", "high"), [(12, 0.699, 1.0), (0, 0.0, 0.301)])
def test_at_the_border_an_interval_is_wilsons(right: int, low: float, high: float) -> None:
    counts = np.array([[1, 1, 1]] * right + [[0, 1, 1]] * (12 - right))
    for bound in intervals(counts).values():
        assert (bound.low, bound.high) == pytest.approx(
            (low, high), abs=0.001
        )  # of 12 of 12, with the continuity correction, by hand


def test_near_the_border_the_end_that_collapsed_is_wilsons() -> None:
    counts = np.array([[0, 1, 1]] * 99 + [[1, 1, 1]])
    bound = intervals(counts)["f1"]  # a third of the resamples has no right sentence
    assert bound.low == pytest.approx(0.00177, abs=1e-5)  # Wilson's of 1 of 100: 0.00177 to 0.05449
    assert bound.high in (0.03, 0.04)  # a share of the resamples' sentences
    other = intervals(1 - counts + [0, 1, 1])["f1"]
    assert other.high == pytest.approx(1 - 0.00177, abs=1e-5)
    assert other.low in (0.96, 0.97)
    middle = intervals(np.array([[1, 2, 2]] * 20))[
        "f1"
    ]  # every sentence alike: nothing to resample
    assert (middle.low, middle.high) == pytest.approx(
        (0.3875, 0.6125), abs=1e-3
    )  # Wilson's of 40 of 80 triples with the continuity correction


def test_interval_of_several_runs_holds_their_luck_too() -> None:
    one = some_counts(400, 0.6, 4)
    alone = intervals(one, seed=1)["f1"]
    same = intervals(np.stack([one] * 3, axis=1), seed=1)["f1"]
    assert (same.low, same.high) == pytest.approx(
        (alone.low, alone.high), abs=0.002
    )  # runs that agree add nothing
    runs = np.stack(
        [some_counts(400, quality, seed) for seed, quality in enumerate((0.5, 0.6, 0.7))], axis=1
    )
    spread = scores_of(runs.sum(axis=0))[:, 2].std(ddof=1)
    wide = intervals(runs, seed=1)["f1"]
    assert (
        wide.high - wide.low > 2 * 4.3 * spread / np.sqrt(3) * 0.9
    )  # Student's t of two degrees of freedom


def counts_of_right(*runs: list[int]) -> np.ndarray:
    """Counts ``[sentences, runs, 3]`` of runs that find the one triple of a sentence (1) or a
    wrong one (0).
    """
    right = np.array(runs).T
    return np.stack([right, np.ones_like(right), np.ones_like(right)], axis=-1)


def test_the_luck_of_few_runs_may_reach_the_border() -> None:
    """Student's t of one degree of freedom, 12.7 · 0.25, leaves everything open; one right run
    adds no certainty.
    """
    apart = counts_of_right([1] * 100, [0, 1] * 50)
    assert intervals(apart)["f1"] == Interval(0, 1)
    random = np.random.default_rng(3)
    covered = 0
    for shares in random.beta(7.2, 0.8, (150, 2)):  # of mean 0.9, deviation 0.1
        bound = intervals(
            counts_of_right(*(random.random((2, 100)) < shares[:, None]).astype(int)),
            replicates=300,
        )
        covered += bound["f1"].low <= 0.9 <= bound["f1"].high
    assert covered / 150 > 0.88  # 0.75 where Wilson's takes the place of the runs' end
    together = intervals(counts_of_right([1] * 30, [1] * 30))["f1"]
    assert (together.low, together.high) == pytest.approx(
        (0.8865, 1), abs=1e-4
    )  # without luck, Wilson's of 30 of 30


def test_where_the_variance_of_a_difference_comes_from_by_hand() -> None:
    first, second = (
        counts_of_right([1, 1, 0, 0], [1, 0, 1, 0]),
        counts_of_right([1, 0, 0, 0], [1, 0, 0, 0]),
    )
    # influences, in quarters: ±1/2 of the first system; 3/4, -1/4, -1/4, -1/4 of the second
    by_run = 2 * 0.5 / 16 / 2  # two sentences of the first system vary between its runs
    by_sentence = ((0.5 - 0.75) ** 2 + 2 * 0.25**2 + (-0.5 + 0.25) ** 2) / 16
    assert by_sentence < by_run  # runs of one system differ by more than the systems
    # so a quarter against the root of by_run: t = 1.414 with the one degree of freedom of the first
    # system's runs
    assert randomisation_test(first, second, metric="precision", shuffles=40_000) == pytest.approx(
        0.392, abs=0.006
    )
    # influences of another system, in quarters: -1/4, -1/4, -1/4, 3/4
    other = counts_of_right([0, 0, 0, 1], [0, 0, 0, 1])
    by_sentence = (0.75**2 + 2 * 0.25**2 + 1.25**2) / 16
    own = math.sqrt(1 - by_run / by_sentence)  # share of the deviation that is the systems' own
    tails = []
    for signs in itertools.product((-1, 1), repeat=4):
        exchanged = own * np.dot(signs, (1, 0.5, 0.5, -1)) / 4
        bounds = (np.array([-0.25, 0.25]) - exchanged) / math.sqrt(by_run)
        below, above = 0.5 + np.arctan(bounds) / math.pi  # Student's t with one degree of freedom
        tails.append(1 - above + below)
    assert randomisation_test(first, other, metric="precision", shuffles=40_000) == pytest.approx(
        np.mean(tails), abs=0.01
    )
    assert randomisation_test(first, first, metric="precision", shuffles=100) == 1


def exact_p(first: np.ndarray, second: np.ndarray) -> float:
    """P-value over every one of the 2^n exchanges."""

    def f1(counts: np.ndarray) -> float:
        return scores_of(counts.sum(axis=0))[2]

    observed = abs(f1(first) - f1(second))
    extreme = []
    for swaps in itertools.product([False, True], repeat=len(first)):
        mask = np.array(swaps)[:, None]
        one, two = np.where(mask, second, first), np.where(mask, first, second)
        extreme.append(abs(f1(one) - f1(two)) >= observed - 1e-12)
    return float(np.mean(extreme))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_randomisation_approaches_the_exact_permutation_test(seed: int) -> None:
    first, second = some_counts(9, 0.8, seed), some_counts(9, 0.4, seed + 50)
    second[:, 2] = first[:, 2]
    assert randomisation_test(first, second, shuffles=40_000) == pytest.approx(
        exact_p(first, second), abs=0.02
    )


def test_randomisation_of_equal_and_of_very_different_systems() -> None:
    good, bad = some_counts(200, 0.9, 7), some_counts(200, 0.3, 7)
    assert randomisation_test(good, good) == 1.0
    assert randomisation_test(good, bad, shuffles=999) == pytest.approx(1 / 1000)
    assert randomisation_test(good, bad, seed=3) == randomisation_test(bad, good, seed=3)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_winner_needs_significance_against_everyone_and_sentences() -> None:
    good, bad = some_counts(300, 0.9, 1), some_counts(300, 0.4, 1)
    assert significant_winner([bad, good], shared=False) == 1
    for systems in (
        [good, bad, good.copy()],
        [good],
        [good, bad[:-1]],
        [np.zeros((0, 3), dtype=int)] * 2,
    ):
        assert significant_winner(systems, shared=False) is None


@pytest.mark.parametrize(
    ("p", "rivals", "winner"), [(0.03, 1, 0), (0.03, 2, None), (0.025, 1, 0), (0.025, 2, None)]
)
def test_a_winner_over_several_rivals_must_pass_holm(
    monkeypatch, p: float, rivals: int, winner: int | None
) -> None:
    """Two p-values of 0.03 are 0.06 after Holm's correction, two of 0.025 alpha itself; one
    stays what it is.
    """
    monkeypatch.setattr("tripleaudit.scoring.difference.randomisation_test", lambda *_, **__: p)
    systems = [
        some_counts(50, 0.9, 1),
        *(some_counts(50, 0.4, seed) for seed in range(2, 2 + rivals)),
    ]
    assert significant_winner(systems, shared=False) == winner


def test_the_numbers_of_draws_are_those_of_the_methods_page(root) -> None:
    page = (root / "docs" / "explanation" / "statistics.md").read_text(encoding="utf-8")
    assert f"{100 * LEVEL:.0f} %, {REPLICATES:,} resamples of sentences" in page
    assert (
        f"none under {FEWEST} sentences" in page and f"randomisation, {SHUFFLES:,} shuffles" in page
    )
    assert (LEVEL, FEWEST, ALPHA, bootstrap.MOST) == (0.95, 10, 0.05, 100_000)


def alike(*scores: int, of: int = 100) -> np.ndarray:
    """Ten sentences, all with ``scores`` of 100 triples right in each run: nothing but the runs'
    luck varies.
    """
    return np.array([[[right, of, of] for right in scores]] * FEWEST)


# a standard error of 2 points over the root of 3, times 4.303; of 1 point, times 12.71: Student's t
# of 2 and 1 degrees
@pytest.mark.parametrize(("scores", "half"), [((58, 60, 62), 0.0497), ((59, 61), 0.1271)])
def test_an_interval_of_runs_alone_is_students(scores: tuple[int, ...], half: float) -> None:
    for bound in intervals(alike(*scores), replicates=20_000).values():
        assert (bound.low, bound.high) == pytest.approx((0.6 - half, 0.6 + half), abs=0.08 * half)


def test_differences_end_at_one_and_few_sentences_have_none() -> None:
    right, wrong = np.array([[1, 1, 1]] * FEWEST), np.array([[0, 1, 1]] * FEWEST)
    for bound in difference_intervals(wrong, right).values():
        assert bound.high == 1 and 0.5 < bound.low < 0.6  # ten sentences are no certainty
    assert set(difference_intervals(right, right).values()) == {Interval(0.0, 0.0)}
    assert difference_intervals(wrong[1:], right[1:]) is None
    assert difference_intervals(wrong, right, replicates=0) is None
    for bound in difference_intervals(
        alike(0, 0), alike(0, 100)
    ).values():  # half, with an error of half
        assert bound == Interval(-1.0, 1.0)
    more = np.array([[0, 2, 2]] * FEWEST)  # nothing is right in either, and no zero is negative
    for pair in ((wrong, more), (more, wrong)):
        assert {repr(bound) for bound in difference_intervals(*pair).values()} == {
            "Interval(low=0.0, high=0.0)"
        }


@pytest.mark.parametrize("test", [difference_intervals, randomisation_test])
def test_other_sentences_cannot_be_paired(test) -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        test(np.zeros((30, 3)), np.zeros((40, 3)))


def test_the_p_value_of_runs_alone_is_students() -> None:
    """By hand: means 3 points apart, an error of 1 point, so t = 3 with one degree of freedom: p
    = 0.2048.
    """
    p = randomisation_test(alike(50, 52), alike(54, 54), shuffles=40_000)
    assert p == pytest.approx(0.2048, abs=0.006)
    # an error of 2 over the root of 3 units, so t = 2.598 with two degrees; of 128, which rounds
    # nowhere
    p = randomisation_test(alike(64, 66, 68, of=128), alike(69, 69, 69, of=128), shuffles=40_000)
    assert p == pytest.approx(0.1217, abs=0.005)


@pytest.mark.parametrize(
    ("first", "second", "half", "error"),
    [
        # variances of 4 and 4 points² over three runs: an error of 1.633 points, times 2.776 (four
        # degrees)
        ((50, 52, 54), (53, 55, 57), 0.0453, 0.004),
        # of 4 and 0, as against a baseline, whose runs have no degrees of freedom: 1.155, times
        # 4.303 (two)
        ((50, 52, 54), (55, 55, 55), 0.0497, 0.004),
        ((49, 49), (51, 53), 0.1271, 0.01),  # of 2 and 0 over two runs: 1, times 12.71 (one)
    ],
)
def test_a_difference_of_runs_alone_is_students(first, second, half: float, error: float) -> None:
    for bound in difference_intervals(alike(*first), alike(*second), replicates=20_000).values():
        assert (bound.low, bound.high) == pytest.approx((0.03 - half, 0.03 + half), abs=error)


@pytest.mark.parametrize("portion", [1, 7, 16])
def test_portions_change_neither_intervals_nor_p_values(monkeypatch, portion: int) -> None:
    """The two systems of the test differ in one sentence, so that an exchange is a coin."""
    counts, pair = (
        some_counts(30, 0.7, 1),
        [np.array([row] + [[1, 2, 2]] * 4) for row in ([1, 1, 1], [0, 1, 1])],
    )
    whole = intervals(counts, replicates=16), randomisation_test(*pair, shuffles=16)
    monkeypatch.setattr(bootstrap, "MAX_CELLS", portion * len(counts))
    monkeypatch.setattr(significance, "MAX_CELLS", portion)
    assert (intervals(counts, replicates=16), randomisation_test(*pair, shuffles=16)) == whole


def test_the_influence_of_a_sentence_by_hand() -> None:
    """What it adds to a score: (gain - score x its part) / all parts."""
    alone = np.array([[[1, 1, 1]], [[0, 0, 1]]])  # one prediction, right; two gold triples
    assert influence_of(alone, 0).ravel().tolist() == [0, 0]  # precision 1 / 1
    assert influence_of(alone, 1).ravel().tolist() == [0.25, -0.25]  # recall 1 / 2
    assert influence_of(alone, 2).ravel() == pytest.approx([2 / 9, -2 / 9])  # F1 2 / 3
