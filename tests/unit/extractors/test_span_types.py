"""Types of extracted entities: learnt behind a training, saved with the model, and without
effect on the triples.
"""

import json
import string
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from support.extractors import with_types
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.extractors import span_types
from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.registry import load_extractor
from tripleaudit.extractors.type_learning import learn_types
from tripleaudit.scoring.rows import RunFiles, score_run
from tripleaudit.testing import build_extractor, toy_sentences
from tripleaudit.training import predict
from tripleaudit.training.predict import predict_files
from tripleaudit.training.run import train_to
from tripleaudit.training.settings import TrainingSettings


@pytest.fixture(scope="module")
def sentences():
    found = with_types(toy_sentences())
    assert {span.type for s in found for t in s.triples for span in (t.subject, t.object)} == {
        "long",
        "short",
    }
    return found


def model_of(encoder) -> Extractor:
    return build_extractor(CasRel, encoder)


def typed(model, sentences) -> list[Sentence]:
    """Sentences with types from states of their own."""
    found = []
    for each in sentences:
        (alignment,) = model.aligner.align([each.text])
        batch = model.collate([alignment])
        with model.predicting(), torch.no_grad():
            (states,) = model.encode(batch["input_ids"], batch["attention_mask"])
        found.append(
            replace(
                each,
                triples=span_types.with_types(
                    model.types, model.config.entity_types, each.triples, alignment, states
                ),
            )
        )
    return found


def types_of(sentences) -> list[str | None]:
    return [
        span.type
        for sentence in sentences
        for t in sentence.triples
        for span in (t.subject, t.object)
    ]


def test_types_are_learnt_and_change_no_weight(tiny_encoder, sentences):
    model = model_of(tiny_encoder)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    drawn = torch.get_rng_state()
    facts = learn_types(model, sentences, batch_size=4, seed=1)
    assert torch.equal(drawn, torch.get_rng_state())
    assert facts["accuracy"] == 1.0 and facts["types"] == 2 and facts["entities"] > 4
    after = model.state_dict()
    assert set(after) - set(before) == {"types.weight", "types.bias"}
    assert all(torch.equal(after[name], value) for name, value in before.items())
    bare = [
        Sentence(s.id, s.text, tuple(Triple(t.subject, t.relation, t.object) for t in s.triples))
        for s in sentences
    ]
    assert types_of(typed(model, bare)) == types_of(sentences)
    assert typed(model, bare) == bare  # spans and relations are what they were


def test_a_corpus_without_types_leaves_the_model_as_it_is(tiny_encoder):
    model = model_of(tiny_encoder)
    assert learn_types(model, toy_sentences(), batch_size=4, seed=1) == {}
    assert model.types is None and model.config.entity_types is None
    assert not any(name.startswith("types.") for name in model.state_dict())


def test_what_is_extracted_has_types(tiny_encoder, sentences):
    model = model_of(tiny_encoder)
    texts = [sentence.text for sentence in sentences]
    plain = [
        replace(s, triples=sentences[0].triples) if s.text == texts[0] else s
        for s in model.extract(texts)
    ]
    learn_types(model, sentences, batch_size=4, seed=1)
    found = model.extract(texts)
    assert types_of(found) == types_of(typed(model, found)) and None not in types_of(found)
    assert found == [replace(s, triples=f.triples) for s, f in zip(plain, found, strict=True)]
    assert None not in types_of(typed(model, plain))


def plain_layer(
    states: torch.Tensor, labels: torch.Tensor, batches: list[torch.Tensor]
) -> torch.nn.Linear:
    """Zero at first, AdamW at 0.003 over the batches in order."""
    layer = torch.nn.Linear(states.shape[1], int(labels.max()) + 1)
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.003)
    for chosen in batches:
        optimizer.zero_grad()
        F.cross_entropy(layer(states[chosen]), labels[chosen]).backward()
        optimizer.step()
    return layer


@pytest.mark.parametrize(("entities", "epochs"), [(100, 300 * 64 // 100), (1000, 20)])
def test_a_layer_is_learnt_in_20_epochs_of_batches_of_64_or_as_much_as_300_of_them(
    tiny_encoder, monkeypatch, entities, epochs
):
    model, draw = model_of(tiny_encoder), torch.Generator().manual_seed(3)
    words = torch.randn(entities, model.hidden_size, generator=draw)
    kinds = ["a" if value > 0 else "b" for value in words[:, 0].tolist()]
    sentences = []
    for number, start in enumerate(range(0, entities, 50)):  # fifty words each
        text = " ".join(string.ascii_letters[number] * 50)
        spans = [Span(2 * at, 2 * at + 1, text[0], kinds[start + at]) for at in range(50)]
        triples = tuple(Triple(span, "C", span) for span in spans)
        sentences.append(Sentence(f"s{number}", text, triples))
    encoded = iter(words.split(50))
    bounds = torch.zeros(1, model.hidden_size)  # of [CLS] and [SEP]
    monkeypatch.setattr(
        model, "encode", lambda *_: torch.cat([bounds, next(encoded), bounds]).unsqueeze(0)
    )
    learn_types(model, sentences, batch_size=1, seed=5)
    states = torch.cat([words, words], dim=1)  # each entity is one token, its first and its last
    labels, order = (
        torch.tensor([kind == "b" for kind in kinds]).long(),
        torch.Generator().manual_seed(5),
    )
    batches = [
        part for _ in range(epochs) for part in torch.randperm(entities, generator=order).split(64)
    ]
    torch.testing.assert_close(
        model.types.weight, plain_layer(states, labels, batches).weight, rtol=0, atol=0
    )


def test_types_are_learnt_from_the_first_and_last_token_of_each_entity_longest_text_first(
    tiny_encoder, sentences
):
    model = model_of(tiny_encoder).eval()
    sentences = [replace(each, text=f"{each.text} {copy}") for copy in "abc" for each in sentences]
    states, kinds = [], []
    for sentence in sorted(sentences, key=lambda sentence: len(sentence.text), reverse=True):
        (alignment,) = model.aligner.align([sentence.text])
        batch = model.collate([alignment])
        with torch.no_grad():
            hidden = model.encode(batch["input_ids"], batch["attention_mask"])[0]
        spans = [span for t in sentence.triples for span in (t.subject, t.object)]
        for (start, end), kind in {(s.start, s.end): s.type for s in spans}.items():
            first, last = alignment.tokens(start, end)
            states.append(torch.cat([hidden[first], hidden[last]]))
            kinds.append(kind)
    learn_types(model, sentences, batch_size=2, seed=5)
    order = torch.Generator().manual_seed(5)
    epochs = 300 * 64 // len(states)
    batches = []
    for _ in range(epochs):
        batches += torch.randperm(len(states), generator=order).split(64)
    labels = torch.tensor([kind == "short" for kind in kinds]).long()
    expected = plain_layer(torch.stack(states), labels, batches)
    torch.testing.assert_close(model.types.weight, expected.weight, rtol=0, atol=1e-3)


def test_one_of_two_types_of_a_span_is_the_first_and_a_share_has_four_digits(
    tiny_encoder, monkeypatch
):
    """Spans without offsets teach nothing; of equal states one of three types is wrong."""
    words, nowhere = "tim cook leads", Span(None, None, "x", "c")
    spans = [
        Span(0, 3, "tim", "b"),
        Span(0, 3, "tim", "a"),
        Span(4, 8, "cook", "b"),
        Span(9, 14, "leads", "a"),
    ]
    pairs = ((spans[0], spans[1]), (spans[2], spans[3]), (nowhere, nowhere))
    triples = tuple(Triple(subject, "C", object_) for subject, object_ in pairs)
    sentences = [Sentence(f"s{number}", f"{words} {number}", triples) for number in range(64)]
    model = model_of(tiny_encoder)

    def equal_states(input_ids, attention_mask):
        return torch.ones(*input_ids.shape, model.hidden_size)

    monkeypatch.setattr(model, "encode", equal_states)
    facts = learn_types(model, sentences, batch_size=16, seed=0)
    assert facts == {"entities": 192, "types": 2, "accuracy": 0.6667}


def test_types_reach_predictions_and_strict_scores(tiny_encoder, sentences, tmp_path, monkeypatch):
    save_sentences(tmp_path / "gold.jsonl", sentences)
    settings = TrainingSettings(
        epochs=150, batch_size=16, encoder_learning_rate=3e-3, head_learning_rate=3e-3
    )
    train_to(
        tmp_path / "model", name="casrel", train=sentences, valid=[], encoder=tiny_encoder, 
        settings=settings, seed=0,
        score=lambda gold, predicted: {"f1": 0.0}, inputs={"train": tmp_path / "gold.jsonl"},
    )  # fmt: skip
    facts = json.loads((tmp_path / "model" / "provenance.json").read_text())["training"][
        "entity_types"
    ]
    assert facts["types"] == 2 and facts["accuracy"] == 1.0
    model, out = load_extractor(tmp_path / "model"), tmp_path / "predicted.jsonl"
    monkeypatch.setattr(predict, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    predict_files(model, tmp_path / "model", [(tmp_path / "gold.jsonl", out)])
    sidecar = json.loads((tmp_path / "predicted.jsonl.provenance.json").read_text())
    assert (sidecar["seconds"], sidecar["sentences"]) == (
        0,
        len(sentences),
    )  # the clock stood still
    assert sidecar["settings"] == {"batch_size": 32}
    types = {
        span.text: span.type
        for s in load_sentences(out)
        for t in s.triples
        for span in (t.subject, t.object)
    }
    assert types and all(
        kind == ("long" if len(text) > 5 else "short") for text, kind in types.items()
    )
    made = {"out_scores": tmp_path / "scores.csv", "out_counts": tmp_path / "counts.csv"}
    files = RunFiles(gold=tmp_path / "gold.jsonl", predictions=out, **made)
    rows = {
        (row.matching, row.metric): row.value
        for row in score_run(files, {"study": "s", "corpus": "toy"})
    }
    assert rows["strict", "f1"] == rows["exact-span", "f1"] > 0
