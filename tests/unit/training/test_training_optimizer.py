"""Parameter groups, optimisers, schedules and clipping against their formulas."""

import math
from types import SimpleNamespace

import pytest
import torch

from tripleaudit.extractors.casrel import CasRel
from tripleaudit.testing import build_extractor
from tripleaudit.training.optimizer import (
    Rates,
    clip_gradients,
    make_optimizer,
    parameter_groups,
    schedule_factor,
)
from tripleaudit.training.settings import TrainingSettings


def test_groups_split_encoder_and_head_and_keep_vectors_from_decay(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder)
    settings = TrainingSettings(
        encoder_learning_rate=1e-5, head_learning_rate=1e-3, weight_decay=0.01
    )
    groups = parameter_groups(model, settings)
    assert [(g["role"], g["lr"], g["weight_decay"]) for g in groups] == [
        ("encoder", 1e-5, 0.0), ("encoder", 1e-5, 0.01), ("head", 1e-3, 0.0), ("head", 1e-3, 0.01),
    ]  # fmt: skip
    assert sum(len(g["params"]) for g in groups) == len(list(model.parameters()))
    assert all(p.dim() == 1 for g in groups if not g["weight_decay"] for p in g["params"])


@pytest.mark.parametrize("name", ["adam", "adamw"])
def test_the_fused_optimiser_of_pytorch_is_used(tiny_encoder, name):
    optimizer = make_optimizer(
        build_extractor(CasRel, tiny_encoder), TrainingSettings(optimizer=name)
    )
    assert type(optimizer).__name__.lower() == name
    assert all(
        group["fused"] and group["betas"] == (0.9, 0.999) for group in optimizer.param_groups
    )


def test_adam_without_bias_correction_follows_its_formula():
    torch.manual_seed(0)
    weight = torch.nn.Parameter(torch.randn(3, 4, dtype=torch.float64))
    settings = {
        "head_learning_rate": 0.1,
        "adam_epsilon": 1e-6,
        "weight_decay": 0.01,
        "adam_bias_correction": False,
    }
    model = torch.nn.Module()
    model.weight = weight
    optimizer = make_optimizer(model, TrainingSettings(**settings))
    expected, m, v = weight.detach().clone(), torch.zeros(3, 4).double(), torch.zeros(3, 4).double()
    for _ in range(5):
        gradient = torch.randn(3, 4, dtype=torch.float64)
        weight.grad = gradient.clone()
        optimizer.step()
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        expected = expected - 0.1 * (m / (v.sqrt() + 1e-6) + 0.01 * expected)
    torch.testing.assert_close(weight.detach(), expected, rtol=1e-12, atol=1e-12)


def test_the_head_may_have_its_own_schedule(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder)
    settings = TrainingSettings(
        encoder_learning_rate=0.5,
        head_learning_rate=1.0,
        schedule="linear",
        head_schedule="constant",
    )
    optimizer = make_optimizer(model, settings)
    rates = Rates(optimizer, settings, 10, 5).at(5)
    roles = [group["role"] for group in optimizer.param_groups]
    assert set(zip(roles, rates, strict=True)) == {("encoder", 0.25), ("head", 1.0)}


def with_gradient(*values: float) -> torch.nn.Parameter:
    parameter = torch.nn.Parameter(torch.zeros(len(values)))
    parameter.grad = torch.tensor(values, dtype=torch.float32)
    return parameter


TINY = 1.2e-6, -1.6e-6  # as small as the number that keeps a norm from being zero


@pytest.mark.parametrize("formulation", ["", "device"])
@pytest.mark.parametrize(
    ("clip", "bound", "gradients", "factors"),
    [
        ("global", 0.5, [(2,), (-1,) * 4], [0.5 / 8**0.5] * 2),
        ("global", 5.0, [(2,), (-1,) * 4], [1, 1]),
        ("global", 5.0, [(3, 4)], [1]),  # the bound itself
        ("global", 1e-6, [TINY], [1 / 3]),
        ("parameter", 2.0, [(0.1,) * 4, (10,) * 4], [1, 0.1]),
        ("parameter", 5.0, [(3, 4)], [1]),
        ("parameter", 1e-6, [TINY], [1 / 3]),
        ("none", 1.0, [(100,) * 3], [1]),
    ],
)
def test_gradients_are_clipped_as_pytorch_clips_them(
    monkeypatch, formulation, clip, bound, gradients, factors
):
    """But those within the bound are left alone on a CPU: PyTorch's factor for the bound itself
    is less than 1.
    """
    monkeypatch.setenv("TRIPLEAUDIT_FORMULATION", formulation)
    parameters, without = (
        [with_gradient(*each) for each in gradients],
        torch.nn.Parameter(torch.zeros(2)),
    )
    norm = clip_gradients(
        iter([*parameters, without]), TrainingSettings(clip=clip, clip_norm=bound)
    )
    whole = math.hypot(*(value for each in gradients for value in each))
    assert norm == (pytest.approx(whole) if clip == "global" else None) and without.grad is None
    for parameter, values, factor in zip(parameters, gradients, factors, strict=True):
        close = {"rtol": 0 if factor == 1 and not formulation else 1e-4, "atol": 0}
        torch.testing.assert_close(parameter.grad, torch.tensor(values) * float(factor), **close)


@pytest.mark.parametrize(
    ("values", "bound", "scale"), [((1.2, -1.6), 0.5, 4), ((1.2, -1.6), 5.0, 1), (TINY, 1e-6, 3)]
)
def test_a_fused_optimiser_divides_by_the_excess_and_never_multiplies(values, bound, scale):
    parameter, optimizer = with_gradient(*values), SimpleNamespace()
    norm = clip_gradients([parameter], TrainingSettings(clip="global", clip_norm=bound), optimizer)
    assert norm.item() == pytest.approx(math.hypot(*values))
    assert optimizer.grad_scale.item() == pytest.approx(scale, rel=1e-4)
    assert parameter.grad.tolist() == pytest.approx(values)


@pytest.mark.parametrize(
    ("kind", "step", "factor"),
    [
        ("linear", 20, 1.0),  # the warm-up of 20 steps is over
        ("linear", 60, 0.5),
        ("linear", 130, 0.0),  # never below 0
        ("cosine", 60, 0.5),
        ("cosine", 40, 0.5 * (1 + math.cos(math.pi / 4))),
        ("cosine", 130, 0.0),  # stays at its end
        (
            "cosine_restarts",
            30,
            0.5,
        ),  # periods of two epochs, 20 steps, from the end of the warm-up on
        ("cosine_restarts", 40, 1.0),
        ("constant", 19, 0.95),
    ],
)
def test_schedules_begin_behind_the_warm_up(kind: str, step: int, factor: float):
    of = schedule_factor(
        TrainingSettings(schedule=kind, warmup=0.2, restart_epochs=2.0), kind, 100, 10.0
    )
    assert of(step) == pytest.approx(factor)


def test_a_training_of_warm_up_alone_ends_at_the_full_rate():
    for kind in ("linear", "cosine"):
        of = schedule_factor(TrainingSettings(schedule=kind, warmup=1.0), kind, 4, 2.0)
        assert [of(step) for step in range(4)] == [0, 0.25, 0.5, 0.75]
        of = schedule_factor(TrainingSettings(schedule=kind, warmup=0.75), kind, 4, 2.0)
        assert [of(step) for step in range(5)] == pytest.approx(
            [0, 1 / 3, 2 / 3, 1, 0]
        )  # one step behind the warm-up


@pytest.mark.parametrize(
    ("points", "rates"),
    [
        (
            ((1, 0.4), (1, 0.6), (3, 0.2)),
            {0: 0.4, 10: 0.4, 20: 0.4, 30: 0.2, 31: 0.2},
        ),  # begin with the first
        (
            ((0, 1.0), (1, 0.5), (1, 0.1), (2, 0.1)),
            {0: 1, 5: 0.75, 10: 0.5, 11: 0.1, 20: 0.1},
        ),  # a jump
        (((0, 0.0), (1, 1.0), (2, 0.1)), {0: 0, 5: 0.5, 10: 1, 15: 0.55, 20: 0.1, 90: 0.1}),
    ],
)
def test_rates_are_linear_between_points_in_epochs(points, rates):
    of = schedule_factor(
        TrainingSettings(schedule="steps", learning_rate_points=points), "steps", 100, 10.0
    )
    assert {step: round(of(step), 6) for step in rates} == rates
