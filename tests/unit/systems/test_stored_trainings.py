"""Predictions that are stored as ids and triples, and those of trainings that ship: counts are the trainings' own."""

import gzip
import json
import shutil

import pytest

from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.registered import read_registered
from tripleaudit.corpora.store import save_sentences
from tripleaudit.errors import UserError
from tripleaudit.files import read_json, read_jsonl
from tripleaudit.plan.study import Study
from tripleaudit.protocols.variants import named_by_position
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.scoring.metrics import in_stratum, micro
from tripleaudit.scoring.rows import RunFiles, score_run
from tripleaudit.scoring.sides import load_side
from tripleaudit.systems.facts import check_stored, training_fact
from tripleaudit.systems.queries import Query
from tripleaudit.systems.stored import answer

PARTS = ("ss", "su", "us", "uu")
TEXTS = [Sentence("a", "Rome is in Italy, and Rome is old."), Sentence("b", "Nothing is here.")]


def asked(sentences, *files):
    return Query("s", {}, [Sentence(each.id, each.text) for each in sentences], job={"files": [str(f) for f in files]})


def test_ids_and_triples_without_texts_are_enough(tmp_path):
    place = {"start": 22, "end": 26, "text": "Rome"}
    rows = [
        {"id": "b", "triples": []},
        {"id": "of another set", "triples": [["x", "y", "z"]]},
        {"id": "a", "triples": [["Rome", "country", "Italy"], {"subject": place, "relation": "age", "object": "old"}]},
    ]
    path = tmp_path / "p.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    first, second = answer(asked(TEXTS, path)).sentences
    assert [(t.strings, t.subject.start) for t in first.triples] == [
        (("Rome", "country", "Italy"), 0),
        (("Rome", "age", "old"), 22),
    ]
    assert (first.text, second.triples) == (TEXTS[0].text, ())
    with pytest.raises(UserError, match="p.jsonl.gz: has 2 of the 3 sentences of the test set; .* missing is 'c'"):
        answer(asked([*TEXTS, Sentence("c", "c")], path))
    with pytest.raises(UserError, match="line 1: a second answer about the sentence 'b'"):
        answer(asked(TEXTS, path, path))


def test_shipped_trainings_are_checked_by_their_digests(root, tmp_path):
    study = Study.read(root / "config" / "webnlg-stored.yaml")
    provenances = [path for path, _ in study.systems.trainings()]
    assert len(provenances) == len(study.systems.histories()) == 13
    assert all(
        (row["stored"].keys() == {"predictions.jsonl.gz", "history.jsonl.gz"}) for row in map(read_json, provenances)
    )
    assert {training_fact(path, {})["convergence"] is not None for path in provenances} == {True}
    folder = tmp_path / "casrel"
    shutil.copytree(root / "resources" / "trainings" / "webnlg" / "casrel", folder)
    check_stored(folder / "provenance.json")
    rows = [row for _, row in read_jsonl(folder / "predictions.jsonl.gz")]
    rows[0]["triples"] = []
    (folder / "predictions.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    with pytest.raises(UserError, match="predictions.jsonl.gz: sha256 is .*, expected .* as provenance.json has it"):
        check_stored(folder / "provenance.json")
    (folder / "predictions.jsonl.gz").unlink()
    with pytest.raises(UserError, match="no such file, expected it next to provenance.json"):
        check_stored(folder / "provenance.json")


@pytest.fixture(scope="module")
def gold(real_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gold")
    test, augmented = (read_registered(name, "test", real_data).sentences for name in ("webnlg", "webnlg-augmented"))
    save_sentences(folder / "train.jsonl", read_registered("webnlg", "train", real_data).sentences)
    save_sentences(folder / "test.jsonl", test)
    save_sentences(folder / "augmented.jsonl", named_by_position(test, augmented))  # as the protocol has them
    return folder


@pytest.mark.parametrize("training", ["birte", "mp-casrel-en", "tplinker"])
def test_scores_are_those_that_were_stored_with_the_training(gold, real_data, root, tmp_path, training):
    known = read_json(real_data / "gpu-webnlg" / training / "scores.json")

    def counts(test):
        sentences = load_side(gold / f"{test}.jsonl", "gold")
        stored = root / "resources" / "trainings" / "webnlg" / training / "predictions.jsonl.gz"
        guess = tmp_path / f"{test}.jsonl"
        save_sentences(guess, answer(asked(sentences, stored)).sentences)
        out = {f"out_{kind}": tmp_path / f"{test}.{kind}.csv" for kind in ("scores", "counts")}
        keys = {"study": "s", "corpus": "webnlg", "protocol": test, "training": "nz", "testing": "nz", "extractor": "x"}
        score_run(RunFiles(gold=gold / f"{test}.jsonl", predictions=guess, train=gold / "train.jsonl", **out), keys)
        return load_counts(out["out_counts"])

    def compared(table, strata, expected):
        for name, record in {"all": expected["micro"], **expected["strata"]}.items():
            measured = micro(table[in_stratum(strata, name)]).to_json()
            assert {"f1", "correct"} <= (same := measured.keys() & record.keys())
            assert {key: measured[key] for key in same} == pytest.approx({key: record[key] for key in same}, abs=1e-12)

    original = counts("test")
    compared(original.counts[PRIMARY], original.strata, known["test"])
    augmented = counts("augmented")
    table, size = augmented.counts[PRIMARY], len(original.ids)
    assert len(table) == len(PARTS) * size == 4 * 703
    for number, part in enumerate(PARTS):
        place = slice(number * size, (number + 1) * size)
        compared(table[place], augmented.strata[place], known[f"aug_{part}"])
