"""A table of all pairs of tokens: its loss, and what it says.

``z_ij = V x_ij + c`` with ``x_ij = f(left_i, right_j)``: the classes of every pair (i, j) in every
column (relation). Behind :class:`Table` stand two ways of computing the same numbers, those of the
dense formulas. In both the loss computes its own gradient in the forward pass, where the logits are
at hand: three matrix products for each chunk, nothing is computed twice and nothing is kept but
sums.

On a CPU the table is walked in blocks (rows of one sentence) and, inside a block, in chunks of
columns, so that only one chunk of logits exists at a time. Logits lie class-major, ``[classes,
columns, pairs]``: sums and maxima over the few classes then run over whole contiguous slabs.

On a GPU it is that of a whole padded batch: every shape follows from those of the batch, nothing
waits for a value, and the number of operators is that of one table whatever the batch holds. A
table beyond :func:`formulation.cells_at_once` is cut into blocks of sentences, and where one
sentence is too large, of columns.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from tripleaudit.extractors.batches import Shape, joined, slices
from tripleaudit.extractors.decoding import surest
from tripleaudit.extractors.formulation import cells_at_once, on_device
from tripleaudit.extractors.losses import last_written, raise_precision, with_gradients
from tripleaudit.extractors.screen import Screen, available

MOST_CELLS = (
    4096  # positive cells of a sentence that are decoded: an untrained model marks millions
)
PAIRS_AT_ONCE = 2**12  # of a block, on a CPU
LOGITS_AT_ONCE = 2**20  # of a chunk, on a CPU
TILE = 8  # columns; of other widths matrix products on a GPU load number by number

Features = Callable[[Tensor, Tensor], Tensor]
Made = tuple[
    Tensor, Tensor, tuple[Tensor, ...]
]  # scaled loss, sums of columns, gradients of a table's parts


@dataclass(frozen=True)
class Cells:
    """Cells of a table, [n] each: sentence, row, column of the pair, table column, class.

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
        flat = (
            (self.sentence * length + self.row) * length + self.column
        ) * relations + self.relation
        return self.select(last_written(flat))


_FIELDS = ("sentence", "row", "column", "relation", "classes")


def join_cells(parts: Sequence[Cells]) -> Cells:
    """Concatenate cells in the given order."""
    scores = None if parts[0].scores is None else torch.cat([part.scores for part in parts])
    return Cells(*(torch.cat([getattr(part, name) for part in parts]) for name in _FIELDS), scores)


def most_certain(cells: Cells) -> Cells:
    """At most ``MOST_CELLS`` cells of each sentence."""
    if not len(cells) or int(torch.bincount(cells.sentence).max()) <= MOST_CELLS:
        return cells
    return cells.select(surest(cells.sentence, cells.scores, MOST_CELLS))


@dataclass(frozen=True, eq=False)
class Table:
    """The table of a batch.

    Attributes:
        left, right: [B, L, D], what each token brings to a pair.
        weight: [C, G, D] for C classes, of which 0 is none, and G columns.
        bias: [C, G].
        features: maps [..., D] and [..., D], which broadcast, to the features [..., D] of pairs.
        mask: [B, L], 1 for the tokens that take part, one run in each sentence.
        upper: only pairs with i <= j.
        rectified: features are ``relu(left + right)``, so that decoding all pairs on a CPU may look
            at few (:mod:`tripleaudit.extractors.screen`).
    """

    left: Tensor
    right: Tensor
    weight: Tensor
    bias: Tensor
    features: Features
    mask: Tensor
    upper: bool = False
    rectified: bool = False

    @functools.cached_property
    def walk(self) -> Any:
        """How the pairs are gone through: :class:`Pairs`, or a list of :class:`Block`."""
        if on_device(self.left):
            return Pairs(self.mask.bool(), upper=self.upper)
        return plan(spans_of(self.mask), upper=self.upper)

    @property
    def pairs(self) -> Tensor | int:
        """Number of pairs, at least 1."""
        return (
            self.walk.pairs
            if on_device(self.left)
            else max(1, sum(block.pairs for block in self.walk))
        )

    def loss(self, cells: Tensor, scale: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return summed cross-entropies over pairs and columns; class 0 except for gold cells.

        With ``x = features(left[:, :, None], right[:, None])``, ``z = einsum("cgd,bijd->bcijg",
        weight, x) + bias[:, None, None]`` and the classes ``y[b, i, j, g]`` of the gold cells it is
        ``cross_entropy(z, y)`` summed over the pairs of real tokens, computed without keeping
        ``z``, its gradient ``softmax(z) - onehot(y)`` written out.

        Args:
            cells: [n, 6], what :func:`gold_cells` gives.
            scale: [G] factors of the columns' losses; 1 if None.

        Returns:
            the scaled sum (scalar), and the unscaled sum of each column [G], detached.
        """
        computed = _padded_loss if on_device(self.left) else _block_loss
        with torch.no_grad(), torch.autocast(self.left.device.type, enabled=False):
            loss, sums, gradients = computed(self, cells, scale)
        return with_gradients(
            loss, (self.left, self.right, self.weight, self.bias), gradients
        ), sums

    @torch.no_grad()
    def cells(self) -> Cells:
        """Return cells whose best class is not 0, unordered; up to ``MOST_CELLS`` per sentence.

        The most certain ones are returned.
        """
        with torch.autocast(self.left.device.type, enabled=False):
            return _padded_cells(self) if on_device(self.left) else _block_cells(self)


def gold_cells(cells: Cells, shape: Shape, columns: int, *, upper: bool = False) -> Tensor:
    """Write the gold cells of a training batch in the data loader; the last class holds.

    Returns:
        [n, 6] int64: sentence, row, column of the pair, column of the table, class, number of the
        pair in the batch. Rows of zeros, which are no gold cells, may follow.
    """
    length, cells = shape.length, cells.resolved(shape.length, columns)
    sentence, row, column = cells.sentence, cells.row, cells.column
    place = (
        row * length - row * (row - 1) // 2 + column - row if upper else row * length + column
    )  # as Pairs has them
    numbers = sentence * number_of_pairs(length, upper) + place
    rows = torch.stack([sentence, row, column, cells.relation, cells.classes, numbers], dim=1)
    return shape.padded(np.asarray(rows))


def number_of_pairs(length: int, upper: bool = False) -> int:
    """Pairs of a sentence of L tokens."""
    return length * (length + 1) // 2 if upper else length**2


# On a CPU, sentence by sentence


@dataclass(frozen=True, slots=True)
class Block:
    """Pairs (i, j) of a sentence, i in [top, bottom), j in [first, stop).

    ``upper`` keeps those with i <= j.

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
        """Return features [pairs, D] of ``left`` [rows, D] and ``right`` [width, D]."""
        if self.upper:
            row, column = torch.triu_indices(len(left), len(right), device=left.device)
            pick = torch.nn.functional.embedding  # an index_select whose backward is fast
            return features(pick(row, left), pick(column, right))
        return features(left[:, None], right[None]).flatten(0, 1)


def spans_of(mask: Tensor) -> list[tuple[int, int]]:
    """Return start and end (exclusive) of the run in each row of a mask [B, L]; (0, 0) if empty."""
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
    """Return logits [C, g, pairs] of features [pairs, D], ``weight`` [C, g, D], ``bias`` [C, g]."""
    z = torch.addmm(bias.reshape(-1, 1), weight.reshape(-1, weight.shape[-1]), x.T)
    return raise_precision(z).view(*bias.shape, len(x))


def _block_loss(table: Table, cells: Tensor, scale: Tensor | None) -> Made:
    left, right, weight, bias = table.left, table.right, table.weight, table.bias
    classes, columns, _ = weight.shape
    cells = cells[cells[:, 4] > 0]  # without what a batch of static shape is padded with
    # logits relative to class 0, whose own are 0: one class less to compute
    weight_, bias_ = (weight[1:] - weight[:1]).to(left.dtype), (bias[1:] - bias[:1]).to(left.dtype)
    precise = raise_precision(left[:0]).dtype
    losses = torch.zeros(columns, dtype=precise, device=left.device)
    factors = torch.ones_like(losses) if scale is None else scale.to(precise)
    d_left, d_right, d_weight, d_bias = (
        torch.zeros_like(each, dtype=precise) for each in (left, right, weight, bias)
    )
    for block in table.walk:
        rows = (block.sentence, slice(block.top, block.bottom))
        cols = (block.sentence, slice(block.first, block.stop))
        with torch.enable_grad():
            a, b = left[rows].detach().requires_grad_(), right[cols].detach().requires_grad_()
            graph = block.join(table.features, a, b)
        x = graph.detach()
        dx, gold = None, _in_block(cells, block)
        for chunk in column_chunks(block, classes - 1, columns):
            w = weight_[:, chunk].reshape(-1, weight.shape[-1])
            z = chunk_logits(x, weight_[:, chunk], bias_[:, chunk])
            pair, column, class_ = gold[
                (gold[:, 1] >= chunk.start) & (gold[:, 1] < chunk.stop)
            ].unbind(1)
            at = class_ - 1, column - chunk.start, pair
            losses.index_add_(0, column, -z[at])
            losses[chunk] += _softmax(z).sum(dim=-1)
            z[at] -= 1  # from here on the gradient: softmax minus labels
            if scale is not None:
                z *= factors[chunk, None]
            flat = z.view(-1, len(x))
            d_bias[1:, chunk] += flat.sum(dim=-1).view(classes - 1, -1)
            flat = flat.to(left.dtype)
            d_weight[1:, chunk] += (flat @ x).view(classes - 1, -1, x.shape[1])
            dx = flat.T @ w if dx is None else dx.addmm_(flat.T, w)
        da, db = torch.autograd.grad(graph, (a, b), dx)
        d_left[rows] += da
        d_right[cols] += db
    d_weight[0], d_bias[0] = -d_weight[1:].sum(dim=0), -d_bias[1:].sum(dim=0)
    return (losses * factors).sum(), losses, (d_left, d_right, d_weight, d_bias)


def _softmax(z: Tensor) -> Tensor:
    """Turn logits [C - 1, …] relative to a class with logit 0 into probabilities, in place.

    Returns the logsumexp [...].
    """
    top = z.amax(dim=0).clamp_(min=0)
    z.sub_(top).exp_()
    total = torch.exp(-top).add_(z.sum(dim=0))
    z.div_(total)
    return total.log_().add_(top)


def _in_block(cells: Tensor, block: Block) -> Tensor:
    """Return cells [n, 6] in a block as [m, 3]: number of the pair, table column and class."""
    sentence, row, column, relation, class_, _ = cells.unbind(1)
    here = (sentence == block.sentence) & (row >= block.top) & (row < block.bottom)
    row, column = row - block.top, column - block.first
    pair = row * (block.stop - block.first) + column - block.upper * (row * (row + 1) // 2)
    return torch.stack([pair, relation, class_], dim=1)[here]


def _block_cells(table: Table) -> Cells:
    left, right = table.left, table.right
    weight, bias = table.weight.to(left.dtype), table.bias.to(left.dtype)
    none = torch.zeros(0, dtype=torch.long, device=left.device)
    found = [Cells(*[none] * 5, torch.zeros(0, device=left.device))]
    screen = Screen(weight, bias) if table.rectified and not table.upper and available() else None
    for block in table.walk:
        s = block.sentence
        a, b = left[s, block.top : block.bottom], right[s, block.first : block.stop]
        row, column = block.indices(left.device)
        if screen is None:
            x = block.join(table.features, a, b)
        else:
            kept = screen.pairs(a, b)
            row, column = row[kept], column[kept]
            x = table.features(left[s, row], right[s, column])
        for chunk in column_chunks(block, *bias.shape):
            z = chunk_logits(x, weight[:, chunk], bias[:, chunk])
            relation, pair = torch.nonzero(z[1:].amax(dim=0) > z[0], as_tuple=True)
            scores, class_ = z[:, relation, pair].softmax(dim=0).max(dim=0)
            part = Cells(
                torch.full_like(pair, s),
                row[pair],
                column[pair],
                relation + chunk.start,
                class_,
                scores,
            )
            found.append(most_certain(part))
    return most_certain(join_cells(found))


# On a GPU, the whole batch


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
        both = (
            mask[:, self.row] & mask[:, self.column]
            if self.upper
            else mask[:, :, None] & mask[:, None]
        )
        return both.flatten().to(dtype)

    @property
    def pairs(self) -> Tensor:
        """Number of valid pairs in the batch, a scalar of at least 1."""
        tokens = self.mask.sum(dim=1)
        each = tokens * (tokens + 1) // 2 if self.upper else tokens**2
        return each.sum().clamp(min=1)

    def join(
        self, features: Features, left: Tensor, right: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return features [s * P, D] of pairs of left and right [s, L, D], and their sources."""
        if self.upper:
            parts = left[:, self.row].detach(), right[:, self.column].detach()
        else:
            parts = left[:, :, None].detach(), right[:, None].detach()
        for part in parts:
            part.requires_grad_(torch.is_grad_enabled())
        return features(*parts).flatten(0, -2), parts

    def gather(self, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        """Sum gradients of the sources of :meth:`join` into those of left and right, [s, L, D].

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


def whole_tiles(weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Add columns of zeros, whose classes are equally likely, up to whole tiles of matrix units."""
    extra = -weight.shape[1] % TILE
    return (F.pad(weight, (0, 0, 0, extra)), F.pad(bias, (0, extra))) if extra else (weight, bias)


def _padded_loss(table: Table, cells: Tensor, scale: Tensor | None) -> Made:
    left, right, features, pairs = table.left, table.right, table.features, table.walk
    own = table.weight.shape[1]
    weight, bias = whole_tiles(table.weight, table.bias)
    classes, columns, _ = weight.shape
    if columns > own:
        scale = F.pad(bias.new_ones(own) if scale is None else scale, (0, columns - own))
    dtype, precise = left.dtype, raise_precision(left[:0]).dtype
    weight_, bias_ = weight.to(dtype), bias.to(dtype)
    factors = bias.new_ones(columns, dtype=precise) if scale is None else scale.to(precise)
    sentences, chunks = pairs.blocks(classes, columns)
    sums, positive, grads = [[] for _ in chunks], [], []
    d_weight, d_bias = (torch.zeros_like(each, dtype=precise) for each in (weight, bias))
    for block in sentences:
        with torch.enable_grad():
            graph, parts = pairs.join(features, left[block], right[block])  # [N, D], N = s * P
        mask = pairs.valid(block, precise)
        x = graph.detach()
        seen, dx = x * mask.to(dtype)[:, None], None
        for number, chunk in enumerate(chunks):
            w = weight_[:, chunk].flatten(0, 1)  # [C * g, D]
            z = raise_precision(torch.addmm(bias_[:, chunk].flatten(), x, w.T))
            logs = z.view(len(x), classes, -1).log_softmax(dim=1)  # [N, C, g]
            sums[number].append(-(mask @ logs[:, 0]))
            none, gold, column, weigh = _in_chunk(
                cells, precise, block, chunk, pairs.count, logs.shape
            )
            flat = logs.view(-1)
            more = (flat[none] - flat[gold]) * weigh
            positive.append((more, column))
            grad = logs.exp_()  # softmax minus labels
            grad[:, 0] -= 1
            flat.index_add_(0, torch.cat([none, gold]), torch.cat([weigh, -weigh]))
            d_bias[:, chunk] += (mask @ grad.view(len(x), -1)).view(classes, -1)
            grad = grad.view(len(x), -1).to(dtype)
            d_weight[:, chunk] += (grad.T @ seen).view(classes, -1, x.shape[1])
            by_column = (
                w if scale is None else w * factors[chunk].to(dtype).repeat(classes)[:, None]
            )
            dx = grad @ by_column if dx is None else dx.addmm_(grad, by_column)
        dx = dx * mask.to(dtype)[:, None]
        grads.append(pairs.gather(*torch.autograd.grad(graph, parts, dx.view(graph.shape))))
    total = joined([torch.stack(each).sum(dim=0) for each in sums])  # [G]
    more, column = (joined(each) for each in zip(*positive, strict=True))
    d_left, d_right = (joined(each) for each in zip(*grads, strict=True))
    if scale is not None:
        d_weight, d_bias = d_weight * factors[:, None], d_bias * factors
    loss, losses = total @ factors + more @ factors[column], total.index_add(0, column, more)
    return loss, losses[:own], (d_left, d_right, d_weight[:, :own], d_bias[:, :own])


def _in_chunk(
    cells: Tensor, dtype: torch.dtype, block: slice, chunk: slice, count: int, shape: Sequence[int]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return positions of gold cells in a block's logits [N, C, g], and their weights.

    Positions are those of class 0, of their class, and the column.

    Cells of other blocks, and padding, are the class 0 of some cell, with weight 0.
    """
    *_, column, class_, pair = cells.unbind(1)
    pair, at = pair - block.start * count, column - chunk.start
    here = (pair >= 0) & (pair < shape[0]) & (at >= 0) & (at < shape[2])
    class_ = class_ * here
    pair, at = pair.clamp(0, shape[0] - 1), at.clamp(0, shape[2] - 1)
    none = pair * (shape[1] * shape[2]) + at
    return none, none + class_ * shape[2], column, (class_ > 0).to(dtype)


def _padded_cells(table: Table) -> Cells:
    """On the host; waits for the device twice a block, whatever it holds."""
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
