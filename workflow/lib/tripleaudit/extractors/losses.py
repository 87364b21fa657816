"""Losses over large tables of cells, of which only a few are positive, without dense label tensors.

With S the sparse set of positive cells and class 0 = none:

- binary: ``sum over cells of softplus(z) - sum over S of z``
- classes: ``sum over cells of (logsumexp(z) - z_0) + sum over S of (z_0 - z_c)``

Both equal the usual dense losses exactly. All functions return sums; callers divide. Half precision is raised to
float32 first; float64 stays float64.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from tripleaudit.extractors.batches import Shape
from tripleaudit.extractors.formulation import on_device


def raise_precision(tensor: Tensor) -> Tensor:
    """Return float16 / bfloat16 tensors as float32, others as they are."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def last_written(cells: Tensor) -> Tensor:
    """Mark [n], for each distinct one of the cell numbers [n], the last row that names it; by sorting, on a device."""
    order = torch.argsort(cells, stable=True)
    ordered = cells[order]
    last = torch.ones_like(ordered, dtype=torch.bool)
    last[:-1] = ordered[1:] != ordered[:-1]
    return torch.zeros_like(last).scatter(0, order, last)


def flat_cells(shape: torch.Size | tuple[int, ...], *indices: Tensor) -> Tensor:
    """Return flat (row-major) cell numbers of index tensors, one for each dimension of ``shape``."""
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
    """Put the positive cells of each table, by name, into a training batch, in the data loader."""
    last = {name: last_written(torch.from_numpy(own)).numpy() for name, own in cells.items()}
    padded = {f"{name}_cells": shape.padded(own) for name, own in cells.items()}
    return padded | {f"{name}_last": shape.padded(own) for name, own in last.items()}


def read_gold(targets: Mapping[str, Tensor]) -> dict[str, Gold]:
    """What :func:`write_gold` put into a batch."""
    names = [name.removesuffix("_cells") for name in targets if name.endswith("_cells")]
    return {name: Gold(targets[f"{name}_cells"], targets[f"{name}_last"]) for name in names}


def mean_bce(logits: Tensor, gold: Gold, mask: Tensor, over: int = 1) -> Tensor:
    """Mean binary cross-entropy over the cells of a mask, summed over what dimensions logits have beyond it.

    Args:
        gold: the positive cells.
        mask: the first dimensions of ``logits``, or all: weights of cells, 0 leaves one out.
        over: further number that the sum is divided by, such as that of the dimensions beyond, for their mean.
    """
    weights = mask.view(*mask.shape, *[1] * (logits.dim() - mask.dim()))
    count = mask.sum().clamp(min=1)
    return binary_cells(logits, gold.cells, weights, gold.last) / (count if over == 1 else count * over)


def summed_bce(logits: Tensor, cells: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
    """Sum of binary cross-entropies over the cells of a mask, for gold cells that only the model can number.

    As :func:`binary_cells`; ``valid`` [n] marks the rows of ``cells`` that are no padding, all if None.
    """
    if not on_device(logits):
        return binary_cells(logits, cells if valid is None else cells[valid], mask)
    logits = raise_precision(logits)
    beyond = logits.numel()
    positions = cells if valid is None else torch.where(valid, cells, beyond)
    labels = logits.new_zeros(beyond + 1).scatter_(0, positions, 1.0)[:beyond].view(logits.shape)
    return F.binary_cross_entropy_with_logits(logits, labels, weight=mask.to(logits.dtype), reduction="sum")


def binary_cells(logits: Tensor, cells: Tensor, mask: Tensor | None = None, last: Tensor | None = None) -> Tensor:
    """Sum of binary cross-entropies over all cells of logits of any shape.

    Args:
        cells: [n] int64, flat numbers of the positive cells; repeats count once.
        mask: weights that broadcast to ``logits`` (0 leaves a cell out), or None for all cells.
        last: [n] bool, rows of ``cells`` that count (:func:`last_written`), where they are known.
    """
    logits = raise_precision(logits)
    last = last_written(cells) if last is None else last
    if on_device(logits):
        mask = logits.new_ones((1,) * logits.dim()) if mask is None else mask
        return _Binary.apply(logits, cells, mask, last)
    everything = F.softplus(logits)
    positive = logits.reshape(-1)[cells] * last
    if mask is not None:
        mask = mask.to(logits.dtype)
        everything = everything * mask
        positive = positive * mask.expand(logits.shape).reshape(-1)[cells]
    return everything.sum() - positive.sum()


class _Binary(torch.autograd.Function):
    """:func:`binary_cells` in few operators: the gradient is made with the sum, and the backward pass scales it."""

    @staticmethod
    def forward(ctx, logits: Tensor, cells: Tensor, mask: Tensor, last: Tensor) -> Tensor:
        weights = mask.to(logits.dtype).expand(logits.shape)
        flat, weights = logits.reshape(-1), weights.reshape(-1)
        counting = weights[cells] * last
        gradient = (flat.sigmoid() * weights).index_add_(0, cells, counting, alpha=-1)
        ctx.save_for_backward(gradient)
        ctx.shape = logits.shape
        return torch.dot(F.softplus(flat), weights) - torch.dot(flat[cells], counting)

    @staticmethod
    def backward(ctx, upstream: Tensor):
        (gradient,) = ctx.saved_tensors
        return (gradient * upstream).view(ctx.shape), None, None, None
