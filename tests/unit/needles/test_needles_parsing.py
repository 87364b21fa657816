"""Malformed answers, each with its status and entities."""

import json

import pytest

from tripleaudit.llm.reading import parse_entities, parse_match, parse_rows

ADA = {"type": "Person", "name": "Ada", "keywords": ["x"]}


@pytest.mark.parametrize(
    ("text", "status", "names"),
    [
        ('{"entities": [{"type": "Person", "name": "Ada"}]}', "ok", ["Ada"]),
        (
            '[{"type": "Person", "name": "Ada"}, {"type": "Person", "name": "Bo"}]',
            "ok",
            ["Ada", "Bo"],
        ),
        ('{"type": "Person", "name": "Ada"}', "ok", ["Ada"]),
        ('{"Person": [{"name": "Ada"}], "Place": [{"name": "Rome"}]}', "ok", ["Ada", "Rome"]),
        ('{"type": "T", "name": "Ada"}\n{"type": "T", "name": "Bo"}', "ok", ["Ada", "Bo"]),
        ('Here you are: [{"type": "T", "name": "Ada"}] Done.', "repaired", ["Ada"]),
        ("[{'type': 'T', 'name': 'Ada',}]", "repaired", ["Ada"]),
        ('[{"type": "T", "name": "Ada", "worksFor": None}]', "repaired", ["Ada"]),
        ('{"Person": [], "Place": []}', "empty", []),
        ("[]", "empty", []),
        ("I found nothing.", "failed", []),
        ('["Ada", "Bo"]', "failed", []),
        ("No further entities.", "empty", []),
        ('{"Ada": "Person", "Rome": "Place"}', "ok", ["Ada", "Rome"]),
        ('{"Person": "Ada"}', "ok", ["Ada"]),
        ('{"entities": {"Ada": "Person"}}', "ok", ["Ada"]),
        ('[{"Ada": "Person"}, {"Rome": "Place"}]', "ok", ["Ada", "Rome"]),
        ('{"1": {"name": "Ada", "type": "Person"}}', "ok", ["Ada"]),
        ('{"0": ["Ada", "Bo"]}', "repaired", ["Ada", "Bo"]),
        ('{"entities": null}', "empty", []),
        ("There are no more entities in this part.", "empty", []),
        ("There are no entities other than Ada.", "failed", []),
        ('{"Person": ["Ada", "Bo"], "Place": ["Rome"]}', "ok", ["Ada", "Bo", "Rome"]),
        (
            '{"entities": {"Person": [{"name": "Ada"}], "Place": [{"name": "Rome"}]}}',
            "ok",
            ["Ada", "Rome"],
        ),
        (
            '{"entities": [{"Person": {"name": "Ada"}}, {"Place": {"name": "Rome"}}]}',
            "ok",
            ["Ada", "Rome"],
        ),
        (
            '{"@context": "https://schema.org", "@graph": [{"@type": "Person", "name": "Ada"}]}',
            "ok",
            ["Ada"],
        ),
        ('{"data": {"entities": [{"type": "Person", "name": "Ada"}]}}', "ok", ["Ada"]),
        ('{"entities": [{"Type": "Person", "Name": "Ada"}]}', "ok", ["Ada"]),
        (
            '```json\n[{"type": "T", "name": "Ada"}]\n```\n```json\n[{"type": "T", "name": "Bo"}]\n```',
            "ok",
            ["Ada", "Bo"],
        ),
        ('{"entities": [{"type": "T", "name": "Ada"}, {"type": "T", "na', "truncated", ["Ada"]),
        ('{"entities": [{"type": "T", "na', "truncated", []),
        ('[{"@type": "Person", "title": "Ada"}]', "repaired", ["Ada"]),
        ('[{"name": "Ada"}]', "repaired", ["Ada"]),
        ('[{"type": "T", "description": "d"}]', "repaired", [None]),
        (("[]", "truncated"), "truncated", []),  # as the client has it
        (("[]", "refused"), "refused", []),
    ],
)
def test_answers(text, status, names):
    parsed = parse_entities(*([text] if isinstance(text, str) else text))
    assert (parsed.status, [record["name"] for record in parsed.records]) == (status, names)


def test_records_are_normalised():
    row = {
        "@type": ["Person"],
        "label": 7,
        "keywords": "a, b ,",
        "age": 3,
        "ok": True,
        "of": {"x": 1},
        "none": None,
    }
    (record,) = parse_entities(json.dumps([row])).records
    assert record == {
        "type": "Person",
        "name": "7",
        "properties": {
            "keywords": ["a", "b"],
            "age": "3",
            "ok": "true",
            "of": {"x": "1"},
            "none": None,
        },
    }
    (nested,) = parse_entities('[{"type": "T", "name": "n", "properties": {"a": "b"}}]').records
    assert nested["properties"] == {"a": "b"}
    assert parse_entities('[{"name": "n"}]').records[0]["type"] == "Thing"


@pytest.mark.parametrize(
    "row", ['"Type": "Person"', '"entity_type": "Person"', '"@type": "schema:Person"']
)
def test_types_under_other_keys_are_read(row):
    (record,) = parse_entities(
        '{"entities": [{' + row + ', "Name": "Ada", "Keywords": "a; b"}]}'
    ).records
    assert record == {"type": "Person", "name": "Ada", "properties": {"keywords": ["a", "b"]}}


ANSWER = json.dumps(
    {"entities": [{**ADA, "name": f"E{n}", "description": 'a "b" {c} [d]'} for n in range(6)]}
)


def test_any_beginning_of_an_answer_gives_a_beginning_of_its_entities():
    whole = parse_entities(ANSWER).records
    for length in range(len(ANSWER) + 1):
        part = parse_entities(ANSWER[:length]).records
        assert part == whole[: ANSWER[:length].count('[d]"}')]


def test_judges_answers_and_rows_of_lists():
    answers = ('{"match": 3}', 'Sure: {"match": "2"}', '{"match": null}', "yes", '{"match": true}')
    assert [parse_match(text) for text in answers] == [3, 2, 0, None, None]
    assert parse_rows('{"needles": [{"paragraph": "a"}, {"paragraph": "b"}]}') == [
        {"paragraph": c} for c in "ab"
    ]
    assert (
        parse_rows('[{"paragraph": "a"}, 3]')
        == [{"paragraph": "a"}]
        == parse_rows('{"paragraph": "a"}')
    )


def test_the_answer_form_copied_from_the_prompt_is_no_entity():
    form = '{"type": "Person", "name": "...", "description": "...", "keywords": ["...", "…"]}'
    parsed = parse_entities(
        '{"entities": [' + form + ', {"type": "Person", "name": "Ada"}]}', "complete"
    )
    assert [record["name"] for record in parsed.records] == ["Ada"]
    assert "an item that only repeats the form of the answer was left out" in parsed.notes
    nameless = parse_entities(
        '{"entities": [{"type": "Person", "name": "...", "description": "a poet"}]}', "complete"
    )
    assert nameless.records == [
        {"type": "Person", "name": None, "properties": {"description": "a poet"}}
    ]


@pytest.mark.parametrize(
    "item",
    [
        {"entity": "Ann", "label": "Person"},
        {"text": "Ann", "label": "Person"},
        {"value": "Ann", "category": "Person"},
        {"label": "Ann", "type": "Person"},
        {"名称": "Ann", "类型": "Person"},
        {"实体": "Ann", "类别": "Person"},
    ],
)
def test_names_and_types_of_entities_have_many_keys(item):
    parsed = parse_entities(json.dumps([item]))
    assert [(one["name"], one["type"]) for one in parsed.records] == [("Ann", "Person")]
    wrapped = parse_entities(json.dumps({"实体": [item]}))
    assert wrapped.records == parsed.records


def test_a_map_of_names_has_their_types():
    (person, place) = parse_entities('{"Ada": "Person", "Rome": "Place"}').records
    assert (person["type"], place["type"]) == ("Person", "Place")
    (entity,) = parse_entities('{"Person": "Ada"}').records
    assert (entity["type"], entity["name"]) == ("Person", "Ada")


def test_rows_by_number_are_rows():
    assert parse_rows('{"0": {"a": 1}, "1": {"a": 2}}') == [{"a": 1}, {"a": 2}]
    assert parse_rows('{"0": [{"a": 1}], "1": [{"a": 2}]}') == [{"a": 1}, {"a": 2}]
