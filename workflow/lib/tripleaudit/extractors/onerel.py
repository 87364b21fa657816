"""OneRel: one of four tags per (subject, relation, object) (Shang et al., AAAI 2022).

As in the authors' code, not as in the paper: a marker stands after every word and is the last token
of an entity that ends there, so that start and end always differ and the tags of a triple lie
apart; the encoder's states are dropped, too; R has a bias; the loss is summed over relations, where
the paper also divides by their number; and :func:`decode` says which tags make a triple.

Shortcut, with unchanged mathematics: ``W[h_i; h_j] = W1 h_i + W2 h_j``, so that a table of pairs is
made from two lists of tokens (:mod:`tripleaudit.extractors.tables`).
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import GoldBatch, by_subject
from tripleaudit.extractors.decoding import next_of
from tripleaudit.extractors.dropping import dropped
from tripleaudit.extractors.specs.onerel import OneRelSettings
from tripleaudit.extractors.tables import Cells, Table, gold_cells

HB_TB, HB_TE, HE_TE = 1, 2, 3  # subject start or end (head) with object start or end (tail)


class OneRel(Extractor):
    """One-module, one-step extractor with tags from ``R ReLU(dropout(W[h_i; h_j] + b))``.

    Tag 0 is the paper's "-"; in the others H and T are subject (head) and object (tail), B and E an
    entity's first and last token. Every pair of tokens has a tag for every relation, specials
    included. In shapes, R counts relations.
    """

    name = "onerel"
    settings = OneRelSettings
    static = True

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        width = self.hidden_size
        self.pair = nn.Linear(2 * width, 3 * width)  # W and b
        self.tags = nn.Linear(
            3 * width, 4 * len(config.relations)
        )  # the paper's R, and a bias; [tag, relation]
        self.post_init()

    def features(self, left: Tensor, right: Tensor) -> Tensor:
        """Return features ``ReLU(dropout(W1 h_i + b + W2 h_j))`` of pairs from their two halves."""
        return torch.relu_(dropped(left + right, self.config.pair_dropout, self.training))

    def table(self, hidden: Tensor, mask: Tensor) -> Table:
        """The tags of all pairs, from hidden [B, L, H] and the attention mask [B, L]."""
        width, relations = self.hidden_size, len(self.config.relations)
        left = F.linear(hidden, self.pair.weight[:, :width], self.pair.bias)
        right = F.linear(hidden, self.pair.weight[:, width:])
        weight, bias = self.tags.weight.view(4, relations, -1), self.tags.bias.view(4, relations)
        return Table(left, right, weight, bias, self.features, mask)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, cells: Tensor, **_: Tensor
    ) -> ExtractorOutput:
        """Compute the loss: mean over pairs of the cross-entropies, summed over relations.

        See :meth:`Extractor.forward`.

        Args:
            cells: [n, 5], the gold tags of :meth:`collate_targets`; every other cell has tag 0.
        """
        hidden = dropped(
            self.encode(input_ids, attention_mask), self.config.hidden_dropout, self.training
        )
        table = self.table(hidden, attention_mask)
        return ExtractorOutput.of({"tags": table.loss(cells)[0] / table.pairs})

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Return ``cells`` [n, 5], the tags of the gold triples (:func:`tables.gold_cells`)."""
        return {"cells": gold_cells(targets(batch.triples), batch.shape, len(config.relations))}

    def predict_rows(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        hidden = self.encode(input_ids, attention_mask)
        return decode(
            self.table(hidden, attention_mask).cells(), len(self.config.relations), hidden.shape[1]
        )


def targets(triples: Tensor) -> Cells:
    """Return cells of gold triples [n, 6], three tags each.

    Triples are ordered by subject, because the last tag written to a cell holds.
    """
    sentence, start, end, relation, object_start, object_end = by_subject(triples).unbind(1)
    tags = torch.tensor([HB_TB, HB_TE, HE_TE])
    return Cells(
        sentence.repeat_interleave(3),
        torch.stack([start, start, end], dim=1).flatten(),
        torch.stack([object_start, object_end, object_end], dim=1).flatten(),
        relation.repeat_interleave(3),
        tags.repeat(len(triples)),
    )


def decode(cells: Cells, relations: int, length: int) -> tuple[Tensor, Tensor]:
    """Join the tags of triples, by the authors' rule where several tags would fit.

    Cells are listed in the order (relation, row, column). HB-TB at (r, i, j): the column j2 of the
    *next* listed cell must hold HB-TE at (r, i, j2); the first row from i on with HE-TE in that
    column ends the subject.

    Args:
        cells: positive cells with scores, distinct.

    Returns:
        rows [n, 6] and scores [n], the product of the probabilities of the three cells.
    """
    # one number for each cell, [n]: in reading order (sentence, relation, row, column), and with
    # columns before rows
    table = (cells.sentence * relations + cells.relation) * length
    order = torch.argsort((table + cells.row) * length + cells.column)
    cells, table = cells.select(order), table[order]
    by_row, by_column = (
        (table + cells.row) * length + cells.column,
        (table + cells.column) * length + cells.row,
    )

    # HB-TB cells with a cell after them in their sentence, [b], and the column of that next cell
    begins = torch.nonzero(cells.classes[:-1] == HB_TB)[:, 0]
    begins = begins[cells.sentence[begins] == cells.sentence[begins + 1]]  # [b]
    column = cells.column[begins + 1]  # [b]
    middle, last = (torch.nonzero(cells.classes == tag)[:, 0] for tag in (HB_TE, HE_TE))

    # HB-TE at exactly (relation, row of the beginning, column)
    wanted = (table[begins] + cells.row[begins]) * length + column
    number, at = next_of(by_row[middle], wanted)
    found = number == wanted
    begins, column, middle = begins[found], column[found], middle[at[found]]

    # the first HE-TE of (relation, column) from the beginning's row on
    number, at = next_of(by_column[last], (table[begins] + column) * length + cells.row[begins])
    found = number // length == table[begins] + column
    begins, middle, last = begins[found], middle[found], last[at[found]]

    parts = (
        cells.sentence[begins], cells.row[begins], cells.row[last], cells.relation[begins], cells.column[begins],
        cells.column[last],
    )  # fmt: skip
    rows = torch.stack(parts, dim=1)  # [t, 6]
    scores = cells.scores[begins] * cells.scores[middle] * cells.scores[last]  # [t]
    whole = (rows[:, 1] <= rows[:, 2]) & (rows[:, 4] <= rows[:, 5])
    return rows[whole], scores[whole]
