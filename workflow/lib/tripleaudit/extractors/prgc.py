"""PRGC: potential relations, their tags, global correspondence (Zheng et al., ACL 2021).

As in the authors' code, a layer with ReLU and dropout stands before each output, which the paper
leaves out. A sentence is encoded once for all its relations. Shortcuts, none of which changes the
mathematics: both matrices that read a concatenation are split, so the token part of the taggers
serves all relations and the pair layer is a sum of two vectors, computed for a few rows at a time
on a CPU; and decoding scores only the pairs that two tagged chunks ask for.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import GoldBatch, joined, sentences_of
from tripleaudit.extractors.decoding import CANDIDATES, Found, nearest_tail
from tripleaudit.extractors.dropping import Dropout, dropped
from tripleaudit.extractors.formulation import at_once
from tripleaudit.extractors.losses import mean_bce, raise_precision, read_gold, write_gold
from tripleaudit.extractors.specs.prgc import PRGCSettings

OUTSIDE, BEGIN, INSIDE = range(3)
CELLS_AT_ONCE = 2**20  # numbers of [b, rows, L, H] of a block, on a CPU
PAIRS_AT_ONCE = 2**14  # of heads, scored together on a CPU


class PRGC(Extractor):
    """Potential relations, tags for each, and the correspondence of heads."""

    name = "prgc"
    settings = PRGCSettings
    static = True

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        width, relations = self.hidden_size, len(config.relations)
        self.relation_hidden = nn.Linear(width, width // 2)
        self.relation = nn.Linear(width // 2, relations)
        self.pair_hidden = nn.Linear(2 * width, width)
        self.pair = nn.Linear(width, 1)
        self.relation_embedding = nn.Embedding(relations, width)
        self.subject_hidden = nn.Linear(2 * width, width)
        self.subject = nn.Linear(width, 3)
        self.object_hidden = nn.Linear(2 * width, width)
        self.object = nn.Linear(width, 3)
        self.dropout = Dropout(config.dropout)
        for layer in self.children():
            if isinstance(layer, nn.Linear | nn.Embedding):
                nn.init.normal_(layer.weight, std=0.02)
            if isinstance(layer, nn.Linear):
                nn.init.zeros_(layer.bias)
        self.post_init()

    @classmethod
    def instance_count(cls, config: ExtractorConfig, rows: np.ndarray) -> int:
        return max(1, len(set(rows[:, 2].tolist())))

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """List the instances (or the entries' own), tag them, and number the positive cells.

        Returns:
            ``instances`` [m, 2] int64 (sentence, relation): every gold relation of a sentence; a
            random one for a sentence with zero triples, which then trains tags that are all
            outside; ``real`` [m], 1 for instances that are no padding; ``subject_tags`` and
            ``object_tags`` [m, L] (see :func:`tag_labels`); ``weights`` [B], how much a sentence
            counts in the relation and pair terms: by its instances, as if it was repeated for each
            of them; gold cells (:func:`losses.write_gold`) ``relation`` of [B, R] and ``pair`` of
            [B, L, L].
        """
        instances = []
        for number, (own, rng) in enumerate(zip(batch.rows, batch.rngs, strict=True)):
            relations = list(dict.fromkeys(own[:, 2].tolist())) or [
                int(rng.integers(len(config.relations)))
            ]
            relations = (
                relations
                if batch.chosen is None
                else [relations[batch.chosen[number] % len(relations)]]
            )
            instances += [(number, relation) for relation in relations]
        triples, shape, length = batch.triples.numpy(), batch.shape, batch.shape.length
        weights = np.bincount([number for number, _ in instances], minlength=len(batch.rows))
        cells = {
            "relation": triples[:, 0] * len(config.relations) + triples[:, 3],
            "pair": (triples[:, 0] * length + triples[:, 1]) * length + triples[:, 4],
        }
        return {
            "instances": shape.padded(np.array(instances, dtype=np.int64).reshape(-1, 2)),
            "real": shape.padded(np.ones(len(instances), dtype=np.int64)),
            "subject_tags": shape.padded(tag_labels(triples, (1, 2), instances, length)),
            "object_tags": shape.padded(tag_labels(triples, (4, 5), instances, length)),
            "weights": shape.sentences(weights),
            **write_gold(shape, cells),
        }

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor, **targets: Tensor
    ) -> ExtractorOutput:
        """Compute the loss; specials take no part in any term.

        See :meth:`Extractor.forward` and :meth:`collate_targets`.
        """
        hidden = self.encode(input_ids, attention_mask)
        relation = self.relation_logits(hidden, content_mask)
        gold, weights, instances = read_gold(targets), targets["weights"], targets["instances"]
        pairs = self.pair_logits(*self.pair_parts(hidden))
        subject, object_ = self.tag_logits(self.tag_parts(hidden), instances)
        both = (
            content_mask[:, :, None] * content_mask[:, None] * weights[:, None, None]
        )  # [B, L, L]
        valid = content_mask[instances[:, 0]] * targets["real"][:, None]
        terms = {  # means over relations, over pairs of tokens, over the tokens of instances
            "relation": mean_bce(relation, gold["relation"], weights, relation.shape[1]),
            "pair": mean_bce(pairs, gold["pair"], both),
            "subject": tag_term(subject, targets["subject_tags"], valid) / 2,
            "object": tag_term(object_, targets["object_tags"], valid) / 2,
        }
        return ExtractorOutput.of(terms)

    def relation_logits(self, hidden: Tensor, content_mask: Tensor) -> Tensor:
        """Relation logits [B, R] of the mean over content tokens of hidden [B, L, H]."""
        mask = content_mask[..., None].to(hidden.dtype)
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        return self.relation(self.dropout(self.relation_hidden(mean).relu()))

    def pair_parts(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Return the two halves [B, L, H] of the pair layer, whose sum is the layer's output."""
        rows, columns = self.pair_hidden.weight.chunk(2, dim=1)
        return F.linear(hidden, rows, self.pair_hidden.bias), F.linear(hidden, columns)

    def pair_logits(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Logits [B, L, L] that a subject's head (row) and an object's head (column) correspond.

        The parts [B, L, H] are those of :meth:`pair_parts`. On a CPU a block of pairs fits the
        cache; on a GPU it is as many sentences as fit.
        """
        length, width = rows.shape[1:]
        weight = self.pair.weight[0].to(rows.dtype)
        block_rows = at_once(rows.device, length * width, CELLS_AT_ONCE)
        sentences = max(1, block_rows // max(1, length))
        logits = []
        for left, right in zip(rows.split(sentences), columns.split(sentences), strict=True):
            parts = []
            for part in left.split(block_rows, dim=1):
                pairs = part[:, :, None] + right[:, None]  # [b, rows, L, H]
                pairs = dropped(pairs, self.config.dropout, self.training).relu_()
                parts.append(pairs @ weight)
            logits.append(joined(parts, dim=1))
        return raise_precision(joined(logits)) + self.pair.bias

    def tag_parts(self, hidden: Tensor) -> list[Tensor]:
        """The token halves of both tagging layers, [B, L, H] each."""
        return [
            F.linear(hidden, layer.weight[:, : self.hidden_size])
            for layer in (self.subject_hidden, self.object_hidden)
        ]

    def tag_logits(self, parts: Sequence[Tensor], instances: Tensor) -> tuple[Tensor, Tensor]:
        """Subject and object tag logits [m, L, 3] of instances [m, 2] (sentence, relation)."""
        sentence, relation = instances.unbind(1)
        embedded = self.relation_embedding(relation)
        result = []
        for part, layer, tags in zip(
            parts,
            (self.subject_hidden, self.object_hidden),
            (self.subject, self.object),
            strict=True,
        ):
            shift = F.linear(embedded, layer.weight[:, self.hidden_size :], layer.bias)
            result.append(
                tags(self.dropout((sentences_of(part, sentence) + shift[:, None]).relu()))
            )
        return result[0], result[1]

    def predict_rows(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        hidden = self.encode(input_ids, attention_mask)
        rows, columns = self.pair_parts(hidden)
        parts = self.tag_parts(hidden)

        def pairs(cells: Tensor) -> Tensor:
            sentence, i, j = cells.unbind(1)
            return self.pair((rows[sentence, i] + columns[sentence, j]).relu())[:, 0]

        return decode(
            self.relation_logits(hidden, content_mask),
            lambda instances: self.tag_logits(parts, instances),
            pairs,
            content_mask.bool(),
            self.config,
            self.hidden_size,
        )


def tag_labels(
    triples: np.ndarray,
    positions: tuple[int, int],
    instances: Sequence[tuple[int, int]],
    length: int,
) -> np.ndarray:
    """Return tags [m, L] of one role: 1 begins an entity, 2 continues it.

    Of overlapping entities the later triple's is written.

    Of triples [n, 6], those whose (sentence, relation) is no instance are left out; ``positions``
    are the columns of the role's start and end.
    """
    labels = np.full((len(instances), length), OUTSIDE, dtype=np.int64)
    number = {instance: row for row, instance in enumerate(instances)}
    for triple in triples.tolist():
        row, start, end = (
            number.get((triple[0], triple[3])),
            triple[positions[0]],
            triple[positions[1]],
        )
        if row is not None:
            labels[row, start : end + 1] = INSIDE
            labels[row, start] = BEGIN
    return labels


def tag_term(logits: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """Return mean cross-entropy over valid tokens; logits [m, L, 3], labels and mask [m, L]."""
    losses = F.cross_entropy(
        raise_precision(logits).flatten(0, 1), labels.flatten(), reduction="none"
    )
    return (losses * mask.flatten()).sum() / mask.sum().clamp(min=1)


def decode(
    relation_logits: Tensor,
    tag_logits: Callable[[Tensor], tuple[Tensor, Tensor]],
    pair_logits: Callable[[Tensor], Tensor],
    content: Tensor,
    config: ExtractorConfig,
    width: int = 1,
) -> tuple[Tensor, Tensor]:
    """Relations, then chunks of the likeliest tags, then pairs of chunks whose heads correspond.

    A chunk opens with a begin tag, or an inside tag where none is open, and closes before the next
    begin or outside. Below, n counts instances and p pairs of chunks.

    Args:
        relation_logits: [B, R].
        tag_logits: instances [n, 2] (sentence, relation) -> subject and object logits [n, L, 3].
        pair_logits: cells [n, 3] (sentence, subject head, object head) -> [n].
        content: [B, L] bool.
        config: thresholds and fallback.
        width: numbers that ``pair_logits`` holds for each cell.

    Returns:
        rows [n, 6] and scores [n]: probabilities of relation and pair, times the geometric mean of
        those of all tags.
    """
    relation_scores = raise_precision(relation_logits).sigmoid()  # [B, R]
    wanted = relation_scores > config.relation_threshold  # [B, R]
    if config.fallback:
        best = F.one_hot(relation_scores.argmax(dim=1), relation_scores.shape[1]).bool()
        wanted |= best & ~wanted.any(dim=1, keepdim=True)
    instances = torch.nonzero(wanted & (wanted.cumsum(dim=1) <= CANDIDATES))  # [n, 2]
    found, length = Found(content.device), content.shape[1]
    for part in instances.split(at_once(content.device, length**2, CELLS_AT_ONCE)):
        sentence, relation = part.unbind(1)
        starts, stops, sums = _chunks(
            torch.stack(tag_logits(part)), content[sentence]
        )  # subjects, objects
        row, i, j = torch.nonzero(starts[0][:, :, None] & starts[1][:, None], as_tuple=True)  # [p]
        # pairs that several relations have in common are scored once
        pair = (sentence[row] * length + i) * length + j
        pair, number = torch.unique(pair, return_inverse=True)
        cells = torch.stack([pair // length**2, pair // length % length, pair % length], dim=1)
        parts = [
            pair_logits(some)
            for some in cells.split(at_once(content.device, width, PAIRS_AT_ONCE * width))
        ]
        pair_scores = raise_precision(torch.cat(parts)).sigmoid()[number]  # [p]
        kept = torch.nonzero(pair_scores > config.pair_threshold)[:, 0]
        row, i, j, pair_scores = row[kept], i[kept], j[kept], pair_scores[kept]
        subject_end, object_end = stops[0][row, i], stops[1][row, j]  # [p]
        tags = sums[0][row, subject_end + 1] - sums[0][row, i]
        tags = tags + sums[1][row, object_end + 1] - sums[1][row, j]
        mean = (tags / (subject_end - i + object_end - j + 2)).exp()  # [p]
        score = relation_scores[sentence[row], relation[row]] * pair_scores * mean
        found.add(sentence[row], i, subject_end, relation[row], j, object_end, score)
    return found.first()


def _chunks(logits: Tensor, content: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Chunks of subjects and objects, from logits [2, n, L, 3] and the tokens of the text [n, L].

    Returns:
        where chunks start [2, n, L], where each ends [2, n, L], and sums [2, n, L + 1] of
        log-probabilities before l.
    """
    best = raise_precision(logits).log_softmax(dim=-1).max(dim=-1)
    tags = torch.where(content, best.indices, OUTSIDE)
    before, after = (
        F.pad(tags[..., :-1], (1, 0)),
        F.pad(tags[..., 1:], (0, 1)),
    )  # outside at both ends
    starts = (tags == BEGIN) | ((tags == INSIDE) & (before == OUTSIDE))
    stops = nearest_tail((tags != OUTSIDE) & (after != INSIDE))
    return starts, stops, F.pad(best.values.cumsum(dim=-1), (1, 0))
