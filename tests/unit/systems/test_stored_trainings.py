"""Predictions that are stored as ids and triples, and those of trainings that ship: counts are
the trainings' own.
"""

import gzip
import json
import shutil

import pytest

from trainings.store import store_training
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json, read_jsonl, write_json, write_jsonl
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.registered import read_registered
from tripleaudit.protocols.variants import named_by_position
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.scoring.metrics import in_stratum, micro
from tripleaudit.scoring.rows import count_run
from tripleaudit.study.study import Study
from tripleaudit.systems.facts import check_stored, training_fact
from tripleaudit.systems.queries import Query
from tripleaudit.systems.stored import answer
from tripleaudit.training.convergence import convergence

MORE_TRAININGS = ("mp-casrel-en", "tplinker")
PARTS = ("ss", "su", "us", "uu")
TEXTS = [Sentence("a", "Rome is in Italy, and Rome is old."), Sentence("b", "Nothing is here.")]


def asked(sentences, *files):
    return Query(
        "s",
        {},
        [Sentence(each.id, each.text) for each in sentences],
        job={"files": [str(f) for f in files]},
    )


def test_ids_and_triples_without_texts_are_enough(tmp_path):
    place = {"start": 22, "end": 26, "text": "Rome"}
    rows = [
        {"id": "b", "triples": []},
        {"id": "of another set", "triples": [["x", "y", "z"]]},
        {
            "id": "a",
            "triples": [
                ["Rome", "country", "Italy"],
                {"subject": place, "relation": "age", "object": "old"},
            ],
        },
    ]
    path = tmp_path / "p.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    first, second = answer(asked(TEXTS, path)).sentences
    assert [(t.strings, t.subject.start) for t in first.triples] == [
        (("Rome", "country", "Italy"), 0),
        (("Rome", "age", "old"), 22),
    ]
    assert (first.text, second.triples) == (TEXTS[0].text, ())
    with pytest.raises(
        UserError, match="p.jsonl.gz: has 2 of the 3 sentences of the test set; .* missing is 'c'"
    ):
        answer(asked([*TEXTS, Sentence("c", "c")], path))
    with pytest.raises(UserError, match="line 1: a second answer about the sentence 'b'"):
        answer(asked(TEXTS, path, path))


def test_shipped_trainings_are_checked_by_their_digests(root, tmp_path):
    study = Study.read(root / "config" / "webnlg-stored.yaml")
    provenances = [path for path, _ in study.facts.stored_trainings]
    assert len(provenances) == len(study.facts.stored_histories) == 13
    assert all(
        (row["stored"].keys() == {"predictions.jsonl.gz", "history.jsonl.gz"})
        for row in map(read_json, provenances)
    )
    folder = tmp_path / "casrel"
    shutil.copytree(root / "resources" / "trainings" / "webnlg" / "casrel", folder)
    check_stored(folder / "provenance.json")
    rows = [row for _, row in read_jsonl(folder / "predictions.jsonl.gz")]
    rows[0]["triples"] = []
    (folder / "predictions.jsonl.gz").write_bytes(
        gzip.compress("\n".join(map(json.dumps, rows)).encode())
    )
    with pytest.raises(
        UserError, match="predictions.jsonl.gz: sha256 is .*, expected .* as provenance.json has it"
    ):
        check_stored(folder / "provenance.json")
    (folder / "predictions.jsonl.gz").unlink()
    with pytest.raises(UserError, match="no such file, expected it next to provenance.json"):
        check_stored(folder / "provenance.json")


def test_a_stored_training_has_its_triples_and_no_texts(tmp_path):
    text = "Rome is in Italy, and Rome is old."
    entity = {
        "first": {"start": 0, "end": 4, "text": "Rome"},
        "second": {"start": 22, "end": 26, "text": "Rome"},
        "old": {"start": 30, "end": 33, "text": "old"},
    }
    triples = [
        {"subject": entity[name], "relation": "age", "object": entity["old"], "score": 0.5}
        for name in ("first", "second")
    ]
    model = tmp_path / "model"
    model.mkdir()
    write_json(model / "provenance.json", {"device": "cpu"})
    write_jsonl(model / "history.jsonl", [{"step": 1, "f1": 0.5}])
    predictions = tmp_path / "test.jsonl"
    write_jsonl(predictions, [{"id": "a", "text": text, "triples": triples}])
    store_training(model, predictions, tmp_path / "stored")
    check_stored(tmp_path / "stored" / "provenance.json")
    stored = tmp_path / "stored" / "predictions.jsonl.gz"
    assert text.encode() not in gzip.decompress(stored.read_bytes())
    (sentence,) = answer(asked(TEXTS[:1], stored)).sentences
    places = {(triple.subject.start, triple.object.start) for triple in sentence.triples}
    assert places == {(0, 30), (22, 30)}


def test_predictions_for_one_other_training_set_belong_to_its_training(root):
    study = Study.read(root / "resources" / "trainings" / "webnlg-ten.yaml")
    for path, keys in study.facts.stored_trainings:
        check_stored(study.paths.file(path))
        assert keys["protocol"] == "rearranged"
    assert study.facts.stored_trainings


@pytest.mark.parametrize(
    ("patience", "stopped"), [(0, False), (1, True), (7, True), (8, False), (10, False)]
)
def test_a_training_of_which_nobody_says_so_was_ended_by_its_patience(tmp_path, patience, stopped):
    """A tie with the best score is no progress; what rises again without reaching it is no rise."""
    scores = [0.1, 0.2, 0.6, 0.6, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55]
    rows = [{"step": step, "f1": score} for step, score in enumerate(scores, start=1)]
    rows.append({"step": 11})
    (tmp_path / "history.jsonl").write_text("\n".join(map(json.dumps, rows)))
    training = {"settings": {"patience": patience}}
    record = {"device": "cpu", "finished": "2026-01-01", "training": training}
    (tmp_path / "provenance.json").write_text(json.dumps(record))
    found = training_fact(tmp_path / "provenance.json", {})["convergence"]
    assert found == convergence(rows, stopped) != convergence(rows, not stopped)


@pytest.fixture(scope="module")
def corpora(real_data):
    """Training, test and augmented sentences of WebNLG, the latter named as the protocol has
    them.
    """
    train, test, augmented = (
        read_registered(name, split, real_data).sentences
        for name, split in (("webnlg", "train"), ("webnlg", "test"), ("webnlg-augmented", "test"))
    )
    return train, test, named_by_position(test, augmented)


@pytest.mark.parametrize(
    "training",
    ["birte", *(pytest.param(name, marks=pytest.mark.thorough) for name in MORE_TRAININGS)],
)
def test_scores_are_those_that_were_stored_with_the_training(corpora, real_data, root, training):
    known = read_json(real_data / "gpu-webnlg" / training / "scores.json")
    stored = root / "resources" / "trainings" / "webnlg" / training / "predictions.jsonl.gz"
    train, *tests = corpora

    def compared(table, strata, expected):
        for name, record in {"all": expected["micro"], **expected["strata"]}.items():
            measured = micro(table[in_stratum(strata, name)]).to_json()
            assert {"f1", "correct"} <= (same := measured.keys() & record.keys())
            assert {key: measured[key] for key in same} == pytest.approx(
                {key: record[key] for key in same}, abs=1e-12
            )

    original, augmented = (
        count_run(test, answer(asked(test, stored)).sentences, {}, train) for test in tests
    )
    compared(original.counts[PRIMARY], original.strata, known["test"])
    table, size = augmented.counts[PRIMARY], len(original.ids)
    assert len(table) == len(PARTS) * size == 4 * 703
    for number, part in enumerate(PARTS):
        place = slice(number * size, (number + 1) * size)
        compared(table[place], augmented.strata[place], known[f"aug_{part}"])
