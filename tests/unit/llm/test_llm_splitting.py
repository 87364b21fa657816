"""Splitting gives the document back, keeps its limits, and respects what must stay whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tripleaudit.llm.splitting import blocks, paragraphs, piece_of, sentences, split, split_evenly

from tripleaudit.errors import UserError

TEXTS = st.text(alphabet="aB. \n\r\t|-1`é\U0001f600", max_size=300)


def joined(text, spans):
    return "".join(text[a:b] for a, b in spans)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(1, 80))
def test_joined_pieces_are_the_text_and_keep_the_limit(text, limit):
    pieces = split(text, limit)
    assert joined(text, pieces) == text
    assert all(0 < b - a <= limit for a, b in pieces) or limit == 1 and "\r\n" in text
    assert joined(text, paragraphs(text)) == text
    assert joined(text, sentences(text)) == text


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(1, 40), st.data())
def test_protected_spans_stay_in_one_piece(text, limit, data):
    if len(text) < 4:
        return
    start = data.draw(st.integers(0, len(text) - 2))
    end = data.draw(st.integers(start + 1, len(text)))
    pieces = split(text, limit, [(start, end)])
    assert joined(text, pieces) == text
    assert piece_of(start, pieces) == piece_of(end - 1, pieces)


def test_boundaries_are_paragraphs_then_sentences_then_whitespace_then_anywhere():
    parts = ["One two. Three four.\n\n", "Five six seven. ", "Eight nine ten."]
    assert [("".join(parts))[a:b] for a, b in split("".join(parts), 30)] == parts
    assert split("aaa bbb ccc", 8) == [(0, 8), (8, 11)] and split("aaa bbb", 7) == [(0, 7)]
    assert split_evenly("aaaa\n\nb cccccccc", 2) == [(0, 6), (6, 16)]  # a quarter of a piece away, and no more
    assert [piece_of(place, [(0, 2), (2, 5)]) for place in range(5)] == [0, 0, 1, 1, 1] and blocks("    a") == [(0, 5)]
    assert split("Ab. Cd ef", 8) == [(0, 4), (4, 9)]  # a sentence that ends in the middle of a piece, to the character
    assert split("aa bbbbbbb", 8) == [(0, 3), (3, 10)]  # a blank before the middle sooner than within a word
    assert split("x" * 25, 10) == [(0, 10), (10, 20), (20, 25)]
    crlf = "One.\r\n\r\nTwo.\r\n"
    assert [crlf[a:b] for a, b in paragraphs(crlf)] == ["One.\r\n\r\n", "Two.\r\n"]


def test_more_pieces_than_there_are_words_are_refused():
    with pytest.raises(UserError, match="cannot be split into 5 pieces"):
        split_evenly("two words", 5)
