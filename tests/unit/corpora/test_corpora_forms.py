"""Formats that are declarations: what one says, what its reader does for it, and types wherever a file has them."""

import json
import re
from pathlib import Path

import pytest

from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.form import form
from tripleaudit.descriptors import FORMATS
from tripleaudit.errors import UserError
from tripleaudit.registries import use_plugins

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "extending.md").read_text(encoding="utf-8")
PERSON, FIRM = {"start": 0, "end": 3, "label": "P"}, {"start": 10, "end": 15, "label": "F"}
TEXT, TOKENS = "Ada leads Delta", ["Ada", "leads", "Delta"]
REGIONS = [{"id": i, "value": {**span, "labels": [span["label"]]}} for i, span in (("a", PERSON), ("b", FIRM))]
TYPED = {
    "prodigy": {
        "text": TEXT,
        "spans": [PERSON | {"token_end": 0}, FIRM | {"token_end": 2}],
        "relations": [{"head": 0, "label": "leads", "child_span": {"start": 10, "end": 15}}],
    },
    "doccano": {
        "text": TEXT,
        "entities": [
            {"id": i, "start_offset": span["start"], "end_offset": span["end"], "label": span["label"]}
            for i, span in ((7, PERSON), (8, FIRM))
        ],
        "relations": [{"from_id": 7, "to_id": 8, "type": "leads"}],
    },
    "label-studio": {
        "data": {"text": TEXT},
        "annotations": [
            {"result": [*REGIONS, {"type": "relation", "from_id": "a", "to_id": "b", "labels": ["leads"]}]}
        ],
    },
    "tacred": {
        "id": "x", "token": TOKENS, "relation": "leads", "subj_start": 0, "subj_end": 0, "subj_type": "P",
        "obj_start": 2, "obj_end": 2, "obj_type": "F",
    },
    "nyt-raw": {
        "sentText": TEXT,
        "relationMentions": [{"em1Text": "Ada", "label": "leads", "em2Text": "Delta"}],
        "entityMentions": [{"text": "Ada", "label": "P"}, {"text": "Delta", "label": "F"}],
    },
    "entity-relation": {
        "tokens": TOKENS,
        "entities": [{"type": "P", "start": 0, "end": 1}, {"type": "F", "start": 2, "end": 3}],
        "relations": [{"type": "leads", "head": 0, "tail": 1}],
    },
    "jsonl": {
        "text": TEXT,
        "triples": [{"head": {"name": "Ada", "type": "P"}, "type": "leads", "tail": {"name": "Delta", "type": "F"}}],
    },
    "records": {
        "sentence": TEXT, "subject": "Ada", "relation": "leads", "object": "Delta", "head_type": "P",
        "tail_type": {"@value": "F"},
    },
}  # fmt: skip


def write(folder, rows, name="a.json"):
    path = folder / name
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", TYPED)
def test_types_of_entities_are_read_wherever_a_file_has_them(tmp_path, name):
    corpus = read_corpus(write(tmp_path, [TYPED[name]]))
    assert corpus.report.format == name
    ((triple,),) = [sentence.triples for sentence in corpus.sentences]
    assert triple.strings == ("Ada", "leads", "Delta")
    assert (triple.subject.type, triple.object.type) == ("P", "F")


def test_a_type_that_is_no_name_is_refused_where_it_is_declared_and_passed_over_elsewhere(tmp_path):
    row = TYPED["entity-relation"]
    with pytest.raises(UserError, match="a.json item 1: an entity's type is 7, expected a string"):
        read_corpus(write(tmp_path, [row | {"entities": [row["entities"][0], row["entities"][1] | {"type": 7}]}]))
    (sentence,) = read_corpus(write(tmp_path, [TYPED["records"] | {"head_type": 7}])).sentences
    assert [sentence.triples[0].subject.type, sentence.triples[0].object.type] == [None, "F"]


DEEPER = {
    **TYPED,
    "triple-list": {"text": TEXT, "triple_list": [["Ada", "leads", "Delta"]]},
    "triple-list-spans": {
        "text": TEXT,
        "triple_list": [["Ada", "leads", "Delta"]],
        "relation_list": [
            {"subject": "Ada", "object": "Delta", "predicate": "leads", "subj_char_span": [0, 3],
             "obj_char_span": [10, 15]},
        ],
    },
    "predictions": {"text": TEXT, "predict": [["Ada", "leads", "Delta"]], "truth": []},
    "pairs": {"text": TEXT, "relation": "leads", "h": {"name": "Ada"}, "t": {"name": "Delta"}},
    "rebel": {"id": "1", "context": TEXT, "triplets": "<triplet> Ada <subj> Delta <obj> leads"},
    "rebel-raw": {
        "docid": "1", "text": TEXT,
        "triples": [{part: {"surfaceform": part} for part in ("subject", "predicate", "object")}],
    },
    "fewrel": {"P1": [{"tokens": TOKENS, "h": ["ada", "Q1", [[0]]], "t": ["delta", "Q2", [[2]]]}]},
    "dygie": {"doc_key": "d", "sentences": [TOKENS], "ner": [[[0, 0, "P"]]], "relations": [[[0, 0, 2, 2, "leads"]]]},
    "docred": {
        "title": "Ada", "sents": [TOKENS], "labels": [{"h": 0, "t": 1, "r": "leads"}],
        "vertexSet": [[{"sent_id": 0, "pos": [n, n + 1], "type": "T"}] for n in (0, 2)],
    },
}  # fmt: skip
ODD = (None, 7, -1, 1.5, True, "x", "", [], {}, [7], [[]], {"a": 1})


def spoilt(value):
    """The value with each of its parts taken out, or in another form."""
    yield from ODD
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        rest = (
            {k: v for k, v in value.items() if k != key} if isinstance(value, dict) else value[:key] + value[key + 1 :]
        )
        yield rest
        for part in spoilt(value[key]):
            yield {**value, key: part} if isinstance(value, dict) else [*value[:key], part, *value[key + 1 :]]


@pytest.mark.parametrize("name", DEEPER)
def test_whatever_is_wrong_with_a_row_is_one_sentence(tmp_path, name):
    read = 0
    for row in [DEEPER[name], *spoilt(DEEPER[name])]:
        path = write(tmp_path, row if name == "fewrel" else [row])
        try:
            read_corpus(path, name)
            read += 1
        except UserError as error:
            assert str(path) in str(error) and "\n" not in str(error)
    assert read


def example(name):
    return re.search(rf"^`{name}`:\n\n```\w+\n(.*?)```\n", PAGE, re.MULTILINE | re.DOTALL)[1]


def test_the_declaration_of_the_page_is_short_and_reads_its_sample(tmp_path):
    declared = example("edges.py")
    assert len(declared.splitlines()) < 10
    for name in ("edges.py", "notes-test.jsonl"):
        (tmp_path / name).write_text(example(name), encoding="utf-8")
    use_plugins([str(tmp_path / "edges.py")])
    corpus = read_corpus(tmp_path / "notes-test.jsonl")
    assert corpus.report.format == "edges"
    first, second = (triple for sentence in corpus.sentences for triple in sentence.triples)
    assert first.strings == ("Eva Hill", "employer", "Nordic Rail") and second.relation == "residence"
    assert corpus.report.notes == {"pairs_without_relation": 1}


def test_a_declaration_with_an_unknown_role_is_refused():
    with pytest.raises(UserError, match="form x: unknown key 'txt', did you mean 'text'"):
        form("x", txt="body")


def test_a_position_that_is_missing_is_named(tmp_path):
    row = {key: value for key, value in TYPED["tacred"].items() if key != "obj_end"}
    with pytest.raises(UserError, match="a.json item 1: field 'obj_end' is missing"):
        read_corpus(write(tmp_path, [row]), "tacred")


def test_formats_keep_their_order():
    names = list(FORMATS)
    assert names.index("triple-list-spans") < names.index("triple-list") < names.index("jsonl") < names.index("records")
