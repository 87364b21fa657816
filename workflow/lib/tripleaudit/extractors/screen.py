"""A screen that finds the few pairs of a table which can hold a positive cell, by products of 8-bit integers.

Nearly all cells of a decoded table are "none" by a wide margin. On a CPU with integer dot products the table is first
computed from rounded features and rounded weights, several times as fast as in float32, and exact logits are needed
only for the pairs that remain. The screen loses nothing: with ``x = s (X + e)`` and ``w = t (W + f)``, where X and W
are integers and no entry of e and f is beyond 1/2, ``x . w`` is at most ``s t (X . W + |X| / 2 + |W| / 2 + D / 4)`` for
norms ``|.|`` that add up absolute values.
"""

import functools

import torch
from torch import Tensor

PAIRS_AT_ONCE = 2**10  # their features stay in the processor's cache, and each portion has a scale of its own
MOST = 127  # of an 8-bit integer
INT32 = 2**31 - 1


@functools.cache
def available() -> bool:
    """Whether this CPU multiplies 8-bit integers fast, and exactly (without saturation)."""
    if not (hasattr(torch, "_int_mm") and getattr(torch.cpu, "_is_vnni_supported", bool)()):
        return False
    extreme = torch.full((32, 64), MOST, dtype=torch.int8)
    signs = torch.ones(32, 1, dtype=torch.int8)
    signs[1::2] = -1
    try:
        product = torch._int_mm(extreme, (signs * extreme).T)
    except RuntimeError:
        return False
    return torch.equal(product, (64 * MOST**2 * signs.T.int()).expand(32, 32))


class Screen:
    """The rounded weights of a table's classifier.

    Args:
        weight: [C, G, D], C classes (0 is none) of G columns.
        bias: [C, G].
    """

    def __init__(self, weight: Tensor, bias: Tensor):
        difference = (weight[1:] - weight[0]).flatten(0, 1)  # a class counts where it exceeds class 0
        self.bias = (bias[1:] - bias[0]).flatten().double()
        largest = difference.abs().amax(dim=1).double()
        self.scale = torch.where(largest > 0, largest, 1.0) / MOST  # of each class and column
        rounded = (difference / self.scale.to(weight.dtype)[:, None]).round_()
        self.allowance = rounded.abs().sum(dim=1).double() / 2 + weight.shape[-1] / 4 + 1
        self.weight = rounded.to(torch.int8).T.contiguous()

    def pairs(self, x: Tensor) -> Tensor:
        """Numbers of the rows of the features ``x`` [n, D] for which a class may exceed class 0; overwrites ``x``."""
        low, high = map(float, torch.aminmax(x)) if len(x) else (0.0, 0.0)
        largest = max(-low, high)
        if not 0 < largest < float("inf"):  # all features 0, or not finite: nothing is known
            return torch.arange(len(x))
        scale = largest / MOST
        rounded = x.mul_(1 / scale).round_()
        product = torch._int_mm(rounded.to(torch.int8), self.weight)
        norm = float((rounded if low >= 0 else rounded.abs_()).sum(dim=1).max())
        least = -self.bias / (scale * self.scale) - self.allowance - norm / 2
        least = least.floor().clamp(-INT32, INT32).int()
        return torch.nonzero((product > least).any(dim=1))[:, 0]
