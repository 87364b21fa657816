"""TPLinker: links of heads and tails of pairs by relation (Wang et al., COLING 2020).

One cell for each unordered pair of tokens (the upper triangle) says whether the pair is an entity,
and for each relation whether it links the heads, or the tails, of subject and object (class 2: the
object comes first).

Shortcuts: ``W[h_i; h_j] = W1 h_i + W2 h_j``; the entity map is one more column of the table of
links, whose third class is impossible; see :mod:`tripleaudit.extractors.tables`.
"""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import GoldBatch
from tripleaudit.extractors.decoding import next_of
from tripleaudit.extractors.losses import raise_precision
from tripleaudit.extractors.specs.tplinker import TPLinkerSettings
from tripleaudit.extractors.tables import Cells, Table, gold_cells

JOINED_AT_ONCE = 2**20  # candidate triples checked at a time


class TPLinker(Extractor):
    """The token pair linking extractor with the ``cat`` handshaking kernel."""

    name = "tplinker"
    settings = TPLinkerSettings
    static = True

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        width, relations = self.hidden_size, len(config.relations)
        self.pair = nn.Linear(2 * width, width)
        self.entity = nn.Linear(width, 2)
        self.links = nn.Linear(width, 3 * 2 * relations)  # [class, head or tail, relation]
        self.post_init()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        content_mask: Tensor,
        cells: Tensor,
        entity_weight: Tensor | None = None,
        link_weight: Tensor | None = None,
        **_: Tensor,
    ) -> ExtractorOutput:
        """Compute the loss with the weights of :meth:`loss_weights`, by default the current ones.

        See :meth:`Extractor.forward`.
        """
        if self.config.padded_cells:
            extra = max(0, self.config.max_length - input_ids.shape[1])
            input_ids = F.pad(input_ids, (0, extra), value=self.config.encoder.pad_token_id or 0)
            attention_mask = F.pad(attention_mask, (0, extra))
            positions = torch.arange(input_ids.shape[1], device=input_ids.device)
            content_mask = (positions < self.config.max_length) & attention_mask[:, :1].bool()
        hidden = self.encode(input_ids, attention_mask)
        table, relations = self.table(hidden, content_mask), len(self.config.relations)
        pairs = table.pairs
        entity, links = (
            self.loss_weights() if entity_weight is None else (entity_weight, link_weight)
        )
        scale = raise_precision(hidden.new_ones(2 * relations + 1))
        scale[:-1].mul_(links).div_(relations * pairs)
        scale[-1].mul_(entity).div_(pairs)
        loss, sums = table.loss(cells, scale)
        head, tail = (sums[:-1].view(2, relations).sum(dim=1) / (relations * pairs)).unbind()
        return ExtractorOutput(
            loss=loss, terms={"entity": sums[-1] / pairs, "head": head, "tail": tail}
        )

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Return links and entities of gold triples as ``cells`` [n, 5].

        See :func:`tables.gold_cells`.
        """
        shape, relations = batch.shape, len(config.relations)
        if config.padded_cells:
            shape = replace(shape, length=max(shape.length, config.max_length))
        cells = targets(batch.triples, relations)
        return {"cells": gold_cells(cells, shape, 2 * relations + 1)}

    @classmethod
    def contradictory(cls, config: ExtractorConfig, rows: np.ndarray) -> np.ndarray:
        """Return which gold rows [n, 5] share a cell with another row that requires another class.

        A cell of two tokens has one class for each direction, so that two triples of one relation
        cannot link the same two heads, or the same two tails, in both directions.
        """
        directions: dict[tuple[int, ...], set[bool]] = defaultdict(set)
        cells = []
        for start, end, relation, object_start, object_end in rows.tolist():
            heads = (0, relation, *sorted((start, object_start)))
            tails = (1, relation, *sorted((end, object_end)))
            directions[heads].add(start <= object_start)
            directions[tails].add(end <= object_end)
            cells.append((heads, tails))
        shared = [any(len(directions[cell]) > 1 for cell in pair) for pair in cells]
        return np.array(shared, dtype=bool)

    def schedule(self, step: int) -> dict[str, float]:
        """The weights of the maps at an optimiser step."""
        return dict(zip(("entity_weight", "link_weight"), self.loss_weights(step), strict=True))

    def table(self, hidden: Tensor, mask: Tensor) -> Table:
        """Return R maps of head links, R of tail links and one of entities from [B, L, H]."""
        width, columns = self.hidden_size, 2 * len(self.config.relations)
        left = F.linear(hidden, self.pair.weight[:, :width], self.pair.bias)
        right = F.linear(hidden, self.pair.weight[:, width:])
        entity_weight = F.pad(self.entity.weight, (0, 0, 0, 1))[:, None]
        entity_bias = F.pad(self.entity.bias, (0, 1), value=-torch.inf)[:, None]
        weight = torch.cat([self.links.weight.view(3, columns, width), entity_weight], dim=1)
        bias = torch.cat([self.links.bias.view(3, columns), entity_bias], dim=1)
        return Table(left, right, weight, bias, features, mask, upper=True)

    def loss_weights(self, step: int | None = None) -> tuple[float, float]:
        """Return weights of the entity map and both link maps at a step, default the current."""
        relations = len(self.config.relations)
        share = (self.step if step is None else step) / (self.config.recover_steps + 1)
        maps = 2 * relations + 1
        return max(1 / maps + 1 - share, 1 / maps), min(relations / maps * share, relations / maps)

    def predict_rows(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        hidden = self.encode(input_ids, attention_mask)
        return decode(
            self.table(hidden, content_mask).cells(), len(self.config.relations), hidden.shape[1]
        )


def features(left: Tensor, right: Tensor) -> Tensor:
    """Pair features ``tanh(W[h_i; h_j] + b)`` of the two parts of the sum."""
    return torch.tanh(left + right)


def targets(triples: Tensor, relations: int) -> Cells:
    """Cells of gold triples [n, 6]: columns are R head links, R tail links, and the entity map."""
    sentence, start, end, relation, object_start, object_end = triples.unbind(1)
    parts = [
        (start, end, torch.full_like(relation, 2 * relations)),
        (object_start, object_end, torch.full_like(relation, 2 * relations)),
        (start, object_start, relation),
        (end, object_end, relation + relations),
    ]
    one, two, column = (torch.cat(each) for each in zip(*parts, strict=True))
    return Cells(
        sentence.repeat(4),
        torch.minimum(one, two),
        torch.maximum(one, two),
        column,
        torch.where(one <= two, 1, 2),
    )


def decode(cells: Cells, relations: int, length: int) -> tuple[Tensor, Tensor]:
    """Join head links, the entities that begin at their ends, and tail links.

    Below, e counts entity cells, h and t head and tail links, c candidates (a head link with two
    entities).

    Args:
        cells: positive cells with scores, distinct, columns as in :func:`targets`.

    Returns:
        rows [n, 6] and scores [n], the product of the probabilities of two entity cells, head link
        and tail link.
    """
    entities = cells.select(cells.relation == 2 * relations)
    heads, tails = (
        cells.select(cells.relation < relations),
        cells.select((cells.relation >= relations) & (cells.relation < 2 * relations)),
    )
    begin = entities.sentence * length + entities.row  # [e]
    order = torch.argsort(begin, stable=True)
    entities, begin = entities.select(order), begin[order]
    subject, object_ = _ordered(heads)  # [h]
    tail_subject, tail_object = _ordered(tails)  # [t]
    tail_key = (
        (tails.sentence * relations + tails.relation - relations) * length + tail_subject
    ) * length + tail_object
    subjects, objects = (
        [
            torch.searchsorted(begin, heads.sentence * length + head, right=right)
            for right in (False, True)
        ]
        for head in (subject, object_)
    )
    per_object = objects[1] - objects[0]  # [h]
    work = (subjects[1] - subjects[0]) * per_object  # [h]
    rows, scores = [cells.sentence.new_zeros(0, 6)], [cells.scores.new_zeros(0)]
    done = work.cumsum(0)
    every = int(done[-1]) if len(done) else 0
    for at in range(0, every, JOINED_AT_ONCE):
        number = torch.arange(at, min(every, at + JOINED_AT_ONCE), device=done.device)  # [c]
        link = torch.searchsorted(done, number, right=True)
        within = number - (done - work)[link]
        first = subjects[0][link] + within // per_object[link]  # [c]
        second = objects[0][link] + within % per_object[link]  # [c]
        start, end, object_end = subject[link], entities.column[first], entities.column[second]
        sentence, relation = heads.sentence[link], heads.relation[link]
        key = ((sentence * relations + relation) * length + end) * length + object_end  # [c]
        number, tail = next_of(tail_key, key)
        keep = number == key
        found = torch.stack(
            [sentence, start, end, relation, object_[link], object_end], dim=1
        )  # [c, 6]
        evidence = entities.scores[first], entities.scores[second], heads.scores[link]
        rows.append(found[keep])
        scores.append(torch.stack(evidence).prod(dim=0)[keep] * tails.scores[tail[keep]])
    return torch.cat(rows), torch.cat(scores)


def _ordered(cells: Cells) -> tuple[Tensor, Tensor]:
    """Subject and object position of link cells: class 2 means that the object comes first."""
    swap = cells.classes == 2
    return torch.where(swap, cells.column, cells.row), torch.where(swap, cells.row, cells.column)
