"""Units give the document back, pieces keep their limit, and needles and code stay whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripleaudit.core.errors import UserError
from tripleaudit.llm.units import (
    Unit,
    is_prose,
    paragraphs,
    pieces,
    sentences,
    split_evenly,
    text_of,
)

TEXTS = st.text(alphabet="aB. \n\r\t|-1`é\U0001f600", max_size=300)
UNITS = st.lists(
    st.builds(Unit, st.text("ab. \n", min_size=1, max_size=40), st.sampled_from(["", "", "needle"]))
)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(1, 80))
def test_joined_units_and_pieces_are_the_text(text, limit):
    assert "".join(paragraphs(text)) == text
    assert "".join(part for paragraph in paragraphs(text) for part in sentences(paragraph)) == text
    runs = pieces([Unit(paragraph) for paragraph in paragraphs(text)], limit)
    assert "".join(map(text_of, runs)) == text
    assert all(0 < len(text_of(run)) <= limit for run in runs) or (limit == 1 and "\r\n" in text)


@settings(max_examples=150, deadline=None)
@given(UNITS, st.integers(1, 60))
def test_needles_are_never_divided(units, limit):
    runs = pieces(units, limit)
    assert text_of([unit for run in runs for unit in run]) == text_of(units)
    assert [unit for run in runs for unit in run if unit.needle] == [
        unit for unit in units if unit.needle
    ]
    too_long = [run for run in runs if len(text_of(run)) > limit]
    assert all(len(run) == 1 and run[0].needle for run in too_long)


def texts(runs):
    return [text_of(run) for run in runs]


def test_pieces_end_at_paragraphs_then_sentences_then_blanks_then_anywhere():
    parts = ["One two. Three four.\n\n", "Five six seven. ", "Eight nine ten."]
    assert texts(pieces([Unit(paragraph) for paragraph in paragraphs("".join(parts))], 30)) == parts
    assert texts(pieces([Unit("aaa bbb ccc")], 8)) == ["aaa bbb ", "ccc"]
    assert texts(pieces([Unit("aa bbbbbbb")], 8)) == [
        "aa ",
        "bbbbbbb",
    ]  # a blank sooner than within a word
    assert texts(pieces([Unit("x" * 25)], 10)) == ["x" * 10, "x" * 10, "x" * 5]
    assert pieces([], 10) == []


def test_a_short_piece_is_filled_from_the_next_paragraph():
    units = [Unit("Short.\n\n"), Unit("A long paragraph. " * 5)]
    assert texts(pieces(units, 30)) == ["Short.\n\nA long paragraph. ", *["A long paragraph. "] * 4]


@pytest.mark.parametrize(
    "whole",
    [
        "```\ncode\n\nmore code\n```",
        "~~~\n```\ncode\n\nmore\n```\n~~~",
        "- one\n\n- two\n\n- three",
        "    def f(x):\n        return x\n\n    print(f(2))",
    ],
    ids=["fence", "fence in a fence", "list", "indented code"],
)
def test_code_and_lists_are_one_paragraph(whole):
    assert paragraphs(f"Before.\n\n{whole}\n\nBehind.\n") == [
        "Before.\n\n",
        f"{whole}\n\n",
        "Behind.\n",
    ]
    assert not is_prose(whole)


@pytest.mark.parametrize(
    ("paragraph", "prose"),
    [
        ("Words stand here.", True),
        (
            "words without an end that go on for more than the eighty characters of a heading, as here",
            True,
        ),
        ("It costs 5 | 6 and more.", True),
        ("# Methods. And Materials", False),
        ("Methods. And Materials\n======", False),
        ("Materials and methods", False),
        ("a | b | c\n1 | 2 | 3", False),
        ("- one\n- two", False),
        ("- One item alone, which ends with a stop.", False),
        ("The list begins here:\n- One item of it.", True),
    ],
)
def test_prose_is_told_from_headings_and_blocks(paragraph, prose):
    assert is_prose(paragraph) is prose


def test_sentences_do_not_end_at_abbreviations():
    text = "Dr. Moss met J. Lund et al. in Rome. They talked, e.g. about No. 5 (see Fig. 2). It rained.\n"
    assert sentences(text) == [
        "Dr. Moss met J. Lund et al. in Rome. ",
        "They talked, e.g. about No. 5 (see Fig. 2). ",
        "It rained.\n",
    ]


def test_even_parts_end_at_the_best_boundary_near():
    assert split_evenly("aaaa\n\nb cccccccc", 2) == ["aaaa\n\n", "b cccccccc"]
    assert split_evenly(" b", 2) == [" ", "b"]
    text = "Words stand here, one after the other. " * 30
    parts = split_evenly(text, 7)
    assert "".join(parts) == text and len(parts) == 7
    assert max(map(len, parts)) - min(map(len, parts)) <= 2 * len(
        "Words stand here, one after the other. "
    )
    with pytest.raises(UserError, match="cannot be split into 5 parts"):
        split_evenly("two words", 5)
