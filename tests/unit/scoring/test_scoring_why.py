"""What is said about files whose score is low for another reason than the extractor, and when
nothing is said.
"""

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
ZOE = sentences(*[[(f"Zoë {n}", "r", f"x{n}")] for n in range(10)])
NUMBERED = [(f"E{number}", "r", "x") for number in range(21)]
WRITTEN = {
    "other case": lambda s, r, o: (s.upper(), r, o.lower()),
    "more blanks": lambda s, r, o: (s, r, o.replace(" ", "  ")),
    "relations of a program": lambda s, r, o: (s, r.title().replace(" ", "_"), o),
    "a full stop": lambda s, r, o: (s + ".", r, o),
    "one relation": lambda s, r, o: (s, "is in", o),
    "turned": lambda s, r, o: (o, r, s),
    "relation last": lambda s, r, o: (s, o, r),
    "relation first": lambda s, r, o: (r, s, o),
}
CASES = {  # gold, predictions
    **{
        name: (GOLD, sentences([write(*t.strings) for t in GOLD[0].triples]))
        for name, write in WRITTEN.items()
    },
    "all is well": (GOLD, GOLD),
    "bad": (GOLD, sentences([("Ann", "wrote for", "Italy"), ("Rome", "is in", "Ann")])),
    "half of it bad": (
        GOLD,
        sentences([("Ann", "wrote for", "Jane Eyre"), ("Rome", "is in", "Ann")]),
    ),
    "no wider difference": (
        GOLD,
        sentences([("ann", "wrote for", "Jane Eyre"), ("rome", "is in", "Italy")]),
    ),
    "a wider difference": (
        GOLD,
        sentences([("ann", "wrote for", "Jane Eyre"), ("Rome.", "is in", "Italy")]),
    ),
    "some turned": (ZOE, [*sentences(*[[(f"x{n}", "r", f"Zoë {n}")] for n in range(3)]), *ZOE[3:]]),
    "decomposed": (ZOE, sentences(*[[(f"Zoe\u0308 {n}", "r", f"x{n}")] for n in range(10)])),
    "no gold": (sentences([]), GOLD),
    "nothing predicted": (GOLD, sentences([])),
    "unknown relations": (GOLD, sentences([("Bob", f"q{n}", "y") for n in range(4)])),
    **{  # a twentieth is enough
        f"one of {size} in small letters": (
            sentences(NUMBERED[:size]),
            sentences([("e0", "r", "x"), *NUMBERED[1:size]]),
        )
        for size in (20, 21)
    },
    **{
        f"one of {size} unknown": (
            sentences(NUMBERED[:20]),
            sentences([("E0", "q", "z"), *NUMBERED[: size - 1]]),
        )
        for size in (20, 21)
    },
    "some unknown": (
        GOLD,
        sentences([("Bob", "is in", "y"), *(("Bob", f"q{n}", "y") for n in range(3))]),
    ),
}


def typed(start: int, type_: str) -> list[Sentence]:
    spans = Span(start, start + 3, "Ann", type_), Span(10, 14, "Rome", "GPE")
    return [Sentence("1", "Ann, Ann in Rome", (Triple(spans[0], "r", spans[1]),))]


EXPECTED = {  # case -> a part of each hint
    "other case": ["2 more triples would be correct if case did not count"],
    "more blanks": ["if blanks did not count"],
    "relations of a program": [
        "no predicted relation occurs in the gold",
        "without case, blanks and punctuation",
    ],
    "a full stop": ["(--matching normalised)"],
    "one relation": ["(--matching pairs)"],
    "turned": ["2 more triples would be correct with subject and object exchanged"],
    "relation last": ["no predicted relation occurs in the gold", "order=sor"],
    "relation first": ["no predicted relation occurs in the gold", "order=rso"],
    "all is well": [],
    "bad": ["are these the same sentences?"],
    "half of it bad": [],
    "no wider difference": ["if case did not count"],
    "a wider difference": [
        "1 more triple would be correct if case",
        "2 more triples would be correct if case, blanks",
    ],
    "some turned": ["3 more triples would be correct with subject and object exchanged"],
    "decomposed": ["NFC, NFD"],
    "no gold": ["the gold sentences have no triples"],
    "nothing predicted": ["no triple is predicted"],
    "unknown relations": ["'q0', 'q1', 'q2' and 1 more; the gold has 'is in', 'wrote for'"],
    "one of 20 in small letters": ["if case did not count"],
    "one of 21 in small letters": [],
    "one of 20 unknown": ["1 of 20 predicted triples have a relation that the gold never has: 'q'"],
    "one of 21 unknown": [],
    "some unknown": ["3 of 4 predicted triples"],
}


@pytest.mark.parametrize("name", CASES)
def test_hints_name_the_largest_difference_and_a_wider_one_that_gains_more(name) -> None:
    found = said(*CASES[name])
    assert len(found) == len(EXPECTED[name])
    assert all(part in hint for part, hint in zip(EXPECTED[name], found, strict=True))


def strict_hints(gold: list[Sentence], guess: list[Sentence]) -> list[str]:
    return hints(gold, guess, micro(sentence_counts(gold, guess, "strict")), "strict")


def test_hints_tell_types_from_positions_where_both_count() -> None:
    gold = typed(0, "PER")
    assert strict_hints(gold, gold) == []
    assert (
        "if types did not count: (Ann; r; Rome) has the types ORG"
        in strict_hints(gold, typed(0, "ORG"))[0]
    )
    assert "compared as strings, not by positions" in strict_hints(gold, typed(5, "PER"))[0]
    for wrong, number in ((4, 0), (5, 1)):  # of 100; a twentieth is enough
        guess = gold * (100 - wrong) + typed(0, "ORG") * wrong
        assert len(strict_hints(gold * 100, guess)) == number


def written(lower: int) -> list[Sentence]:
    """Twenty triples, some of them in small letters."""
    return sentences(
        *[
            [(f"{'e' if number < lower else 'E'}{number}", "r", f"x{number}")]
            for number in range(20)
        ]
    )


@pytest.mark.parametrize(
    ("predicted", "begins"),
    [
        (written(5), None),  # hints have it, but most is found as it is
        (written(9), None),
        (
            written(10),
            "10 more triples would be correct if case did not count",
        ),  # as many as are right
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
def test_a_study_says_why_only_where_next_to_nothing_is_found_by_the_letter(
    predicted, begins: str | None
) -> None:
    gold = written(0)
    found = reasons(gold, predicted)
    assert found[0].startswith(begins) if begins else found == []
    assert bool(hints(gold, predicted, micro(sentence_counts(gold, predicted))))


def test_a_relation_that_other_sentences_of_the_corpus_have_is_no_reason() -> None:
    born = sentences([("A", "born in", "b")])
    assert "no predicted relation occurs in the gold" in reasons(GOLD, born)[0]
    assert reasons(GOLD, born, {"born in"}) == []
    assert reasons(sentences([]), sentences([("A", "r", "b")])) == []
