"""From lines to sharded triples with a tiny trained extractor and classifier, and the shards read as one file."""

import json
import shutil

import pytest

from support.extractors import build, toy_sentences
from tripleaudit.cli import main
from tripleaudit.collection.extract import Settings, extract_shard, settings_from
from tripleaudit.collection.index import build_index, shard_names, write_index
from tripleaudit.collection.join import join_shards
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import iterate_sentences, load_sentences, save_sentences
from tripleaudit.errors import UserError
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.zcc import ZCC
from tripleaudit.files import read_json, read_jsonl
from tripleaudit.grescores.systems import read_system
from tripleaudit.tables.builders import make_table
from tripleaudit.training.stream import Stream

COPIES, SHARDS = 12, 3


@pytest.fixture(scope="module")
def models(tmp_path_factory, tiny_encoder):
    """A CasRel that finds something everywhere (its biases say so), and a classifier with scores on both sides."""
    folder = tmp_path_factory.mktemp("models")
    extractor = build(CasRel, tiny_encoder, prior=0.4)
    extractor.save_pretrained(folder / "casrel")
    classifier = build(ZCC, tiny_encoder)
    texts = [each.text for each in toy_sentences()]
    scores = sorted(classifier.decide(texts))
    middle = (scores[3] + scores[4]) / 2  # half of the sentences are above
    classifier.classifier.bias.data -= float(_logit(middle))
    classifier.save_pretrained(folder / "zcc")
    return folder


def _logit(value):
    import math

    return math.log(value / (1 - value))


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """The toy sentences, many times, as a stored corpus with ids of its own, and an index of three shards."""
    folder = tmp_path_factory.mktemp("collection")
    rows = [(f"{copy}-{each.id}", each) for copy in range(COPIES) for each in toy_sentences()]
    lines = [json.dumps({**each.to_json(), "id": id_}) for id_, each in rows]
    (folder / "gold.jsonl").write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    write_index(folder / "index.json", build_index([str(folder / "gold.jsonl")], SHARDS))
    return folder


def extract(folder, models, out, gate=True, **settings):
    facts = []
    for name in shard_names(SHARDS):
        where = out / f"{name}.json"
        extract_shard(
            folder / "index.json", name, models / "casrel", models / "zcc" if gate else None, out / f"{name}.jsonl.gz",
            where, Settings(batch_size=8, **settings), gpu="0",
        )  # fmt: skip
        facts.append(where)
    return join_shards("toys", facts, out / "shards.json")


@pytest.fixture(scope="module")
def extracted(models, collection, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    return out, extract(collection, models, out, window=20)


def test_the_shards_read_as_one_file_and_equal_the_extractor_behind_the_gate(extracted, models, collection):
    out, joined = extracted
    rows = [row for _, row in read_jsonl(out)]
    gold = load_sentences(collection / "gold.jsonl")
    assert [row["id"] for row in rows] == [each.id for each in gold]
    assert [row["line"] for row in rows] == list(range(1, len(gold) + 1))
    assert {row["source"] for row in rows} == {str(collection / "gold.jsonl")}
    classifier, extractor = ZCC.from_pretrained(models / "zcc"), CasRel.from_pretrained(models / "casrel")
    texts = [each.text for each in toy_sentences()]
    scores = dict(zip(texts, classifier.decide(texts), strict=True))
    expected = {each.text: {t.strings for t in each.triples} for each in extractor.extract(texts)}
    passed = 0
    for row, sentence in zip(rows, iterate_sentences(out), strict=True):
        let_through = scores[row["text"]] > 0.5
        passed += let_through
        assert row["gate"] == pytest.approx(scores[row["text"]], abs=1e-3)
        assert {t.strings for t in sentence.triples} == (expected[row["text"]] if let_through else set())
    assert 0 < passed < len(rows) and joined["counts"]["triples"] > 0
    assert joined["counts"] == {
        "lines": len(rows) + 1, "empty": 1, "broken": 0, "too_long": 0, "sentences": len(rows), "let_through": passed,
        "cut": 0, "with_triples": sum(bool(row["triples"]) for row in rows),
        "triples": sum(len(row["triples"]) for row in rows),
    }  # fmt: skip
    assert sum(joined["relations"].values()) == joined["counts"]["triples"]
    assert joined["rows"] == len(rows) and len(joined["shards"]) == SHARDS and joined["peak_mb"] > 50


def test_every_later_stage_reads_the_folder(extracted, collection, capsys):
    out, _ = extracted
    assert len(read_corpus(out).sentences) == COPIES * len(toy_sentences())
    assert set(read_system(out).texts) == {each.text for each in toy_sentences()}
    assert main(["score", str(collection / "gold.jsonl"), str(out)]) == 0
    assert "Matching:" in capsys.readouterr().out


def test_equal_work_gives_equal_bytes_whatever_the_window(extracted, models, collection, tmp_path):
    out, _ = extracted
    extract(collection, models, tmp_path, window=20)
    for name in shard_names(SHARDS):
        assert (out / f"{name}.jsonl.gz").read_bytes() == (tmp_path / f"{name}.jsonl.gz").read_bytes()
    other = tmp_path / "other"
    extract(collection, models, other, window=1000)

    def bare(row):
        return row["id"], [(t["subject"], t["relation"], t["object"]) for t in row["triples"]]

    assert [bare(row) for _, row in read_jsonl(other)] == [bare(row) for _, row in read_jsonl(out)]


def test_without_a_gate_and_with_triples_only(models, collection, tmp_path):
    joined = extract(collection, models, tmp_path, gate=False, write="triples")
    rows = [row for _, row in read_jsonl(tmp_path)]
    assert joined["counts"]["let_through"] == joined["counts"]["sentences"] == COPIES * len(toy_sentences())
    assert len(rows) == joined["counts"]["with_triples"] and all(row["triples"] for row in rows)
    assert "gate" not in rows[0] and joined["gate"] is None


def test_one_tokenisation_serves_both_models_only_if_their_tokens_are_the_same(models, monkeypatch):
    classifier, extractor = ZCC.from_pretrained(models / "zcc"), CasRel.from_pretrained(models / "casrel")
    sentences = toy_sentences()
    shared = Stream(extractor, classifier)
    assert shared._shared
    first = [each.sentence.triples for each in shared.extract(sentences)]
    classifier.aligner.limit = 40
    apart = Stream(extractor, classifier)
    assert not apart._shared
    assert [each.sentence.triples for each in apart.extract(sentences)] == first


def test_sentences_that_the_encoder_cuts_are_counted(models):
    from dataclasses import replace

    long = replace(toy_sentences()[0], text="london " * 300)
    stream = Stream(CasRel.from_pretrained(models / "casrel"))
    list(stream.extract([long, toy_sentences()[1]]))
    assert stream.account.counts["cut"] == 1


def test_the_table_has_a_column_for_each_collection(extracted, tmp_path):
    out, joined = extracted
    make_table("collection", tmp_path / "collection", files={"collection": [out / "shards.json"]})
    text = (tmp_path / "collection.md").read_text(encoding="utf-8")
    for row in ("Sentences", "Let through to the extractor", "Broken, left out", "Sentences a second of one job"):
        assert row in text
    assert all(relation in text for relation in joined["relations"])
    assert "CasRel behind the gate of ZCC on cpu" in text


def test_a_lost_shard_is_named(extracted, tmp_path):
    out, _ = extracted
    shutil.copytree(out, tmp_path / "copy")
    (tmp_path / "copy" / "00001-of-00003.jsonl.gz").unlink()
    with pytest.raises(UserError, match=r"00001-of-00003\.jsonl\.gz: this shard is missing, but shards\.json lists it"):
        list(read_jsonl(tmp_path / "copy"))
    (tmp_path / "copy" / "shards.json").unlink()
    with pytest.raises(UserError, match="copy: this is a folder, expected a file"):
        list(read_jsonl(tmp_path / "copy"))


def test_a_truncated_shard_is_no_end_of_file(extracted, tmp_path):
    out, _ = extracted
    shutil.copytree(out, tmp_path / "copy")
    last = tmp_path / "copy" / "00002-of-00003.jsonl.gz"
    last.write_bytes(last.read_bytes()[:-20])
    with pytest.raises(UserError, match=r"00002-of-00003\.jsonl\.gz: not a whole gzip file"):
        list(read_jsonl(tmp_path / "copy"))


def test_shards_of_different_models_are_not_joined(extracted, tmp_path):
    out, _ = extracted
    shutil.copytree(out, tmp_path / "copy")
    facts = [tmp_path / "copy" / f"{name}.json" for name in shard_names(SHARDS)]
    other = read_json(facts[1])
    other["provenance"]["inputs"]["model"]["sha256"] = "0" * 64
    facts[1].write_text(json.dumps(other))
    with pytest.raises(UserError, match="2 different models made these shards"):
        join_shards("toys", facts, tmp_path / "copy" / "shards.json")


def test_bad_models_and_settings_are_said(models, collection, tmp_path):
    arguments = ["collection", "extract", "--index", str(collection / "index.json"), "--shard", "00000-of-00003",
                 "--out", str(tmp_path / "o.jsonl.gz"), "--facts", str(tmp_path / "o.json"), "--gpu", "0"]  # fmt: skip
    with pytest.raises(UserError, match="unknown|expected an object of batch_size"):
        settings_from('{"batch": 3}')
    for model, gate in (("none", "zcc"), ("casrel", "none"), ("zcc", "zcc"), ("casrel", "casrel")):
        code = main([*arguments, "--model", str(models / model), "--gate", str(models / gate)])
        assert code == 1 and not list(tmp_path.iterdir()), (model, gate)


def test_extract_prints_a_stream_behind_a_gate(models, tmp_path, capsys):
    save_sentences(tmp_path / "s.jsonl", toy_sentences())
    (tmp_path / "s.txt").write_text("".join(each.text + "\n\n" for each in toy_sentences()), encoding="utf-8")
    printed = []
    for name in ("s.jsonl", "s.txt"):
        gate = ["--gate", str(models / "zcc")]
        assert main(["extract", str(models / "casrel"), "--input", str(tmp_path / name), "--json", *gate]) == 0
        printed.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert [row["triples"] for row in printed[0]] == [row["triples"] for row in printed[1]]
    assert 0 < sum(bool(row["triples"]) for row in printed[0]) <= 4
