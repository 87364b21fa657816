"""Optimisers, parameter groups, learning-rate schedules and gradient clipping."""

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from tripleaudit.training.settings import TrainingSettings


class UncorrectedAdamW(torch.optim.Optimizer):
    """AdamW without bias correction: the BertAdam of the first BERT code base (epsilon outside the root)."""

    def __init__(self, params: Iterable, lr: float, betas: tuple[float, float], eps: float, weight_decay: float = 0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update all parameters that have a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            if not parameters:
                continue
            for parameter in parameters:
                if not self.state[parameter]:
                    self.state[parameter] = {"m": torch.zeros_like(parameter), "v": torch.zeros_like(parameter)}
            gradients = [parameter.grad for parameter in parameters]
            means = [self.state[parameter]["m"] for parameter in parameters]
            squares = [self.state[parameter]["v"] for parameter in parameters]
            beta1, beta2 = group["betas"]
            torch._foreach_lerp_(means, gradients, 1 - beta1)
            torch._foreach_mul_(squares, beta2)
            torch._foreach_addcmul_(squares, gradients, gradients, 1 - beta2)
            if group["weight_decay"]:
                torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
            roots = torch._foreach_sqrt(squares)
            torch._foreach_add_(roots, group["eps"])
            torch._foreach_addcdiv_(parameters, means, roots, -group["lr"])
        return loss


def parameter_groups(model: nn.Module, settings: TrainingSettings) -> list[dict]:
    """Return up to four groups: encoder and head, each with and without weight decay; ``role`` says which.

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


def make_optimizer(model: nn.Module, settings: TrainingSettings) -> torch.optim.Optimizer:
    """Return the optimiser of one training run; the fused kernel where there is one."""
    groups = parameter_groups(model, settings)
    options = {
        "lr": settings.encoder_learning_rate,
        "betas": (settings.adam_beta1, settings.adam_beta2),
        "eps": settings.adam_epsilon,
    }
    if not settings.adam_bias_correction:
        return UncorrectedAdamW(groups, **options)
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    return kind(groups, **options, fused=True)


def schedule_factor(
    settings: TrainingSettings, kind: str, steps: int, steps_per_epoch: float
) -> Callable[[int], float]:
    """Return the factor on the learning rate as a function of the number of steps done (see ``TrainingSettings``)."""
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


def make_schedule(
    optimizer: torch.optim.Optimizer, settings: TrainingSettings, steps: int, steps_per_epoch: float
) -> torch.optim.lr_scheduler.LambdaLR:
    """Return the schedule of all groups; the head may have one of its own."""
    kinds = {"encoder": settings.schedule, "head": settings.head_schedule or settings.schedule}
    factors = [
        schedule_factor(settings, kinds[group["role"]], steps, steps_per_epoch) for group in optimizer.param_groups
    ]
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factors)


@torch.no_grad()
def clip_each(parameters: Iterable[nn.Parameter], bound: float) -> None:
    """Scale every gradient tensor whose norm exceeds ``bound`` down to it, each on its own."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if gradients:
        norms = torch._foreach_norm(gradients)
        factors = [torch.clamp(bound / (norm + 1e-6), max=1.0) for norm in norms]
        torch._foreach_mul_(gradients, factors)
