"""Dropout by few random numbers: rate, scale, gradients, independence, and agreement with
PyTorch's where it counts.
"""

import pytest
import torch

from tripleaudit.extractors.dropping import Dropout, dropped, exact_rate, kept


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.9])
def test_values_are_dropped_at_the_rate_and_independently(rate):
    torch.manual_seed(0)
    mask = kept((1000, 401), rate).double()
    assert mask.mean().item() == pytest.approx(1 - rate, abs=0.004)
    assert mask.mean(dim=0).std().item() == pytest.approx(
        (rate * (1 - rate) / 1000) ** 0.5, rel=0.15
    )
    centred = (mask - mask.mean()).flatten()
    for lag in (1, 2, 3, 4, 401):  # neighbours share a random number
        assert abs((centred[:-lag] * centred[lag:]).mean().item()) < 0.001
    assert exact_rate(rate) == pytest.approx(rate, abs=2**-17)


def test_kept_values_are_scaled_and_gradients_follow():
    torch.manual_seed(0)
    values = torch.rand(50, 7, dtype=torch.float64).add(1).requires_grad_()
    result = dropped(values, 0.3)
    mask = result != 0
    torch.testing.assert_close(result, values * mask / (1 - exact_rate(0.3)), rtol=0, atol=1e-12)
    grad = torch.randn_like(result)
    torch.testing.assert_close(
        torch.autograd.grad(result, values, grad)[0],
        grad * mask / (1 - exact_rate(0.3)),
        rtol=0,
        atol=1e-12,
    )


def test_nothing_is_dropped_outside_of_training():
    values = torch.randn(4, 4)
    module = Dropout(0.5)
    assert not torch.equal(module(values), values)
    assert module.eval()(values) is values
    assert dropped(values, 0.0) is values
    assert not kept((100,), 1.0).sum() > 5
    assert kept((0, 3), 0.5).shape == (0, 3)


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5, 0.9])
def test_of_all_numbers_exactly_the_rate_is_dropped(monkeypatch, rate):
    every = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(torch.int64)
    monkeypatch.setattr(torch.Tensor, "random_", lambda self, *_, **__: self.copy_(every))
    assert int((~kept((2**8, 2**8), rate)).sum()) == round(rate * 2**16)
    assert exact_rate(1.0) == 1 - 2**-16  # something is always kept
