"""Laws of scores, intervals and tests: a second implementation, symmetry, closed forms and
definitions.
"""

import itertools
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from support.webnlg import sentence
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.scoring import gate
from tripleaudit.scoring.bootstrap import (
    FEWEST,
    METRICS,
    Interval,
    difference_intervals,
    intervals,
    scores_of,
)
from tripleaudit.scoring.difference import between, significant_winner
from tripleaudit.scoring.matching import applicable, sentence_counts
from tripleaudit.scoring.metrics import Micro, micro
from tripleaudit.scoring.parts import by_cardinality, by_relation
from tripleaudit.scoring.significance import holm, randomisation_test
from tripleaudit.scoring.spec import MATCHINGS

WORDS = [
    "Ann",
    "ANN",
    "Ann Lee",
    "Bob Lee",
    "New-York",
    "new york",
    "Zoë",
    "Zoe\u0308",
    "Zoe",
    "C++",
    "C",
    "...",
    "-",
]


@st.composite
def spans(draw):
    """Entities of a few similar names, with or without a position and a type."""
    text = draw(st.sampled_from(WORDS))
    start = draw(st.one_of(st.none(), st.integers(0, 2)))
    end = None if start is None else start + len(text)
    return Span(start, end, text, draw(st.sampled_from([None, "PER", "LOC"])))


triples = st.builds(Triple, spans(), st.sampled_from(["born in", "Born_In", "wrote"]), spans())
sentences = st.lists(triples, max_size=4).map(lambda stated: Sentence("s", "…", tuple(stated)))
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5)


def plain(text: str) -> str:
    """Return what the rule ``normalised`` compares, as docs/explanation/methods.md defines it."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    letters = [character for character in folded if unicodedata.category(character)[0] not in "PZC"]
    return "".join(letters) or text


def position(span: Span):
    return span.text if span.start is None else (span.start, span.end)


ENTITIES = {
    "exact-string": lambda span: span.text,
    "exact-span": position,
    "strict": lambda span: (position(span), span.type),
    "partial-first": lambda span: span.text.split()[0],
    "partial-last": lambda span: span.text.split()[-1],
    "normalised": lambda span: plain(span.text),
    "pairs": lambda span: plain(span.text),
}
RELATIONS = {"normalised": plain, "pairs": lambda name: ""}


def compared(stated: Sentence, rule: str) -> set:
    """Return the triples of a sentence as a matching rule compares them."""
    entity, relation = ENTITIES[rule], RELATIONS.get(rule, lambda name: name)
    return {
        (entity(triple.subject), relation(triple.relation), entity(triple.object))
        for triple in stated.triples
    }


@pytest.mark.parametrize("rule", ENTITIES)
@settings(max_examples=30)
@given(pairs=corpora)
def test_every_matching_rule_counts_as_a_second_implementation_does(rule, pairs):
    gold, guess = map(list, zip(*pairs, strict=True))
    counts = sentence_counts(gold, guess, rule)
    expected = []
    for right, predicted in pairs:
        stated, found = compared(right, rule), compared(predicted, rule)
        expected.append([len(stated & found), len(found), len(stated)])
    assert counts.tolist() == expected
    # precision and recall change places with the sides, and gold against itself is right
    assert sentence_counts(guess, gold, rule).tolist() == counts[:, [0, 2, 1]].tolist()
    assert (sentence_counts(gold, gold, rule)[:, 0] == counts[:, 2]).all()
    # parts add up to the whole
    parts = [part.counts[:, 0].sum(axis=0) for part in by_relation(gold, [guess], rule).values()]
    assert np.sum([np.zeros(3), *parts], axis=0).tolist() == counts.sum(axis=0).tolist()
    assert sum(len(part.counts) for part in by_cardinality(counts).values()) == len(counts)


def test_the_second_implementation_has_every_rule():
    assert set(ENTITIES) == set(MATCHINGS)


@given(corpora)
def test_strict_applies_where_both_sides_have_types(pairs):
    gold, guess = map(list, zip(*pairs, strict=True))
    typed_gold = any(triple.typed for stated in gold for triple in stated.triples)
    typed_guess = any(triple.typed for stated in guess for triple in stated.triples)
    nothing_predicted = not any(stated.triples for stated in guess)
    assert ("strict" in applicable(gold, guess)) == (
        typed_gold and (typed_guess or nothing_predicted)
    )


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([0.1, 0.5, 0.5, 0.9, 0.7])),
        min_size=1,
        max_size=30,
    )
)
def test_a_gate_and_its_curve_follow_the_definition(rows):
    wrote = ("Ann", "wrote", "Emma")
    gold = [
        sentence("…", wrote, id_=str(n)) if has else Sentence(str(n), "…")
        for n, (has, _) in enumerate(rows)
    ]
    scores = np.array([score for _, score in rows])
    assert gate.classification_counts(gold, scores).tolist() == [
        [has and s > 0.5, s > 0.5, has] for has, s in rows
    ]
    curve = gate.precision_recall_curve(gold, scores)
    positives = sum(has for has, _ in rows)
    area, before, points = 0.0, 0.0, []
    for level in sorted(set(scores.tolist()), reverse=True):
        passed = [has for has, score in rows if score >= level]
        precision, recall = sum(passed) / len(passed), sum(passed) / max(positives, 1)
        area, before = area + precision * (recall - before), recall
        points.append((level, round(precision, 6), round(recall, 6)))
    assert [tuple(point.values()) for point in curve["points"]] == points
    assert curve["average_precision"] == pytest.approx(area) and curve["positives"] == positives


# Intervals and tests


def counts_of(number: int):
    """Counts (correct, predicted, gold) of so many sentences."""
    numbers = arrays(np.int64, (number, 3), elements=st.integers(0, 3))
    return numbers.map(lambda n: np.stack([n[:, 0], n[:, 0] + n[:, 1], n[:, 0] + n[:, 2]], axis=1))


def simulated(number: int, quality: float, seed: int) -> np.ndarray:
    """Counts of a system that finds a triple with this probability."""
    random = np.random.default_rng(seed)
    gold = random.integers(1, 4, number)
    correct = random.binomial(gold, quality)
    return np.stack([correct, correct + random.integers(0, 2, number), gold], axis=1)


@settings(max_examples=50)
@given(st.integers(FEWEST, 40).flatmap(counts_of))
def test_an_interval_holds_its_score_and_does_not_depend_on_the_order_of_sentences(counts):
    total = micro(counts)
    scores = total.precision, total.recall, total.f1
    assert scores_of(counts.sum(axis=0)) == pytest.approx(scores)
    bounds = intervals(counts, replicates=100)
    for bound, score in zip(bounds.values(), scores, strict=True):
        assert 0 <= bound.low <= score + 1e-12 and score - 1e-12 <= bound.high <= 1
    assert intervals(counts[::-1], replicates=100) == bounds
    assert intervals(counts[: FEWEST - 1]) is None is intervals(counts, replicates=0)


@settings(max_examples=30)
@given(
    st.integers(FEWEST, 25).flatmap(lambda n: st.tuples(counts_of(n), counts_of(n))), st.booleans()
)
def test_a_difference_changes_its_sign_with_the_order_of_the_sides(sides, shared):
    forth = between(*sides, shared=shared, replicates=60, shuffles=60)
    back = between(*sides[::-1], shared=shared, replicates=60, shuffles=60)
    assert forth.p == back.p and forth.shown == back.shown and 0 < forth.p <= 1
    for name in METRICS:
        bound, other = forth.bounds[name], back.bounds[name]
        assert forth.change(name) == pytest.approx(-back.change(name))
        assert (bound.low, bound.high) == pytest.approx((-other.high, -other.low))
        assert -1 <= bound.low <= bound.high <= 1
    same = between(sides[0], sides[0])
    assert same.p == 1 and not same.shown and set(same.bounds.values()) == {Interval(0, 0)}


@settings(max_examples=30)
@given(st.integers(FEWEST, 15).flatmap(counts_of))
def test_sentences_in_units_of_one_are_sentences(counts):
    names = [str(number) for number in range(len(counts))]
    better = counts + (counts[:, 1:2] > counts[:, :1]) * [1, 0, 0]
    plain_difference = between(counts, better, replicates=50, shuffles=50)
    assert (
        between(counts, better, replicates=50, shuffles=50, units=(names, names))
        == plain_difference
    )


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_follows_its_definition(values):
    ranked = sorted(range(len(values)), key=values.__getitem__)
    expected, largest = {}, 0.0
    for rank, index in enumerate(ranked):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        expected[index] = largest
    assert holm(values) == pytest.approx([expected[index] for index in range(len(values))])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_randomisation_test_is_the_exact_permutation_test(seed):
    first, second = simulated(9, 0.8, seed), simulated(9, 0.4, seed + 50)
    second[:, 2] = first[:, 2]

    def difference(swapped):
        one, other = np.where(swapped, second, first), np.where(swapped, first, second)
        return abs(scores_of(one.sum(axis=0))[2] - scores_of(other.sum(axis=0))[2])

    observed = difference(np.zeros((9, 1), dtype=bool))
    swaps = [np.array(swapped)[:, None] for swapped in itertools.product([False, True], repeat=9)]
    exact = np.mean([difference(swapped) >= observed - 1e-12 for swapped in swaps])
    assert randomisation_test(first, second, shuffles=20_000) == pytest.approx(exact, abs=0.02)


def alike(*scores: int) -> np.ndarray:
    """Sentences that all have so many of 100 triples right in each run, so that only runs
    differ.
    """
    return np.array([[[score, 100, 100] for score in scores]] * FEWEST)


# Student's t: a difference of 3 points of three runs each, with a standard error of sqrt(8/3)
# points if the runs are independent; of runs that share seeds, half of their covariance is taken
# off.
@pytest.mark.parametrize(
    ("second", "shared", "variance", "p"),
    [
        ((53, 55, 57), False, 8 / 3, 0.140),
        ((53, 55, 57), True, 8 / 3 / 2, 0.060),
        ((57, 55, 53), True, 8 / 3, 0.140),  # no covariance to take off
    ],
)
def test_runs_that_share_seeds_narrow_the_interval_and_the_test(second, shared, variance, p):
    difference = between(
        alike(50, 52, 54), alike(*second), shared=shared, replicates=20_000, shuffles=40_000
    )
    bound, half = difference.bounds["f1"], 2.776 * variance**0.5
    assert (100 * bound.low, 100 * bound.high) == pytest.approx(
        (3 - half, 3 + half), abs=0.09 * half
    )
    assert difference.p == pytest.approx(p, abs=0.01)


def test_a_winner_beats_every_rival_after_holm():
    good, bad = simulated(300, 0.9, 1), simulated(300, 0.4, 1)
    assert significant_winner([bad, good], shared=False) == 1
    for systems in (
        [good, bad, good.copy()],
        [good],
        [good, bad[:-1]],
        [np.zeros((0, 3), dtype=int)] * 2,
    ):
        assert significant_winner(systems, shared=False) is None


def test_zero_denominators_and_few_sentences():
    assert Micro(0, 0, 5).precision == Micro(0, 5, 0).recall == Micro(0, 0, 0).f1 == 0
    assert difference_intervals(np.ones((9, 3)), np.ones((9, 3))) is None
    with pytest.raises(ValueError, match="cannot be paired"):
        randomisation_test(np.zeros((30, 3)), np.zeros((40, 3)))
