"""What is said about files whose score is low for another reason than the extractor, and when nothing is said."""

import pytest

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.scoring.matching import sentence_counts
from tripleaudit.scoring.metrics import micro
from tripleaudit.scoring.why import hints


def sentences(*rows: list[tuple[str, str, str]]) -> list[Sentence]:
    def span(text: str) -> Span:
        return Span(None, None, text)

    return [
        Sentence(str(number), "text", tuple(Triple(span(s), r, span(o)) for s, r, o in row))
        for number, row in enumerate(rows)
    ]


def said(gold: list[Sentence], predicted: list[Sentence]) -> list[str]:
    return hints(gold, predicted, micro(sentence_counts(gold, predicted)))


GOLD = sentences([("Ann", "wrote for", "Jane Eyre"), ("Rome", "is in", "Italy")])


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (lambda s, r, o: (s.upper(), r, o.lower()), "2 more triples would be correct if case did not count: (ANN; "),
        (lambda s, r, o: (s, r, o.replace(" ", "  ")), "1 more triples would be correct if blanks did not count: "),
        (lambda s, r, o: (s, r.title().replace(" ", "_"), o), "if relations were compared without case, blanks and"),
        (lambda s, r, o: (s + ".", r, o), "2 more triples would be correct if case, blanks and punctuation did not"),
        (lambda s, r, o: (s, "is in", o), "1 more triples would be correct if the relation did not count: (Ann; is in"),
        (lambda s, r, o: (o, r, s), "2 more triples would be correct if predicted triples were with subject and obj"),
        (lambda s, r, o: (s, o, r), "if predicted triples were read as subject, object, relation"),
        (lambda s, r, o: (r, s, o), "if predicted triples were read as relation, subject, object"),
    ],
)
def test_the_difference_that_costs_most_is_named(written, words: str) -> None:
    predicted = sentences([written(*triple.strings) for triple in GOLD[0].triples])
    assert any(words in hint for hint in said(GOLD, predicted)), said(GOLD, predicted)


def test_nothing_is_said_where_all_is_well_or_an_extractor_is_bad() -> None:
    assert said(GOLD, GOLD) == []
    wrong = sentences([("Ann", "wrote for", "Italy"), ("Rome", "is in", "Ann")])
    assert said(GOLD, wrong) == [
        "no predicted triple is correct, whatever difference is forgiven: are these the same sentences?"
    ]
    half = sentences([("Ann", "wrote for", "Jane Eyre"), ("Rome", "is in", "Ann")])
    assert said(GOLD, half) == []


@pytest.mark.parametrize(("size", "hint"), [(20, True), (21, False)])
def test_a_twentieth_of_the_gold_triples_must_hang_on_it(size: int, hint: bool) -> None:
    gold = sentences([(f"E{n}", "r", "x") for n in range(size)])
    predicted = sentences([("e0", "r", "x"), *((f"E{n}", "r", "x") for n in range(1, size))])
    assert bool(said(gold, predicted)) is hint


def test_a_wider_difference_is_said_only_where_it_gains_more() -> None:
    gold = sentences([("Ann", "r", "x"), ("Bob", "r", "x")])
    (alone,) = said(gold, sentences([("ann", "r", "x"), ("bob", "r", "x")]))  # not again as case and punctuation
    assert "if case did not count" in alone
    both = said(gold, sentences([("ann", "r", "x"), ("Bob.", "r", "x")]))
    assert [hint.split(":")[0] for hint in both] == [
        "1 more triples would be correct if case did not count",
        "2 more triples would be correct if case, blanks and punctuation did not count",
    ]


def test_empty_sides_have_a_sentence_of_their_own() -> None:
    assert said(sentences([]), GOLD)[0].startswith("the gold sentences have no triples")
    assert said(GOLD, sentences([])) == ["no triple is predicted for any sentence"]


def test_unknown_relations_are_listed_three_at_most() -> None:
    gold = sentences([("Ann", "r", "x")])
    known, strange = ("Bob", "r", "y"), [("Bob", f"q{n}", "y") for n in range(4)]
    assert said(gold, sentences(strange))[0] == (
        "no predicted relation occurs in the gold: predicted are 'q0', 'q1', 'q2' and 1 more; the gold has 'r'"
    )
    first = said(gold, sentences([known, *strange[:3]]))[0]
    assert first == "3 of 4 predicted triples have a relation that the gold never has: 'q0', 'q1', 'q2'"


@pytest.mark.parametrize(("others", "hint"), [(19, True), (20, False)])
def test_a_twentieth_of_the_predicted_triples_must_have_unknown_relations(others: int, hint: bool) -> None:
    gold = sentences([(f"E{n}", "r", "x") for n in range(20)])
    predicted = sentences([("E0", "q", "z"), *((f"E{n}", "r", "x") for n in range(others))])
    assert any("never has" in one for one in said(gold, predicted)) is hint
