import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripleaudit.scoring.bootstrap import intervals, scores_of
from tripleaudit.scoring.metrics import micro
from tripleaudit.scoring.significance import holm, randomisation_test, significant_winner


def some_counts(sentences: int, quality: float, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    gold = random.integers(1, 4, sentences)
    correct = random.binomial(gold, quality)
    return np.stack([correct, correct + random.integers(0, 2, sentences), gold], axis=1)


def test_scores_of_sums_are_the_micro_scores() -> None:
    counts = some_counts(50, 0.6, 1)
    score = micro(counts)
    assert scores_of(counts.sum(axis=0)) == pytest.approx([score.precision, score.recall, score.f1], abs=1e-15)
    assert scores_of(np.zeros(3)).tolist() == [0, 0, 0]


def test_interval_agrees_with_resampling_sentence_by_sentence() -> None:
    counts = some_counts(300, 0.6, 2)
    random = np.random.default_rng(5)
    plain = [scores_of(counts[random.integers(0, 300, 300)].sum(axis=0))[2] for _ in range(4000)]
    low, high = np.quantile(plain, [0.025, 0.975])
    found = intervals(counts, replicates=4000, seed=3)["f1"]
    assert found.low == pytest.approx(low, abs=0.004)
    assert found.high == pytest.approx(high, abs=0.004)
    assert found.low < micro(counts).f1 < found.high


def test_interval_depends_on_the_seed_and_not_on_the_order() -> None:
    counts = some_counts(80, 0.5, 3)
    assert intervals(counts, seed=1) == intervals(counts[::-1], seed=1)
    assert intervals(counts, seed=1) != intervals(counts, seed=2)


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    covered = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        hits = random.binomial(1, 0.7, 150)
        bound = intervals(np.stack([hits, np.ones(150, int), np.ones(150, int)], axis=1), replicates=500)["recall"]
        covered += bound.low <= 0.7 <= bound.high
    assert 178 <= covered <= 199


def test_interval_of_equal_sentences_is_a_point_and_of_none_is_absent() -> None:
    bound = intervals(np.array([[1, 2, 2]] * 9))["precision"]
    assert (bound.low, bound.high) == (0.5, 0.5)
    assert intervals(np.zeros((0, 3), dtype=int)) is None
    assert intervals(np.ones((3, 3), dtype=int), replicates=0) is None


def test_interval_of_several_runs_resamples_sentences_once_for_all() -> None:
    counts = some_counts(120, 0.6, 4)
    doubled = np.stack([counts, counts], axis=1)
    assert intervals(doubled, seed=1) == intervals(counts, seed=1)
    other = np.stack([counts, some_counts(120, 0.6, 5)], axis=1)
    one, two = intervals(counts, seed=1)["f1"], intervals(other, seed=1)["f1"]
    assert two.high - two.low < one.high - one.low  # a mean over independent runs varies less


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
    assert randomisation_test(first, second, shuffles=40_000) == pytest.approx(exact_p(first, second), abs=0.02)


def test_randomisation_where_every_difference_recurs() -> None:
    first, second = np.array([[1, 1, 1]] * 6 + [[0, 0, 1]] * 2), np.array([[0, 1, 1]] * 6 + [[1, 1, 1]] * 2)
    assert randomisation_test(first, second, shuffles=40_000) == pytest.approx(exact_p(first, second), abs=0.02)


def test_randomisation_of_equal_and_of_very_different_systems() -> None:
    good, bad = some_counts(200, 0.9, 7), some_counts(200, 0.3, 7)
    assert randomisation_test(good, good) == 1.0
    assert randomisation_test(good, bad, shuffles=999) == pytest.approx(1 / 1000)
    assert randomisation_test(good, bad, seed=3) == randomisation_test(bad, good, seed=3)


def test_randomisation_refuses_unpaired_systems() -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        randomisation_test(np.zeros((3, 3)), np.zeros((4, 3)))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_never_smaller_than_p_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for (p, q), (r, s) in itertools.product(zip(p_values, adjusted, strict=True), repeat=2):
        assert p <= q <= 1
        assert not (p < r and q > s)


def test_winner_needs_significance_against_everyone() -> None:
    good, bad = some_counts(300, 0.9, 1), some_counts(300, 0.4, 1)
    assert significant_winner([bad, good]) == 1
    assert significant_winner([good, bad, good.copy()]) is None
    assert significant_winner([good]) is None
    assert significant_winner([good, bad[:-1]]) is None


def test_winner_over_several_runs() -> None:
    good = np.stack([some_counts(100, 0.9, seed) for seed in (1, 2)], axis=1)
    bad = np.stack([some_counts(100, 0.4, seed) for seed in (1, 2)], axis=1)
    assert significant_winner([good, bad], metric="recall") == 0
