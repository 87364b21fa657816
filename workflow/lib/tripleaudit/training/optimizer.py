"""Optimisers, parameter groups, learning-rate schedules and gradient clipping."""

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from tripleaudit.extractors.formulation import on_device
from tripleaudit.training.settings import LoopSettings

FAR = 1_000_000  # steps after which both bias corrections of Adam are exactly 1 in double precision


def parameter_groups(model: nn.Module, settings: LoopSettings) -> list[dict]:
    """Return up to four groups: encoder and head with and without weight decay; see ``role``.

    Biases and normalisation weights (all vectors) have no decay. Empty groups are left out.
    """
    groups: dict[tuple[str, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            role = "encoder" if name.startswith("encoder.") else "head"
            groups.setdefault((role, parameter.dim() > 1), []).append(parameter)
    rates = {"encoder": settings.encoder_learning_rate, "head": settings.head_learning_rate}
    return [
        {
            "params": parameters,
            "lr": rates[role],
            "weight_decay": settings.weight_decay if decays else 0.0,
            "role": role,
        }
        for (role, decays), parameters in sorted(groups.items(), key=lambda item: item[0])
    ]


def make_optimizer(model: nn.Module, settings: LoopSettings) -> torch.optim.Optimizer:
    """Return the optimiser of one training run; the fused kernel where there is one."""
    groups = parameter_groups(model, settings)
    options = {
        "lr": settings.encoder_learning_rate,
        "eps": settings.adam_epsilon,
        "fused": True,
        "capturable": groups[0]["params"][0].device.type == "cuda",
    }
    if settings.optimizer == "adam" and settings.adam_bias_correction:
        return torch.optim.Adam(groups, **options)
    optimizer = torch.optim.AdamW(groups, **options)
    if (
        not settings.adam_bias_correction
    ):  # the BertAdam of the first BERT code base (epsilon outside the root)
        for parameter in (each for group in groups for each in group["params"]):
            step = torch.full((), float(FAR), device=parameter.device)
            moments = {name: torch.zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}
            optimizer.state[parameter] = {"step": step, **moments}
    return optimizer


def schedule_factor(
    settings: LoopSettings, kind: str, steps: int, steps_per_epoch: float
) -> Callable[[int], float]:
    """Return the learning-rate factor by completed steps (see ``LoopSettings``)."""
    warm = round(settings.warmup * steps)
    points = [(epoch * steps_per_epoch, factor) for epoch, factor in settings.learning_rate_points]

    def factor(step: int) -> float:
        if step < warm:
            return step / warm
        if kind == "linear":
            return max(0.0, (steps - step) / max(1, steps - warm))
        if kind == "cosine":
            return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warm) / max(1, steps - warm))))
        if kind == "cosine_restarts":
            period = settings.restart_epochs * steps_per_epoch
            return 0.5 * (1 + math.cos(math.pi * (((step - warm) / period) % 1.0)))
        if kind == "steps":
            return _interpolated(points, step)
        return 1.0

    return factor


def _interpolated(points: list[tuple[float, float]], step: float) -> float:
    if step <= points[0][0]:
        return points[0][1]
    for (left, low), (right, high) in zip(points, points[1:], strict=False):
        if step <= right:
            return low + (high - low) * (step - left) / max(right - left, 1e-12)
    return points[-1][1]


class Rates:
    """Learning rates of all groups by the settings' schedules; the head may have its own."""

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        settings: LoopSettings,
        steps: int,
        steps_per_epoch: float,
    ):
        kinds = {"encoder": settings.schedule, "head": settings.head_schedule or settings.schedule}
        self.full = [float(group["lr"]) for group in optimizer.param_groups]
        self.factors = [
            schedule_factor(settings, kinds[group["role"]], steps, steps_per_epoch)
            for group in optimizer.param_groups
        ]

    def at(self, step: int) -> list[float]:
        """The rate of each group after so many steps."""
        return [rate * factor(step) for rate, factor in zip(self.full, self.factors, strict=True)]


@torch.no_grad()
def clip_gradients(
    parameters: Iterable[nn.Parameter],
    settings: LoopSettings,
    fused: torch.optim.Optimizer | None = None,
) -> Tensor | None:
    """Clip as the settings say; returns the ``global`` gradient norm before, None for other kinds.

    On a CPU gradients within the bound are left alone: a factor of 1 would cost as much as any
    other. A ``fused`` optimiser divides by the excess itself, in its one pass over all gradients.
    """
    if settings.clip == "parameter":
        return clip_each(parameters, settings.clip_norm)
    if settings.clip == "none":
        return None
    parameters = [parameter for parameter in parameters if parameter.grad is not None]
    norm = nn.utils.get_total_norm([parameter.grad for parameter in parameters])
    if fused is not None:
        fused.grad_scale = ((norm + 1e-6) / settings.clip_norm).clamp(min=1.0)
        return norm
    if on_device(norm) or not norm <= settings.clip_norm:  # NaN is not
        nn.utils.clip_grads_with_norm_(parameters, settings.clip_norm, norm)
    return norm


@torch.no_grad()
def clip_each(parameters: Iterable[nn.Parameter], bound: float) -> None:
    """Scale every gradient tensor whose norm exceeds ``bound`` down to it, each on its own."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return
    norms = torch._foreach_norm(gradients)
    if not on_device(norms[0]):
        exceeding = [number for number, norm in enumerate(norms) if not norm <= bound]
        gradients, norms = (
            [gradients[number] for number in exceeding],
            [norms[number] for number in exceeding],
        )
    if gradients:
        factors = torch.clamp(bound / (torch.stack(norms) + 1e-6), max=1.0)
        torch._foreach_mul_(gradients, list(factors.unbind()))
