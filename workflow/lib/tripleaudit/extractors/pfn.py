"""PFN: recurrent partition filter, tables of spans and starts (Yan et al., EMNLP 2021).

Shortcuts, none of which changes the mathematics: the input half of all gates is one matrix product;
the layer over ``[h_i; h_j; g]`` is a sum of three parts; and prediction scores relations only
between starts of predicted entities.
"""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.extractors.alignment import Alignment
from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import slices
from tripleaudit.extractors.decoding import Found, first_rows, pairs_within
from tripleaudit.extractors.dropping import Dropout
from tripleaudit.extractors.formulation import at_once
from tripleaudit.extractors.losses import flat_cells, raise_precision, summed_bce
from tripleaudit.extractors.partition_filter import partition_filter
from tripleaudit.extractors.specs.pfn import PFNSettings

MOST_STARTS = 60  # of entities in a sentence that are followed up: an untrained model marks all
PAIRS_AT_ONCE = (
    2**14
)  # pairs of starts scored at a time when decoding: bounds memory, changes nothing else


class PFN(Extractor):
    """The partition filter with its tables of spans and starts."""

    name = "pfn"
    settings = PFNSettings
    static = True
    words = True

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        width = config.width
        self.input = nn.Linear(self.hidden_size, 5 * width)
        self.recurrent = nn.Linear(width, 5 * width)
        self.cell = nn.Linear(3 * width, width)
        self.entity_global, self.relation_global = (
            nn.Linear(2 * width, width),
            nn.Linear(2 * width, width),
        )
        self.entity_pair, self.relation_pair = (
            nn.Linear(3 * width, width),
            nn.Linear(3 * width, width),
        )
        self.entity_norm, self.relation_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.entity_out, self.relation_out = (
            nn.Linear(width, 1),
            nn.Linear(width, len(config.relations)),
        )
        self.dropout = Dropout(config.dropout)
        self.post_init()

    @classmethod
    def representable(
        cls, config: ExtractorConfig, alignment: Alignment, rows: np.ndarray
    ) -> np.ndarray:
        return alignment.last_of_word(rows[:, [1, 4]]).all(axis=1)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        word_ids: Tensor,
        word_first: Tensor,
        triples: Tensor,
        valid: Tensor | None = None,
        **_: Tensor,
    ) -> ExtractorOutput:
        """See :meth:`Extractor.forward`; both tables have valid cells at specials, too."""
        entity, relation = self.features(input_ids, attention_mask)
        entity_logits = self.entity_out(self._joined(entity, self.entity_norm))[..., 0]  # [B, L, L]
        relation_logits = self.relation_out(
            self._joined(relation, self.relation_norm)
        )  # [B, L, L, R]
        sentence, label = triples[:, 0], triples[:, 3]
        starts, ends = table_spans(triples, word_ids, word_first, self.config)
        entities = [
            flat_cells(entity_logits.shape, sentence, starts[:, role], ends[:, role])
            for role in (0, 1)
        ]
        relations = flat_cells(relation_logits.shape, sentence, starts[:, 0], starts[:, 1], label)
        pairs = attention_mask[:, :, None] * attention_mask[:, None]
        longest = attention_mask.sum(dim=1).max()
        twice = None if valid is None else valid.repeat(2)
        terms = {
            "entity": summed_bce(entity_logits, torch.cat(entities), pairs.triu(), twice) / longest,
            "relation": summed_bce(relation_logits, relations, pairs[..., None], valid) / longest,
        }
        return ExtractorOutput.of(terms)

    def features(
        self, input_ids: Tensor, attention_mask: Tensor
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Return row and column parts [B, L, d] and sentence part [B, d] of both tables."""
        hidden = self.dropout(self.encode(input_ids, attention_mask))
        entity, relation, share = self.partition(hidden)
        return (
            self._parts(entity, share, attention_mask, self.entity_global, self.entity_pair),
            self._parts(relation, share, attention_mask, self.relation_global, self.relation_pair),
        )

    def partition(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Run the partition filter over hidden [B, L, H].

        Returns entity, relation and shared features [B, L, d].
        """
        weight = self.recurrent.weight
        if self.training and self.config.drop_connect:
            weight = weight * torch.empty_like(weight).bernoulli_(1 - self.config.drop_connect)
        else:
            weight = weight * (1 - self.config.drop_connect)
        gates = (self.input(hidden) + self.recurrent.bias).transpose(0, 1)  # [L, B, 5 d]
        filtered = partition_filter(gates, weight, self.cell.weight, self.cell.bias)
        return filtered.tanh().transpose(0, 1).unbind(dim=2)

    def _parts(
        self, own: Tensor, share: Tensor, mask: Tensor, pool: nn.Linear, pair: nn.Linear
    ) -> tuple[Tensor, ...]:
        pooled = pool(torch.cat([share, own], dim=-1)).tanh()
        pooled = pooled.masked_fill(mask[..., None] == 0, -1.0)  # tanh is never below
        rows, columns, whole = pair.weight.chunk(3, dim=1)
        return (
            F.linear(own, rows),
            F.linear(own, columns),
            F.linear(pooled.amax(dim=1), whole, pair.bias),
        )

    def _joined(self, parts: tuple[Tensor, ...], norm: nn.LayerNorm) -> Tensor:
        """Features [B, L, L, d] of all cells of a table."""
        rows, columns, whole = parts
        return F.elu(self.dropout(norm((rows + whole[:, None])[:, :, None] + columns[:, None])))

    def predict_rows(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        content_mask: Tensor,
        word_ids: Tensor,
        word_first: Tensor,
        word_last: Tensor,
    ) -> tuple[Tensor, Tensor]:
        entity, (rows, columns, whole) = self.features(input_ids, attention_mask)
        batch, length = input_ids.shape
        device, width = input_ids.device, self.config.width
        sentences = at_once(device, length**2 * width, batch * length**2 * width)
        entity_logits = []
        for block in slices(batch, sentences):
            parts = tuple(part[block] for part in entity)
            entity_logits.append(self.entity_out(self._joined(parts, self.entity_norm))[..., 0])

        def relations(cells: Tensor) -> Tensor:
            sentence, i, j = cells.unbind(1)
            joined = self.relation_norm(rows[sentence, i] + columns[sentence, j] + whole[sentence])
            return self.relation_out(F.elu(joined))

        last = last_of_word(word_ids, word_first, word_last)
        widest = max(width, len(self.config.relations))
        pairs = at_once(device, widest, PAIRS_AT_ONCE * widest)
        return decode(torch.cat(entity_logits), relations, content_mask.bool(), last, pairs)


def table_spans(
    triples: Tensor, word_ids: Tensor, word_first: Tensor, config: ExtractorConfig
) -> tuple[Tensor, Tensor]:
    """Start and end cells of subjects and objects, two [n, 2] tensors, from triples [n, 6].

    A span ends in its table at the first piece of its last whitespace word, as the official code
    has it.
    """
    sentence = triples[:, :1]
    starts, ends = triples[:, 1::3], triples[:, 2::3]  # a list would be copied to the device
    first = word_first[sentence, word_ids[sentence, ends]]  # first piece of the last word
    if config.entities == "last_word":
        starts = torch.maximum(starts, first)
    return starts, torch.maximum(starts, first)


def last_of_word(word_ids: Tensor, word_first: Tensor, word_last: Tensor) -> Tensor:
    """Return the last piece of the word at which a span ends, for each token [B, L]."""
    sentence = torch.arange(len(word_ids), device=word_ids.device)[:, None]
    position = torch.arange(word_ids.shape[1], device=word_ids.device).expand_as(word_ids)
    word = word_ids.clamp(min=0)
    begins = (word_ids >= 0) & (word_first[sentence, word] == position)
    return torch.where(begins, word_last[sentence, word], position)


def decode(
    entity_logits: Tensor,
    relation_logits: Callable[[Tensor], Tensor],
    content: Tensor,
    last: Tensor,
    pairs_at_once: int = PAIRS_AT_ONCE,
) -> tuple[Tensor, Tensor]:
    """Return relations between starts of entities with their likeliest ends; thresholds 0.5.

    Thresholds are inclusive.

    Args:
        entity_logits: [B, L, L], row: start, column: end.
        relation_logits: cells [n, 3] (sentence, subject start, object start) -> [n, R].
        content: [B, L] bool.
        last: [B, L], the token where a span that ends at a cell really ends.
        pairs_at_once: pairs of starts that are scored together; changes nothing but memory.

    Returns:
        rows [n, 6] and scores [n], the product of relation and both entity probabilities.
    """
    length = content.shape[1]
    valid = (
        content[:, :, None]
        & content[:, None]
        & torch.ones(length, length, device=content.device).bool().triu()
    )
    best = raise_precision(entity_logits).sigmoid().masked_fill(~valid, 0.0).max(dim=2)
    starts = torch.nonzero(best.values >= 0.5)
    starts = starts[first_rows(starts[:, 0], MOST_STARTS)]
    a, b = pairs_within(starts[:, 0], starts[:, 0])
    cells = torch.cat([starts[a], starts[b, 1:]], dim=1)
    found = Found(content.device)
    for part in cells.split(pairs_at_once):
        if not len(part):
            continue
        probability = raise_precision(relation_logits(part)).sigmoid()
        row, relation = torch.nonzero(probability >= 0.5, as_tuple=True)
        sentence, i, j = part[row].unbind(1)
        ends = [last[sentence, best.indices[sentence, start]] for start in (i, j)]
        score = probability[row, relation] * best.values[sentence, i] * best.values[sentence, j]
        found.add(sentence, i, ends[0], relation, j, ends[1], score)
    return found.first()
