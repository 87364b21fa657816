"""Losses over large tables of cells, of which only a few are positive, without dense label tensors.

With S the sparse set of positive cells and class 0 = none:

- binary: ``sum over cells of softplus(z) - sum over S of z``
- classes: ``sum over cells of (logsumexp(z) - z_0) + sum over S of (z_0 - z_c)``

Both equal the usual dense losses exactly. All functions return sums; callers divide. Half precision
is raised to float32 first; float64 stays float64.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from tripleaudit.extractors.batches import Shape


def raise_precision(tensor: Tensor) -> Tensor:
    """Return float16 / bfloat16 tensors as float32, others as they are."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def last_written(cells: Tensor) -> Tensor:
    """Mark the last row [n] that names each distinct cell number, by sorting on the device."""
    order = torch.argsort(cells, stable=True)
    ordered = cells[order]
    last = torch.ones_like(ordered, dtype=torch.bool)
    last[:-1] = ordered[1:] != ordered[:-1]
    return torch.zeros_like(last).scatter(0, order, last)


def flat_cells(shape: torch.Size | tuple[int, ...], *indices: Tensor) -> Tensor:
    """Return flat (row-major) cell numbers of one index tensor per dimension of ``shape``."""
    flat = indices[0]
    for size, index in zip(shape[1:], indices[1:], strict=True):
        flat = flat * size + index
    return flat


class Gold(NamedTuple):
    """The positive cells of a table of logits.

    Attributes:
        cells: [n] int64, their flat numbers; repeats count once.
        last: [n] bool, the rows of ``cells`` that count.
    """

    cells: Tensor
    last: Tensor


def write_gold(shape: Shape, cells: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    """Return the positive cells of each table, by name, as members of a training batch.

    The data loader calls this. :func:`read_gold` reads the members.
    """
    members = {}
    for name, own in cells.items():
        members[f"{name}_cells"] = shape.padded(own)
    for name, own in cells.items():
        last = last_written(torch.from_numpy(own)).numpy()
        members[f"{name}_last"] = shape.padded(last)
    return members


def read_gold(targets: Mapping[str, Tensor]) -> dict[str, Gold]:
    """What :func:`write_gold` put into a batch."""
    names = [name.removesuffix("_cells") for name in targets if name.endswith("_cells")]
    return {name: Gold(targets[f"{name}_cells"], targets[f"{name}_last"]) for name in names}


def mean_bce(logits: Tensor, gold: Gold, mask: Tensor, over: int = 1) -> Tensor:
    """Return mean binary cross-entropy over masked cells, summed over further dimensions.

    Args:
        gold: the positive cells.
        mask: the first dimensions of ``logits``, or all: weights of cells, 0 leaves one out.
        over: further number that the sum is divided by, such as that of the dimensions beyond, for
            their mean.
    """
    weights = mask.view(*mask.shape, *[1] * (logits.dim() - mask.dim()))
    count = mask.sum().clamp(min=1)
    return binary_cells(logits, gold, weights) / (count if over == 1 else count * over)


def summed_bce(logits: Tensor, cells: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
    """Return summed binary cross-entropy over masked cells, for gold cells that a model numbers.

    As :func:`binary_cells`; ``valid`` [n] marks the rows of ``cells`` that are no padding, all if
    None.
    """
    if valid is None:
        return binary_cells(logits, Gold(cells, last_written(cells)), mask)
    last = last_written(torch.where(valid, cells, -1)) & valid
    return binary_cells(logits, Gold(cells, last), mask)


def binary_cells(logits: Tensor, gold: Gold, mask: Tensor) -> Tensor:
    """Sum of binary cross-entropies over all cells of logits of any shape.

    Args:
        gold: the positive cells.
        mask: weights that broadcast to ``logits``; 0 leaves a cell out.
    """
    logits = raise_precision(logits)
    mask = mask.to(logits.dtype)
    positive = logits.reshape(-1).gather(0, gold.cells) * gold.last
    weights = mask.expand(logits.shape).reshape(-1).gather(0, gold.cells)
    return (F.softplus(logits) * mask).sum() - (positive * weights).sum()


def with_gradients(loss: Tensor, inputs: Sequence[Tensor], gradients: Sequence[Tensor]) -> Tensor:
    """Return a loss whose input gradients were computed with it, in fewer operators."""
    return _WithGradients.apply((loss, gradients), *inputs)


class _WithGradients(torch.autograd.Function):
    @staticmethod
    def forward(ctx, made: tuple[Tensor, Sequence[Tensor]], *inputs: Tensor) -> Tensor:
        loss, gradients = made
        ctx.save_for_backward(
            *(own.to(each.dtype) for each, own in zip(inputs, gradients, strict=True))
        )
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx, upstream: Tensor) -> tuple[Tensor | None, ...]:
        return None, *(upstream.to(own.dtype) * own for own in ctx.saved_tensors)
