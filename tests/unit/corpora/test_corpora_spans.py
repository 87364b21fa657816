"""Word-boundary-aware span finding."""

import pytest

from tripleaudit.corpora.spans import find_spans


@pytest.mark.parametrize(
    ("text", "entity", "spans", "level"),
    [
        ("China beat Chin .", "Chin", [(11, 15)], "word"),  # not inside "China"
        ("(Paris), then Paris.", "Paris", [(1, 6)], "token"),
        ("A parisian in Paris2024", "Paris", [(14, 19)], "substring"),
        ("北京是首都", "北京", [(0, 2)], "token"),
        ("サッカーはアダが好き", "アダ", [(5, 7)], "token"),
        ("นี่คือกรุงเทพมหานคร", "กรุงเทพ", [(6, 13)], "token"),
        ("서울에서 만나요", "서울", [(0, 2)], "token"),  # a particle follows
        ("한서울 서울로", "서울", [(4, 6)], "token"),
        ("Cancun is hot", "Cancún", [], "missing"),
        ("Any text", "", [], "missing"),
        (" Iraq and Iraq ", "Iraq", [(1, 5)], "word"),  # leading blank: the offset does not shift
        (
            "Paris, Paris",
            "Paris",
            [(7, 12)],
            "word",
        ),  # a later whole word beats an earlier one with punctuation
        ("1 . FC Köln won", "1 . FC Köln", [(0, 11)], "word"),
        ("cost $5 , not $55", "$5", [(5, 7)], "word"),
    ],
)
def test_first_occurrence(text, entity, spans, level):
    assert find_spans(text, entity) == (spans, level)
    assert all(text[start:end] == entity for start, end in spans)


def test_every_occurrence_of_the_best_level_only():
    assert find_spans("Rome , Romeo , Rome", "Rome", every=True) == ([(0, 4), (15, 19)], "word")
    assert find_spans("Rome, Romeo, (Rome)", "Rome", every=True) == ([(0, 4), (14, 18)], "token")


def test_overlapping_occurrences_are_all_found():
    assert find_spans("a b a b a", "a b a", every=True) == ([(0, 5), (4, 9)], "word")
