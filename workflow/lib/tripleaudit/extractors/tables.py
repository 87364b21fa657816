"""A table of all pairs of tokens: its loss, the maxima of its rows and columns, and its cells.

``z_ij = V x_ij + c`` with ``x_ij = f(left_i, right_j)``: the logits of the classes of every pair
(i, j) in every column (relation). The table of a batch is never kept as a whole: it is computed in
blocks of pairs, and inside a block in chunks of columns.

On a CPU a block is a number of rows of one sentence, so that padding costs nothing. On a GPU, where
every operator costs its launch and no shape may depend on a value, a block is as many padded
sentences as fit, and pairs of padding have the weight 0 (:meth:`Table.blocks`, the only place that
tells the devices apart). Logits lie class-major, ``[classes, columns, pairs]``: sums over the few
classes run over contiguous memory. The loss computes its own gradient in the forward pass, while the
logits are at hand: three matrix products for each chunk, and nothing is computed twice.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from tripleaudit.extractors.batches import Shape, joined, slices
from tripleaudit.extractors.decoding import surest
from tripleaudit.extractors.formulation import cells_at_once, on_device
from tripleaudit.extractors.losses import last_written, raise_precision, with_gradients

MAX_CELLS = 4096  # decoded positive cells of a sentence; an untrained model marks millions
MAX_PAIRS = 2**12  # of a block, on a CPU
MAX_LOGITS = 2**20  # of a chunk, on a CPU

Features = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Cells:
    """Cells of a table, [n] each.

    Attributes:
        sentence: number in the batch.
        row, column: the pair of tokens.
        relation: column of the table.
        classes: their classes.
        scores: probabilities of the classes; only for decoded cells.
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
        return Cells(*(getattr(self, name)[which] for name in CELL_FIELDS), scores)

    def resolved(self, length: int, relations: int) -> "Cells":
        """Of several classes written to one cell keep the one written last."""
        pair = (self.sentence * length + self.row) * length + self.column
        return self.select(last_written(pair * relations + self.relation))


CELL_FIELDS = ("sentence", "row", "column", "relation", "classes")


def join_cells(parts: Sequence[Cells]) -> Cells:
    """Concatenate cells in the given order."""
    scores = None if parts[0].scores is None else torch.cat([part.scores for part in parts])
    return Cells(
        *(torch.cat([getattr(part, name) for part in parts]) for name in CELL_FIELDS), scores
    )


def most_certain(cells: Cells) -> Cells:
    """Keep at most ``MAX_CELLS`` cells of each sentence."""
    if not len(cells) or int(torch.bincount(cells.sentence).max()) <= MAX_CELLS:
        return cells
    return cells.select(surest(cells.sentence, cells.scores, MAX_CELLS))


def gold_cells(cells: Cells, shape: Shape, columns: int) -> Tensor:
    """Write down the gold cells of a training batch, in the data loader.

    Of several classes written to one cell, the last one holds.

    Returns:
        [n, 5] int64: sentence, row, column of the pair, column of the table, class. Rows of zeros,
        which are no gold cells, may follow.
    """
    resolved = cells.resolved(shape.length, columns)
    rows = torch.stack([getattr(resolved, name) for name in CELL_FIELDS], dim=1)
    return shape.padded(np.asarray(rows))


@dataclass(frozen=True)
class Block:
    """Pairs (i, j) of tokens, the same ones in each of s sentences.

    Attributes:
        sentences, rows, columns: i lies in ``rows``, j in ``columns``.
        upper: only pairs with i <= j; ``columns`` then begin with ``rows``.
        mask: [s, L], the tokens that take part; None where all of the block do.
    """

    sentences: slice
    rows: slice
    columns: slice
    upper: bool
    device: torch.device
    mask: Tensor | None

    @functools.cached_property
    def places(self) -> tuple[Tensor, Tensor]:
        """Row and column [P] of each pair of a sentence, counted from the first of the block."""
        if self.upper:
            row, column = torch.triu_indices(self.height, self.width, device=self.device)
            return row, column
        row = torch.arange(self.height, device=self.device).repeat_interleave(self.width)
        return row, torch.arange(self.width, device=self.device).repeat(self.height)

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.rows.stop - self.rows.start

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.columns.stop - self.columns.start

    @property
    def pairs(self) -> int:
        """Number of pairs P of one sentence."""
        below = self.height * (self.height - 1) // 2 if self.upper else 0
        return self.height * self.width - below

    def numbers(self, row: Tensor, column: Tensor) -> Tensor:
        """Number of a pair, given by its tokens, among the pairs of a sentence in the block."""
        row, column = row - self.rows.start, column - self.columns.start
        before = row * self.width + column
        return before - row * (row + 1) // 2 if self.upper else before

    def weights(self, dtype: torch.dtype) -> Tensor | None:
        """1 for pairs of tokens that take part and 0 for others, [s * P]; None where all do."""
        if self.mask is None:
            return None
        row, column = self.places
        rows, columns = self.mask[:, self.rows], self.mask[:, self.columns]
        return (rows[:, row] & columns[:, column]).flatten().to(dtype)

    def parts(self, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rows of left [B, L, D] and the columns of right [B, L, D] of the block."""
        return left[self.sentences, self.rows], right[self.sentences, self.columns]

    def join(self, features: Features, left: Tensor, right: Tensor) -> Tensor:
        """Return the features [s * P, D] of pairs, from :meth:`parts` of left and right."""
        if not self.upper:
            return features(left[:, :, None], right[:, None]).flatten(0, 2)
        row, column = self.places
        if len(left) == 1:  # the gradient of an embedding is one operator
            return features(F.embedding(row, left[0]), F.embedding(column, right[0]))
        return features(left[:, row], right[:, column]).flatten(0, 1)


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
    """

    left: Tensor
    right: Tensor
    weight: Tensor
    bias: Tensor
    features: Features
    mask: Tensor
    upper: bool = False

    @property
    def pairs(self) -> Tensor:
        """Number of pairs of the batch, at least 1."""
        tokens = self.mask.sum(dim=1)
        pairs = tokens * (tokens + 1) // 2 if self.upper else tokens**2
        return pairs.sum().clamp(min=1)

    def blocks(self, classes: int, columns: int) -> Iterator[tuple[Block, list[slice]]]:
        """Yield the blocks of a table of so many classes and columns, with chunks of columns."""
        device = self.mask.device
        if on_device(self.mask):
            batch, length = self.mask.shape
            tokens = slice(0, length)
            whole = Block(slice(0, 1), tokens, tokens, self.upper, device, None)
            most = cells_at_once(device) // (classes * whole.pairs)
            chunks = list(slices(columns, most))
            for part in slices(batch, most // chunks[0].stop):
                mask = self.mask[part].bool()
                yield Block(part, tokens, tokens, self.upper, device, mask), chunks
            return
        first = self.mask.long().argmax(dim=1).tolist()
        count = self.mask.sum(dim=1).tolist()
        for number, (start, size) in enumerate(zip(first, map(int, count), strict=True)):
            for part in slices(size, MAX_PAIRS // max(1, size)):
                rows = slice(start + part.start, start + part.stop)
                below = slice(rows.start if self.upper else start, start + size)
                sentence = slice(number, number + 1)
                block = Block(sentence, rows, below, self.upper, device, None)
                yield block, list(slices(columns, MAX_LOGITS // (classes * block.pairs)))

    def relative(self) -> tuple[Tensor, Tensor]:
        """Weights [C - 1, G, D] and biases less those of class 0, whose logits are then 0."""
        dtype = self.left.dtype
        weight, bias = self.weight[1:] - self.weight[:1], self.bias[1:] - self.bias[:1]
        return weight.to(dtype), bias.to(dtype)

    def loss(self, cells: Tensor, scale: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Sum of cross-entropies over all pairs and columns; class 0 for all but the gold cells.

        With ``x = features(left[:, :, None], right[:, None])``, ``z = einsum("cgd,bijd->bcijg",
        weight, x) + bias[:, None, None]`` and the classes ``y[b, i, j, g]`` of the gold cells it is
        ``cross_entropy(z, y)`` summed over the pairs of real tokens, computed without keeping
        ``z``, its gradient ``softmax(z) - onehot(y)`` written out.

        Args:
            cells: [n, 5], what :func:`gold_cells` gives.
            scale: [G] factors of the columns' losses; 1 if None.

        Returns:
            the scaled sum (scalar), and the unscaled sum of each column [G], detached.
        """
        with torch.no_grad(), torch.autocast(self.left.device.type, enabled=False):
            losses, gradients = _table_loss(self, cells, scale)
            total = losses.sum() if scale is None else losses @ scale.to(losses.dtype)
        inputs = self.left, self.right, self.weight, self.bias
        return with_gradients(total, inputs, gradients), losses

    @torch.no_grad()
    def cells(self) -> Cells:
        """Return the cells whose best class is not 0, in no particular order.

        Of each sentence at most ``MAX_CELLS``, the most certain.
        """
        parts = []
        with torch.autocast(self.left.device.type, enabled=False):
            weight, bias = self.relative()
            for block, chunks in self.blocks(*self.bias.shape):
                x = block.join(self.features, *block.parts(self.left, self.right))
                valid = block.weights(torch.bool)
                for chunk in chunks:
                    z = _logits(x, weight[:, chunk], bias[:, chunk])
                    parts.append(_positive_cells(z, valid, block, chunk.start))
        if not parts:
            none = torch.zeros(0, dtype=torch.long)
            return Cells(*[none] * len(CELL_FIELDS), torch.zeros(0))
        cells = join_cells(parts)
        fields = (getattr(cells, name).cpu() for name in CELL_FIELDS)
        return most_certain(Cells(*fields, cells.scores.cpu()))

    def maxima(self, pooled: Tensor) -> tuple[Tensor, Tensor]:
        """Maxima of the logits over the pairs of each row, and of each column.

        Each sentence must have a token that takes part.

        Args:
            pooled: [B, L] bool, the tokens over which maxima run, among those that take part.

        Returns:
            two tensors [B, L, C * G]; 0 in sentences without such tokens, and for tokens that take
            no part.
        """
        weight, bias = self.weight.flatten(0, 1).to(self.left.dtype), self.bias.flatten()
        hidden = torch.zeros_like(pooled, dtype=weight.dtype).masked_fill(~pooled, -torch.inf)
        merged: dict[int, tuple[Tensor, Tensor]] = {}  # by the first sentence of a block
        with torch.autocast(self.left.device.type, enabled=False):
            for block, chunks in self.blocks(1, len(weight)):
                rows, columns = self._block_maxima(block, chunks, weight, hidden)
                sentence = block.sentences.start
                if sentence in merged:
                    rows = torch.maximum(merged[sentence][0], rows)
                    columns = torch.maximum(merged[sentence][1], columns)
                merged[sentence] = rows, columns
        counts = (self.mask.bool() & pooled.any(dim=1, keepdim=True))[..., None]
        zero = bias.new_zeros(())
        rows, columns = (joined(parts) for parts in zip(*merged.values(), strict=True))
        return torch.where(counts, rows + bias, zero), torch.where(counts, columns + bias, zero)

    def _block_maxima(
        self, block: Block, chunks: Sequence[slice], weight: Tensor, hidden: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Maxima [s, L, C * G] of a block's rows and columns; -inf at other tokens.

        Features of pairs are computed again in the backward pass.

        Args:
            chunks: of the rows of ``weight`` [C * G, D].
            hidden: [B, L], -inf for tokens that maxima leave out, else 0.
        """
        left, right = block.parts(self.left, self.right)
        hidden = hidden[block.sentences, :, None]
        row_maxima, column_maxima = [], []
        for chunk in chunks:
            z = checkpoint(
                self._products, block, left, right, weight[chunk],
                use_reentrant=False, preserve_rng_state=False,
            )  # fmt: skip
            row_maxima.append(_maximum(z + hidden[:, None, block.columns], dim=2))
            column_maxima.append(_maximum(z + hidden[:, block.rows, None], dim=1))
        length = self.mask.shape[1]
        rows, columns = joined(row_maxima, dim=-1), joined(column_maxima, dim=-1)
        return _lengthen(rows, block.rows, length), _lengthen(columns, block.columns, length)

    def _products(self, block: Block, left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
        """Logits [s, rows, columns, g] of a block without biases."""
        products = block.join(self.features, left, right) @ weight.T
        return products.unflatten(0, (-1, block.height, block.width))


def _logits(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Logits [C, g, N] of features x [N, D] under ``weight`` [C, g, D] and ``bias`` [C, g]."""
    z = torch.addmm(bias.reshape(-1, 1), weight.flatten(0, 1), x.T)
    return raise_precision(z).unflatten(0, bias.shape)


def _table_loss(
    table: Table, cells: Tensor, scale: Tensor | None
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Sum [G] of the losses of each column, and the gradients of left, right, weight and bias."""
    left, right = table.left, table.right
    weight, bias = table.relative()
    classes, columns = bias.shape
    precise = raise_precision(left[:0]).dtype
    losses = bias.new_zeros(columns, dtype=precise)
    d_left, d_right, d_weight, d_bias = (
        torch.zeros_like(each, dtype=precise) for each in (left, right, table.weight, table.bias)
    )
    sentence, i, j, relation, class_ = cells.unbind(1)
    class_ = class_ - 1
    for block, chunks in table.blocks(classes, columns):
        with torch.enable_grad():
            parts = [each.detach().requires_grad_() for each in block.parts(left, right)]
            graph = block.join(table.features, *parts)
        x, dx = graph.detach(), None
        valid = block.weights(precise)
        in_block = (class_ >= 0) & (sentence >= block.sentences.start)
        in_block &= sentence < block.sentences.stop
        in_block &= (i >= block.rows.start) & (i < block.rows.stop)
        number = (sentence - block.sentences.start) * block.pairs + block.numbers(i, j)
        number = torch.where(in_block, number, 0)
        for chunk in chunks:
            z = _logits(x, weight[:, chunk], bias[:, chunk])
            inside = in_block & (relation >= chunk.start) & (relation < chunk.stop)
            at = class_.clamp(min=0), (relation - chunk.start).clamp(0, z.shape[1] - 1), number
            losses.index_add_(0, relation, -torch.where(inside, z[at], 0))
            logsumexp = _softmax(z)
            losses[chunk] += logsumexp.sum(dim=-1) if valid is None else logsumexp @ valid
            # from here on z is the gradient: probabilities minus labels
            z.index_put_(at, -inside.to(precise), accumulate=True)
            if scale is not None:
                z *= scale[chunk, None]
            if valid is not None:
                z *= valid
            d_bias[1:, chunk] += z.sum(dim=-1)
            dz = z.flatten(0, 1).to(left.dtype)  # [C * g, N]
            d_weight[1:, chunk] += (dz @ x).unflatten(0, z.shape[:2])
            w = weight[:, chunk].flatten(0, 1)
            dx = dz.T @ w if dx is None else dx.addmm_(dz.T, w)
        d_rows, d_columns = torch.autograd.grad(graph, parts, dx)
        d_left[block.sentences, block.rows] += d_rows
        d_right[block.sentences, block.columns] += d_columns
    d_weight[0], d_bias[0] = -d_weight[1:].sum(dim=0), -d_bias[1:].sum(dim=0)
    return losses, (d_left, d_right, d_weight, d_bias)


def _softmax(z: Tensor) -> Tensor:
    """Turn logits [C - 1, …] relative to a class with logit 0 into probabilities, in place.

    Returns:
        the logsumexp over all classes, [...].
    """
    top = z.amax(dim=0).clamp_(min=0)
    z.sub_(top).exp_()
    total = torch.exp(-top).add_(z.sum(dim=0))
    z.div_(total)
    return total.log_().add_(top)


def _positive_cells(z: Tensor, valid: Tensor | None, block: Block, first: int) -> Cells:
    """Cells of logits [C - 1, g, s * P], relative to class 0, of a chunk that begins at a column."""
    positive = z.amax(dim=0) > 0
    if valid is not None:
        positive &= valid
    relation, pair = torch.nonzero(positive, as_tuple=True)
    logits = F.pad(z[:, relation, pair], (0, 0, 1, 0))
    scores, class_ = logits.softmax(dim=0).max(dim=0)
    row, column = block.places
    at = pair % block.pairs
    cells = Cells(
        pair // block.pairs + block.sentences.start,
        row[at] + block.rows.start,
        column[at] + block.columns.start,
        relation + first,
        class_,
        scores,
    )
    return most_certain(cells)


def _lengthen(values: Tensor, tokens: slice, length: int) -> Tensor:
    """Extend values [s, tokens, …] to [s, L, …] with -inf at other tokens."""
    outside = 0, 0, tokens.start, length - tokens.stop
    return F.pad(values, outside, value=-torch.inf)


def _maximum(values: Tensor, dim: int) -> Tensor:
    """Maximum over a dimension, of which the backward pass keeps the positions alone."""
    if values.requires_grad:
        return values.max(dim=dim).values
    return values.amax(dim=dim)  # takes half the time
