"""PRGC's global correspondence of heads: logits of token pairs without [L, L, H] activations.

They exist for a few rows at a time and are computed again in the backward pass.
"""

import torch
from torch import Tensor, nn

from tripleaudit.extractors.dropping import exact_rate, kept
from tripleaudit.extractors.formulation import cells_at_once, on_device
from tripleaudit.extractors.losses import raise_precision

CELLS_AT_ONCE = (
    2**20
)  # numbers of [B, rows, L, H] held at a time: bounds memory, changes nothing else


class _Correspondence(torch.autograd.Function):
    """``dropout(relu(x_i + y_j)) @ w`` of all pairs, computed by rows and again backwards."""

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor, w: Tensor, dropout: float, seed: int) -> Tensor:
        ctx.save_for_backward(x, y, w)
        ctx.dropout, ctx.seed = dropout, seed
        out = x.new_empty(*x.shape[:2], y.shape[1])
        for block, pre, keep in _blocks(x, y, dropout, seed):
            pre = pre.relu_()
            out[:, block] = (pre if keep is None else pre.mul_(keep)) @ w
        return out / (1 - dropout)

    @staticmethod
    def backward(ctx, grad: Tensor):
        x, y, w = ctx.saved_tensors
        by_row, by_column = torch.empty_like(x), torch.zeros_like(y)
        for block, pre, keep in _blocks(x, y, ctx.dropout, ctx.seed):
            active = pre > 0 if keep is None else (pre > 0).logical_and_(keep)
            flow = torch.mul(active, grad[:, block, :, None], out=pre)
            by_row[:, block] = flow.sum(dim=2)
            by_column += flow.sum(dim=1)
        scale = 1 / (1 - ctx.dropout)
        # relu(x + y) is x + y wherever it is active, so w's gradient needs only the two sums
        by_weight = (x * by_row).sum(dim=(0, 1)) + (y * by_column).sum(dim=(0, 1))
        return by_row * w * scale, by_column * w * scale, by_weight * scale, None, None


class _DeviceCorrespondence(torch.autograd.Function):
    """The same for a captured step: rows of several sentences, and the dropout mask in memory."""

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor, w: Tensor, dropout: float) -> Tensor:
        active, out = [], []
        step = max(1, cells_at_once(x.device) // max(1, x[0].numel() * x.shape[1]))
        for x_block, y_block in zip(x.split(step), y.split(step), strict=True):
            pre = (x_block[:, :, None] + y_block[:, None]).relu_()  # [b, L, L, H]
            pre = torch.native_dropout(pre, dropout, dropout > 0)[0]
            active.append(pre > 0)
            out.append(pre @ w)
        ctx.save_for_backward(x, y, w, *active)
        ctx.scale, ctx.step = 1 / (1 - dropout), step
        return torch.cat(out)

    @staticmethod
    def backward(ctx, grad: Tensor):
        x, y, w, *active = ctx.saved_tensors
        flows = [
            own * part[..., None] for own, part in zip(active, grad.split(ctx.step), strict=True)
        ]
        by_row = torch.cat([flow.sum(dim=2) for flow in flows])  # [B, L, H]
        by_column = torch.cat([flow.sum(dim=1) for flow in flows])
        by_weight = (x * by_row + y * by_column).sum(dim=(0, 1))
        w = w * ctx.scale
        return by_row * w, by_column * w, by_weight * ctx.scale, None


def _blocks(x: Tensor, y: Tensor, dropout: float, seed: int):
    """Yield (rows, x_i + y_j [B, rows, L, H], dropout mask or None), equal for equal seeds."""
    draws = torch.Generator().manual_seed(seed) if dropout else None
    step = max(1, CELLS_AT_ONCE // max(1, y.numel()))
    for at in range(0, x.shape[1], step):
        block = slice(at, at + step)
        pre = x[:, block, None] + y[:, None]
        yield block, pre, None if draws is None else kept(pre.shape, dropout, draws)


def correspondence(
    rows: Tensor, columns: Tensor, layer: nn.Linear, dropout: float, seed: int | None = None
) -> Tensor:
    """Return logits [B, L, L] of pairs of heads (row: subject, column: object).

    The parts are from :meth:`prgc.PRGC.pair_parts`.

    ``seed`` is that of dropout, drawn from PyTorch's generator if None.
    """
    parts = rows, columns, layer.weight[0].to(rows.dtype)
    if on_device(rows):
        return raise_precision(_DeviceCorrespondence.apply(*parts, dropout)) + layer.bias
    dropout = exact_rate(dropout)
    if dropout and seed is None:
        seed = int(torch.randint(2**62, ()))
    return raise_precision(_Correspondence.apply(*parts, dropout, seed or 0)) + layer.bias
