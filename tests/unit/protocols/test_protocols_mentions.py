from collections import Counter

import pytest

from support.webnlg import read_triple_list, sentence
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.protocols.substitution import lay_out, replace_at, rewrite
from tripleaudit.protocols.variants import PARTS


def placed(text: str, *spans: tuple[int, int]) -> Sentence:
    """A sentence with one triple between two spans."""
    one, other = (Span(start, end, text[start:end]) for start, end in spans)
    return Sentence("s", text, (Triple(one, "r", other),))


def test_positions_are_replaced_and_offsets_shift():
    text, shift = replace_at("a bb ccc d", {(2, 4): "xxxx", (5, 8): "y"})
    assert text == "a xxxx y d"
    assert [shift(offset) for offset in (0, 1, 4, 5, 8, 9, 10)] == [0, 1, 6, 7, 8, 9, 10]


@pytest.mark.parametrize(
    ("row", "words", "text", "strings"),
    [
        (  # mentions between blanks exist, so only those change, and no longer words
            sentence("Rome , not Romeo , loves Rome and (Rome) .", ("Rome", "r", "Romeo")), {"Rome": ("Oslo",)},
            "Oslo , not Romeo , loves Oslo and (Rome) .", ("Oslo", "r", "Romeo"),
        ),
        (  # a mention inside a longer entity belongs to it, and the gold span that was there moves to the other one
            sentence("A.C. Cesena plays in Cesena .", ("A.C. Cesena", "r", "Cesena")), {"Cesena": ("Rimini",)},
            "A.C. Cesena plays in Rimini .", ("A.C. Cesena", "r", "Rimini"),
        ),
        (  # irregular blanks and the rest stay byte for byte
            placed("\tNew  York\u00a0is  (the) place ,\u2028Bob said", (1, 10), (29, 32)),
            {"New  York": ("Los", "Angeles"), "Bob": ("Christopher",)},
            "\tLos  Angeles\u00a0is  (the) place ,\u2028Christopher said", ("Los  Angeles", "r", "Christopher"),
        ),
        (sentence("Ada wrote it", ("Ada", "r", "Notes")), {"Ada": ("Eve",)}, "Eve wrote it", ("Eve", "r", "Notes")),
        (placed("aa-bb leads", (0, 2), (2, 5)), {"aa": ("ccc",), "-bb": ("-d",)}, "ccc-d leads", ("ccc", "r", "-d")),
    ],
)  # fmt: skip
def test_mentions_change_and_spans_move_with_them(row, words, text, strings):
    layout = lay_out(row)
    assert layout.stays is None
    new = rewrite(layout, words, "x")
    assert (new.text, new.triples[0].strings, list(new.problems())) == (text, strings, [])


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (
            sentence(
                "New York City is big .", ("New York City", "in", "New York"), ("big", "r", "big")
            ),
            "nested",
        ),
        (placed("Anne-Marie", (0, 10), (0, 4)), "nested"),  # an inner mention that divides a word
        (
            placed("New York City Hall", (0, 13), (4, 18)),
            "overlapping",
        ),  # overlap that is no nesting
    ],
)
def test_sentences_whose_entities_cannot_change_consistently_stay(row, why):
    layout = lay_out(row)
    assert layout.stays == why
    new = rewrite(layout, {}, "x")
    assert (new.text, new.triples) == (row.text, row.triples)


def test_the_sentences_that_stay_are_the_unchanged_ones_of_the_published_files(real_data):
    folder = real_data / "rte-eval"
    original = read_triple_list(folder / "WebNLG_all" / "test_data.json")
    augmented = folder / "augmented_test_WebNLG_all"
    parts = [read_triple_list(augmented / f"{part}_test_data.json") for part in PARTS]
    assert Counter(lay_out(row).stays for row in original) == {
        None: 664,
        "nested": 38,
        "overlapping": 1,
    }
    for row, *variants in zip(original, *parts, strict=True):
        unchanged = all(variant.text == row.text for variant in variants)
        assert unchanged == (lay_out(row).stays is not None), row.text
