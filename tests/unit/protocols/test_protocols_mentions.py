from collections import Counter

import pytest

from support.webnlg import read_triple_list, sentence
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.protocols.substitution import lay_out, replace_at, rewrite


def test_positions_are_replaced_and_offsets_shift():
    text, shift = replace_at("a bb ccc d", {(2, 4): "xxxx", (5, 8): "y"})
    assert text == "a xxxx y d"
    assert [shift(offset) for offset in (0, 1, 4, 5, 8, 9, 10)] == [0, 1, 6, 7, 8, 9, 10]


def test_every_mention_of_a_string_changes_and_longer_words_do_not():
    row = sentence("Rome , not Romeo , loves Rome and (Rome) .", ("Rome", "r", "Romeo"))
    new = rewrite(lay_out(row), {"Rome": ("Oslo",)}, "x")
    assert new.text == "Oslo , not Romeo , loves Oslo and (Rome) ."  # word-delimited mentions exist, so only those
    assert [triple.strings for triple in new.triples] == [("Oslo", "r", "Romeo")]
    assert not list(new.problems())


def test_a_mention_inside_a_longer_entity_belongs_to_it():
    row = sentence("A.C. Cesena plays in Cesena .", ("A.C. Cesena", "ground", "Cesena"))
    layout = lay_out(row)
    assert list(layout.entities) == ["A.C. Cesena", "Cesena"] and layout.stays is None
    new = rewrite(layout, {"Cesena": ("Rimini",)}, "x")
    assert new.text == "A.C. Cesena plays in Rimini ."
    assert new.triples[0].object == Span(21, 27, "Rimini")  # the gold span was the inner mention


def test_a_sentence_with_an_entity_inside_a_longer_one_only_stays_as_it_is():
    row = sentence("New York City is big .", ("New York City", "in", "New York"), ("big", "r", "big"))
    layout = lay_out(row)
    assert layout.stays == "nested"
    new = rewrite(layout, {}, "x")
    assert (new.text, new.triples) == (row.text, row.triples)


@pytest.mark.parametrize(
    ("text", "spans", "why"),
    [
        ("New York City Hall", [(0, 13), (4, 18)], "overlapping"),  # overlap that is no nesting
        ("Anne-Marie", [(0, 10), (0, 4)], "nested"),  # an inner mention that divides a word
    ],
)
def test_sentences_whose_entities_cannot_change_consistently_stay(text, spans, why):
    one, other = (Span(start, end, text[start:end]) for start, end in spans)
    row = Sentence("s", text, (Triple(one, "r", other),))
    assert lay_out(row).stays == why


def test_irregular_blanks_and_the_rest_of_the_text_stay_byte_for_byte():
    text = "\tNew  York\u00a0is  (the) place ,\u2028Bob said"
    row = Sentence("s", text, (Triple(Span(1, 10, "New  York"), "r", Span(29, 32, "Bob")),))
    new = rewrite(lay_out(row), {"New  York": ("Los", "Angeles"), "Bob": ("Christopher",)}, "x")
    assert new.text == "\tLos  Angeles\u00a0is  (the) place ,\u2028Christopher said"
    assert not list(new.problems())


def test_entities_without_a_position_keep_their_string():
    row = sentence("Ada wrote it", ("Ada", "r", "Notes"))
    new = rewrite(lay_out(row), {"Ada": ("Eve",)}, "x")
    assert new.triples[0].strings == ("Eve", "r", "Notes")
    assert new.triples[0].object == Span(None, None, "Notes")


def test_the_sentences_that_stay_are_the_unchanged_ones_of_the_published_files(real_data):
    folder = real_data / "rte-eval"
    original = read_triple_list(folder / "WebNLG_all" / "test_data.json")
    parts = [
        read_triple_list(folder / "augmented_test_WebNLG_all" / f"{part}_test_data.json")
        for part in ("ss", "su", "us", "uu")
    ]
    stay = Counter(lay_out(row).stays for row in original)
    assert stay == {None: 664, "nested": 38, "overlapping": 1}
    for number, row in enumerate(original):
        unchanged = all(part[number].text == row.text for part in parts)
        assert unchanged == (lay_out(row).stays is not None), row.text


def test_entities_that_touch_can_change():
    row = Sentence("s", "aa-bb leads", (Triple(Span(0, 2, "aa"), "r", Span(2, 5, "-bb")),))
    assert lay_out(row).stays is None
    assert rewrite(lay_out(row), {"aa": ("ccc",), "-bb": ("-d",)}, "x").text == "ccc-d leads"
