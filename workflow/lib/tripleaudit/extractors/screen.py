"""The few pairs of a table that may have a class, found by products of 8-bit integers.

Nearly all cells of a decoded table are "none" by a wide margin. A processor with VNNI multiplies
8-bit integers many times as fast as float32, and exact logits are then needed for the pairs alone
that remain. None is lost: with ``left = s (L + e)`` and ``right = s (R + f)`` for integers L and R
and entries of e and f within 1/2, ``relu(left + right)`` is at most ``s (X + 1)`` and at least ``s
(X - 1)`` for ``X = relu(L + R)``. It is nowhere negative, so that a difference of weights may be
rounded up, to ``t W``, and the product is at most ``s t (X . W + |W|)``, where ``|W|`` adds up
absolute values. That is far beyond what float32 rounds by.
"""

import torch
from torch import Tensor

MOST = 126  # of two numbers' sum, and of a rounded weight but for a last rounding up
BEYOND = 2**30  # what no product reaches; a difference with it is an int32, too


def available() -> bool:
    """Whether this processor multiplies 8-bit integers fast, and exactly."""
    return (
        hasattr(torch, "_int_mm") and getattr(torch.cpu, "_is_vnni_supported", bool)()
    )  # neither is a promise


class Screen:
    """Rounded weights [C, G, D] and biases [C, G] of a table's classes, of which 0 is none."""

    def __init__(self, weight: Tensor, bias: Tensor):
        difference = (weight[1:].double() - weight[0]).flatten(
            0, 1
        )  # a class counts where it exceeds class 0
        self.bias = (bias[1:].double() - bias[0]).flatten()
        self.scale = difference.abs().amax(dim=1).clamp(min=torch.finfo(torch.float32).tiny) / MOST
        rounded = (difference / self.scale[:, None]).ceil()
        self.slack = rounded.abs().sum(dim=1)
        self.weight = rounded.to(torch.int8).T

    def pairs(self, left: Tensor, right: Tensor) -> Tensor:
        """Return pairs of rows of left [n, D] and right [m, D] whose class may exceed class 0."""
        scale = 2 * torch.maximum(left.abs().max(), right.abs().max()).double() / MOST
        if (
            left.shape[1] == 1 or not 0 < scale < torch.inf
        ):  # PyTorch 2.13 gets width 1 wrong; all 0; not finite
            return torch.arange(len(left) * len(right))
        left, right = ((part.double() / scale).round().to(torch.int8) for part in (left, right))
        product = torch._int_mm(torch.relu_(left[:, None] + right).flatten(0, 1), self.weight)
        least = (-self.bias / (scale * self.scale) - self.slack).clamp(-BEYOND, BEYOND).floor()
        return torch.nonzero((product - least.int()).amax(dim=1) > 0)[:, 0]
