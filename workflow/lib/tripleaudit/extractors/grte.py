"""GRTE: one table per relation, and tokens refined by the tables (Ren et al., EMNLP 2021).

Shortcut, with unchanged mathematics: of the tables of inner rounds only the maxima of rows and
columns are needed, and no such table is kept (:meth:`tables.Table.maxima`).
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import GoldBatch, by_subject
from tripleaudit.extractors.decoding import next_of
from tripleaudit.extractors.dropping import dropped
from tripleaudit.extractors.losses import raise_precision
from tripleaudit.extractors.specs.grte import GRTESettings
from tripleaudit.extractors.tables import Cells, Table, gold_cells

# labels by length of subject and object (single or multi token), and which tokens the cell joins
SS, MSH, MST, SMH, SMT, MMH, MMT = range(1, 8)
LABELS = 8
CELLS_AT_ONCE = 2**22  # cells looked at together when decoding


class GRTE(Extractor):
    """The global-feature-oriented table-filling extractor."""

    name = "grte"
    settings = GRTESettings
    static = True

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        width, columns = self.hidden_size, LABELS * len(config.relations)
        self.subject = nn.Linear(width, width)
        self.object = nn.Linear(width, width)
        self.table = nn.Linear(width, columns)  # [label, relation]
        self.subject_summary = nn.Linear(columns, width)
        self.object_summary = nn.Linear(columns, width)
        for layer in (
            self.subject,
            self.object,
            self.table,
            self.subject_summary,
            self.object_summary,
        ):
            nn.init.orthogonal_(layer.weight)
        inner = getattr(config.encoder, "intermediate_size", None) or 4 * width
        self.refine = RefiningBlock(
            width, config.encoder.num_attention_heads, inner, config.dropout
        )
        self.post_init()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        content_mask: Tensor,
        cells: Tensor,
        **_: Tensor,
    ) -> ExtractorOutput:
        """See :meth:`Extractor.forward`; the loss is the official sum over cells."""
        subject, object_ = self.token_features(input_ids, attention_mask, content_mask)
        return ExtractorOutput.of(
            {"table": self.tables(subject, object_, content_mask).loss(cells)[0]}
        )

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Return ``cells`` [n, 5], the labels of the gold triples (:func:`tables.gold_cells`)."""
        return {"cells": gold_cells(targets(batch.triples), batch.shape, len(config.relations))}

    def tables(self, subject: Tensor, object_: Tensor, mask: Tensor) -> Table:
        """Return the tables of all relations from features [B, L, H]; their weight is [8, R, H]."""
        shape = LABELS, len(self.config.relations)
        weight, bias = self.table.weight.view(*shape, -1), self.table.bias.view(shape)
        return Table(subject, object_, weight, bias, features, mask)

    def token_features(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Subject and object features [B, L, H] of the last round."""
        hidden = dropped(self.encode(input_ids, attention_mask), self.config.dropout, self.training)
        subject, object_ = self.subject(hidden), self.object(hidden)
        seen, content = attention_mask.bool(), content_mask.bool()
        memory, mask = torch.cat([hidden, hidden]), seen.repeat(2, 1)
        for _ in range(self.config.rounds - 1):
            rows, columns = self.tables(subject, object_, seen).maxima(content)
            summary = torch.cat([self.subject_summary(rows), self.object_summary(columns)])
            more = self.refine(summary, memory, mask)
            subject, object_ = subject + more[: len(hidden)], object_ + more[len(hidden) :]
        return subject, object_

    def predict_rows(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        subject, object_ = self.token_features(input_ids, attention_mask, content_mask)
        cells = self.tables(subject, object_, content_mask).cells()
        return decode(cells, len(self.config.relations), input_ids.shape[1])


def features(left: Tensor, right: Tensor) -> Tensor:
    """Pair features ``ELU(S_i * O_j)``, as in the authors' code; the paper has ReLU."""
    return F.elu(left * right)


class Attention(nn.Module):
    """Multi-head attention with residual and layer normalisation (BERT), in float32 in autocast.

    In bfloat16 the loss was no number after 32 to 200 steps of WebNLG on an H100, with cuDNN's
    kernel and with PyTorch's own; with the attention alone in float32, 2,000 steps were finite.
    """

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """Attend from x [N, L, H] to memory [N, M, H].

        ``mask`` [N, M] bool is True where memory may be seen. A row that may see nothing sees the
        first position: a softmax over no key is not a number, on some kernels for the whole row's
        gradient, too.
        """
        with torch.autocast(x.device.type, enabled=False):
            x, memory = raise_precision(x), raise_precision(memory)
            query, key, value = (
                layer(states).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                for layer, states in ((self.query, x), (self.key, memory), (self.value, memory))
            )
            rate = self.dropout if self.training else 0.0
            seen = some_key(mask)[:, None, None]
            mixed = F.scaled_dot_product_attention(
                query, key, value, attn_mask=seen, dropout_p=rate
            )
            mixed = self.output(mixed.transpose(1, 2).flatten(2))
            return self.norm(x + dropped(mixed, self.dropout, self.training))


def some_key(mask: Tensor) -> Tensor:
    """Masks [N, M] bool in which the rows without any allowed key allow the first one."""
    first = mask[:, :1] | ~mask.any(dim=1, keepdim=True)
    return torch.cat([first, mask[:, 1:]], dim=1)


class RefiningBlock(nn.Module):
    """Transformer decoder block of BERT's shape: self- and cross-attention, feed-forward layer."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float):
        super().__init__()
        self.own, self.cross = Attention(width, heads, dropout), Attention(width, heads, dropout)
        self.widen, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-12), dropout

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """x, memory: [N, L, H]; mask: [N, L] bool."""
        x = self.own(x, x, mask)
        x = self.cross(x, memory, mask)
        wide = self.narrow(F.gelu(self.widen(x)))
        return self.norm(x + dropped(wide, self.dropout, self.training))


def targets(triples: Tensor) -> Cells:
    """Return cells of gold triples [n, 6] in writing order, by subject, one or two labels each."""
    sentence, start, end, relation, object_start, object_end = by_subject(triples).unbind(1)
    long_subject, long_object = end > start, object_end > object_start
    head = torch.where(
        long_subject, torch.where(long_object, MMH, MSH), torch.where(long_object, SMH, SS)
    )
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

    SS is a triple. SMH (i, j) takes the first SMT of its relation in row i after column j; MSH the
    first MST in column j below row i; MMH the first MMT, in the order of rows, below row i and
    after column j.

    Args:
        cells: positive cells with scores, distinct.

    Returns:
        rows [n, 6] and scores [n], the product of the probabilities of the one or two cells.
    """
    order = torch.argsort(
        (cells.sentence * relations + cells.relation) * length**2
        + cells.row * length
        + cells.column
    )
    cells = cells.select(order)
    table = cells.sentence * relations + cells.relation
    single = torch.nonzero(cells.classes == SS)[:, 0]
    pairs = [(single, single)]
    for head, tail, line, position in (
        (SMH, SMT, cells.row, cells.column),
        (MSH, MST, cells.column, cells.row),
    ):
        pairs.append(
            _first_after(cells.classes, head, tail, table * length + line, position, length)
        )
    pairs.append(_first_below_right(cells, table))
    heads, tails = (torch.cat(each) for each in zip(*pairs, strict=True))
    rows = torch.stack(
        [cells.sentence[heads], cells.row[heads], cells.row[tails], cells.relation[heads], cells.column[heads],
         cells.column[tails]],
        dim=1,
    )  # fmt: skip
    return rows, torch.where(
        heads == tails, cells.scores[heads], cells.scores[heads] * cells.scores[tails]
    )


def _first_after(
    classes: Tensor, head: int, tail: int, line: Tensor, position: Tensor, length: int
):
    """Return, for each cell of class ``head``, the next of class ``tail`` on its line; indices."""
    heads, tails = torch.nonzero(classes == head)[:, 0], torch.nonzero(classes == tail)[:, 0]
    key = line * length + position
    number, at = next_of(key[tails], key[heads] + 1)
    found = number // length == line[heads]
    return heads[found], tails[at[found]]


def _first_below_right(cells: Cells, table: Tensor) -> tuple[Tensor, Tensor]:
    """For each MMH the first MMT of its table below and to the right of it; indices of both."""
    heads, tails = (
        torch.nonzero(cells.classes == MMH)[:, 0],
        torch.nonzero(cells.classes == MMT)[:, 0],
    )
    if not (len(heads) and len(tails)):
        return heads[:0], tails[:0]
    start = torch.searchsorted(table[tails], table[heads])
    stop = torch.searchsorted(table[tails], table[heads], right=True)
    window = torch.arange(max(1, int((stop - start).max())), device=heads.device)
    found_heads, found_tails = [], []
    for part in torch.arange(len(heads), device=heads.device).split(
        max(1, CELLS_AT_ONCE // len(window))
    ):
        at = start[part, None] + window
        candidate = tails[at.clamp(max=len(tails) - 1)]
        head = heads[part, None]
        fits = (at < stop[part, None]) & (cells.row[candidate] > cells.row[head])
        fits &= cells.column[candidate] > cells.column[head]
        found = fits.any(dim=1)
        found_heads.append(heads[part][found])
        found_tails.append(candidate.gather(1, fits.long().argmax(dim=1, keepdim=True))[found, 0])
    return torch.cat(found_heads), torch.cat(found_tails)
