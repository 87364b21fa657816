"""RDF: a sentence is a file, a named graph or a row; nothing is dropped without a count, and
nothing is fetched.
"""

import json
import shutil
import socket
import sys
from pathlib import Path

import pytest

from support.reading import lines, write
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.rdf import local
from tripleaudit.corpora.remarks import remarks
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.scoring.sides import load_pair
from tripleaudit.systems.test_set import SystemFiles, predict_system

SAMPLES = (
    Path(__file__).parents[2] / "data" / "builders" / "rdflib-7.6.0"
)  # what rdflib itself writes
TEXT = "Ada Lund leads Harrow Steel in Oslo ."
TRIPLES = [("Ada Lund", "leads", "Harrow Steel"), ("Harrow Steel", "in", "Oslo")]
RAIN = [("It", "did", "rain")]
GOLD = {"s1": (TEXT, TRIPLES), "s2": ("It rained .", RAIN)}
HEAD = "@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
TURTLE = f"{HEAD}:e1 rdfs:label 'Ada Lund' ; :leads :Harrow%20Steel . :Harrow_Steel :in 'Oslo' ."


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    pytest.importorskip("rdflib")

    def refuse(*_, **__):
        raise AssertionError("a reader wants to fetch something")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def gold(tmp_path) -> Path:
    return write(
        tmp_path,
        {"gold.jsonl": lines(*({"id": n, "text": t, "triples": s} for n, (t, s) in GOLD.items()))},
    )


def said(sentences) -> dict[str, list]:
    return {each.id: sorted(triple.strings for triple in each.triples) for each in sentences}


def written(folder: Path, *rows: dict) -> Path:
    return write(folder, {"said.jsonl": lines(*rows)})


@pytest.mark.parametrize("ending", ["ttl", "nt", "jsonld"])
def test_a_folder_has_a_sentence_a_file_by_id(tmp_path, gold, caplog, ending):
    folder = tmp_path / "out"
    folder.mkdir()
    shutil.copy(SAMPLES / f"s1.{ending}", folder)
    write(
        folder,
        {
            f"s2.{ending}": "[]" if ending == "jsonld" else "",
            "notes.md": "# Notes",
            "s3.txt": "Of no file .",
        },
    )
    assert said(load_pair(gold, folder)[1]) == {"s1": TRIPLES, "s2": []}
    assert "3 statements of types, labels and schemas" in caplog.text and "notes.md" in caplog.text
    with pytest.raises(
        UserError,
        match=r"s1.*: RDF has no text; expected s1.txt next to it, or .*; predictions need none",
    ):
        read_corpus(folder)
    write(folder, {f"{name}.txt": f"{text}\n" for name, (text, _) in GOLD.items()})
    corpus = read_corpus(folder)
    assert (corpus.report.format, said(corpus.sentences)) == ("rdf", {"s1": TRIPLES, "s2": []})
    first = next(triple for triple in corpus.sentences[0].triples if triple.relation == "leads")
    assert (first.subject.type, first.object.type, first.subject.start) == (
        "Person",
        "Organisation",
        0,
    )
    assert corpus.report.notes == {"other_files": 2, "schema_statements": 3}


@pytest.mark.parametrize("ending", ["trig", "nq", "jsonld"])
def test_a_named_graph_is_a_sentence(tmp_path, gold, ending):
    path = shutil.copy(SAMPLES / f"both.{ending}", tmp_path)
    assert said(load_pair(gold, path)[1]) == {"s1": TRIPLES, "s2": RAIN}
    if ending == "jsonld":  # by what it holds
        shutil.copy(path, tmp_path / "both.json")
        assert said(load_pair(gold, tmp_path / "both.json")[1]) == {"s1": TRIPLES, "s2": RAIN}


def test_what_stands_in_no_graph_where_others_do_is_counted(tmp_path, gold, caplog):
    graphs = ":s1 { :e1 :leads :Harrow_Steel } :s2 { :It :did :rain } :a :b :c . :e1 rdfs:label 'Ada Lund' ."
    path = write(tmp_path, {"out.trig": HEAD + graphs})
    assert said(load_pair(gold, path)[1]) == {"s1": TRIPLES[:1], "s2": RAIN}
    assert (
        "1 triple is outside of the named graphs" in caplog.text
        and "out.trig: ['a', 'b', 'c']" in caplog.text
    )


ANSWERS = {
    "turtle": {"turtle": TURTLE},
    "a fence": {"response": f"Here it is:\n```turtle\n{TURTLE}\n```\nDone."},
    "N-Triples": {"nt": (SAMPLES / "s1.nt").read_text()},
    "JSON-LD as text": {"output": (SAMPLES / "s1.jsonld").read_text()},
    "JSON-LD as it is": {"json-ld": json.loads((SAMPLES / "s1.jsonld").read_text())},
    "a context at an address": {
        "triples": json.dumps({
            "@context": "https://schema.org", "id": "x", "name": "Ada Lund",
            "leads": {"@id": "Harrow Steel", "in": {"@type": "City", "name": "Oslo"}},
        })
    },
    "no context": {"jsonld": {"@id": "Ada Lund", "leads": {"@id": "Harrow_Steel", "in": "Oslo"}}},
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_a_row_may_hold_what_a_language_model_says(tmp_path, gold, caplog, name):
    path = written(tmp_path, {"text": TEXT, **ANSWERS[name]}, {"text": "It rains .", "rdf": ""})
    assert [*said(read_corpus(path).sentences).values()] == [TRIPLES, []]
    assert ("outside of '<triplet>' or of code fences" in caplog.text) == (name == "a fence")
    assert ("is not fetched" in caplog.text) == (name == "a context at an address")
    written(tmp_path, {"id": "s2", "rdf": ""}, {"id": "s1", **ANSWERS[name]})
    if name in ("turtle", "N-Triples"):
        assert said(load_pair(gold, path)[1]) == {"s1": TRIPLES, "s2": []}
        written(tmp_path, ANSWERS[name], {"rdf": ""})  # in the order of the gold
        assert said(load_pair(gold, path)[1]) == {"s1": TRIPLES, "s2": []}


def test_an_answer_that_is_no_rdf_gives_no_triple_and_is_counted(tmp_path):
    wrong = (
        "ex:a ex:b ex:c .",
        "Sorry .",
        "<http://x/a> <http://x/b> <http://x/c>",
        '{"@id": ',
        "[1]",
    )
    rows = [{"text": f"{n} .", "turtle": text} for n, text in enumerate(wrong)]
    path = written(
        tmp_path, {"text": TEXT, "turtle": TURTLE}, *rows, {"text": "It", "turtle": None}
    )
    found = remarks(read_corpus(path).report)
    assert (found["broken_answers"][0], found["null_triples"][0]) == (5, 1)
    written(
        tmp_path, rows[1] | {"output": rows[1].pop("turtle")}
    )  # prose first: the format is named then
    assert remarks(read_corpus(path, "rdf").report)["broken_answers"][0] == 1
    assert (
        'no whole turtle (at line 1 of <>: Bad syntax (Prefix "ex:" not bound))'
        in found["broken_answers"][1]
    )


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.ttl", f"{HEAD} :a :b", "a.ttl: no whole turtle"),
        ("a.nt", "<http://x/a> <http://x/b>", "a.nt: no whole nt"),
        ("a.jsonld", "[1]", "a.jsonld: no whole json-ld .expected objects, got 1"),
        ("a.jsonld", '{"@id": "a", "@id": "b"}', "the key '@id' occurs twice"),
        (
            "a.jsonld",
            '{"@context": {"@import": "http://x/y"}}',
            "the context 'http://x/y' is not fetched",
        ),
        ("a.nq", "<a> <b> <c> .", "a.nq: no whole nquads"),
    ],
)
def test_a_broken_file_is_refused_in_one_sentence(tmp_path, name, text, reason):
    with pytest.raises(UserError, match=reason) as caught:
        read_corpus(write(tmp_path, {name: text, "a.txt": TEXT}))
    assert "\n" not in str(caught.value)


def test_names_are_labels_literals_or_the_last_part_of_an_address(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "a.ttl").write_text(f"""{HEAD} @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix f: <http://xmlns.com/foaf/0.1/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        :e a owl:NamedIndividual, :Q, :P ; f:name 'second' ; rdfs:label 'zwei'@de, 'two'@en, 'plain' .
        :e :Works_For <urn:x:Caf%C3%A9_Roma> , '007'^^xsd:integer , [ rdfs:label 'named' ] , <http://y#A/B> .
        :e :p [ :q :r ] . :e owl:sameAs :f . <> :p :g .""")
    corpus = read_corpus(tmp_path / "a.ttl")
    assert said(corpus.sentences)["a"] == [
        ("plain", "Works_For", name) for name in ("007", "A/B", "Café Roma", "named")
    ]
    assert {triple.subject.type for triple in corpus.sentences[0].triples} == {"P"}
    assert corpus.report.notes == {"blank_nodes": 3, "schema_statements": 9}
    assert [local(name) for name in ("http://x/a/", "a", "urn:b", "http://x/K:c#", "")] == [
        "a",
        "a",
        "b",
        "K:c",
        "",
    ]


def test_a_folder_is_a_row_of_a_study_by_its_path_alone(tmp_path, gold, caplog):
    save_sentences(tmp_path / "test.jsonl", read_corpus(gold).sentences)
    (tmp_path / "out").mkdir()
    shutil.copy(SAMPLES / "s1.ttl", tmp_path / "out")
    out, report = tmp_path / "out.jsonl", tmp_path / "report.json"
    files = SystemFiles(
        tmp_path / "test.jsonl",
        out,
        report,
        train=tmp_path / "test.jsonl",
        files=[str(tmp_path / "out")],
    )
    predict_system("builder", {"predictions": "out"}, files, {"threads": 1})
    assert "has 1 of the 2 sentences of the test set" in read_json(report)["failed"]
    (tmp_path / "out" / "s2.ttl").touch()
    predict_system("builder", {"predictions": "out"}, files, {"threads": 1})
    assert read_json(report)["failed"] is None and said(load_sentences(out)) == {
        "s1": TRIPLES,
        "s2": [],
    }
    assert "3 statements of types" in caplog.text


def test_the_extra_is_named_where_the_library_is_missing(tmp_path, gold, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    monkeypatch.setattr("importlib.metadata.requires", lambda _: ["rdflib<8,>=7.1; extra == 'rdf'"])
    assert main(["score", str(gold), str(SAMPLES)]) == 1
    message = capsys.readouterr().err
    assert "rdflib is not installed; run pip install '" in message and "[rdf]'" in message
    assert main(["check", str(gold)]) == 0
