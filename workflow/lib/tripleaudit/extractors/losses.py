"""Losses over large tables of cells, of which only a few are positive, without dense label tensors.

With S the sparse set of positive cells and class 0 = none:

- binary: ``sum over cells of softplus(z) - sum over S of z``
- classes: ``sum over cells of (logsumexp(z) - z_0) + sum over S of (z_0 - z_c)``

Both equal the usual dense losses exactly. All functions return sums; callers divide. Half precision is raised to
float32 first; float64 stays float64.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def raise_precision(tensor: Tensor) -> Tensor:
    """Return float16 / bfloat16 tensors as float32, others as they are."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def last_written(cells: Tensor) -> Tensor:
    """Mark, for each distinct cell number, the last row that names it.

    Args:
        cells: [n] int64, flat cell numbers in writing order.

    Returns:
        [n] bool with exactly one True per distinct number, found by sorting on the device.
    """
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


def binary_cells(logits: Tensor, cells: Tensor, mask: Tensor | None = None) -> Tensor:
    """Sum of binary cross-entropies over all cells (logit form).

    Args:
        logits: any shape; one logit per cell.
        cells: [n] int64, flat numbers of the positive cells; repeats count once.
        mask: weights that broadcast to ``logits`` (0 leaves a cell out), or None for all cells.

    Returns:
        scalar.
    """
    logits = raise_precision(logits)
    everything = F.softplus(logits)
    positive = logits.reshape(-1)[cells] * last_written(cells)
    if mask is not None:
        mask = mask.to(logits.dtype)
        everything = everything * mask
        positive = positive * mask.expand(logits.shape).reshape(-1)[cells]
    return everything.sum() - positive.sum()


def class_cells(logits: Tensor, cells: Tensor, classes: Tensor, mask: Tensor | None = None) -> Tensor:
    """Sum of cross-entropies over all cells, class 0 for all but the listed ones.

    Args:
        logits: [..., C].
        cells: [n] int64, flat numbers over ``logits.shape[:-1]``; of several rows for one cell the last one holds.
        classes: [n] int64 in 1..C-1.
        mask: weights that broadcast to ``logits.shape[:-1]``, or None for all cells.

    Returns:
        scalar.
    """
    logits = raise_precision(logits)
    none = logits[..., 0]
    everything = torch.logsumexp(logits, dim=-1) - none
    rows = logits.reshape(-1, logits.shape[-1])[cells]
    positive = (rows[:, 0] - rows.gather(1, classes[:, None])[:, 0]) * last_written(cells)
    if mask is not None:
        mask = mask.to(logits.dtype)
        everything = everything * mask
        positive = positive * mask.expand(none.shape).reshape(-1)[cells]
    return everything.sum() + positive.sum()
