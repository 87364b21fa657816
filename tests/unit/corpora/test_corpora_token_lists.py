"""DocRED, DyGIE++, TACRED, FewRel and REBEL: what the samples of docs/formats.md do not show."""

import json

import pytest

from tripleaudit.corpora.readers import read_corpus
from tripleaudit.errors import UserError

DOCUMENT = {
    "title": "Ada",
    "sents": [["Ada", "leads", "Harrow", "."], ["Harrow", "is", "in", "Oslo", "."]],
    "vertexSet": [
        [{"name": "Ada", "sent_id": 0, "pos": [0, 1], "type": "PER"}],
        [
            {"name": "Harrow", "sent_id": 1, "pos": [0, 1], "type": "ORG"},
            {"name": "Harrow", "sent_id": 0, "pos": [2, 3], "type": "ORG"},
        ],
        [{"name": "Oslo", "sent_id": 1, "pos": [3, 4], "type": "LOC"}],
    ],
    "labels": [{"h": 0, "t": 1, "r": "P1", "evidence": [0]}, {"h": 0, "t": 2, "r": "P2", "evidence": [0, 1]}],
}
DYGIE = {
    "doc_key": "d",
    "sentences": [["A", "B"], ["C", "D", "E"]],
    "ner": [[], []],
    "relations": [[], [[2, 3, 4, 4, "r"]]],
}
TACRED = {
    "id": "x", "relation": "r", "token": ["A", "B", "C"], "subj_start": 0, "subj_end": 1, "obj_start": 2, "obj_end": 2
}  # fmt: skip
FEWREL = {"P1": [{"tokens": ["A", "b", "C"], "h": ["a", "Q1", [[0]]], "t": ["c", "Q2", [[2]]]}]}
REBEL = {"id": "1", "context": "A B C", "triplets": "<triplet> A <subj> B <obj> r <subj> C <obj> q"}


def read(tmp_path, value, **options):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value))
    return read_corpus(path, **options)


def located(sentence):
    return [(t.subject.start, t.subject.text, t.relation, t.object.start, t.object.text) for t in sentence.triples]


def test_a_document_keeps_its_entities_and_mentions(tmp_path):
    corpus = read(tmp_path, [DOCUMENT])
    (document,) = corpus.sentences
    assert (document.id, document.text) == ("Ada", "Ada leads Harrow . Harrow is in Oslo .")
    assert located(document) == [(0, "Ada", "P1", 10, "Harrow"), (0, "Ada", "P2", 29 + 3, "Oslo")]
    every = read(tmp_path, [DOCUMENT], occurrence="all")
    assert [triple[3] for triple in located(every.sentences[0])] == [10, 19, 32]
    assert (every.report.triples, every.report.spans, every.report.duplicates) == (2, 3, 0)
    assert read(tmp_path, [DOCUMENT | {"labels": []}]).report.zero_triple_sentences == 1


def test_positions_in_a_document_become_those_of_the_sentence(tmp_path):
    corpus = read(tmp_path, DYGIE)
    assert [sentence.id for sentence in corpus.sentences] == ["d-0", "d-1"]
    assert located(corpus.sentences[1]) == [(0, "C D", "r", 4, "E")]


def test_pairs_of_one_sentence_are_joined(tmp_path):
    corpus = read(tmp_path, [TACRED, TACRED | {"relation": "no_relation"}, TACRED | {"relation": "q"}])
    assert [triple[2] for triple in located(corpus.sentences[0])] == ["r", "q"]
    assert corpus.report.notes == {"pairs_without_relation": 1} and corpus.sentences[0].id == "x"


def test_a_linearisation_may_share_a_subject(tmp_path):
    assert [triple.strings for triple in read(tmp_path, REBEL).sentences[0].triples] == [
        ("A", "r", "B"),
        ("A", "q", "C"),
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([DOCUMENT | {"labels": [{"h": 0, "t": 9, "r": "P1"}]}], "a label points to entity 9, expected one of 3"),
        ([DOCUMENT | {"sents": [["Ada"]]}], r"the span \[2, 3\) is outside|in sentence 1, expected one of 1"),
        ([DOCUMENT | {"vertexSet": [], "labels": [], "sents": [[1], []]}], "expected a list of strings"),
        (
            DYGIE | {"relations": [[], [[2, 3, 9, 9, "r"]]]},
            r"sentence 1: the object span \[7, 7\] is outside the text of 3",
        ),
        (DYGIE | {"relations": [[], [[2, 3]]]}, r"expected \[start, end, start, end, type\]"),
        ([TACRED | {"obj_end": 7}], r"the object span \[2, 7\] is outside the text of 3 tokens"),
        ({"P1": [FEWREL["P1"][0] | {"t": ["c", "Q2", []]}]}, "'t' is .*, expected .name, id"),
        ({"P1": [FEWREL["P1"][0] | {"t": ["c", "Q2", [[5]]]}]}, r"P1 item 1: the object span \[5, 5\] is outside"),
        (REBEL | {"triplets": "<triplet> A <subj> B"}, "has no '<obj> relation'"),
    ],
)
def test_broken_input_is_one_clear_sentence(tmp_path, value, message):
    with pytest.raises(UserError, match=message):
        read(tmp_path, value)
