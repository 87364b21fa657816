"""Reading triples, labels and values out of what language models write."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripleaudit.llm.client import Answer
from tripleaudit.llm.reading import (
    STATUSES,
    count_parts,
    decode,
    parse_entities,
    parse_label,
    parse_match,
    parse_rows,
    parse_triples,
    parse_yes_no,
)

ABC = ("a", "b", "c")
CASES = json.loads(
    (Path(__file__).parents[2] / "data" / "answers.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("text", "triples", "status"), CASES["triples"])
def test_answers_and_their_status(text, triples, status):
    parsed = parse_triples(text)
    assert [[*triple.strings] for triple in parsed.records] == triples
    assert parsed.status == status


def test_repeats_are_counted_and_keep_their_first_position():
    parsed = parse_triples(
        '[["a","b","c"],["d","e","f"],["d","e","f"],["a","b","c"],["d","e","f"]]'
    )
    assert [(triple.strings, triple.repeats) for triple in parsed.records] == [
        (ABC, 2),
        (("d", "e", "f"), 3),
    ]
    assert parsed.records[0].to_json() == {
        "subject": "a",
        "relation": "b",
        "object": "c",
        "repeats": 2,
    }
    assert "repeats" not in parse_triples('[["a","b","c"]]').records[0].to_json()
    assert parsed.status == "ok"


def test_malformed_items_are_counted():
    parsed = parse_triples('[["a","b"],"x",["a","b","c","d"],["a","b","c"],{"subject":"a"}]')
    assert (parsed.dropped, len(parsed.records), parsed.status) == (4, 1, "repaired")


OTHER = ("A", "lives in", "B")
GROUPS = {  # a line next to (A, lives in, B) -> its triple
    "(Smith, Jones & Co., based_in, B)": ("Smith, Jones & Co.", "based_in", "B"),
    "(Smith, Jones, lives in, Paris, Texas)": ("Smith, Jones", "lives in", "Paris, Texas"),
    '(Bob "Red" Stone, lives in, B)': ('Bob "Red" Stone', "lives in", "B"),
    "(Ann, Bo, Cy, Di)": None,
    "(Ann, lives in)": None,
}


@pytest.mark.parametrize("line", GROUPS)
def test_groups_with_commas_or_quotes_in_names_are_read_or_counted(line):
    parsed = parse_triples(f"{line}\n(A, lives in, B)")
    triple = GROUPS[line]
    assert [record.strings for record in parsed.records] == ([triple, OTHER] if triple else [OTHER])
    assert parsed.dropped == (triple is None)


def test_words_in_brackets_are_no_malformed_items():
    parsed = parse_triples("(see below)\n(A, lives in, B)")
    assert len(parsed.records) == 1 and not parsed.dropped


def test_types_are_cut_off_only_where_they_are_types():
    parsed = parse_triples(
        '[["Paris:LOCATION","in","Star Wars: A New Hope"]]', entity_types=["location", "person"]
    )
    (triple,) = parsed.records
    assert triple.strings == ("Paris", "in", "Star Wars: A New Hope")
    assert (triple.subject_type, triple.object_type) == ("LOCATION", None)
    (typed,) = parse_triples('[{"s":"a","s_type":"X","r":"b","o":"c","object_type":"Y"}]').records
    assert (typed.subject_type, typed.object_type) == ("X", "Y")


def test_the_status_of_the_answer_counts():
    parsed = parse_triples(Answer('[["a","b","c"]]', "truncated"))
    assert (parsed.status, len(parsed.records)) == ("truncated", 1)
    assert parse_triples(Answer("no", "refused")).status == "refused"


# a line with separators is a form of answer of its own, in which the beginning of a list of lists
# may be read otherwise
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="|;\t"), max_size=6)
TRIPLES = st.lists(st.lists(WORDS, min_size=3, max_size=3), max_size=5)


@settings(max_examples=150, deadline=None)
@given(TRIPLES, st.booleans(), st.booleans(), st.data())
def test_the_beginning_of_an_answer_gives_the_beginning_of_its_triples(
    rows, wrapped, objects, data
):
    if objects:
        rows = [dict(zip(("subject", "relation", "object"), row, strict=True)) for row in rows]
    text = json.dumps({"triples": rows} if wrapped else rows, ensure_ascii=data.draw(st.booleans()))
    whole = [(t.strings, t.repeats) for t in parse_triples(text).records]
    cut = data.draw(st.integers(0, len(text)))
    part = parse_triples(text[:cut])
    assert [t.strings for t in part.records] == [strings for strings, _ in whole][
        : len(part.records)
    ]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="[]{}(),:\"'abcE \\n#/|“”0-", max_size=60))
def test_nothing_makes_it_raise(text):
    assert parse_triples(text).status in STATUSES and parse_entities(text).status in STATUSES
    parse_label(text, ["abc"]), parse_rows(text), parse_match(text)


@pytest.mark.parametrize("text", ["[" * 5000, "{" * 5000, "[{" * 3000, '["' * 3000, "['a" * 3000])
def test_hostile_nesting_ends_soon(text):
    began = time.process_time()
    found = parse_triples(text)
    assert not found.records and found.status in ("failed", "truncated")
    assert time.process_time() - began < 5


@pytest.mark.parametrize(("text", "label", "status"), CASES["labels"])
def test_labels(text, label, status):
    labels = [
        "located in",
        "located in the city",
        "the city",
        "spouse",
        "/people/person/place_lived",
        "born in",
        "lives in",
    ]
    assert parse_label(text, labels) == (label, status)


@pytest.mark.parametrize(("text", "verdict"), CASES["verdicts"])
def test_verdicts_are_what_an_answer_says_in_the_end(text, verdict):
    assert parse_yes_no(text) is verdict


def test_rows_and_matches_are_found_in_what_they_are_wrapped_in():
    assert parse_rows('{"n": 2, "none": [], "rows": [{"a": 1}, {}]} [{"b": 2}, 5] {"c": 3}') == [
        {"a": 1},
        {},
        {"b": 2},
        {"c": 3},
    ]


@pytest.mark.parametrize(("text", "number"), CASES["matches"])
def test_matches_are_told_from_no_match_and_from_unreadable_answers(text, number):
    assert parse_match(text) == number


def test_prose_with_brackets_does_not_hide_the_answer():
    decoded = decode('As in [the note: see {this}], the answer is {"a": 1}')
    assert {"a": 1} in decoded.values
    assert decoded.surrounded


@pytest.mark.parametrize("text", ["9" * 5000, '{"match": "' + "9" * 5000 + '"}', "-" + "9" * 5000])
def test_a_number_of_thousands_of_digits_is_no_answer(text):
    assert not parse_match(text) and not count_parts(text)


def test_a_long_answer_without_a_question_is_read_in_linear_time():
    assert parse_yes_no("word " * 20_000) is None
    assert parse_match("neither " * 20_000) is None
    assert parse_yes_no("Is it so? Well, is it? Yes.") is True
