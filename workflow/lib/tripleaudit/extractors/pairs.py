"""Classifiers of token pairs, ``z_ij = V x_ij + c`` with ``x_ij = f(left_i, right_j)``, for tables too large to hold.

The table is walked in blocks (rows of one sentence) and, inside a block, in chunks of columns (relations), so that only
one chunk of logits exists at a time. Logits lie class-major, ``[classes, columns, pairs]``: sums and maxima over the
few classes then run over whole contiguous slabs.

The loss computes its own gradient in the forward pass, where the logits are at hand: three matrix products for each
chunk, nothing is computed twice and nothing is kept but sums. The results are those of the dense formulas. Decoding
on a CPU computes logits only for the pairs that :mod:`tripleaudit.extractors.screen` lets through.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tripleaudit.extractors import screen
from tripleaudit.extractors.formulation import Chunks
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


@dataclass(frozen=True)
class Plan:
    """The blocks of a table, and how many columns of it are scored at once."""

    blocks: Sequence[Block]
    chunks: Chunks

    @property
    def pairs(self) -> int:
        """Number of pairs, at least 1."""
        return max(1, sum(block.pairs for block in self.blocks))

    def chunk_size(self, pairs: int, classes: int, columns: int) -> int:
        """Columns of a chunk for this many pairs."""
        return self.chunks.size(columns, LOGITS_AT_ONCE // max(1, classes * pairs))

    def column_chunks(self, pairs: int, classes: int, columns: int) -> Iterator[tuple[int, int]]:
        """Cut columns into chunks of equal size (but for the last one)."""
        size = self.chunk_size(pairs, classes, columns)
        for start in range(0, columns, size):
            yield start, min(columns, start + size)


def plan(spans: Sequence[tuple[int, int]], chunks: Chunks | None = None, *, upper: bool = False) -> Plan:
    """Cut the pairs of sentences, of which (start, stop) take part, into blocks."""
    blocks = []
    for sentence, (start, stop) in enumerate(spans):
        step = max(1, PAIRS_AT_ONCE // max(1, stop - start))
        blocks += [
            Block(sentence, top, min(stop, top + step), top if upper else start, stop, upper)
            for top in range(start, stop, step)
        ]
    return Plan(blocks, chunks or Chunks())


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
    return _CellLoss.apply(*parts, Cells(*cells[:, :5].unbind(1)), scale, table.learns)


class _CellLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, left, right, weight, bias, features, plan, cells, scale, need):
        classes, columns, _ = weight.shape
        device, dtype = left.device, left.dtype
        parts = _sort_cells(cells, plan, classes - 1, columns, left.shape[1])
        # logits relative to class 0, whose own are 0: one class less to compute
        weight_, bias_ = (weight[1:] - weight[:1]).to(dtype), (bias[1:] - bias[:1]).to(dtype)
        exact = raise_precision(left[:0]).dtype
        losses = torch.zeros(columns, dtype=exact, device=device)
        factors = torch.ones_like(losses) if scale is None else scale.to(exact)
        if need:
            d_left, d_right = torch.zeros_like(left, dtype=exact), torch.zeros_like(right, dtype=exact)
            d_weight, d_bias = torch.zeros_like(weight, dtype=exact), torch.zeros_like(bias, dtype=exact)
        for block in plan.blocks:
            rows = (block.sentence, slice(block.top, block.bottom))
            cols = (block.sentence, slice(block.first, block.stop))
            with torch.set_grad_enabled(need):
                a, b = left[rows].detach().requires_grad_(need), right[cols].detach().requires_grad_(need)
                graph = block.join(features, a, b)
            x = graph.detach()
            dx = None
            for start, stop in plan.column_chunks(block.pairs, classes - 1, columns):
                w = weight_[:, start:stop].reshape(-1, weight.shape[-1])
                z = chunk_logits(x, weight_[:, start:stop], bias_[:, start:stop])
                pair, column, class_ = next(parts)
                if len(pair):
                    column = column - start
                    losses.index_add_(0, column + start, -z[class_ - 1, column, pair])
                total = _softmax(z)  # from here on the gradient: softmax minus labels
                losses[start:stop] += total.sum(dim=-1)
                if not need:
                    continue
                if len(pair):
                    z[class_ - 1, column, pair] -= 1
                if scale is not None:
                    z *= factors[start:stop, None]
                flat = z.view(-1, len(x))
                d_bias[1:, start:stop] += flat.sum(dim=-1).view(classes - 1, -1)
                flat = flat.to(dtype)
                d_weight[1:, start:stop] += (flat @ x).view(classes - 1, stop - start, -1)
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


def _sort_cells(cells: Cells, plan: Plan, classes: int, columns: int, length: int):
    """Yield (pair number in the block, table column, class) of the cells of every chunk of every block, in order."""
    device = cells.sentence.device
    sizes = [plan.chunk_size(block.pairs, classes, columns) for block in plan.blocks]
    chunks = [-(-columns // size) for size in sizes]
    total = sum(chunks)
    if not len(cells):
        empty = cells.sentence
        yield from ((empty, empty, empty) for _ in range(total))
        return
    owner: dict[int, list[int]] = {}
    for number, block in enumerate(plan.blocks):
        owner.setdefault(block.sentence, [0] * length)[block.top : block.bottom] = [number] * (block.bottom - block.top)
    nothing = [0] * length
    of_row = torch.tensor([owner.get(s, nothing) for s in range(max(owner) + 1)], device=device)
    facts = [
        (size, offset, block.top, block.first, block.stop - block.first, block.upper)
        for size, offset, block in zip(sizes, torch.tensor([0, *chunks]).cumsum(0).tolist(), plan.blocks, strict=False)
    ]
    block = of_row[cells.sentence, cells.row]
    size, offset, top, first, width, upper = torch.tensor(facts, device=device)[block].unbind(1)
    row, column = cells.row - top, cells.column - first
    pair = row * width + column - upper * (row * (row + 1) // 2)
    chunk = offset + cells.relation // size
    order = torch.argsort(chunk, stable=True)
    counts = torch.bincount(chunk, minlength=total).tolist()
    yield from zip(
        pair[order].split(counts), cells.relation[order].split(counts), cells.classes[order].split(counts), strict=True
    )


def find_cells(table: "Table") -> Cells:
    """See :meth:`tables.Table.cells`."""
    left, right, features, plan = table.left, table.right, table.features, table.walk
    classes, columns, _ = table.weight.shape
    weight, bias = table.weight.to(left.dtype), table.bias.to(left.dtype)
    device = left.device
    none = torch.zeros(0, dtype=torch.long, device=device)
    found: dict[int, list[Cells]] = {}
    sieve = screen.Screen(weight, bias) if screen.available() else None
    for block in _portions(plan.blocks) if sieve else plan.blocks:
        a = left[block.sentence, block.top : block.bottom]
        b = right[block.sentence, block.first : block.stop]
        x = block.join(features, a, b)
        row, column = block.indices(device)
        if sieve is not None:
            kept = sieve.pairs(x)
            row, column = row[kept], column[kept]
            x = features(a[row - block.top], b[column - block.first])
        if not len(x):
            continue
        for start, stop in plan.column_chunks(len(x), classes, columns):
            z = chunk_logits(x, weight[:, start:stop], bias[:, start:stop])
            relation, pair = torch.nonzero(z[1:].amax(dim=0) > z[0], as_tuple=True)
            scores, class_ = z[:, relation, pair].softmax(dim=0).max(dim=0)
            sentence = torch.full_like(pair, block.sentence)
            part = Cells(sentence, row[pair], column[pair], relation + start, class_, scores)
            found.setdefault(block.sentence, []).append(most_certain(part, len(left)))
    parts = [most_certain(join_cells(each), len(left)) for each in found.values()]
    return join_cells(parts) if parts else Cells(*[none] * 5, torch.zeros(0, device=device))


def _portions(blocks: Sequence[Block]) -> Iterator[Block]:
    """Cut blocks into those that the screen takes at a time."""
    for block in blocks:
        step = max(1, screen.PAIRS_AT_ONCE // (block.stop - block.first))
        for top in range(block.top, block.bottom, step):
            bottom = min(block.bottom, top + step)
            yield Block(block.sentence, top, bottom, top if block.upper else block.first, block.stop, block.upper)


def most_certain(cells: Cells, sentences: int) -> Cells:
    """At most ``MOST_CELLS`` cells of each sentence."""
    counts = torch.bincount(cells.sentence, minlength=sentences)
    if not len(cells) or int(counts.max()) <= MOST_CELLS:
        return cells
    order = torch.argsort(cells.scores, descending=True, stable=True)
    order = order[torch.argsort(cells.sentence[order], stable=True)]
    rank = torch.arange(len(order)) - (counts.cumsum(0) - counts)[cells.sentence[order]]
    return cells.select(order[rank < MOST_CELLS])
