"""ZCC: labels, the reduction of relations to one decision, and whole classifiers."""

import json
import re
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from support.extractors import dense
from tripleaudit.cli import main
from tripleaudit.corpora.store import save_sentences
from tripleaudit.extractors.zcc import ZCC
from tripleaudit.testing import (
    build_extractor,
    check_determinism,
    check_save_and_load,
    check_zero_triple_batch,
    toy_sentences,
    training_batch,
)

HEADS = ("binary", "mcml")


pytestmark = pytest.mark.usefixtures("logging_as_it_was")


def learnt(encoder, head, steps=60):
    """Train a tiny classifier on the toy sentences until it separates them."""
    model = build_extractor(ZCC, encoder, head=head, dropout=0.0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    batch = training_batch(model, toy_sentences())
    for _ in range(steps):
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def test_the_strongest_relation_decides(tiny_encoder):
    model, texts = (
        build_extractor(ZCC, tiny_encoder, head="mcml").eval(),
        [each.text for each in toy_sentences()],
    )
    with torch.inference_mode():
        logits = model(**model.collate(model.aligner.align(texts))).logits
    assert model.decide(texts) == pytest.approx(
        logits.sigmoid().max(dim=1).values.tolist(), rel=1e-5
    )


@pytest.mark.parametrize("head", HEADS)
def test_loss_is_the_mean_over_sentences_and_outputs(tiny_encoder, head):
    model = build_extractor(ZCC, tiny_encoder, head=head).double().eval()
    batch = training_batch(model, toy_sentences())
    output = model(**batch)
    rows = batch["triples"]
    wide = dense((8, 4), rows[:, 0], rows[:, 3])
    labels = wide if head == "mcml" else wide.amax(dim=1, keepdim=True)
    hidden = model.encoder(batch["input_ids"], batch["attention_mask"]).last_hidden_state[:, 0]
    logits = hidden @ model.classifier.weight.T + model.classifier.bias
    expected = (F.softplus(logits) - labels * logits).mean()
    torch.testing.assert_close(output.loss, expected, rtol=0, atol=1e-10)
    assert output.logits.shape == labels.shape


@pytest.mark.parametrize("head", HEADS)
def test_whole_classifier(tiny_encoder, tmp_path, head):
    check_zero_triple_batch(build_extractor(ZCC, tiny_encoder, head=head).train())
    check_determinism(ZCC, tiny_encoder, head=head)
    model = learnt(tiny_encoder, head)
    sentences = toy_sentences()
    texts = [each.text for each in sentences]
    scores = model.decide([*texts, texts[0]], batch_size=3)
    assert [score > 0.5 for score in scores[:-1]] == [bool(each.triples) for each in sentences]
    assert scores[-1] == scores[0]
    assert all(0 <= score <= 1 for score in scores)
    assert model.decide([]) == []
    alone = [model.decide([text])[0] for text in texts]  # padding changes nothing
    assert alone == pytest.approx(scores[:-1], abs=1e-5)
    check_save_and_load(model, tmp_path / "saved")


def test_evaluation_scores_the_positive_class(tiny_encoder, monkeypatch):
    model = build_extractor(ZCC, tiny_encoder)
    sentences = toy_sentences()  # six with triples, two without
    logits = {each.text: 2.0 for each in sentences} | {sentences[0].text: 0.0}

    def log_odds(texts, batch_size, alignments):
        return [(texts, torch.tensor([logits[text] for text in texts]))]

    monkeypatch.setattr(model, "log_odds", log_odds)
    metrics = model.evaluate(sentences, {}, 4)
    assert metrics == pytest.approx({"precision": 5 / 7, "recall": 5 / 6, "f1": 10 / 13})
    logits |= dict.fromkeys(logits, -2.0)
    assert model.evaluate(sentences, {}, 4) == {"precision": 0, "recall": 0, "f1": 0}
    logits[sentences[0].text] = 2.0  # the only sentence passes, and it has triples
    assert model.evaluate(sentences[:1], {}, 4) == {"precision": 1, "recall": 1, "f1": 1}


@pytest.mark.parametrize("head", HEADS)
def test_training_decisions_and_the_gate_from_the_command_line(tiny_encoder, tmp_path, head):
    sentences = [
        replace(each, id=f"{copy}-{each.id}") for copy in range(4) for each in toy_sentences()
    ]
    train, test = tmp_path / "train.jsonl", tmp_path / "test.jsonl"
    save_sentences(train, sentences)
    save_sentences(test, toy_sentences())
    settings = {"epochs": 30, "batch_size": 8, "encoder_learning_rate": 3e-3, "head_learning_rate": 3e-3, "patience": 2,
                "evaluate_from": 12}  # fmt: skip
    arguments = [
        "--train",
        train,
        "--valid",
        test,
        "--encoder",
        tiny_encoder,
        "--settings",
        json.dumps(settings),
    ]
    gate, decisions = tmp_path / "gate", tmp_path / "decisions.jsonl"
    assert run("train", *arguments, "--extractor", f"zcc-{head}", "--out", gate) == 0
    record = json.loads((gate / "provenance.json").read_text())
    assert record["extractor"] == f"zcc-{head}"
    assert record["training"]["best_f1"] == 1.0
    assert record["training"]["epochs"] == record["training"]["best_epoch"] + 2  # stopped early
    assert run("predict", "--model", gate, "--data", test, "--out", decisions) == 0
    rows = [json.loads(line) for line in decisions.read_text().splitlines()]
    assert [row["id"] for row in rows] == [each.id for each in toy_sentences()]
    assert [row["score"] > 0.5 for row in rows] == [bool(each.triples) for each in toy_sentences()]


def run(*arguments) -> int:
    return main([str(argument) for argument in arguments])


def test_the_clue_is_the_word_whose_masking_moves_the_decision_most(tiny_encoder):
    model = learnt(tiny_encoder, "binary")
    texts = [each.text for each in toy_sentences()]
    scores, found = model.decide(texts), model.clues([*texts, texts[0]])
    assert list(found) == list(dict.fromkeys(texts)) and any(found.values())
    for text, score in zip(texts, scores, strict=True):
        parts = [(word.start(), word.end()) for word in re.finditer(r"\w+", text)]
        others = model.decide([f"{text[:start]}[MASK]{text[end:]}" for start, end in parts])
        moved = [(score - other) * (1 if score > 0.5 else -1) for other in others]
        best = max(range(len(parts)), key=moved.__getitem__)
        if moved[best] > 1e-4:
            assert found[text] == text[slice(*parts[best])]
