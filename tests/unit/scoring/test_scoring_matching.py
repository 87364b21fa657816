from dataclasses import replace
from itertools import starmap

import numpy as np
import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.scoring.matching import applicable, check_matching, sentence_counts, untyped
from tripleaudit.scoring.metrics import Micro, micro
from tripleaudit.scoring.spec import MATCHINGS


def span(start: int | None, text: str) -> Span:
    return Span(start, None if start is None else start + len(text), text)


def sentence(*triples: tuple[Span, str, Span]) -> Sentence:
    return Sentence(
        "s",
        "Tim Cook leads Apple and Apple likes Tim Cook and Bob Cook",
        tuple(starmap(Triple, triples)),
    )


TIM, APPLE, APPLE_AGAIN, TIM_AGAIN, BOB = starmap(
    span, ((0, "Tim Cook"), (15, "Apple"), (25, "Apple"), (37, "Tim Cook"), (50, "Bob Cook"))
)
GOLD = [sentence((TIM, "leads", APPLE))]


@pytest.mark.parametrize(
    ("guess", "right"),
    [
        ((BOB, "leads", APPLE), ["partial-last"]),
        ((span(0, "Tim"), "leads", span(15, "Apple")), ["partial-first"]),
        ((TIM_AGAIN, "leads", APPLE_AGAIN), ["exact-string", "partial-first", "partial-last", "normalised", "pairs"]),
        ((span(None, "Tim Cook"), "leads", APPLE), ["exact-string", "partial-first", "partial-last", "normalised",
                                                    "pairs"]),  # without a position no span matches
        ((TIM, "Leads", APPLE), ["normalised", "pairs"]),
        ((TIM, "owns", APPLE), ["pairs"]),
        ((APPLE, "leads", TIM), []),  # a turned pair is wrong
    ],
)  # fmt: skip
def test_what_each_rule_compares(guess: tuple, right: list[str]) -> None:
    for gold, found in ((GOLD, [sentence(guess)]), ([sentence(guess)], GOLD)):
        counts = {name: sentence_counts(gold, found, name).tolist() for name in MATCHINGS}
        assert counts == {name: [[int(name in right), 1, 1]] for name in MATCHINGS}


@pytest.mark.parametrize(
    ("gold", "guess", "same"),
    [
        (("AP", "OrgBased_In", "New York"), ("Ap", "ORGBASED IN", "new_york"), True),
        (
            ("Zoë", "per:title", "Dr. No"),
            ("Zoe\u0308", "PER TITLE", "Dr No"),
            True,
        ),  # composed and decomposed
        (("Straße", "r", "x"), ("STRASSE", "r", "x"), True),
        (("ﬁrm", "r", "Ｘ"), ("firm", "r", "x"), True),  # a ligature, a wide letter
        (("C++", "r", "x"), ("C", "r", "x"), False),  # symbols tell names apart
        (("Zoë", "r", "x"), ("Zoe", "r", "x"), False),  # accents, too
        (("कि", "r", "x"), ("क", "r", "x"), False),  # and marks that are vowels
        (("...", "r", "x"), ("-", "r", "x"), False),  # nothing else is left of these
    ],
)
def test_normalised_forgives_spelling_and_nothing_else(gold, guess, same: bool) -> None:
    right, found = ([sentence((span(None, s), r, span(None, o)))] for s, r, o in (gold, guess))
    assert sentence_counts(right, found).tolist() == [[0, 1, 1]]
    assert sentence_counts(right, found, "normalised").tolist() == [[int(same), 1, 1]]
    other = [sentence((span(None, guess[0]), "another", span(None, guess[2])))]
    assert sentence_counts(right, other, "normalised").tolist() == [[0, 1, 1]]
    assert sentence_counts(right, other, "pairs").tolist() == [[int(same), 1, 1]]


def test_triples_that_a_rule_makes_equal_count_once() -> None:
    both = [sentence((TIM, "leads", APPLE), (BOB, "leads", APPLE))]
    assert sentence_counts(both, both, "exact-string").tolist() == [[2, 2, 2]]
    assert sentence_counts(both, both, "partial-last").tolist() == [[1, 1, 1]]
    twice = [sentence((TIM, "leads", APPLE), (TIM, "owns", APPLE))]
    assert sentence_counts(GOLD, twice, "pairs").tolist() == [[1, 1, 1]]


def test_unknown_matching_is_refused_and_exact_is_short_for_exact_string() -> None:
    assert check_matching("exact") == "exact-string"
    with pytest.raises(
        UserError, match="unknown matching rule 'fuzzy'; known are exact-string, exact-span"
    ):
        check_matching("fuzzy")


def test_micro_scores_by_hand() -> None:
    score = micro(np.array([[2, 3, 4], [1, 1, 1], [0, 2, 0]]))
    assert (score.correct, score.predicted, score.gold, score.sentences) == (3, 6, 5, 3)
    assert (score.precision, score.recall) == (0.5, 0.6)
    assert score.f1 == pytest.approx(2 * 0.5 * 0.6 / 1.1, abs=1e-15)


def test_zero_denominators_give_zero() -> None:
    assert Micro(0, 0, 5).precision == Micro(0, 5, 0).recall == Micro(0, 0, 0).f1 == 0.0


def test_rules_are_listed_from_the_usual_one_to_the_laxest():
    rules = "exact-string exact-span strict partial-first partial-last"
    assert list(MATCHINGS) == [*rules.split(), "normalised", "pairs"]
    assert len({rule.order for rule in MATCHINGS.values()}) == len(MATCHINGS)


def typed(pair: tuple[Span, Span], *types: str | None) -> tuple[Span, str, Span]:
    subject, object_ = (replace(span, type=type_) for span, type_ in zip(pair, types, strict=True))
    return subject, "leads", object_


def test_strict_asks_for_the_types_of_both_entities_where_both_sides_have_types():
    right, again = typed((TIM, APPLE), "Peop", "Org"), typed((BOB, APPLE), "Peop", "Org")
    gold, guess = [sentence(right, again)], [sentence(right, typed((BOB, APPLE), "Loc", "Org"))]
    assert sentence_counts(gold, guess, "strict").tolist() == [[1, 2, 2]]
    assert sentence_counts(gold, guess, check_matching("boundaries")).tolist() == [[2, 2, 2]]
    half = [sentence(typed((TIM, APPLE), None, "Org"))]
    assert sentence_counts(gold, half, "strict").tolist() == [[0, 1, 2]]
    assert all("strict" in applicable(gold, side) for side in (gold, half, [sentence()]))
    assert "strict" not in applicable(gold, GOLD) and "strict" not in applicable(GOLD, gold)
    assert set(applicable(GOLD, GOLD)) == set(MATCHINGS) - {"strict"}
    assert untyped(GOLD, gold) == "no gold triple has one" and "no predicted triple" in untyped(
        half, GOLD
    )
