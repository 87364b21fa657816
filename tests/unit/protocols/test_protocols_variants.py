"""Whose variant an augmented sentence is: by its id, or by its position in published files."""

import pytest

from support.published import webnlg
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.protocols.build import build_protocol
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.variants import named_by_position, variants_of


def row(id_: str, relation: str) -> Sentence:
    return Sentence(
        id_, "Ada Brelin", (Triple(Span(0, 3, "Ada"), relation, Span(4, 10, "Brelin")),)
    )


TEST = [row("a", "born_in"), row("b.c", "lives_in")]


def test_ids_say_whose_variant_a_sentence_is_in_any_order_and_number():
    assert variants_of(["a", "b.c", "d"], ["b.c.uu", "a.su", "b.c.ss", "d"]) == [[1], [0, 2], [3]]
    with pytest.raises(
        UserError,
        match="demo: the sentence 'x.su' is a variant of no test sentence; expected .* a.su",
    ):
        variants_of(["a"], ["a.su", "x.su"], "demo")


def test_published_variants_lie_part_after_part():
    published = [
        row(f"{part}-{place}", one.triples[0].relation)
        for part in "wxyz"
        for place, one in enumerate(TEST)
    ]
    named = named_by_position(TEST, published)
    assert [one.id for one in named] == [
        "a.ss",
        "b.c.ss",
        "a.su",
        "b.c.su",
        "a.us",
        "b.c.us",
        "a.uu",
        "b.c.uu",
    ]
    with pytest.raises(
        UserError,
        match="sentence 1 of part su has other relations than 'a', whose variant it should",
    ):
        named_by_position(TEST, [*published[:2], published[3], published[2], *published[4:]])
    with pytest.raises(UserError, match="hold 7 sentences, expected 4 for each of 2"):
        named_by_position(TEST, published[:-1])


def test_a_file_of_ones_own_is_taken_as_it_is_if_each_sentence_is_of_a_test_sentence():
    own = [row("b.c.1", "lives_in"), row("a.1", "born_in")]
    built, report = build_protocol(
        "augmented", Splits([], [], own), {"source": "files"}, original=TEST
    )
    assert built.test == own and report["options"] == {"source": "files"}
    with pytest.raises(UserError, match="'test-1' is a variant of no test sentence"):
        build_protocol(
            "augmented", Splits([], [], [row("test-1", "r")]), {"source": "files"}, original=TEST
        )


def test_the_published_variants_of_webnlg_are_those_of_its_test_set():
    test = webnlg().original.test
    published = [sentence for part in webnlg().augmented.values() for sentence in part]
    assert len(named_by_position(test, published)) == 2812
    with pytest.raises(UserError, match="other relations"):
        named_by_position(test, published[1:] + published[:1])
