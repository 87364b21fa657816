"""Classifiers of token pairs, ``z_ij = V x_ij + c`` with ``x_ij = f(left_i, right_j)``, for tables too large to hold.

The table is walked in blocks (rows of one sentence) and, inside a block, in chunks of columns (relations), so that only
one chunk of logits exists at a time. Logits lie class-major, ``[classes, columns, pairs]``: sums and maxima over the
few classes then run over whole contiguous slabs.

The loss computes its own gradient in the forward pass, where the logits are at hand: three matrix products for each
chunk, nothing is computed twice and nothing is kept but sums. The results are those of the dense formulas.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tripleaudit.extractors.batches import slices
from tripleaudit.extractors.decoding import surest
from tripleaudit.extractors.losses import last_written, raise_precision

if TYPE_CHECKING:
    from tripleaudit.extractors.tables import Table

PAIRS_AT_ONCE = 2**12  # of a block
LOGITS_AT_ONCE = 2**20  # of a chunk
MOST_CELLS = 4096  # positive cells of a sentence that are decoded: an untrained model marks millions

Features = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Block:
    """Pairs (i, j) of one sentence with i in [top, bottom) and j in [first, stop); ``upper`` keeps those with i <= j.

    Pairs are numbered row by row.
    """

    sentence: int
    top: int
    bottom: int
    first: int
    stop: int
    upper: bool

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        rows, width = self.bottom - self.top, self.stop - self.first
        return rows * width - (rows * (rows - 1) // 2 if self.upper else 0)

    def indices(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """Row and column of every pair, [pairs] each."""
        rows, width = self.bottom - self.top, self.stop - self.first
        if self.upper:
            row, column = torch.triu_indices(rows, width, device=device)
        else:
            row = torch.arange(rows, device=device).repeat_interleave(width)
            column = torch.arange(width, device=device).repeat(rows)
        return row + self.top, column + self.first

    def join(self, features: Features, left: Tensor, right: Tensor) -> Tensor:
        """Features [pairs, D] of ``left`` [rows, D] and ``right`` [width, D], the block's part of a sentence."""
        if self.upper:
            row, column = torch.triu_indices(len(left), len(right), device=left.device)
            pick = torch.nn.functional.embedding  # an index_select whose backward is fast
            return features(pick(row, left), pick(column, right))
        return features(left[:, None], right[None]).flatten(0, 1)


def spans_of(mask: Tensor) -> list[tuple[int, int]]:
    """First position and the one after the last of each row of a [B, L] mask of one run each; (0, 0) if empty."""
    mask = mask.long()
    count = mask.sum(dim=1)
    start = torch.where(count > 0, mask.argmax(dim=1), 0)
    return [tuple(each) for each in torch.stack([start, start + count], dim=1).tolist()]


def plan(spans: Iterable[tuple[int, int]], *, upper: bool = False) -> list[Block]:
    """Cut the pairs of sentences, of which (start, stop) take part, into blocks."""
    blocks = []
    for sentence, (start, stop) in enumerate(spans):
        step = max(1, PAIRS_AT_ONCE // max(1, stop - start))
        blocks += [
            Block(sentence, top, min(stop, top + step), top if upper else start, stop, upper)
            for top in range(start, stop, step)
        ]
    return blocks


def column_chunks(block: Block, classes: int, columns: int) -> Iterator[slice]:
    """Cut the columns of a block's table into chunks."""
    return slices(columns, LOGITS_AT_ONCE // (classes * block.pairs))


def chunk_logits(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Logits [C, g, pairs] of features ``x`` [pairs, D] under ``weight`` [C, g, D] and ``bias`` [C, g]."""
    z = torch.addmm(bias.reshape(-1, 1), weight.reshape(-1, weight.shape[-1]), x.T)
    return raise_precision(z).view(*bias.shape, len(x))


@dataclass(frozen=True)
class Cells:
    """Cells of a table, [n] each: sentence, row, column of the pair, column of the table (relation), class.

    ``scores``: probability of the class; only for decoded cells.
    """

    sentence: Tensor
    row: Tensor
    column: Tensor
    relation: Tensor
    classes: Tensor
    scores: Tensor | None = None

    def __len__(self) -> int:
        return len(self.sentence)

    def select(self, which: Tensor) -> "Cells":
        """Keep the cells of a boolean mask or of an index list."""
        scores = None if self.scores is None else self.scores[which]
        return Cells(*(getattr(self, name)[which] for name in _FIELDS), scores)

    def resolved(self, length: int, relations: int) -> "Cells":
        """Of several classes written to one cell keep the one written last."""
        flat = ((self.sentence * length + self.row) * length + self.column) * relations + self.relation
        return self.select(last_written(flat))


_FIELDS = ("sentence", "row", "column", "relation", "classes")


def join_cells(parts: Sequence[Cells]) -> Cells:
    """Concatenate cells in the given order."""
    scores = None if parts[0].scores is None else torch.cat([part.scores for part in parts])
    return Cells(*(torch.cat([getattr(part, name) for part in parts]) for name in _FIELDS), scores)


def cell_loss(table: "Table", cells: Tensor, scale: Tensor | None) -> tuple[Tensor, Tensor]:
    """See :meth:`tables.Table.loss`."""
    cells = cells[cells[:, 4] > 0]  # without what a batch of static shape is padded with
    parts = table.left, table.right, table.weight, table.bias, table.features, table.walk
    return _CellLoss.apply(*parts, cells, scale, table.learns)


class _CellLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, left, right, weight, bias, features, blocks, cells, scale, need):
        classes, columns, _ = weight.shape
        device, dtype = left.device, left.dtype
        # logits relative to class 0, whose own are 0: one class less to compute
        weight_, bias_ = (weight[1:] - weight[:1]).to(dtype), (bias[1:] - bias[:1]).to(dtype)
        exact = raise_precision(left[:0]).dtype
        losses = torch.zeros(columns, dtype=exact, device=device)
        factors = torch.ones_like(losses) if scale is None else scale.to(exact)
        if need:
            d_left, d_right = torch.zeros_like(left, dtype=exact), torch.zeros_like(right, dtype=exact)
            d_weight, d_bias = torch.zeros_like(weight, dtype=exact), torch.zeros_like(bias, dtype=exact)
        for block in blocks:
            rows = (block.sentence, slice(block.top, block.bottom))
            cols = (block.sentence, slice(block.first, block.stop))
            with torch.set_grad_enabled(need):
                a, b = left[rows].detach().requires_grad_(need), right[cols].detach().requires_grad_(need)
                graph = block.join(features, a, b)
            x = graph.detach()
            dx, gold = None, _within(cells, block)
            for chunk in column_chunks(block, classes - 1, columns):
                w = weight_[:, chunk].reshape(-1, weight.shape[-1])
                z = chunk_logits(x, weight_[:, chunk], bias_[:, chunk])
                pair, column, class_ = gold[(gold[:, 1] >= chunk.start) & (gold[:, 1] < chunk.stop)].unbind(1)
                at = class_ - 1, column - chunk.start, pair
                losses.index_add_(0, column, -z[at])
                total = _softmax(z)  # from here on the gradient: softmax minus labels
                losses[chunk] += total.sum(dim=-1)
                if not need:
                    continue
                z[at] -= 1
                if scale is not None:
                    z *= factors[chunk, None]
                flat = z.view(-1, len(x))
                d_bias[1:, chunk] += flat.sum(dim=-1).view(classes - 1, -1)
                flat = flat.to(dtype)
                d_weight[1:, chunk] += (flat @ x).view(classes - 1, -1, x.shape[1])
                dx = flat.T @ w if dx is None else dx.addmm_(flat.T, w)
            if need:
                da, db = torch.autograd.grad(graph, (a, b), dx)
                d_left[rows] += da
                d_right[cols] += db
        if need:
            d_weight[0], d_bias[0] = -d_weight[1:].sum(dim=0), -d_bias[1:].sum(dim=0)
            ctx.save_for_backward(
                d_left.to(left.dtype), d_right.to(right.dtype), d_weight.to(weight.dtype), d_bias.to(bias.dtype)
            )
        ctx.mark_non_differentiable(losses)
        return (losses * factors).sum(), losses

    @staticmethod
    @once_differentiable
    def backward(ctx, grad, _):
        return (*(grad.to(saved.dtype) * saved for saved in ctx.saved_tensors), None, None, None, None, None)


def _softmax(z: Tensor) -> Tensor:
    """Turn logits [C - 1, …] relative to a class with logit 0 into probabilities, in place; returns [...] logsumexp."""
    top = z.amax(dim=0).clamp_(min=0)
    z.sub_(top).exp_()
    total = torch.exp(-top).add_(z.sum(dim=0))
    z.div_(total)
    return total.log_().add_(top)


def _within(cells: Tensor, block: Block) -> Tensor:
    """Those of cells [n, 6] that lie in a block: number of the pair there, column of the table and class, [m, 3]."""
    sentence, row, column, relation, class_, _ = cells.unbind(1)
    here = (sentence == block.sentence) & (row >= block.top) & (row < block.bottom)
    row, column = row - block.top, column - block.first
    pair = row * (block.stop - block.first) + column - block.upper * (row * (row + 1) // 2)
    return torch.stack([pair, relation, class_], dim=1)[here]


def find_cells(table: "Table") -> Cells:
    """See :meth:`tables.Table.cells`."""
    left, right = table.left, table.right
    weight, bias = table.weight.to(left.dtype), table.bias.to(left.dtype)
    found: dict[int, list[Cells]] = {}
    for block in table.walk:
        s = block.sentence
        x = block.join(table.features, left[s, block.top : block.bottom], right[s, block.first : block.stop])
        row, column = block.indices(left.device)
        for chunk in column_chunks(block, *bias.shape):
            z = chunk_logits(x, weight[:, chunk], bias[:, chunk])
            relation, pair = torch.nonzero(z[1:].amax(dim=0) > z[0], as_tuple=True)
            scores, class_ = z[:, relation, pair].softmax(dim=0).max(dim=0)
            part = Cells(torch.full_like(pair, s), row[pair], column[pair], relation + chunk.start, class_, scores)
            found.setdefault(s, []).append(most_certain(part))
    none = torch.zeros(0, dtype=torch.long, device=left.device)
    parts = [most_certain(join_cells(each)) for each in found.values()]
    return join_cells(parts) if parts else Cells(*[none] * 5, torch.zeros(0, device=left.device))


def most_certain(cells: Cells) -> Cells:
    """At most ``MOST_CELLS`` cells of each sentence."""
    if not len(cells) or int(torch.bincount(cells.sentence).max()) <= MOST_CELLS:
        return cells
    return cells.select(surest(cells.sentence, cells.scores, MOST_CELLS))
