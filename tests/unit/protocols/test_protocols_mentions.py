import pytest

from support.webnlg import sentence
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.protocols.augmented.mentions import lay_out, replace_places, rewrite


def test_places_are_replaced_and_offsets_shift():
    text, shift = replace_places("a bb ccc d", {(2, 4): "xxxx", (5, 8): "y"})
    assert text == "a xxxx y d"
    assert [shift(offset) for offset in (0, 1, 4, 5, 8, 9, 10)] == [0, 1, 6, 7, 8, 9, 10]


def test_every_mention_of_a_string_changes_and_longer_words_do_not():
    row = sentence("Rome , not Romeo , loves Rome and (Rome) .", ("Rome", "r", "Romeo"))
    new = rewrite(row, lay_out(row), {"Rome": ("Oslo",)}, "x")
    assert new.text == "Oslo , not Romeo , loves Oslo and (Rome) ."  # word-delimited mentions exist, so only those
    assert [triple.strings for triple in new.triples] == [("Oslo", "r", "Romeo")]
    assert not list(new.problems())


def test_a_mention_inside_a_longer_entity_belongs_to_it():
    row = sentence("A.C. Cesena plays in Cesena .", ("A.C. Cesena", "ground", "Cesena"))
    layout = lay_out(row)
    assert [[entity.text for entity in group] for group in layout.groups] == [["A.C. Cesena"], ["Cesena"]]
    new = rewrite(row, layout, {"Cesena": ("Rimini",)}, "x")
    assert new.text == "A.C. Cesena plays in Rimini ."
    assert new.triples[0].object == Span(21, 27, "Rimini")  # the gold span was the inner mention


def test_a_nested_entity_and_the_one_around_it_form_a_group():
    row = sentence("New York City is big .", ("New York City", "in", "New York"))
    layout = lay_out(row)
    (group,) = layout.groups
    assert [(entity.text, entity.nested) for entity in group] == [("New York", True), ("New York City", False)]
    assert group[1].inner == {"New York": [0]}
    new = rewrite(row, layout, {"New York": ("Old", "Bern"), "New York City": ("Old", "Bern", "Town")}, "x")
    assert new.text == "Old Bern Town is big ."
    assert [triple.strings for triple in new.triples] == [("Old Bern Town", "in", "Old Bern")]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("New York City Hall", [(0, 13), (4, 18)]),  # overlap that is no nesting
        ("Anne-Marie", [(0, 10), (0, 4)]),  # an inner mention that divides a word
    ],
)
def test_entities_that_cannot_change_consistently_are_frozen(text, spans):
    one, other = (Span(start, end, text[start:end]) for start, end in spans)
    row = Sentence("s", text, (Triple(one, "r", other),))
    layout = lay_out(row)
    assert layout.frozen == {one.text, other.text}


def test_irregular_blanks_and_the_rest_of_the_text_stay_byte_for_byte():
    text = "\tNew  York\u00a0is  (the) place ,\u2028Bob said"
    row = Sentence("s", text, (Triple(Span(1, 10, "New  York"), "r", Span(29, 32, "Bob")),))
    new = rewrite(row, lay_out(row), {"New  York": ("Los", "Angeles"), "Bob": ("Christopher",)}, "x")
    assert new.text == "\tLos  Angeles\u00a0is  (the) place ,\u2028Christopher said"
    assert not list(new.problems())


def test_entities_without_a_place_keep_their_string():
    row = sentence("Ada wrote it", ("Ada", "r", "Notes"))
    new = rewrite(row, lay_out(row), {"Ada": ("Eve",)}, "x")
    assert new.triples[0].strings == ("Eve", "r", "Notes")
    assert new.triples[0].object == Span(None, None, "Notes")
