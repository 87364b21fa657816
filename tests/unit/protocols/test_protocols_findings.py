"""Where findings begin and end, and that they come in one order; ``check``'s own test has a
fault of each kind.
"""

import pytest

from tripleaudit.corpora.corpus import Corpus, RawSentence, RawTriple, build_corpus
from tripleaudit.protocols.findings import Finding, findings


def corpus(*rows: tuple[str, list[tuple[str, str, str]]]) -> Corpus:
    return build_corpus(
        [
            RawSentence(
                str(number), text, [RawTriple(*triple) for triple in triples], f"line {number}"
            )
            for number, (text, triples) in enumerate(rows)
        ],
        source="test",
        format="triple-list",
    )


def found(
    *rows: tuple[str, list[tuple[str, str, str]]], train: Corpus | None = None
) -> dict[str, Finding]:
    return {finding.check: finding for finding in findings(corpus(*rows), train)}


def people(
    relation: str, count: int, start: int = 0
) -> list[tuple[str, list[tuple[str, str, str]]]]:
    names = [chr(ord("a") + number) * 3 for number in range(start, start + count)]
    return [
        (f"{name} {name}x {name}y saw {name}z", [(name, relation, f"{name}z")]) for name in names
    ]


@pytest.mark.parametrize(("count", "rare"), [(4, True), (5, False)])
def test_a_relation_of_fewer_than_five_triples_is_rare(count: int, rare: bool) -> None:
    assert ("rare-relations" in found(*people("r", count))) is rare


def test_the_three_rarest_relations_are_shown_and_the_first_unknown_ones() -> None:
    rows = [
        row for number in range(5) for row in people(f"r{number}", 1 + (number == 0), 2 * number)
    ]
    assert found(*rows)["rare-relations"].examples == ("r2 (1)", "r3 (1)", "r4 (1)")
    unknown = found(*rows, train=corpus(*people("r0", 1)))["unknown-relations"]
    assert (unknown.count, unknown.examples) == (4, ("r1 (1)", "r2 (1)", "r3 (1)"))


def test_label_noise_comes_in_one_order() -> None:
    loops = found(("a b c d", [(name, "r", name) for name in "dcba"]))["loops"]
    assert (loops.count, loops.examples) == (4, tuple(f"0: ({name}; r; {name})" for name in "abc"))
    pairs = [("d", "r", "c"), ("d", "q", "c"), ("b", "r", "a"), ("b", "q", "a")]
    assert found(("a b c d", pairs))["several-relations"].examples == (
        "0: b – a: q, r",
        "0: d – c: q, r",
    )
    there_and_back = found(("a b", [("a", "r", "b"), ("b", "r", "a")]))["both-directions"]
    assert (there_and_back.count, there_and_back.examples) == (1, ("0: a – b",))
    assert "both-directions" not in found(("a b", [("a", "r", "b"), ("b", "q", "a")]))


def test_spans_that_touch_or_overlap_are_not_nested() -> None:
    assert "nesting" not in found(("ab cd ef", [("ab cd", "r", "cd ef")]))
    finding = found(("ab cd ef", [("ab cd", "r", "cd ef"), ("ab", "r", "ef")]))["nesting"]
    assert finding.examples == ("0: 'ab' in 'ab cd'", "0: 'ef' in 'cd ef'")


@pytest.mark.parametrize(
    ("size", "relations", "objects", "said"),
    [
        (11, 6, 5, True),
        (11, 5, 0, False),
        (11, 6, 6, False),
        (11, 11, 0, True),
        (10, 6, 5, False),
        (9, 9, 0, False),
    ],
)
def test_an_order_is_said_where_most_relations_and_few_objects_stand(
    size: int, relations: int, objects: int, said: bool
) -> None:
    """More than half of the relations, fewer than half of the objects (or subjects)."""
    for order, parts in (("sor", lambda s, r, o: (s, r, o)), ("rso", lambda s, r, o: (o, r, s))):
        rows = []
        for number in range(size):
            strings = f"s{number}", f"R{number}", f"o{number}"
            present = [
                strings[0],
                *[strings[1]] * (number < relations),
                *[strings[2]] * (number < objects),
            ]
            rows.append((" ".join(present), [parts(*strings)]))
        assert [check for check in found(*rows) if check.startswith("order")] == [
            f"order-{order}"
        ] * said


def test_entities_are_missing_by_case_by_blanks_or_altogether_once_a_sentence() -> None:
    rows = [
        ("ANN saw NewYork", [("Ann", "r", "New York"), ("Ann", "q", "Bo")]),
        ("ann slept", [("Ann", "r", "slept")]),
        ("New York", [("New York", "r", "NewYork")]),
    ]
    kinds = {
        check: (finding.count, len(finding.examples)) for check, finding in found(*rows).items()
    }
    assert {check: kinds[check] for check in ("missing-case", "missing-blanks", "missing-strings")} == {
        "missing-case": (2, 2), "missing-blanks": (2, 2), "missing-strings": (1, 1),
    }  # fmt: skip


def test_spellings_of_one_relation_and_blanks_around_strings() -> None:
    rows = [
        (
            "a b",
            [
                ("a", "born in", "b"),
                ("a", "Born_In", "b"),
                ("a", "-", "b"),
                ("a", "--", "b"),
                ("b", "of", "a"),
            ],
        ),
        (" a b", [(" a", "of", "b"), (" a", "by", "b")]),
    ]
    said = found(*rows)
    assert (said["spelling"].count, said["spelling"].examples) == (1, ("Born_In / born in",))
    assert said["blanks"].count == 2 and said["blanks"].text.startswith("1 different strings")


def test_nothing_is_said_of_a_corpus_without_faults() -> None:
    assert found(*people("r", 5)) == {}
