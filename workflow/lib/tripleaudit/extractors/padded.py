"""Classifiers of token pairs over a whole padded batch: the device formulation of :mod:`tripleaudit.extractors.pairs`.

Every shape follows from those of the batch, nothing waits for a value, and the number of operators is that of one table
whatever the batch holds. A table beyond :func:`formulation.cells_at_once` is cut into blocks of sentences, and where
one sentence is too large, of columns.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from tripleaudit.extractors.batches import joined, slices
from tripleaudit.extractors.formulation import cells_at_once
from tripleaudit.extractors.losses import raise_precision
from tripleaudit.extractors.pairs import MOST_CELLS, Cells, Features, most_certain

if TYPE_CHECKING:
    from tripleaudit.extractors.tables import Table

TILE = 8  # columns; of other widths matrix products on a GPU load number by number


class Pairs:
    """The pairs of a padded batch: all, or those with row <= column.

    Args:
        mask: [B, L] bool, the tokens that take part.
        upper: keep the upper triangle alone.
    """

    def __init__(self, mask: Tensor, *, upper: bool = False):
        self.mask, self.upper = mask, upper
        self.batch, self.length = mask.shape
        self.count = number_of_pairs(self.length, upper)  # P, of a sentence
        if upper:
            self.row, self.column = torch.triu_indices(self.length, self.length, device=mask.device)

    def valid(self, sentences: slice, dtype: torch.dtype) -> Tensor:
        """[s * P], 1 for pairs of tokens that take part, 0 for others."""
        mask = self.mask[sentences]
        both = mask[:, self.row] & mask[:, self.column] if self.upper else mask[:, :, None] & mask[:, None]
        return both.flatten().to(dtype)

    @property
    def pairs(self) -> Tensor:
        """Number of valid pairs in the batch, a scalar of at least 1."""
        tokens = self.mask.sum(dim=1)
        each = tokens * (tokens + 1) // 2 if self.upper else tokens**2
        return each.sum().clamp(min=1)

    def join(self, features: Features, left: Tensor, right: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Features [s * P, D] of all pairs of left and right [s, L, D], and what they were computed from, [s, …, D]."""
        if self.upper:
            parts = left[:, self.row].detach(), right[:, self.column].detach()
        else:
            parts = left[:, :, None].detach(), right[:, None].detach()
        for part in parts:
            part.requires_grad_(torch.is_grad_enabled())
        return features(*parts).flatten(0, -2), parts

    def gather(self, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        """Sum gradients of what :meth:`join` computed from into those of left and right, [s, L, D] each.

        Sums of a zero-filled square have a fixed order, those of a scatter have not.
        """
        if not self.upper:
            return left[:, :, 0], right[:, 0]
        position = self.row * self.length + self.column
        squares = (
            part.new_zeros(len(part), self.length**2, part.shape[-1]).index_copy_(1, position, part)
            for part in (left, right)
        )
        left, right = (square.unflatten(1, (self.length, self.length)) for square in squares)
        return left.sum(dim=2), right.sum(dim=1)

    def blocks(self, classes: int, columns: int) -> tuple[list[slice], list[slice]]:
        """Blocks of sentences and blocks of columns, so that no block has more logits than fit."""
        most = max(1, cells_at_once(self.mask.device) // (self.count * classes))
        chunks = list(slices(columns, most))
        return list(slices(self.batch, most // chunks[0].stop)), chunks


def number_of_pairs(length: int, upper: bool = False) -> int:
    """Pairs of a sentence of L tokens."""
    return length * (length + 1) // 2 if upper else length**2


def numbers(cells: Cells, length: int, *, upper: bool = False) -> Tensor:
    """Numbers [n] of the pairs of cells among those of a padded batch of L tokens, in the order of :class:`Pairs`."""
    row, column = cells.row, cells.column
    position = row * length - row * (row - 1) // 2 + column - row if upper else row * length + column  # in the sentence
    return cells.sentence * number_of_pairs(length, upper) + position


def cell_loss(table: "Table", cells: Tensor, scale: Tensor | None) -> tuple[Tensor, Tensor]:
    """See :meth:`tables.Table.loss`."""
    columns = table.weight.shape[1]
    if columns % TILE:
        scale = F.pad(table.bias.new_ones(columns) if scale is None else scale, (0, -columns % TILE))
    weight, bias = whole_tiles(table.weight, table.bias)
    parts = table.left, table.right, weight, bias, table.features, table.walk
    loss, sums = _CellLoss.apply(*parts, cells, scale, table.learns)
    return loss, sums[:columns]


def whole_tiles(weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Add columns of zeros, whose classes are equally likely, up to whole tiles of matrix units."""
    extra = -weight.shape[1] % TILE
    return (F.pad(weight, (0, 0, 0, extra)), F.pad(bias, (0, extra))) if extra else (weight, bias)


class _CellLoss(torch.autograd.Function):
    """Computes its gradient in the forward pass, where the logits are at hand, and keeps no table."""

    @staticmethod
    def forward(ctx, left, right, weight, bias, features, pairs, cells, scale, need):
        classes, columns, _ = weight.shape
        dtype, exact = left.dtype, raise_precision(left[:0]).dtype
        weight_, bias_ = weight.to(dtype), bias.to(dtype)
        factors = bias.new_ones(columns, dtype=exact) if scale is None else scale.to(exact)
        sentences, chunks = pairs.blocks(classes, columns)
        sums, positive, grads = [[] for _ in chunks], [], []
        d_weight, d_bias = (torch.zeros_like(each, dtype=exact) for each in (weight, bias))
        for block in sentences:
            with torch.set_grad_enabled(need):
                graph, parts = pairs.join(features, left[block], right[block])  # [N, D], N = s * P
            mask = pairs.valid(block, exact)
            x = graph.detach()
            seen, dx = x * mask.to(dtype)[:, None], None
            for number, chunk in enumerate(chunks):
                w = weight_[:, chunk].flatten(0, 1)  # [C * g, D]
                z = raise_precision(torch.addmm(bias_[:, chunk].flatten(), x, w.T))
                logs = z.view(len(x), classes, -1).log_softmax(dim=1)  # [N, C, g]
                sums[number].append(-(mask @ logs[:, 0]))
                none, gold, column, weigh = _within(cells, exact, block, chunk, pairs.count, logs.shape)
                flat = logs.view(-1)
                more = (flat[none] - flat[gold]) * weigh
                positive.append((more, column))
                if not need:
                    continue
                grad = logs.exp_()  # softmax minus labels
                grad[:, 0] -= 1
                flat.index_add_(0, torch.cat([none, gold]), torch.cat([weigh, -weigh]))
                d_bias[:, chunk] += (mask @ grad.view(len(x), -1)).view(classes, -1)
                grad = grad.view(len(x), -1).to(dtype)
                d_weight[:, chunk] += (grad.T @ seen).view(classes, -1, x.shape[1])
                by_column = w if scale is None else w * factors[chunk].to(dtype).repeat(classes)[:, None]
                dx = grad @ by_column if dx is None else dx.addmm_(grad, by_column)
            if need:
                dx = dx * mask.to(dtype)[:, None]
                grads.append(pairs.gather(*torch.autograd.grad(graph, parts, dx.view(graph.shape))))
        total = joined([torch.stack(each).sum(dim=0) for each in sums])  # [G]
        more, column = (joined(each) for each in zip(*positive, strict=True))
        loss = total @ factors + more @ factors[column]
        if need:
            d_left, d_right = (joined(each) for each in zip(*grads, strict=True))
            if scale is not None:
                d_weight, d_bias = d_weight * factors[:, None], d_bias * factors
            ctx.save_for_backward(d_left, d_right, d_weight.to(weight.dtype), d_bias.to(bias.dtype))
        losses = total.index_add(0, column, more)
        ctx.mark_non_differentiable(losses)
        return loss, losses

    @staticmethod
    @once_differentiable
    def backward(ctx, grad, _):
        return (*(grad.to(saved.dtype) * saved for saved in ctx.saved_tensors), *[None] * 5)


def _within(
    cells: Tensor, dtype: torch.dtype, block: slice, chunk: slice, count: int, shape: Sequence[int]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Positions of the gold cells in one block's logits [N, C, g]: of class 0, of their class, column; and weights.

    Cells of other blocks, and padding, are the class 0 of some cell, with weight 0.
    """
    *_, column, class_, pair = cells.unbind(1)
    pair, at = pair - block.start * count, column - chunk.start
    here = (pair >= 0) & (pair < shape[0]) & (at >= 0) & (at < shape[2])
    class_ = class_ * here
    pair, at = pair.clamp(0, shape[0] - 1), at.clamp(0, shape[2] - 1)
    none = pair * (shape[1] * shape[2]) + at
    return none, none + class_ * shape[2], column, (class_ > 0).to(dtype)


def find_cells(table: "Table") -> Cells:
    """See :meth:`tables.Table.cells`; on the host. Waits for the device twice a block, whatever it holds."""
    left, right, features, pairs = table.left, table.right, table.features, table.walk
    weight, bias = whole_tiles(table.weight.to(left.dtype), table.bias.to(left.dtype))
    classes, columns, _ = weight.shape
    sentences, chunks = pairs.blocks(classes, columns)
    found = []
    for block in sentences:
        x, _ = pairs.join(features, left[block], right[block])
        mask = pairs.valid(block, torch.bool)
        for chunk in chunks:
            z = torch.addmm(bias[:, chunk].flatten(), x, weight[:, chunk].flatten(0, 1).T)
            z = z.view(len(x), classes, -1)  # [N, C, g]
            positive = (z[:, 1:].amax(dim=1) > z[:, 0]) & mask[:, None]
            by_sentence = positive.view(-1, pairs.count * z.shape[2])
            if int(by_sentence.sum(dim=1).max()) > MOST_CELLS:
                scores = raise_precision(z).softmax(dim=1).amax(dim=1).masked_fill(~positive, 0)
                best = scores.view(by_sentence.shape).topk(MOST_CELLS)
                positive = torch.zeros_like(by_sentence).scatter_(1, best.indices, best.values > 0)
            pair, column = torch.nonzero(positive.view(len(x), -1), as_tuple=True)
            scores, class_ = raise_precision(z[pair, :, column]).softmax(dim=1).max(dim=1)
            position = pair + block.start * pairs.count
            found.append((torch.stack([position, column + chunk.start, class_]), scores))
    numbers, scores = (joined(each, dim=-1).cpu() for each in zip(*found, strict=True))
    position, column, class_ = numbers
    sentence, position = position // pairs.count, position % pairs.count
    if pairs.upper:
        row, at = torch.triu_indices(pairs.length, pairs.length)[:, position]
    else:
        row, at = position // pairs.length, position % pairs.length
    return most_certain(Cells(sentence, row, at, column, class_, scores))
