"""Reading extracted and gold triples in every stored form."""

import json

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import save_sentences
from tripleaudit.grescores.systems import clean, read_system


def write(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_processed_results_keep_malformed_triples(tmp_path):
    path = write(
        tmp_path / "s.json", {"t": [["a", "r", "b"], ["a", "r"], ["a", "", "b"], ["a", 1, True]]}
    )
    system = read_system(path)
    assert len(system.texts["t"]) == 4
    assert clean(system.texts["t"]) == ([("a", "r", "b"), ("a", "1", "true")], 2)


@pytest.mark.parametrize(
    "name, plain",
    [("/people/person/place_lived", "place lived"), ("per:employee_of", "employee_of")],
)
@pytest.mark.parametrize("count", [1, 5, 20])
def test_gold_with_the_relation_last_is_recognised_by_its_names(tmp_path, name, plain, count):
    gold = {f"text {n}": [[f"s{n}", f"o{n}", name]] for n in range(count)}
    path = write(tmp_path / "g.json", gold)
    assert read_system(path).texts == {
        f"text {n}": [[f"s{n}", plain, f"o{n}"]] for n in range(count)
    }
    assert read_system(path, "sro").texts["text 0"] == [["s0", "o0", name]]


def test_open_relations_with_few_objects_are_not_turned_round(tmp_path):
    """Nothing tells such triples from gold with the relation last; who knows is asked."""
    given = {
        f"text {n}": [[f"Ann{n}", f"wrote her {n}th letter to", ("Bo", "Cy", "Di")[n % 3]]]
        for n in range(20)
    }
    path = write(tmp_path / "g.json", given)
    with pytest.raises(
        UserError, match="3 different last parts .such as 'Bo'. .* expected 'order: sro'"
    ):
        read_system(path)
    assert read_system(path, "sro").texts == given
    assert read_system(path, "sor").texts["text 1"] == [["Ann1", "Cy", "wrote her 1th letter to"]]


def test_cdr_labels_and_gold_sentences(tmp_path):
    labels = {"D2": "1:CID:2", "D3": "1:NR:2", "D4": "not_include"}
    cdr = {"t": [["D1", other, "CROSS", label] for other, label in labels.items()]}
    expected = [["D2", "induced by", "D1"], ["D3", "not induced by", "D1"]]
    assert read_system(write(tmp_path / "c.json", cdr)).texts["t"] == expected
    spoken = {"t": ['The relation between "A" and "B" is "capital of"']}
    assert read_system(write(tmp_path / "s.json", spoken)).texts["t"] == [["A", "capital of", "B"]]


def test_project_lines_join_equal_texts(tmp_path):
    triple = Triple(Span(0, 1, "A"), "near", Span(2, 3, "B"), 0.5)
    sentences = [
        Sentence("1", "A B", (triple,)),
        Sentence("2", "A B", (triple,)),
        Sentence("3", "C", ()),
    ]
    save_sentences(tmp_path / "p.jsonl", sentences)
    system = read_system(tmp_path / "p.jsonl")
    assert system.texts == {"A B": [["A", "near", "B"], ["A", "near", "B"]], "C": []}


def test_extractions_of_language_models_have_a_status(tmp_path):
    row = {"id": "1", "text": "A B", "parse_status": "truncated", "answers": []}
    row["triples"] = [{"subject": "A", "relation": "near", "object": "B", "repeats": 2}]
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    system = read_system(tmp_path / "a.jsonl")
    assert (system.texts, system.status) == ({"A B": [["A", "near", "B"]]}, {"A B": "truncated"})


@pytest.mark.parametrize(
    "value, message",
    [
        ([1], "expected an object that maps each text"),
        ({"t": "x"}, "the value of text 't' is not a list"),
        ({"t": [{"s": 1}]}, "expected every triple to be a list"),
        ({"t": ["A is near B"]}, "expected The relation between"),
    ],
)
def test_other_forms_are_refused(tmp_path, value, message):
    with pytest.raises(UserError, match=message):
        read_system(write(tmp_path / "x.json", value))


def test_bad_lines_are_named(tmp_path):
    (tmp_path / "x.jsonl").write_text(
        '{"text": "a", "triples": []}\n{"text": "a"}\n', encoding="utf-8"
    )
    with pytest.raises(UserError, match="line 2: expected an object with 'text'"):
        read_system(tmp_path / "x.jsonl")
