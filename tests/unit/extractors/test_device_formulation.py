"""The device's formulation: loss and gradients of the CPU's, in static shapes, without a look at
a value.
"""

import contextlib

import pytest
import torch

from benchmarks import speed
from benchmarks.bench_operators import Counted, counted, device_formulation, faults
from support.extractors import NAMES, built, one_word
from tripleaudit.extractors import tables
from tripleaudit.extractors.registry import extractor_names, resolve
from tripleaudit.testing import make_sentence, toy_sentences, training_batch

PAIRED = ("tplinker", "onerel", "grte")
WIDE = 2**24
CASES = [(name, {}, WIDE) for name in NAMES]
CASES += [
    pytest.param(name, {}, cells, marks=() if name == "tplinker" else pytest.mark.thorough)
    for name in PAIRED
    for cells in (3000, 40)
]
PADDED = {"padded_cells": True, "max_length": 20}
CASES += [
    ("tplinker", PADDED, WIDE),
    pytest.param("tplinker", PADDED, 3000, marks=pytest.mark.thorough),
    pytest.param("tplinker", PADDED, 40, marks=pytest.mark.thorough),
]
CASES += [("grte", {"rounds": 2}, WIDE)]
TWO_QUICK = [
    pytest.param(name, marks=() if name in ("casrel", "onerel") else pytest.mark.thorough)
    for name in NAMES
]
CASES += [("pfn", {"entities": "last_word"}, WIDE), ("ptrnet", {"max_triples": 1}, WIDE)]


def sentences():
    """Zero triples, several triples of one pair, both ways, too, and a triple that repeats
    another one's cells.
    """
    twice = make_sentence(
        "charles babbage founded london and leads london today and today .",
        ("charles babbage", "F", "london"),
        ("charles babbage", "C", "london"),
        ("charles babbage founded", "C", "london"),
        ("london", "L", "charles babbage"),
        ("london", "C", "charles babbage"),
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
def test_loss_and_gradients_equal_those_of_the_cpu_formulation(
    name, settings, cells, tiny_encoder, monkeypatch
):
    """In float64 without dropout, for batches with sentences of zero triples, of one of these alone, of a sentence with
    one triple, and of one word, where a mean is over next to nothing; with dummy sentences and without."""
    monkeypatch.setattr(tables, "cells_at_once", lambda device: cells)
    model = built(name, tiny_encoder, **settings).double().eval()
    assert model.static
    model.step = 1000
    schedule = {
        key: torch.tensor(value, dtype=torch.float64) for key, value in model.schedule(1000).items()
    }
    few = {len(each.triples): [each] for each in toy_sentences() if len(each.triples) < 2}
    for corpus, dummies in (
        (sentences(), 0),
        (sentences(), 3),
        (few[0], 10),
        (few[1], 10),
        (one_word(), 10),
    ):
        tight = training_batch(model, corpus)
        plain = model(**tight)
        expected = gradients(model, plain.loss)
        static = training_batch(model, corpus, static=len(corpus) + dummies)
        assert static["input_ids"].numel() > tight["input_ids"].numel()
        with device_formulation():
            own = model(**static, **schedule)
            found = gradients(model, own.loss)
        torch.testing.assert_close(own.loss, plain.loss, rtol=1e-10, atol=1e-12)
        for term, value in plain.terms.items():
            torch.testing.assert_close(
                own.terms[term].double(), value.double(), rtol=1e-9, atol=1e-12
            )
        assert any(value.abs().sum() > 0 for value in expected.values())
        for parameter, value in expected.items():
            torch.testing.assert_close(
                found[parameter], value, rtol=1e-7, atol=1e-10, msg=parameter
            )


@pytest.mark.parametrize("name", TWO_QUICK)
def test_a_step_never_waits_and_does_not_grow_with_the_batch(name, tiny_encoder):
    rows = counted(name, tiny_encoder, relations=7, sizes=(2, 16), length=24)
    assert [row.synchronisations for row in rows] == [0, 0]
    assert all(row.capturable for row in rows)
    assert [line for line in faults(rows) if "more than" in line] == []


@pytest.mark.parametrize("name", TWO_QUICK)
def test_no_tensor_of_a_step_is_made_on_the_processor(name, tiny_encoder, monkeypatch):
    """On the device ``meta``, whose tensors have no values, one that stays on the processor is
    an error as on a GPU.
    """
    prior = {"prior": 0.01} if resolve(name)[0].settings.sparse_outputs else {}
    model = built(name, tiny_encoder, **prior).train()
    with device_formulation():
        batch = training_batch(model, sentences(), static=len(sentences()) + 1)
    batch |= {key: torch.tensor(value) for key, value in model.schedule(0).items()}
    monkeypatch.setattr(
        torch, "autocast", lambda *_, **__: contextlib.nullcontext()
    )  # which meta has not
    loss = model.to("meta")(**{key: value.to("meta") for key, value in batch.items()}).loss
    loss.backward()
    assert {each.device.type for each in (loss, *(value.grad for value in model.parameters()))} == {
        "meta"
    }


def test_a_look_at_a_value_is_found(tiny_encoder, monkeypatch):
    kind, _ = resolve("casrel")
    forward = kind.forward

    def looking(self, *args, **kwargs):
        result = forward(self, *args, **kwargs)
        if result.loss is not None and result.loss.isnan():
            return None
        return result

    monkeypatch.setattr(kind, "forward", looking)
    (row,) = counted("casrel", tiny_encoder, relations=7, sizes=(2,), length=24)
    assert row.synchronisations > 0
    assert not row.capturable


@pytest.mark.parametrize("name", extractor_names())
def test_a_prediction_waits_no_more_often_for_a_large_batch(name, tiny_encoder):
    """What is decoded of 30 sentences is decoded together: as many operators and waits as for
    the same ten alone.
    """
    counts = []
    with device_formulation():
        prior = {"prior": 0.5} if resolve(name)[0].settings.sparse_outputs else {}
        model = built(name, tiny_encoder, **prior).double().eval()
        for copies in (1, 3):
            corpus = sentences() * copies
            batch = training_batch(model, corpus, static=len(corpus))
            batch = {
                key: value for key, value in batch.items() if key not in speed.wanted_only(batch)
            }
            with torch.inference_mode(), Counted() as counted_:
                rows, _ = model.predict_rows(**batch)
            counts.append(
                (len(rows) / copies, counted_.operators, sum(counted_.synchronisations.values()))
            )
    assert counts[0] == counts[1]
