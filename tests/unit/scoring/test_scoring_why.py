"""What is said about files whose score is low for another reason than the extractor, and when nothing is said."""

import pytest

from support.webnlg import sentence
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.scoring.matching import sentence_counts
from tripleaudit.scoring.metrics import micro
from tripleaudit.scoring.why import hints, reasons


def sentences(*rows: list[tuple[str, str, str]]) -> list[Sentence]:
    return [sentence("text", *row, id_=str(number)) for number, row in enumerate(rows)]


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
        (lambda s, r, o: (s, "is in", o), "1 more triples would be correct if the relation did not count (--matching"),
        (lambda s, r, o: (o, r, s), "2 more triples would be correct with subject and object exchanged: (Italy; is in"),
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
def test_a_twentieth_of_the_gold_triples_must_depend_on_it(size: int, hint: bool) -> None:
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
        "2 more triples would be correct if case, blanks and punctuation did not count (--matching normalised)",
    ]


def test_what_depends_on_single_triples_is_counted_by_triple() -> None:
    gold = sentences(*[[(f"Zoë {n}", "r", f"x{n}")] for n in range(10)])
    turned = sentences(*[[(f"x{n}", "r", f"Zoë {n}") if n < 3 else (f"Zoë {n}", "r", f"x{n}")] for n in range(10)])
    end = "with subject and object exchanged: (x0; r; Zoë 0) is (Zoë 0; r; x0) in the gold"
    assert said(gold, turned) == [f"3 more triples would be correct {end}"]
    decomposed = sentences(*[[(f"Zoe\u0308 {n}", "r", f"x{n}")] for n in range(10)])
    (one,) = said(gold, decomposed)
    assert one.startswith("10 more triples would be correct if the form of Unicode did not count (NFC, NFD): ")


def test_types_and_positions_are_distinguished_under_a_rule_that_compares_them() -> None:
    def typed(start: int, type_: str, kind: str = "GPE") -> list[Sentence]:
        spans = Span(start, start + 3, "Ann", type_), Span(10, 14, "Rome", kind)
        return [Sentence("1", "Ann, Ann in Rome", (Triple(spans[0], "r", spans[1]),))]

    def strict(predicted: list[Sentence]) -> list[str]:
        gold = typed(0, "PER")
        return hints(gold, predicted, micro(sentence_counts(gold, predicted, "strict")), "strict")

    assert strict(typed(0, "PER")) == []
    assert strict(typed(0, "ORG")) == [
        "1 more triples would be correct if types did not count: (Ann; r; Rome) has the types ORG and GPE, in the gold "
        "PER and GPE"
    ]
    assert strict(typed(5, "PER")) == [
        "1 more triples would be correct if entities were compared as strings, not by positions"
    ]


def written(lower: int) -> list[Sentence]:
    """Twenty triples, some of them in small letters."""
    return sentences(*[[(f"{'e' if number < lower else 'E'}{number}", "r", f"x{number}")] for number in range(20)])


@pytest.mark.parametrize(
    ("predicted", "begins"),
    [
        (written(5), None),  # hints have it, but most is found as it is
        (written(9), None),
        (written(10), "10 more triples would be correct if case did not count"),  # as many as are right
        (written(20), "20 more triples would be correct if case did not count"),
        (sentences(*[[] for _ in range(20)]), "no triple is predicted for any sentence"),
        (sentences(*[[("A", "r", "b")]] * 20), None),  # bad, and for no other reason
        (written(0)[:1] + sentences(*[[("A", "q", "b")]] * 19), None),  # an F1 of 0.05
        (
            written(0)[:1] + sentences(*[[("A", "q", "b"), ("A", "q", "c")]] * 19),
            "38 of 39 predicted triples have a rel",
        ),
    ],
)
def test_a_study_says_why_only_where_next_to_nothing_is_found_by_the_letter(predicted, begins: str | None) -> None:
    gold = written(0)
    found = reasons(gold, predicted)
    assert found[0].startswith(begins) if begins else found == []
    assert bool(hints(gold, predicted, micro(sentence_counts(gold, predicted))))


def test_a_relation_that_other_sentences_of_the_corpus_have_is_no_reason() -> None:
    born = sentences([("A", "born in", "b")])
    assert "no predicted relation occurs in the gold" in reasons(GOLD, born)[0]
    assert reasons(GOLD, born, {"born in"}) == []
    assert reasons(sentences([]), sentences([("A", "r", "b")])) == []


def test_empty_sides_have_a_sentence_of_their_own() -> None:
    assert said(sentences([]), GOLD)[0].startswith("the gold sentences have no triples")
    assert said(GOLD, sentences([])) == ["no triple is predicted for any sentence"]


def test_unknown_relations_are_listed_three_at_most() -> None:
    gold = sentences([("Ann", "r", "x")])
    known, strange = ("Bob", "r", "y"), [("Bob", f"q{n}", "y") for n in range(4)]
    assert said(gold, sentences(strange))[0] == (
        "no predicted relation occurs in the gold: predicted are 'q0', 'q1', 'q2' and 1 more; the gold has 'r'; a "
        "map of names puts that right (tripleaudit relations proposes one)"
    )
    first = said(gold, sentences([known, *strange[:3]]))[0]
    assert first.startswith("3 of 4 predicted triples have a relation that the gold never has: 'q0', 'q1', 'q2'; a map")


@pytest.mark.parametrize(("others", "hint"), [(19, True), (20, False)])
def test_a_twentieth_of_the_predicted_triples_must_have_unknown_relations(others: int, hint: bool) -> None:
    gold = sentences([(f"E{n}", "r", "x") for n in range(20)])
    predicted = sentences([("E0", "q", "z"), *((f"E{n}", "r", "x") for n in range(others))])
    assert any("never has" in one for one in said(gold, predicted)) is hint
