"""``tripleaudit train``, ``predict`` and ``extract`` from the command line."""

import json
import os
from dataclasses import replace

import pytest
import torch

from tripleaudit.cli import main
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.testing import toy_sentences

SETTINGS = {
    "epochs": 50,
    "batch_size": 7,
    "encoder_learning_rate": 2e-3,
    "head_learning_rate": 5e-3,
    "patience": 0,
}


pytestmark = pytest.mark.usefixtures("logging_as_it_was")


@pytest.fixture(scope="module")
def home(tmp_path_factory, tiny_encoder):
    folder = tmp_path_factory.mktemp("commands")
    rows = [replace(each, id=f"{copy}-{each.id}") for copy in range(4) for each in toy_sentences()]
    save_sentences(folder / "train.jsonl", sorted(rows, key=lambda row: not row.triples))
    save_sentences(folder / "valid.jsonl", toy_sentences())
    return folder


def training(home, encoder, out):
    return ["train", "--train", home / "train.jsonl", "--valid", home / "valid.jsonl", "--encoder", encoder, "--seed",
            "1", "--extractor", "casrel", "--settings", json.dumps(SETTINGS), "--out", home / out]  # fmt: skip


@pytest.fixture(scope="module")
def model(home, tiny_encoder):
    assert main([*map(str, training(home, tiny_encoder, "model"))]) == 0
    return home / "model"


def test_training_uses_the_zero_triple_sentences(model):
    record = json.loads((model / "provenance.json").read_text())
    assert record["training"]["counts"]["zero"] == 8
    assert set(record["inputs"]) == {"train", "valid", "encoder"}
    assert record["training"]["best_f1"] == 1.0 and record["seed"] == 1


def test_prediction_of_several_sets_in_one_process(model, home, tmp_path, monkeypatch):
    predicted, rows = [], CasRel.predict_rows

    def watched(self, input_ids, **batch):
        predicted.append(len(input_ids))
        return rows(self, input_ids, **batch)

    monkeypatch.setattr(CasRel, "predict_rows", watched)
    data = [str(home / "valid.jsonl"), str(home / "train.jsonl")]
    out = [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
    assert (
        main(["predict", "--model", str(model), "--data", *data, "--out", out[0], "--out", out[1]])
        == 0
    )
    assert sum(predicted) == len({each.text for each in toy_sentences()})
    first, second = load_sentences(out[0]), load_sentences(out[1])
    assert [each.id for each in first] == [each.id for each in toy_sentences()]
    assert [set(each.triples) for each in first] == [set(each.triples) for each in toy_sentences()]
    assert all(0 < triple.score <= 1 for each in [*first, *second] for triple in each.triples)
    sidecar = json.loads((tmp_path / "a.jsonl.provenance.json").read_text())
    assert sidecar["extractor"] == "casrel"
    assert len(sidecar["inputs"]["model"]["sha256"]) == 64


def test_relations_that_only_the_test_set_has_are_reported_as_misses(model, home, tmp_path, capsys):
    (first, *_) = toy_sentences()
    odd = replace(first, triples=(replace(first.triples[0], relation="unheard"),))
    save_sentences(tmp_path / "test.jsonl", [odd])
    files = ["--data", str(tmp_path / "test.jsonl"), "--out", str(tmp_path / "p")]
    assert main(["predict", "--model", str(model), *files]) == 0
    assert (
        "1 test.jsonl triples have a relation that was not in training (unheard)"
        in capsys.readouterr().err
    )


def test_extract_prints_triples_and_json(model, tmp_path, capsys):
    text = "ada lovelace wrote notes on the engine ."
    assert main(["extract", "--model", str(model), text, "it rains today ."]) == 0
    out = capsys.readouterr().out
    assert "(ada lovelace; W; notes)" in out
    assert "no triples" in out
    (tmp_path / "in.txt").write_text(f"{text}\n\nit rains today .\n", encoding="utf-8")
    assert (
        main(["extract", "--model", str(model), "--input", str(tmp_path / "in.txt"), "--json"]) == 0
    )
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["id"], row["text"]) for row in rows] == [("1", text), ("3", "it rains today .")]
    assert rows[0]["triples"][0]["subject"] == {"start": 0, "end": 12, "text": "ada lovelace"}
    save_sentences(tmp_path / "in.jsonl", [Sentence("x", text)])
    assert (
        main(["extract", "--model", str(model), "--input", str(tmp_path / "in.jsonl"), "--json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["id"] == "x"
    both = ["extract", "--model", str(model), text, text, "--input", str(tmp_path / "in.txt")]
    assert main([*both, "--json"]) == 0
    ids = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    assert ids == ["text-1", "text-2", "1", "3"]


def test_the_included_model_extracts_without_further_arguments(capsys):
    assert main(["extract", "Barack Obama is the leader of the United States."]) == 0
    shown = capsys.readouterr()
    assert "(United States; leaderName; Barack Obama)" in shown.out and "only" not in shown.err
    assert main(["extract", "Der Hund bellt."]) == 0
    assert "10 relations only: capital, country" in capsys.readouterr().err


def test_a_small_copy_predicts_the_same_and_its_card_has_the_scores(model, home, tmp_path, capsys):
    splits = [
        item for name in ("train", "valid") for item in (f"--{name}", str(home / f"{name}.jsonl"))
    ]
    out = ["--pieces", "0", "--licence", "cc-by-4.0", "--out", str(tmp_path / "small")]
    assert main(["compact", str(model), *splits, *out]) == 0
    assert "valid: F1 100.0" in capsys.readouterr().out
    card = (tmp_path / "small" / "README.md").read_text(encoding="utf-8")
    assert "license: cc-by-4.0" in card
    assert "| validation | all | " in card and " | 100.0 | 100.0 | 100.0" in card
    text = "ada lovelace wrote notes on the engine ."
    assert main(["extract", "--model", str(tmp_path / "small"), text]) == 0
    assert "(ada lovelace; W; notes)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "expected"),
    [("", "auto"), ("--gpu 1", "1"), ("--gpu 0", "0"), ("--gpu 1 --gpus 0", "0")],
)
def test_a_collection_is_extracted_where_its_options_ask_for(
    model, tmp_path, monkeypatch, logging_as_it_was, options, expected
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    calls = []
    monkeypatch.setattr(
        "tripleaudit.collection.engine.run_collection", lambda *given, replace: calls.append(given)
    )
    for name in ((), ("--name", "mine")):
        out = ["--out", str(tmp_path / "of-folder"), "--workers", "3", *name, *options.split()]
        assert main(["collection", "run", "texts.txt", "--model", str(model), *out]) == 0
    assert [collection.name for collection, _ in calls] == ["of-folder", "mine"]
    assert {(collection.models.gpu, workers) for collection, workers in calls} == {(expected, 3)}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_collection_runs_on_the_cpu_if_pytorch_cannot_use_the_allotted_gpu(
    model, tmp_path, monkeypatch, refused, workers
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "99")  # allotted by a scheduler; PyTorch sees none
    (tmp_path / "texts.txt").write_text("london is the capital of england\n" * 4)
    command = ["collection", "run", str(tmp_path / "texts.txt"), "--model", str(model)]
    options = ["--workers", str(workers), "--block", "2", "--out", str(tmp_path / "out")]
    assert "PyTorch sees none" in refused(*command, *options, "--gpu", "1")
    assert main([*command, *options]) == 0
    manifest = json.loads((tmp_path / "out/collection.json").read_text())
    assert manifest["counts"]["sentences"] == 4


def test_bad_input_is_one_sentence(model, home, tiny_encoder, tmp_path, refused):
    data = home / "valid.jsonl"
    predict = ["predict", "--model", model, "--out", "x", "--data"]
    for arguments, message in (
        (["extract", "--model", model], "nothing to extract from"),
        (["extract", "--model", tmp_path, "text"], "not a trained extractor"),
        (["extract", "--model", tiny_encoder, "text"], "holds a model of type 'bert'"),
        ([*predict, data, data], "2 data files but 1 output files"),
        ([*predict, "missing.jsonl"], "missing.jsonl: no such file"),
        (["extract", model, "text"], f"use --model {model}"),
        (["extract", "--model", "unknown", "text"], "no such folder or included model"),
        (["extract", "--model", model, "text", "--gate", model], "holds the extractor casrel"),
    ):
        assert message in refused(*arguments)
    said = refused("collection", "run", "x", "--out", "y", "--system", "{" * 90)
    assert said.endswith(f"expected an object with name, kind, settings and job, got {'{' * 80}")
    if not os.environ.get("CUDA_VISIBLE_DEVICES") and not torch.cuda.is_available():
        assert "a GPU was asked for, but PyTorch sees none" in refused(
            "extract", "--model", model, "text", "--gpu", "1"
        )


def test_bad_training_input_is_one_sentence(home, tiny_encoder, tmp_path, refused):
    save_sentences(tmp_path / "zero.jsonl", [Sentence("z", "it rains .")])
    for message, *changes in (
        ("unknown extractor 'casrell', did you mean 'casrel'?", "--extractor", "casrell"),
        ("--settings: expected a JSON object, got [1]", "--settings", "[1]"),
        ("unknown matching rule 'exactly'", "--settings", '{"matching": "exactly"}'),
        ("the training set has no triples", "--train", tmp_path / "zero.jsonl"),
    ):
        assert message in refused(*training(home, tiny_encoder, "bad"), *changes)
        assert not (home / "bad").exists()
