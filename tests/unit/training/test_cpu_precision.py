"""Training in bfloat16 on a processor: when it is used, and how close it is to float32."""

import logging

import pytest
import torch

from support.extractors import NAMES, built
from tripleaudit.core.errors import UserError
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.testing import build_extractor, toy_sentences, training_batch
from tripleaudit.training import cpu_precision
from tripleaudit.training.data import TrainingSentences
from tripleaudit.training.settings import TrainingSettings
from tripleaudit.training.trainer import train_extractor

CPU = torch.device("cpu")
TOLERANCE = 0.02
"""Relative difference of losses; bfloat16 has 8 bits, a relative error of 0.004."""


@pytest.mark.parametrize("name", NAMES)
def test_losses_and_gradients_are_close_to_those_in_float32(name, tiny_encoder):
    model = built(name, tiny_encoder).train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    batch = training_batch(model, toy_sentences())
    losses, norms = [], []
    for bf16 in (False, True):
        model.encoder_bf16 = bf16
        model.zero_grad(set_to_none=True)
        torch.manual_seed(0)
        loss = model(**batch).loss
        loss.backward()
        losses.append(loss.detach())
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        assert all(gradient.dtype == torch.float32 for gradient in gradients)
        norms.append(torch.nn.utils.get_total_norm(gradients))
    assert norms[1] != norms[0]
    torch.testing.assert_close(losses[1], losses[0], rtol=TOLERANCE, atol=0)
    torch.testing.assert_close(norms[1], norms[0], rtol=5 * TOLERANCE, atol=0)


def test_predictions_are_in_float32(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder).eval()
    texts = [sentence.text for sentence in toy_sentences()]
    exact = model.extract(texts, 4)
    model.encoder_bf16 = True
    assert model.extract(texts, 4) == exact


@pytest.mark.parametrize(
    ("flags", "speedup", "used", "reason"),
    [
        ("fpu avx2", 9.0, False, "no instructions for bfloat16"),
        ("fpu avx512_bf16", 1.0, False, "only 1.00 times as fast"),
        ("fpu avx512_bf16", 1.5, True, "1.50 times as fast"),
        (None, 9.0, False, "no instructions for bfloat16"),
    ],
)
def test_bfloat16_is_used_where_the_processor_gains_by_it(
    flags, speedup, used, reason, tiny_encoder, tmp_path, monkeypatch, caplog
):
    """And the training goes on in float32 elsewhere, with one sentence in its log."""
    caplog.set_level(logging.INFO)
    info = tmp_path / "cpuinfo"
    if flags is not None:
        info.write_text(f"processor : 0\nflags : {flags}\n")
    monkeypatch.setattr(cpu_precision, "CPU_INFO", info)
    monkeypatch.setattr(cpu_precision, "measure_bf16_speedup", lambda: speedup)
    model = build_extractor(CasRel, tiny_encoder)
    data = TrainingSentences(toy_sentences(), model)
    settings = TrainingSettings(epochs=1, batch_size=4, precision="bf16-cpu")
    train_extractor(model, data, settings, seed=1, folder=tmp_path / "run")
    assert model.encoder_bf16 is used
    assert [reason in record.message for record in caplog.records].count(True) == 1


@pytest.mark.parametrize("precision", ["bf16", "float32"])
def test_no_other_setting_measures_anything(precision, tiny_encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(cpu_precision, "has_bf16_instructions", lambda: pytest.fail("asked"))
    model = build_extractor(CasRel, tiny_encoder)
    settings = TrainingSettings(epochs=1, precision=precision)
    data = TrainingSentences(toy_sentences(), model)
    train_extractor(model, data, settings, seed=1, folder=tmp_path)
    assert not model.encoder_bf16


def test_the_probe_takes_as_long_as_it_is_told():
    assert cpu_precision.measure_bf16_speedup(seconds=0.01) > 0


def test_an_unknown_precision_is_refused():
    with pytest.raises(UserError, match="precision"):
        TrainingSettings.checked({"precision": "bf16-gpu"}, "training")
