"""GRTE: fill one table for every relation, and refine the tokens by what the tables say (Ren et al., EMNLP 2021).

Shortcuts, with unchanged mathematics: logits of an inner round are only needed for the maxima of rows and columns, so
they are dropped chunk by chunk and only the places of the maxima are kept; the backward pass has gradients at those
places alone and computes no logit again; the last round is :func:`pairs.cell_loss`.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from tripleaudit.extractors import padded
from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import Shape, joined, stack_triples
from tripleaudit.extractors.dropping import dropped
from tripleaudit.extractors.formulation import Chunks, on_device
from tripleaudit.extractors.losses import raise_precision
from tripleaudit.extractors.pairs import Block, Cells, PairTable, Plan, cell_loss, find_cells, plan, spans_of
from tripleaudit.fields import Number, Rate

# labels by length of subject and object (single or multi token), and which tokens the cell joins
SS, MSH, MST, SMH, SMT, MMH, MMT = range(1, 8)
LABELS = 8
CANDIDATES = 2**22  # cells looked at together when decoding


class GRTEConfig(ExtractorConfig):
    """Settings of :class:`GRTE`.

    Attributes:
        rounds: how often tables are filled; the last one counts. Officially NYT 3, NYT* 2, WebNLG 4, WebNLG* 2,
            NYT29 3.
        dropout: of the encoder's states and inside the refining block.
        mask_padding: False restores the official behaviour: maxima run over specials and padding too, and the
            refining block's self-attention sees padding, so that results depend on the batch.
    """

    model_type = "tripleaudit-grte"
    rounds: Number = 3
    dropout: Rate = 0.1
    mask_padding: bool = True


class GRTE(Extractor):
    """The global-feature-oriented table-filling extractor."""

    name = "grte"
    config_class = GRTEConfig
    static = True
    sparse_outputs = {"table": LABELS}
    classes_first = True
    training_defaults = {
        "optimizer": "adamw",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 3e-5,
        "head_learning_rate": 3e-5,
        "schedule": "linear",
        "clip": "global",
        "clip_norm": 1.0,
        "batch_size": 6,
        "epochs": 50,
    }

    def __init__(self, config: GRTEConfig, encoder=None):
        super().__init__(config, encoder)
        width, columns = self.hidden_size, LABELS * len(config.relations)
        self.subject = nn.Linear(width, width)
        self.object = nn.Linear(width, width)
        self.table = nn.Linear(width, columns)  # [label, relation]
        self.subject_summary = nn.Linear(columns, width)
        self.object_summary = nn.Linear(columns, width)
        for layer in (self.subject, self.object, self.table, self.subject_summary, self.object_summary):
            nn.init.orthogonal_(layer.weight)
        inner = getattr(config.encoder, "intermediate_size", None) or 4 * width
        self.refine = RefiningBlock(width, config.encoder.num_attention_heads, inner, config.dropout)
        self.post_init()

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor, triples: Tensor | None = None
    ) -> ExtractorOutput:
        """See :meth:`Extractor.forward`; the loss is the official sum over cells."""
        subject, object_ = self.token_features(input_ids, attention_mask, content_mask)
        if triples is None:
            return ExtractorOutput(scores={"subject": subject, "object": object_})
        blocks = plan(spans_of(content_mask), self.chunks)
        loss, _ = cell_loss(self.pair_table(subject, object_), blocks, targets(triples))
        return ExtractorOutput(loss=loss, terms={"table": loss.detach()})

    @classmethod
    def collate_targets(
        cls, config: GRTEConfig, rows: Sequence[np.ndarray], rngs: Sequence[np.random.Generator], shape: Shape
    ) -> dict[str, Tensor]:
        """Return ``cells`` of a static batch (:func:`padded.numbered`)."""
        if not shape.static:
            return {}
        cells = targets(stack_triples(rows))
        return {"cells": shape.padded(padded.numbered(cells, shape.length, len(config.relations)))}

    def device_loss(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor, cells: Tensor, **_: Tensor
    ) -> ExtractorOutput:
        """See :meth:`Extractor.device_loss`; ``cells`` [n, 3]."""
        subject, object_ = self.token_features(input_ids, attention_mask, content_mask)
        pairs = padded.Pairs(content_mask.bool(), self.chunks)
        loss, _ = padded.cell_loss(self.pair_table(subject, object_), pairs, cells)
        return ExtractorOutput(loss=loss, terms={"table": loss.detach()})

    def pair_table(self, subject: Tensor, object_: Tensor) -> PairTable:
        """The table of subject and object features [B, L, H]; its weight is [8, R, H]."""
        shape = LABELS, len(self.config.relations)
        return PairTable(subject, object_, self.table.weight.view(*shape, -1), self.table.bias.view(shape), features)

    def token_features(self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Subject and object features [B, L, H] of the last round."""
        hidden = dropped(self.encode(input_ids, attention_mask), self.config.dropout, self.training)
        subject, object_ = self.subject(hidden), self.object(hidden)
        if self.config.rounds < 2:
            return subject, object_
        seen, content = attention_mask.bool(), content_mask.bool()
        device = on_device(hidden)
        if self.config.mask_padding:
            valid, pooled, own_mask = seen, content, seen
        else:  # what a batch without static shapes is padded to
            longest = torch.arange(seen.shape[1], device=seen.device) < seen.sum(dim=1).max()
            valid = pooled = longest.expand_as(seen)
            own_mask = valid if device else None
        if not device:
            valid, pooled = spans_of(valid), spans_of(pooled)
        maxima = padded_maxima if device else table_maxima
        memory, memory_mask = torch.cat([hidden, hidden]), seen.repeat(2, 1)
        own_mask = None if own_mask is None else own_mask.repeat(2, 1)
        for _ in range(self.config.rounds - 1):
            rows, columns = maxima(subject, object_, self.table, valid, pooled, self.chunks)
            summary = torch.cat([self.subject_summary(rows), self.object_summary(columns)])
            more = self.refine(summary, own_mask, memory, memory_mask)
            subject, object_ = subject + more[: len(hidden)], object_ + more[len(hidden) :]
        return subject, object_

    def predict_rows(self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor) -> tuple[Tensor, Tensor]:
        subject, object_ = self.token_features(input_ids, attention_mask, content_mask)
        table = self.pair_table(subject, object_)
        if on_device(subject):
            cells = padded.find_cells(table, padded.Pairs(content_mask.bool(), self.chunks))
        else:
            cells = find_cells(table, plan(spans_of(content_mask), self.chunks))
        return decode(cells, len(self.config.relations), input_ids.shape[1])


def plain_logits(model: GRTE, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor) -> Tensor:
    """The model as the paper writes it, without dropout: logits [B, L, L, 8, R] of the last round's tables."""
    hidden, valid, content = model.encode(input_ids, attention_mask), attention_mask.bool(), content_mask.bool()
    if not model.config.mask_padding:
        content = torch.ones_like(content)
    keys = valid if model.config.mask_padding else None
    subject, object_ = model.subject(hidden), model.object(hidden)
    for last in reversed(range(model.config.rounds)):
        table = model.table(F.elu(subject[:, :, None] * object_[:, None]))  # [B, L, L, 8 R]
        if not last:
            return table.unflatten(-1, (LABELS, -1))
        rows = table.masked_fill(~content[:, None, :, None], -torch.inf).amax(dim=2)
        columns = table.masked_fill(~content[:, :, None, None], -torch.inf).amax(dim=1)
        if keys is not None:
            rows, columns = rows * valid[..., None], columns * valid[..., None]
        subject = subject + model.refine(model.subject_summary(rows), keys, hidden, valid)
        object_ = object_ + model.refine(model.object_summary(columns), keys, hidden, valid)
    raise AssertionError("a model has at least one round")


class Attention(nn.Module):
    """Multi-head attention with residual connection and layer normalisation (BERT), in float32 under autocast.

    In bfloat16 the loss was no number after 32 to 200 steps of WebNLG on an H100, with cuDNN's kernel and with
    PyTorch's own; with the attention alone in float32, 2,000 steps were finite.
    """

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        """Attend from x [N, L, H] to memory [N, M, H].

        ``mask`` [N, M] bool is True where memory may be seen; None sees all. A row that may see nothing sees the first
        position: a softmax over no key is not a number, on some kernels for the whole row's gradient, too.
        """
        with torch.autocast(x.device.type, enabled=False):
            x, memory = raise_precision(x), raise_precision(memory)
            query, key, value = (
                layer(states).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                for layer, states in ((self.query, x), (self.key, memory), (self.value, memory))
            )
            rate = self.dropout if self.training else 0.0
            seen = None if mask is None else some_key(mask)[:, None, None]
            mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=seen, dropout_p=rate)
            mixed = self.output(mixed.transpose(1, 2).flatten(2))
            return self.norm(x + dropped(mixed, self.dropout, self.training))


def some_key(mask: Tensor) -> Tensor:
    """Masks [N, M] bool in which the rows without any allowed key allow the first one."""
    first = mask[:, :1] | ~mask.any(dim=1, keepdim=True)
    return torch.cat([first, mask[:, 1:]], dim=1)


class RefiningBlock(nn.Module):
    """A transformer decoder block of BERT's shape: self-attention, attention to the sentence, feed-forward layer."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float):
        super().__init__()
        self.own, self.cross = Attention(width, heads, dropout), Attention(width, heads, dropout)
        self.widen, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-12), dropout

    def forward(self, x: Tensor, own_mask: Tensor | None, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """x, memory: [N, L, H]; masks: [N, L] bool."""
        x = self.own(x, x, own_mask)
        x = self.cross(x, memory, memory_mask)
        wide = self.narrow(F.gelu(self.widen(x)))
        return self.norm(x + dropped(wide, self.dropout, self.training))


def features(left: Tensor, right: Tensor) -> Tensor:
    """Pair features ``ELU(S_i * O_j)``."""
    return F.elu(left * right)


def table_maxima(
    subject: Tensor,
    object_: Tensor,
    table: nn.Linear,
    valid: Sequence[tuple[int, int]],
    pooled: Sequence[tuple[int, int]],
    chunks: Chunks | None = None,
) -> tuple[Tensor, Tensor]:
    """Maxima of the table ``T_ij = W ELU(S_i * O_j) + b`` over j and over i, without keeping the table.

    Args:
        subject, object_: [B, L, H].
        table: ``W`` [C, H] and ``b`` [C].
        valid: (start, stop) of the positions that get maxima; 0 elsewhere.
        pooled: (start, stop) of the positions over which maxima run, inside ``valid``; 0 where there are none.
        chunks: how many columns are scored at once.

    Returns:
        row maxima [B, L, C] (over j) and column maxima [B, L, C] (over i).
    """
    weight, bias = table.weight, table.bias
    need = torch.is_grad_enabled() and any(each.requires_grad for each in (subject, object_, weight))
    with torch.autocast(subject.device.type, enabled=False):
        rows, columns = _TableMaxima.apply(subject, object_, weight.to(subject.dtype), valid, pooled, chunks, need)
    mask = torch.zeros(subject.shape[:2], dtype=bias.dtype, device=bias.device)
    for sentence, ((start, stop), (first, last)) in enumerate(zip(valid, pooled, strict=True)):
        if first < last:
            mask[sentence, start:stop] = 1
    shift = mask[..., None] * bias  # the bias moves all cells of a column alike
    return rows + shift, columns + shift


def padded_maxima(
    subject: Tensor,
    object_: Tensor,
    table: nn.Linear,
    valid: Tensor,
    pooled: Tensor,
    chunks: Chunks | None = None,
) -> tuple[Tensor, Tensor]:
    """The same over the whole padded batch; ``valid`` and ``pooled`` are [B, L] bool."""
    weight, bias = table.weight, table.bias
    need = torch.is_grad_enabled() and any(each.requires_grad for each in (subject, object_, weight))
    with torch.autocast(subject.device.type, enabled=False):
        weight, pairs = weight.to(subject.dtype), padded.Pairs(valid, chunks)
        rows, columns = _PaddedMaxima.apply(subject, object_, weight, valid, pooled, pairs, need)
    shift = (valid & pooled.any(dim=1, keepdim=True)).to(bias.dtype)[..., None] * bias
    return rows + shift, columns + shift


class _PaddedMaxima(torch.autograd.Function):
    @staticmethod
    def forward(ctx, subject, object_, weight, valid, pooled, pairs, need):
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
        if need:
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
                # gradients lie at the maxima alone, [s, L, L, c]; no two rows, and no two columns, meet in one place
                dz = d_rows.new_zeros(*row_at[block].shape[:2], pairs.length, chunk.stop - chunk.start)
                dz.scatter_(2, row_at[block, :, chunk].long()[:, :, None], d_rows[block, :, chunk][:, :, None])
                dz.scatter_add_(1, column_at[block, :, chunk].long()[:, None], d_columns[block, :, chunk][:, None])
                dz = dz.flatten(0, 2)
                d_weight[chunk] += dz.T @ x
                dx = dz @ weight[chunk] if dx is None else dx.addmm_(dz, weight[chunk])
            d_features.append(pairs.gather(*torch.autograd.grad(graph, parts, dx)))
        d_subject, d_object = (joined(each) for each in zip(*d_features, strict=True))
        return d_subject, d_object, d_weight.to(weight.dtype), *[None] * 4


class _TableMaxima(torch.autograd.Function):
    @staticmethod
    def forward(ctx, subject, object_, weight, valid, pooled, chunks, need):
        sizes = *subject.shape[:2], len(weight)
        rows, columns = subject.new_zeros(sizes), subject.new_zeros(sizes)
        if need:  # place of each maximum
            row_at = torch.zeros(sizes, dtype=torch.int16, device=subject.device)
            column_at = torch.zeros_like(row_at)
        table = plan(valid, chunks)
        for block, (first, last) in _squares(table, pooled):
            s, top, bottom = block.sentence, block.top, block.bottom
            x = block.join(features, subject[s, top:bottom], object_[s, block.first : block.stop])
            low, high = max(top, first), min(bottom, last)  # rows of the block over which columns are pooled
            for start, stop in table.column_chunks(block.pairs, 1, len(weight)):
                z = (x @ weight[start:stop].T).view(bottom - top, block.stop - block.first, -1)
                across = z[:, first - block.first : last - block.first]
                down = z[low - top : max(low, high) - top]
                into = columns[s, block.first : block.stop, start:stop]
                if need:
                    best, at = _largest(across, 1)
                    rows[s, top:bottom, start:stop] = best
                    row_at[s, top:bottom, start:stop] = at.add_(first)
                    if high > low:
                        best, at = _largest(down, 0)
                        place = column_at[s, block.first : block.stop, start:stop]
                        better = torch.ones_like(best, dtype=torch.bool) if low == first else best > into
                        into.copy_(torch.where(better, best, into))
                        place.copy_(torch.where(better, at.add_(low), place))
                else:
                    rows[s, top:bottom, start:stop] = across.amax(dim=1)
                    if high > low:
                        best = down.amax(dim=0)
                        into.copy_(best if low == first else torch.maximum(best, into))
        if need:
            ctx.save_for_backward(subject, object_, weight, row_at, column_at)
            ctx.plan = table, pooled
        return rows, columns

    @staticmethod
    @once_differentiable
    def backward(ctx, d_rows, d_columns):
        subject, object_, weight, row_at, column_at = ctx.saved_tensors
        d_subject, d_object = torch.zeros_like(subject), torch.zeros_like(object_)
        d_weight = torch.zeros_like(weight, dtype=raise_precision(weight[:0]).dtype)
        for block, _ in _squares(*ctx.plan):
            s, top, bottom = block.sentence, block.top, block.bottom
            across, down = slice(top, bottom), slice(block.first, block.stop)
            with torch.enable_grad():
                a, b = subject[s, across].detach().requires_grad_(), object_[s, down].detach().requires_grad_()
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
            for start, stop in ctx.plan[0].column_chunks(block.pairs, 1, len(weight)):
                more, dw = _sparse_products(x, weight[start:stop], pairs[:, start:stop], grads[:, start:stop])
                d_weight[start:stop] += dw
                dx += more
            da, db = torch.autograd.grad(graph, (a, b), dx)
            d_subject[s, across] += da
            d_object[s, down] += db
        return d_subject, d_object, d_weight.to(weight.dtype), *[None] * 4


def _largest(z: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Maxima of z [rows, columns, C] over ``dim`` and their places (int16), the last of equal ones.

    Faster on a CPU than PyTorch's own maxima with places.
    """
    best = z.amax(dim=dim)
    places = torch.arange(z.shape[dim], dtype=torch.uint8 if z.shape[dim] < 256 else torch.int16)
    places = places.view([-1 if axis == dim else 1 for axis in range(3)])
    return best, ((z == best.unsqueeze(dim)) * places).amax(dim=dim).short()


def _sparse_products(x: Tensor, weight: Tensor, pairs: Tensor, grads: Tensor) -> tuple[Tensor, Tensor]:
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
        column, weight, counts.cumsum(0) - counts, mode="sum", per_sample_weights=grads.flatten()[order]
    )
    return dx, dw


def _squares(table: Plan, pooled: Sequence[tuple[int, int]]) -> Iterator[tuple[Block, tuple[int, int]]]:
    """Yield the blocks of sentences that have anything to pool, with the span over which maxima run."""
    for block in table.blocks:
        if pooled[block.sentence][0] < pooled[block.sentence][1]:
            yield block, pooled[block.sentence]


def targets(triples: Tensor) -> Cells:
    """Cells of gold triples [n, 6] in writing order: triples grouped by subject, one or two labels each."""
    same = (triples[:, None, :3] == triples[None, :, :3]).all(dim=-1)
    if len(triples):
        triples = triples[torch.argsort(same.long().argmax(dim=1), stable=True)]
    sentence, start, end, relation, object_start, object_end = triples.unbind(1)
    long_subject, long_object = end > start, object_end > object_start
    head = torch.where(long_subject, torch.where(long_object, MMH, MSH), torch.where(long_object, SMH, SS))
    cells = Cells(
        sentence.repeat_interleave(2),
        torch.stack([start, end], dim=1).flatten(),
        torch.stack([object_start, object_end], dim=1).flatten(),
        relation.repeat_interleave(2),
        torch.stack([head, torch.where(head == SS, 0, head + 1)], dim=1).flatten(),
    )
    return cells.select(cells.classes > 0)


def decode(cells: Cells, relations: int, length: int) -> tuple[Tensor, Tensor]:
    """Join heads with the first fitting tail (official rule).

    SS is a triple. SMH (i, j) takes the first SMT of its relation in row i after column j; MSH the first MST in column
    j below row i; MMH the first MMT, in the order of rows, below row i and after column j.

    Args:
        cells: positive cells with scores, distinct.
        relations: R.
        length: L.

    Returns:
        rows [n, 6] and scores [n], the product of the probabilities of the one or two cells.
    """
    order = torch.argsort((cells.sentence * relations + cells.relation) * length**2 + cells.row * length + cells.column)
    cells = cells.select(order)
    table = cells.sentence * relations + cells.relation
    single = torch.nonzero(cells.classes == SS)[:, 0]
    pairs = [(single, single)]
    for head, tail, line, place in (
        (SMH, SMT, cells.row, cells.column),
        (MSH, MST, cells.column, cells.row),
    ):
        pairs.append(_first_after(cells.classes, head, tail, table * length + line, place, length))
    pairs.append(_first_below_right(cells, table))
    heads, tails = (torch.cat(each) for each in zip(*pairs, strict=True))
    rows = torch.stack(
        [cells.sentence[heads], cells.row[heads], cells.row[tails], cells.relation[heads], cells.column[heads],
         cells.column[tails]],
        dim=1,
    )  # fmt: skip
    return rows, torch.where(heads == tails, cells.scores[heads], cells.scores[heads] * cells.scores[tails])


def _first_after(classes: Tensor, head: int, tail: int, line: Tensor, place: Tensor, length: int):
    """For each cell of class ``head`` the first of class ``tail`` on its line at a later place; indices of both."""
    heads, tails = torch.nonzero(classes == head)[:, 0], torch.nonzero(classes == tail)[:, 0]
    if not (len(heads) and len(tails)):
        return heads[:0], tails[:0]
    key = line * length + place
    tails = tails[torch.argsort(key[tails])]
    at = torch.searchsorted(key[tails], key[heads], right=True).clamp(max=len(tails) - 1)
    partner = tails[at]
    found = (line[partner] == line[heads]) & (place[partner] > place[heads])
    return heads[found], partner[found]


def _first_below_right(cells: Cells, table: Tensor) -> tuple[Tensor, Tensor]:
    """For each MMH the first MMT of its table below and to the right of it; indices of both."""
    heads, tails = torch.nonzero(cells.classes == MMH)[:, 0], torch.nonzero(cells.classes == MMT)[:, 0]
    if not (len(heads) and len(tails)):
        return heads[:0], tails[:0]
    start = torch.searchsorted(table[tails], table[heads])
    stop = torch.searchsorted(table[tails], table[heads], right=True)
    window = torch.arange(max(1, int((stop - start).max())), device=heads.device)
    found_heads, found_tails = [], []
    for part in torch.arange(len(heads), device=heads.device).split(max(1, CANDIDATES // len(window))):
        at = start[part, None] + window
        candidate = tails[at.clamp(max=len(tails) - 1)]
        head = heads[part, None]
        fits = (at < stop[part, None]) & (cells.row[candidate] > cells.row[head])
        fits &= cells.column[candidate] > cells.column[head]
        found = fits.any(dim=1)
        found_heads.append(heads[part][found])
        found_tails.append(candidate.gather(1, fits.long().argmax(dim=1, keepdim=True))[found, 0])
    return torch.cat(found_heads), torch.cat(found_tails)
