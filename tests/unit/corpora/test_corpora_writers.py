"""What is written in other programs' forms is read back to the same triples."""

import csv
import json
from pathlib import Path

import pytest

import tripleaudit
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import save_sentences
from tripleaudit.corpora.writers import WRITERS, write_csv

ANN, BEN = Span(0, 3, "Ann"), Span(20, 23, "Ben")
SENTENCES = [
    Sentence(
        "a",
        "Zoë , of Oslo , met Oslo FC .",
        (Triple(Span(20, 27, "Oslo FC"), "met", Span(0, 3, "Zoë")),),
    ),
    Sentence("b", "Nothing .", ()),
    Sentence("c", 'Ann said " yes " to Ben', (Triple(ANN, "told", BEN), Triple(BEN, "heard", ANN))),
]
FORMAT_OF = {
    "csv": "records", "parquet": "records", "spert": "entity-relation", "tplinker": "triple-list-spans",
}  # fmt: skip


def exported(tmp_path: Path, form: str, sentences: list[Sentence]) -> Path:
    save_sentences(tmp_path / "in.jsonl", sentences)
    out = tmp_path / form
    assert main(["export", f"train={tmp_path / 'in.jsonl'}", "--to", form, "--out", str(out)]) == 0
    return out if form == "datasets" else out / f"train{WRITERS[form][0]}"


@pytest.mark.parametrize("form", ["datasets", *WRITERS])
def test_a_form_is_read_back(tmp_path: Path, form: str) -> None:
    if form == "docbin":
        pytest.importorskip("spacy")
    corpus = read_corpus(exported(tmp_path, form, SENTENCES))
    assert corpus.report.format == FORMAT_OF.get(form, form)
    assert [(s.text, s.triples) for s in corpus.sentences] == [
        (s.text, s.triples) for s in SENTENCES
    ]
    if form not in ("brat", "dygie", "docbin"):  # which have names of their own, or none
        assert [s.id for s in corpus.sentences] == ["a", "b", "c"]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "triple-list", "spert"])
def test_two_sentences_with_one_text_stay_two(tmp_path: Path, form: str) -> None:
    told = (Triple(ANN, "told", BEN),)
    twice = [Sentence(name, 'Ann said " yes " to Ben', told) for name in ("a", "b")]
    assert read_corpus(exported(tmp_path, form, twice)).sentences == twice


@pytest.mark.parametrize("form", ["datasets", "jsonl", "csv", "parquet"])
def test_entities_without_a_position_are_kept(tmp_path: Path, form: str) -> None:
    missing = [Sentence("a", "Ann left", (Triple(Span(None, None, "Anna"), "left", ANN),))]
    assert read_corpus(exported(tmp_path, form, missing)).sentences == missing


@pytest.mark.parametrize(
    ("form", "sentence", "message"),
    [
        (
            "brat",
            Sentence("a", "Ann", (Triple(Span(None, None, "Eve"), "r", ANN),)),
            "not in its text",
        ),
        ("brat", Sentence("a", "Ann", (Triple(ANN, "r s", ANN),)), "has a blank"),
        ("brat", Sentence("a", "Ann\nEve", ()), "the text of a is not one line"),
        ("docred", Sentence("a", "Ann.", (Triple(ANN, "r", ANN),)), "whole tokens"),
    ],
)
def test_what_a_form_cannot_say_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture, form: str, sentence: Sentence, message: str
) -> None:
    save_sentences(tmp_path / "in.jsonl", [sentence])
    out = tmp_path / "out"
    assert main(["export", f"train={tmp_path / 'in.jsonl'}", "--to", form, "--out", str(out)]) == 1
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_csv_has_every_column_in_every_row_and_no_empty_entity(tmp_path):
    nothing = Sentence("n", "Nothing , of note .", ())
    write_csv(tmp_path / "a.csv", [nothing])
    assert len(set(map(len, csv.reader((tmp_path / "a.csv").read_text().splitlines())))) == 1
    assert read_corpus(tmp_path / "a.csv").sentences == [nothing]
    empty = Triple(Span(None, None, ""), "r", ANN)
    with pytest.raises(UserError, match="an entity of e is an empty string"):
        write_csv(tmp_path / "a.csv", [Sentence("e", "Ann", (empty,))])


TOUCHING = Sentence(
    "t",
    "\U0001f600 Ada's (Delta)  leads, Ada",
    (Triple(Span(2, 5, "Ada"), "leads", Span(9, 14, "Delta")),),
)


@pytest.mark.parametrize("form", ["tplinker", "label-studio", "docbin", "jsonl"])
def test_texts_with_entities_that_touch_marks_are_read_back(tmp_path: Path, form: str) -> None:
    if form == "docbin":
        pytest.importorskip("spacy")
    (sentence,) = read_corpus(exported(tmp_path, form, [TOUCHING])).sentences
    assert (sentence.text, sentence.triples) == (TOUCHING.text, TOUCHING.triples)


@pytest.mark.parametrize("form", ["spert", "dygie"])
def test_forms_of_tokens_split_at_entities(tmp_path: Path, form: str) -> None:
    save_sentences(tmp_path / "in.jsonl", [TOUCHING])
    result = tripleaudit.export(tmp_path / "in.jsonl", tmp_path / "out.json", to=form)
    assert list(result.losses.values()) == [1]
    (sentence,) = read_corpus(result.path).sentences
    assert "".join(sentence.text.split()) == "".join(TOUCHING.text.split())
    assert [triple.strings for triple in sentence.triples] == [("Ada", "leads", "Delta")]
    scores = tripleaudit.score(tmp_path / "in.jsonl", result.path, bootstrap=0)
    assert scores.micro.f1 == 1


OVERLAPPING = Sentence(
    "o",
    "Ann Lee met Ben",
    (
        Triple(Span(0, 7, "Ann Lee"), "met", Span(12, 15, "Ben")),
        Triple(Span(0, 3, "Ann"), "met", Span(12, 15, "Ben")),
    ),
)
EDGE_BLANK = Sentence("e", "Ann met Ben", (Triple(Span(0, 4, "Ann "), "met", Span(8, 11, "Ben")),))
TWO_MENTIONS = Sentence(
    "t",
    "Ann met Ben and Ben",
    (
        Triple(Span(0, 3, "Ann"), "met", Span(8, 11, "Ben")),
        Triple(Span(0, 3, "Ann"), "met", Span(16, 19, "Ben")),
    ),
)
WITHOUT_POSITION = Sentence("a", "Ann left", (Triple(Span(None, None, "Anna"), "left", ANN),))


@pytest.mark.parametrize(
    ("form", "sentence", "kept"),
    [
        ("spert", WITHOUT_POSITION, 0),
        ("dygie", WITHOUT_POSITION, 0),
        ("tplinker", WITHOUT_POSITION, 0),
        ("label-studio", WITHOUT_POSITION, 0),
        ("docbin", OVERLAPPING, 1),
        ("docbin", EDGE_BLANK, 0),
        ("spert", OVERLAPPING, 2),
        ("triple-list", TWO_MENTIONS, 1),
        ("label-studio", OVERLAPPING, 2),
    ],
)
def test_what_a_form_cannot_hold_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture, form: str, sentence: Sentence, kept: int
) -> None:
    if form == "docbin":
        pytest.importorskip("spacy")
    save_sentences(tmp_path / "in.jsonl", [sentence])
    out = tmp_path / f"out{WRITERS[form][0]}"
    assert main(["export", str(tmp_path / "in.jsonl"), "--to", form, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert ("left out" in printed) == (kept < len(sentence.triples))
    assert f"{kept} triple" in printed.splitlines()[0]
    assert len(read_corpus(out).sentences[0].triples) == kept


def test_a_list_of_triples_loses_positions(tmp_path: Path) -> None:
    save_sentences(tmp_path / "in.jsonl", [TOUCHING])
    result = tripleaudit.export(tmp_path / "in.jsonl", tmp_path / "out.json", to="triple-list")
    assert list(result.losses.values()) == [1]
    (sentence,) = read_corpus(result.path).sentences
    assert [triple.strings for triple in sentence.triples] == [("Ada", "leads", "Delta")]


OSLO = {
    "id": "o",
    "type": "labels",
    "value": {"start": 15, "end": 19, "text": "Oslo", "labels": ["LOC"]},
}
ADA = {
    "id": "a",
    "type": "labels",
    "value": {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]},
}
ACME = {
    "id": "c",
    "type": "labels",
    "value": {"start": 8, "end": 12, "text": "Acme", "labels": ["ORG"]},
}
LEADS = {
    "type": "relation",
    "from_id": "a",
    "to_id": "c",
    "direction": "right",
    "labels": ["leads"],
}
WITH_ENTITIES = ("spert", "dygie", "tplinker", "label-studio", "docbin", "brat", "docred")


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Tasks of Label Studio with an entity in no triple, next to a triple and without one."""
    path = tmp_path / "tasks.json"
    rows = [
        {"id": 7, "data": {"text": "Ada led Acme , Oslo"}, "annotations": [{"result": result}]}
        for result in ([ADA, ACME, OSLO, LEADS], [OSLO])
    ]
    path.write_text(json.dumps(rows))
    return path


@pytest.mark.parametrize("form", [name for name in WITH_ENTITIES if name != "docbin"])
def test_entities_in_no_triple_are_kept_where_the_form_has_entities(
    tmp_path: Path, tasks: Path, form: str
) -> None:
    out = tmp_path / f"out{WRITERS[form][0]}"
    result = tripleaudit.export(str(tasks), out, form)
    assert not result.losses
    back = tripleaudit.export(str(out), tmp_path / "back.json", "spert")
    assert not back.losses
    rows = json.loads((tmp_path / "back.json").read_text())
    assert [len(row["entities"]) for row in rows] == [3, 1]
    for row in rows:
        (place,) = (one for one in row["entities"] if one["type"] == "LOC")
        assert row["tokens"][place["start"] : place["end"]] == ["Oslo"]


def test_documents_of_spacy_keep_entities_in_no_triple(tmp_path: Path, tasks: Path) -> None:
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import DocBin

    assert not tripleaudit.export(str(tasks), tmp_path / "out.spacy", "docbin").losses
    documents = DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("xx").vocab)
    labels = [[entity.label_ for entity in document.ents] for document in documents]
    assert labels == [["PER", "ORG", "LOC"], ["LOC"]]


@pytest.mark.parametrize("form", sorted(WRITERS.keys() - set(WITH_ENTITIES)))
def test_entities_in_no_triple_are_counted_where_the_form_has_none(
    tmp_path: Path, tasks: Path, form: str, capsys: pytest.CaptureFixture
) -> None:
    out = tmp_path / f"out{WRITERS[form][0]}"
    assert main(["export", str(tasks), "--to", form, "--out", str(out)]) == 0
    assert "2 entities are in no triple" in capsys.readouterr().out
    splits = ["export", f"train={tasks}", "--to", form, "--out", str(tmp_path / "folder")]
    assert main(splits) == 0
    assert "2 entities are in no triple" in capsys.readouterr().out


def test_rows_in_memory_are_exported(tmp_path: Path) -> None:
    rows = [{"text": "Ann met Ben .", "triples": [("Ann", "met", "Ben")]}]
    result = tripleaudit.export(rows, tmp_path / "out.json", to="spert")
    assert (result.sentences, result.triples, dict(result.losses)) == (1, 1, {})
    result = tripleaudit.export(rows, tmp_path / "corpus.d", to="brat")
    assert read_corpus(result.path).sentences[0].text == "Ann met Ben ."
    with pytest.raises(UserError, match="unknown form 'spertt'"):
        tripleaudit.export(rows, tmp_path / "out.json", to="spertt")


def test_a_path_with_an_equals_sign_is_a_file_and_no_split(tmp_path) -> None:
    folder = tmp_path / "lr=3"
    folder.mkdir()
    row = {"text": "Ann wrote Emma", "triples": [["Ann", "wrote", "Emma"]]}
    (folder / "test.jsonl").write_text(json.dumps(row) + "\n")
    out = tmp_path / "out.csv"
    assert main(["export", str(folder / "test.jsonl"), "--to", "csv", "--out", str(out)]) == 0
    assert "Emma" in out.read_text()
