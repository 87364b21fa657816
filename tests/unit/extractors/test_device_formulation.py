"""The device's formulation: loss and gradients of the CPU's, in static shapes, without a look at a value."""

import contextlib

import pytest
import torch

from benchmarks import speed
from benchmarks.bench_operators import Counted, counted, device_formulation, faults
from support.extractors import NARROW, build, one_word, save_tiny_encoder, sentence, toy_sentences
from tripleaudit.extractors import tables
from tripleaudit.extractors.registry import extractor_names, resolve
from tripleaudit.training.data import Collator, TrainingSentences

PAIRED = ("tplinker", "onerel", "grte")
STATIC = (*extractor_names(), "zcc-binary", "zcc-mcml")
WIDE = 2**24
CASES = [(name, NARROW.get(name, {}), WIDE) for name in STATIC]
CASES += [(name, {}, cells) for name in PAIRED for cells in (3000, 40)]
CASES += [("tplinker", {"padded_cells": True, "max_length": 20}, cells) for cells in (WIDE, 3000, 40)]
CASES += [("onerel", {"layout": "subword"}, WIDE), ("grte", {"rounds": 2}, WIDE)]
CASES += [("pfn", {"entities": "last_word", "width": 6}, WIDE)]
CASES += [("ptrnet", {"width": 6, "max_triples": 1}, WIDE)]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_tiny_encoder(tmp_path_factory.mktemp("encoder"))


def sentences():
    """Zero triples, several triples of one pair, and a triple that repeats another one's cells."""
    twice = sentence(
        "charles babbage founded london and leads london today and today .",
        ("charles babbage", "F", "london"),
        ("charles babbage", "C", "london"),
        ("charles babbage founded", "C", "london"),
        ("london", "L", "charles babbage"),
        id="twice",
    )
    return [*toy_sentences(), twice]


def gradients(model, loss) -> dict[str, torch.Tensor]:
    model.zero_grad(set_to_none=True)
    loss.backward()
    return {
        name: torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()
        for name, parameter in model.named_parameters()
    }


@pytest.mark.parametrize(("name", "settings", "cells"), CASES)
def test_loss_and_gradients_equal_those_of_the_cpu_formulation(name, settings, cells, encoder, monkeypatch):
    """In float64 without dropout, for batches with sentences of zero triples, of one of these alone, of a sentence with
    one triple, and of one word, where a mean is over next to nothing; with dummy sentences and without."""
    kind, implied = resolve(name)
    assert kind.static
    monkeypatch.setattr(tables, "cells_at_once", lambda device: cells)
    model = build(kind, encoder, **implied, **settings).double().eval()
    model.step = 1000
    schedule = {key: torch.tensor(value, dtype=torch.float64) for key, value in model.schedule(1000).items()}
    arguments = (kind, model.config, model.aligner.pad_id, 0)
    few = {len(each.triples): [each] for each in toy_sentences() if len(each.triples) < 2}
    for corpus, dummies in ((sentences(), 0), (sentences(), 3), (few[0], 10), (few[1], 10), (one_word(), 10)):
        data = TrainingSentences(corpus, model)
        examples = [data[0, number] for number in range(len(data))]
        tight = Collator(*arguments)(examples)
        plain = model(**tight)
        expected = gradients(model, plain.loss)
        static = Collator(*arguments, static=len(examples) + dummies)(examples)
        assert static["input_ids"].numel() > tight["input_ids"].numel()
        with device_formulation():
            own = model(**static, **schedule)
            found = gradients(model, own.loss)
        torch.testing.assert_close(own.loss, plain.loss, rtol=1e-10, atol=1e-12)
        for term, value in plain.terms.items():
            torch.testing.assert_close(own.terms[term].double(), value.double(), rtol=1e-9, atol=1e-12)
        assert any(value.abs().sum() > 0 for value in expected.values())
        for parameter, value in expected.items():
            torch.testing.assert_close(found[parameter], value, rtol=1e-7, atol=1e-10, msg=parameter)


@pytest.mark.parametrize("name", STATIC)
def test_a_step_never_waits_and_does_not_grow_with_the_batch(name, encoder):
    rows = counted(name, encoder, relations=7, sizes=(2, 16), length=24)
    assert [row.synchronisations for row in rows] == [0, 0]
    assert all(row.capturable for row in rows)
    assert [line for line in faults(rows) if "more than" in line] == []


@pytest.mark.parametrize("name", STATIC)
def test_no_tensor_of_a_step_is_made_on_the_processor(name, encoder, monkeypatch):
    """On the device ``meta``, whose tensors have no values, one that stays on the processor is an error as on a GPU."""
    kind, implied = resolve(name)
    prior = {"prior": 0.01} if kind.settings.sparse_outputs else {}
    model = build(kind, encoder, **prior, **implied, **NARROW.get(name, {})).train()
    data = TrainingSentences(sentences(), model)
    examples = [data[0, number] for number in range(len(data))]
    with device_formulation():
        batch = Collator(kind, model.config, model.aligner.pad_id, 0, static=len(examples) + 1)(examples)
    batch |= {key: torch.tensor(value) for key, value in model.schedule(0).items()}
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: contextlib.nullcontext())  # which meta has not
    loss = model.to("meta")(**{key: value.to("meta") for key, value in batch.items()}).loss
    loss.backward()
    assert {each.device.type for each in (loss, *(value.grad for value in model.parameters()))} == {"meta"}


def test_a_look_at_a_value_is_found(encoder, monkeypatch):
    kind, _ = resolve("casrel")
    forward = kind.forward

    def looking(self, *args, **kwargs):
        result = forward(self, *args, **kwargs)
        if result.loss is not None and result.loss.isnan():
            return None
        return result

    monkeypatch.setattr(kind, "forward", looking)
    (row,) = counted("casrel", encoder, relations=7, sizes=(2,), length=24)
    assert row.synchronisations > 0
    assert not row.capturable


@pytest.mark.parametrize("name", extractor_names())
def test_a_prediction_waits_no_more_often_for_a_large_batch(name, encoder):
    """What is decoded of 30 sentences is decoded together: as many operators and waits as for the same ten alone."""
    kind, implied = resolve(name)
    assert kind.static
    counts = []
    with device_formulation():
        prior = {"prior": 0.5} if kind.settings.sparse_outputs else {}
        model = build(kind, encoder, **prior, **implied, **NARROW.get(name, {})).double().eval()
        data = TrainingSentences(sentences(), model)
        for copies in (1, 3):
            examples = [data[0, number] for number in range(len(data))] * copies
            batch = Collator(kind, model.config, model.aligner.pad_id, 0, static=len(examples))(examples)
            batch = {key: value for key, value in batch.items() if key not in speed.wanted_only(batch)}
            with torch.inference_mode(), Counted() as counted_:
                rows, _ = model.predict_rows(**batch)
            counts.append((len(rows) / copies, counted_.operators, sum(counted_.synchronisations.values())))
    assert counts[0] == counts[1]
