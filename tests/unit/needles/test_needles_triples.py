"""Triple needles: records, spans, positions and the criteria by hand."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.fake_endpoint import FakeEndpoint, asking
from support.scored import told
from support.sentences import sentence
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.errors import UserError
from tripleaudit.fields import read_rows, write_rows
from tripleaudit.llm.conversation import Limits
from tripleaudit.llm.section import Access
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.triple_corpus import write_corpus
from tripleaudit.needles.triple_dialogues import extract_triples, write_extraction
from tripleaudit.needles.triple_scores import triple_scores
from tripleaudit.needles.triples import TripleNeedle, found, haystacks, infuse_triples, spurious, triple_rows, verbalise
from tripleaudit.plan.language_models import Generative
from tripleaudit.plan.needles import NeedleTriples
from tripleaudit.tables.builders import found_triples
from tripleaudit.tables.building import build_table
from tripleaudit.tables.inputs import RunKey, ScoreIndex, TableInputs


def moved(number, relation="lives_in"):
    who, where = f"Person{number}", f"Town{number}"
    return sentence(f"{who} of the hill moved to {where} long ago.", (who, relation, where), id=f"s{number}")


SOURCE = [moved(n, "lives_in" if n % 3 else "born_in") for n in range(40)]
BARE = [Sentence(f"z{n}", f"On day {n} the wind blew from the west and nothing else happened.") for n in range(80)]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.one_of(st.none(), st.integers(80, 600)))
def test_records_hold_the_document_and_its_needles(seed, piece_chars):
    documents = haystacks(BARE, 2, 30, seed)
    corpus = infuse_triples(documents, SOURCE, seed, piece_chars=piece_chars)
    for infusion, document in zip(corpus.infusions, documents, strict=True):
        assert infusion.removed() == document.text
        records = [record for record in corpus.records if record.id.startswith(f"{document.id}#")]
        assert "".join("".join(r.text.split()) for r in records) == "".join(infusion.text.split())
    assert all(not list(record.problems()) for record in corpus.records)
    assert sum(len(record.triples) for record in corpus.records) == len(corpus.needles)
    by_id = {record.id: record for record in corpus.records}
    for needle in corpus.needles:
        assert (needle.subject, needle.relation, needle.object) in [t.strings for t in by_id[needle.record].triples]
    assert len({(n.subject, n.object) for n in corpus.needles}) == len(corpus.needles)  # none twice
    assert infuse_triples(documents, SOURCE, seed, piece_chars=piece_chars) == corpus
    assert {row["exact"] for row in found(corpus.needles, corpus.records)} == {True}
    assert spurious(corpus.records, corpus.needles)[0] == 0


def test_sentences_and_pieces_hold_the_same_needles():
    documents = haystacks(BARE, 2, 30, 1)
    one, other = (infuse_triples(documents, SOURCE, 1, piece_chars=length) for length in (None, 500))
    assert [(n.doc, n.subject, n.depth) for n in one.needles] == [(n.doc, n.subject, n.depth) for n in other.needles]
    assert len(one.records) > len(other.records)


def test_relations_take_turns():
    documents = haystacks(BARE, 1, 20, 1)
    corpus = infuse_triples(documents, SOURCE, 1)
    relations = [needle.relation for needle in corpus.needles]
    assert abs(relations.count("born_in") - relations.count("lives_in")) <= 2


def needle(number, relation, depth):
    return TripleNeedle(f"n{number}", "d#1", "d#1#0", "s", f"Ada Moss {number}", relation, f"Nova Ruda {number}", depth)


def predicted(*triples):
    rows = [Triple(Span(None, None, s), r, Span(None, None, o)) for s, r, o in triples]
    return [Sentence("d#1#7", "text", tuple(rows)), Sentence("other#0", "text", ())]


def test_criteria_by_hand():
    needles = [needle(n, "/people/person/place_of_birth", n / 5) for n in range(6)]
    relation = needles[0].relation
    said = [
        ("Ada Moss 0", relation, "Nova Ruda 0"),
        ("Moss 1", relation, "Ruda 1"),
        ("the ada moss 2", "place of birth", "NOVA RUDA 2"),
        ("Nova Ruda 3", "something", "Ada Moss 3"),
        ("Ada Moss 4", relation, "Nova Ruda 5"),
    ]
    rows = found(needles, predicted(*said))
    table = [[int(row[c]) for c in ("exact", "partial", "verbalised", "pair")] for row in rows]
    assert table == [[1, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]
    scores = {(s, m, k): v for s, m, k, v, _, _ in triple_rows(rows, bins=2)}
    assert scores["all", "max", "minea"] == pytest.approx(2 / 6)  # partial or verbalised
    assert scores["all", "any", "minea_any"] == pytest.approx(3 / 6) and scores["all", "pair", "rate"] == 0.5
    assert scores["position:1", "", "needles"] == scores["position:2", "", "needles"] == 3
    assert scores[f"relation:{relation}", "exact", "found"] == 1 and scores["position:2", "max", "minea"] == 0


def test_minea_of_triples_weighs_relations_by_needles():
    rows = [
        {"relation": r, "type": r, "depth": 0, "exact": e, "partial": p, "verbalised": False, "pair": e or p}
        for r, e, p in [("a", True, False), ("a", True, False), ("a", False, True), ("b", False, True)]
    ]
    scores = {(s, m, k): v for s, m, k, v, _, _ in triple_rows(rows, 5)}
    assert scores["all", "max", "found"] == 3  # two of three exactly, and one of one partially


def test_verbalised_relations():
    assert verbalise("/people/person/place_of_birth") == "place of birth" == verbalise("placeOfBirth")
    assert verbalise("per:city_of_birth") == "city of birth"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: found([needle(0, "r", 0)], [Sentence("x#0", "t")]), "no prediction belongs to their documents"),
        (lambda: haystacks(BARE, 10, 30, 1), "lower 'documents' or 'sentences'"),
        (lambda: infuse_triples(haystacks(BARE, 1, 20, 1), BARE, 1), "no sentence whose triples all have a position"),
        (lambda: infuse_triples([Document("d", "x" * 90_000)], SOURCE, 1), "need between"),
    ],
)
def test_errors(wrong, said):
    with pytest.raises(UserError, match=said):
        wrong()


def test_files(tmp_path):
    write_rows(tmp_path / "n.jsonl", [needle(0, "r", 0.5)])
    assert read_rows(tmp_path / "n.jsonl", TripleNeedle) == [needle(0, "r", 0.5)]
    (tmp_path / "bad.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(UserError, match="bad.jsonl line 1: .*unknown key 'a'"):
        read_rows(tmp_path / "bad.jsonl", TripleNeedle)


def test_language_model_and_extractor_share_a_table(tmp_path, monkeypatch, kept):
    """A scripted model lists the triples of every second piece; an extractor predicts everything exactly."""
    documents = haystacks(BARE, 2, 30, 1)
    pieces = infuse_triples(documents, SOURCE, 1, piece_chars=400)
    whole = infuse_triples(documents, SOURCE, 1)
    readable = {record.text for record in pieces.records[::2]}

    def answer(body):
        last = body["messages"][-1]["content"]
        assert "- born_in" in body["messages"][0]["content"]
        if last.startswith("That answer could not be read"):
            return "still no idea"
        record = next(r for r in pieces.records if r.text in last)
        rows = [*(t.strings for t in record.triples), ("x", "y", "z")]
        return json.dumps(rows) if record.text in readable else "no idea"

    with asking(tmp_path, answer) as (fake, client):
        predictions, calls = extract_triples(pieces.records, ["born_in", "lives_in"], Limits(0, None, 100), client, "m")
        unread = len(pieces.records) - len(readable)
        assert fake.count == len(pieces.records) + unread  # one reminder for every unreadable answer
    hit = sum(len(record.triples) for record in pieces.records[::2])
    keys = {"study": "s", "corpus": "demo", "seed": 1}
    scores = triple_scores(pieces.needles, predictions, {"bins": 5}, {**keys, "extractor": "m"}, calls)
    exact = whole.needles, whole.records, {"bins": 5}
    scores += triple_scores(*exact, {**keys, "extractor": "casrel", "noise": "none"})
    table = build_table("triple-needles", TableInputs(scores=ScoreIndex(scores)))
    assert table.cell("All", "Exact", row_group="m").value == pytest.approx(hit / len(pieces.needles))
    kept("needles/triple-needles.md", told(table))
    monkeypatch.setattr(found_triples, "FEW", len(whole.needles))  # so many that a sentence leads the table
    named = {**keys, "training": "nz", "extractor": "casrel", "noise": "none"}
    late = ScoreIndex([*triple_scores(*exact, named), *scores])
    late.marks = {RunKey("demo", "original", "nz", "", "casrel", "none"): "†"}
    kept("needles/triple-needles-that-rose.md", told(build_table("triple-needles", TableInputs(scores=late))))
    coverage = next(s for s in scores if s.metric == "coverage")
    assert coverage.value == pytest.approx(len(readable) / len(pieces.records))
    located = [t for record in predictions for t in record.triples if t.relation in ("born_in", "lives_in")]
    assert located and all(t.located for t in located)


def test_files_of_new_facts_are_made_and_asked_about(tmp_path):
    """Once more for each piece, with the follow-up call; what the model finds twice is one triple."""
    save_sentences(tmp_path / "bare", BARE)
    options = NeedleTriples(corpus="c", documents=1, sentences=20, new_facts=5, iterations=1).full()
    write_corpus(options, "", tmp_path, haystack=[tmp_path / "bare"])
    whole, pieces = (load_sentences(tmp_path / f"{form}.jsonl") for form in ("sentences", "pieces"))
    needles, same = (read_rows(tmp_path / f"{form}-needles.jsonl", TripleNeedle) for form in ("pieces", "sentences"))
    assert [each.subject for each in needles] == [each.subject for each in same] and (len(whole), len(pieces)) == (
        25,
        2,
    )
    with FakeEndpoint(json.dumps([[needles[0].subject, "r", "x"]])) as fake:
        section = Generative(
            endpoints={"e": {"base_url": fake.url, "model": "m"}}, cache=str(tmp_path / "cache")
        ).full()
        write_extraction(options, tmp_path, Access(section, "s", "e"), tmp_path / "found", tmp_path / "calls")
        assert fake.count == 4
    found = load_sentences(tmp_path / "found")
    assert [[triple.subject.text for triple in row.triples] for row in found] == [[needles[0].subject]] * 2


def test_demo_corpus_serves_as_source(root):
    source = load_sentences(root / "resources" / "demo" / "test.jsonl")
    bare = load_sentences(root / "resources" / "demo" / "test_zero.jsonl")
    corpus = infuse_triples(haystacks(bare, 2, 60, 0), source, 0)
    assert len({needle.relation for needle in corpus.needles}) == 8
