"""Row and column maxima of GRTE's tables without storing a table; same mathematics.

Logits are dropped chunk by chunk and only the positions of maxima are kept; the backward pass has
gradients at those positions alone and computes no logit again.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from tripleaudit.extractors.batches import joined
from tripleaudit.extractors.formulation import on_device
from tripleaudit.extractors.losses import raise_precision
from tripleaudit.extractors.tables import Pairs, column_chunks, plan, spans_of


def features(left: Tensor, right: Tensor) -> Tensor:
    """Pair features ``ELU(S_i * O_j)``, as in the authors' code; the paper has ReLU."""
    return F.elu(left * right)


def table_maxima(
    subject: Tensor, object_: Tensor, table: nn.Linear, valid: Tensor, pooled: Tensor
) -> tuple[Tensor, Tensor]:
    """Maxima of the table ``T_ij = W ELU(S_i * O_j) + b`` over j and over i, [B, L, C] each.

    Args:
        subject, object_: [B, L, H]. valid: [B, L] bool, the positions that get maxima; 0 elsewhere.
        pooled: [B, L] bool, those over which maxima run, among the valid ones; 0 in sentences
        without any.
    """
    weight, bias = table.weight.to(subject.dtype), table.bias
    need = torch.is_grad_enabled() and any(
        each.requires_grad for each in (subject, object_, table.weight)
    )
    with torch.autocast(subject.device.type, enabled=False):
        if on_device(subject):
            rows, columns = _PaddedMaxima.apply(
                subject, object_, weight, valid, pooled, Pairs(valid)
            )
        else:
            spans = spans_of(pooled)  # over which maxima run; (0, 0) where there are none
            blocks = [
                (each, spans[each.sentence])
                for each in plan(spans_of(valid))
                if spans[each.sentence][1]
            ]
            rows, columns = _TableMaxima.apply(subject, object_, weight, blocks, need)
    shift = (valid & pooled.any(dim=1, keepdim=True)).to(bias.dtype)[
        ..., None
    ] * bias  # moves a column's cells alike
    return rows + shift, columns + shift


class _PaddedMaxima(torch.autograd.Function):
    @staticmethod
    def forward(ctx, subject, object_, weight, valid, pooled, pairs):
        sentences, chunks = pairs.blocks(1, len(weight))
        ctx.blocks = pairs, sentences, chunks
        rows, columns = [], []
        for block in sentences:
            x, _ = pairs.join(features, subject[block], object_[block])  # [s L L, H]
            length, across, down = pairs.length, [], []
            hidden = ~pooled[block]
            for chunk in chunks:
                z = (x @ weight[chunk].T).view(-1, length, length, chunk.stop - chunk.start)
                across.append(z.masked_fill(hidden[:, None, :, None], -torch.inf).max(dim=2))
                down.append(z.masked_fill(hidden[:, :, None, None], -torch.inf).max(dim=1))
            for found, parts in ((rows, across), (columns, down)):
                found.append([joined(each, dim=-1) for each in zip(*parts, strict=True)])
        (rows, row_at), (columns, column_at) = (
            [joined(each) for each in zip(*found, strict=True)] for found in (rows, columns)
        )
        counts = (valid & pooled.any(dim=1, keepdim=True))[..., None]
        ctx.save_for_backward(subject, object_, weight, row_at.short(), column_at.short(), counts)
        return rows.masked_fill(~counts, 0), columns.masked_fill(~counts, 0)

    @staticmethod
    @once_differentiable
    def backward(ctx, d_rows, d_columns):
        subject, object_, weight, row_at, column_at, counts = ctx.saved_tensors
        pairs, sentences, chunks = ctx.blocks
        d_rows, d_columns = d_rows * counts, d_columns * counts
        d_weight, d_features = torch.zeros_like(weight, dtype=raise_precision(weight[:0]).dtype), []
        for block in sentences:
            with torch.enable_grad():
                graph, parts = pairs.join(features, subject[block], object_[block])
            x, dx = graph.detach(), None
            for chunk in chunks:
                # gradients lie at the maxima alone, [s, L, L, c]; no two rows, and no two columns,
                # meet in one place
                dz = d_rows.new_zeros(
                    *row_at[block].shape[:2], pairs.length, chunk.stop - chunk.start
                )
                dz.scatter_(
                    2,
                    row_at[block, :, chunk].long()[:, :, None],
                    d_rows[block, :, chunk][:, :, None],
                )
                dz.scatter_add_(
                    1,
                    column_at[block, :, chunk].long()[:, None],
                    d_columns[block, :, chunk][:, None],
                )
                dz = dz.flatten(0, 2)
                d_weight[chunk] += dz.T @ x
                dx = dz @ weight[chunk] if dx is None else dx.addmm_(dz, weight[chunk])
            d_features.append(pairs.gather(*torch.autograd.grad(graph, parts, dx)))
        d_subject, d_object = (joined(each) for each in zip(*d_features, strict=True))
        return d_subject, d_object, d_weight.to(weight.dtype), *[None] * 3


class _TableMaxima(torch.autograd.Function):
    @staticmethod
    def forward(ctx, subject, object_, weight, blocks, need):
        sizes = *subject.shape[:2], len(weight)
        rows, columns = subject.new_zeros(sizes), subject.new_zeros(sizes)
        if need:  # position of each maximum
            row_at = torch.zeros(sizes, dtype=torch.int16, device=subject.device)
            column_at = torch.zeros_like(row_at)
        for block, (first, last) in blocks:
            s, top, bottom = block.sentence, block.top, block.bottom
            x = block.join(features, subject[s, top:bottom], object_[s, block.first : block.stop])
            low, high = (
                max(top, first),
                min(bottom, last),
            )  # rows of the block over which columns are pooled
            for chunk in column_chunks(block, 1, len(weight)):
                z = (x @ weight[chunk].T).view(bottom - top, block.stop - block.first, -1)
                across = z[:, first - block.first : last - block.first]
                down = z[low - top : max(low, high) - top]
                into = columns[s, block.first : block.stop, chunk]
                if need:
                    best, at = across.max(dim=1)
                    rows[s, top:bottom, chunk] = best
                    row_at[s, top:bottom, chunk] = at.add_(first)
                    if high > low:
                        best, at = down.max(dim=0)
                        position = column_at[s, block.first : block.stop, chunk]
                        better = (
                            torch.ones_like(best, dtype=torch.bool) if low == first else best > into
                        )
                        into.copy_(torch.where(better, best, into))
                        position.copy_(torch.where(better, at.add_(low), position))
                else:
                    rows[s, top:bottom, chunk] = across.amax(dim=1)
                    if high > low:
                        best = down.amax(dim=0)
                        into.copy_(best if low == first else torch.maximum(best, into))
        if need:
            ctx.save_for_backward(subject, object_, weight, row_at, column_at)
            ctx.blocks = blocks
        return rows, columns

    @staticmethod
    @once_differentiable
    def backward(ctx, d_rows, d_columns):
        subject, object_, weight, row_at, column_at = ctx.saved_tensors
        d_subject, d_object = torch.zeros_like(subject), torch.zeros_like(object_)
        d_weight = torch.zeros_like(weight, dtype=raise_precision(weight[:0]).dtype)
        for block, _ in ctx.blocks:
            s, top, bottom = block.sentence, block.top, block.bottom
            across, down = slice(top, bottom), slice(block.first, block.stop)
            with torch.enable_grad():
                a, b = (
                    subject[s, across].detach().requires_grad_(),
                    object_[s, down].detach().requires_grad_(),
                )
                graph = block.join(features, a, b)
            x = graph.detach()
            at_rows = (row_at[s, across].long() - block.first).clamp_(min=0)
            at_columns = column_at[s, down].long() - top
            inside = (at_columns >= 0) & (at_columns < bottom - top)
            at_columns = at_columns.clamp_(0, bottom - top - 1)
            grads = torch.cat([d_rows[s, across], d_columns[s, down] * inside])  # [rows + width, C]
            width = block.stop - block.first
            pairs = torch.cat(
                [
                    torch.arange(bottom - top, device=x.device)[:, None] * width + at_rows,
                    at_columns * width + torch.arange(width, device=x.device)[:, None],
                ]
            )
            dx = torch.zeros_like(x)
            for chunk in column_chunks(block, 1, len(weight)):
                more, dw = _sparse_products(x, weight[chunk], pairs[:, chunk], grads[:, chunk])
                d_weight[chunk] += dw
                dx += more
            da, db = torch.autograd.grad(graph, (a, b), dx)
            d_subject[s, across] += da
            d_object[s, down] += db
        return d_subject, d_object, d_weight.to(weight.dtype), None, None


def _sparse_products(
    x: Tensor, weight: Tensor, pairs: Tensor, grads: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradients of x [n, H] and weight [C, H] from those of a few logits of ``x @ weight.T``.

    They are weighted sums of the rows concerned: m is a small share of n.

    Args:
        x, weight: as in the product.
        pairs: [m, C], rows of x.
        grads: [m, C], gradients of the logits of these rows and all columns, which add up.
    """
    pairs, grads = pairs.T.contiguous(), grads.T.contiguous()
    dw = F.embedding_bag(pairs, x, mode="sum", per_sample_weights=grads)
    pairs = pairs.flatten()
    # numpy sorts short integers by radix, in a fraction of the time
    keys = pairs.numpy().astype(np.int16) if len(x) < 2**15 else pairs.numpy()
    order = torch.from_numpy(np.argsort(keys, kind="stable"))
    counts = torch.bincount(pairs, minlength=len(x))
    column = order // grads.shape[1]
    dx = F.embedding_bag(
        column,
        weight,
        counts.cumsum(0) - counts,
        mode="sum",
        per_sample_weights=grads.flatten()[order],
    )
    return dx, dw
