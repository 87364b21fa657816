"""Types of entities from a training to strict scores."""

import json
from types import SimpleNamespace

from support.extractors import save_tiny_encoder, toy_sentences, with_types
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.extractors.registry import load_extractor
from tripleaudit.scoring.rows import RunFiles, score_run
from tripleaudit.training import predict
from tripleaudit.training.predict import predict_files
from tripleaudit.training.run import train_to


def test_types_reach_predictions_and_strict_scores(tmp_path, monkeypatch):
    encoder = save_tiny_encoder(tmp_path / "encoder")
    sentences = with_types(toy_sentences())
    save_sentences(tmp_path / "gold.jsonl", sentences)
    train_to(
        tmp_path / "model",
        name="casrel",
        train=sentences,
        valid=[],
        encoder=encoder,
        values={"epochs": 150, "batch_size": 16, "encoder_learning_rate": 3e-3, "head_learning_rate": 3e-3},
        seed=0,
        score=lambda gold, predicted: {"f1": 0.0},
        inputs={"train": tmp_path / "gold.jsonl"},
    )
    facts = json.loads((tmp_path / "model" / "provenance.json").read_text())["training"]["entity_types"]
    assert facts["types"] == 2 and facts["accuracy"] == 1.0
    model, out = load_extractor(tmp_path / "model"), tmp_path / "predicted.jsonl"
    monkeypatch.setattr(predict, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    predict_files(model, tmp_path / "model", [(tmp_path / "gold.jsonl", out)])
    sidecar = json.loads((tmp_path / "predicted.jsonl.provenance.json").read_text())
    assert (sidecar["seconds"], sidecar["sentences"]) == (0, len(sentences))  # the clock stood still
    assert sidecar["settings"] == {"batch_size": 32}
    types = {span.text: span.type for s in load_sentences(out) for t in s.triples for span in (t.subject, t.object)}
    assert types and all(kind == ("long" if len(text) > 5 else "short") for text, kind in types.items())
    files = RunFiles(
        gold=tmp_path / "gold.jsonl",
        predictions=out,
        out_scores=tmp_path / "scores.csv",
        out_counts=tmp_path / "counts.csv",
    )
    rows = {(row.matching, row.metric): row.value for row in score_run(files, {"study": "s", "corpus": "toy"})}
    assert rows["strict", "f1"] == rows["exact-span", "f1"] > 0
