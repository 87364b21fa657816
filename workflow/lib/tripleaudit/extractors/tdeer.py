"""TDEER: entities, relations, then translation to objects (Li et al., EMNLP 2021).

A sentence is encoded once, and all its (subject, relation) instances are scored together; the
official code repeats the sentence for each instance. Shortcuts: the projections of ``h + s + e``
are those of ``h``, shared by all instances, plus those of ``s + e``; and as the object score is
linear in the attention's output, ``w (A v + v) = A (w v) + w v`` needs one number for each position
instead of a vector.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import GoldBatch, flat_spans, sentences_of, span_mean
from tripleaudit.extractors.decoding import CANDIDATES, Found, first_rows, nearest_tail
from tripleaudit.extractors.formulation import at_once
from tripleaudit.extractors.losses import mean_bce, raise_precision, read_gold, write_gold
from tripleaudit.extractors.specs.tdeer import TDEERSettings

CELLS_AT_ONCE = (
    2**24
)  # numbers of [instances, L, H] held at a time in prediction: bounds memory, changes nothing else


class TDEER(Extractor):
    """The extractor that translates (subject, relation) to objects, with negative samples."""

    name = "tdeer"
    settings = TDEERSettings
    static = True

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        width, relations = self.hidden_size, len(config.relations)
        self.relation = nn.Linear(width, relations)
        self.heads = nn.Linear(width, 2)  # subject, object
        self.tails = nn.Linear(width, 2)
        self.relation_embedding = nn.Embedding(relations, width)
        self.relation_projection = nn.Linear(width, width)
        self.attention = nn.Linear(width, 3 * width, bias=False)  # queries, keys, values
        self.attention_bias = nn.Parameter(torch.zeros(1))
        self.object = nn.Linear(width, 1)
        for layer in (self.relation, self.heads, self.tails, self.relation_projection, self.object):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        for part in self.attention.weight.chunk(3):
            nn.init.xavier_normal_(part)
        nn.init.uniform_(self.relation_embedding.weight, -0.05, 0.05)
        self.post_init()

    @classmethod
    def instance_count(cls, config: ExtractorConfig, rows: np.ndarray) -> int:
        drawn = draw_instances(
            rows, np.random.default_rng(0), config.neg_samples, config.max_sample_triples
        )
        return max(1, sum(instance[-1] for instance in drawn))

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Draw the instances (or the entries' own), and number the positive cells.

        Returns:
            ``instances`` [m, 3] int64 (sentence, relation, how often the instance counts: a subject
            and relation with two objects are two positive instances with the same labels) with the
            flat ``subjects`` [m, 2]; ``weights`` [B], how much each sentence counts in the entity
            and relation terms: by its instances, as if it was repeated for each of them, and once
            where it has none; gold cells (:func:`losses.write_gold`) ``heads`` and ``tails`` of [B,
            L, 2], ``relation`` of [B, R] and ``object`` of [m, L].
        """
        drawn = [
            (number, *instance)
            for number, (own, rng) in enumerate(zip(batch.rows, batch.rngs, strict=True))
            for instance in draw_instances(own, rng, config.neg_samples, config.max_sample_triples)
        ]
        if batch.chosen is not None:
            single = [
                [
                    (*instance[:-1], 1)
                    for instance in drawn
                    if instance[0] == number
                    for _ in range(instance[-1])
                ]
                for number in range(len(batch.rows))
            ]
            drawn = [
                own[position % len(own)]
                for own, position in zip(single, batch.chosen, strict=True)
                if own
            ]
        instances = np.array(drawn, dtype=np.int64).reshape(-1, 5)
        triples, shape = batch.triples.numpy(), batch.shape
        sentence, length = triples[:, 0], shape.length
        number, triple = np.nonzero((instances[:, None, :4] == triples[None, :, :4]).all(axis=-1))
        first = sentence * length
        cells = {
            "heads": np.concatenate([(first + triples[:, 1]) * 2, (first + triples[:, 4]) * 2 + 1]),
            "tails": np.concatenate([(first + triples[:, 2]) * 2, (first + triples[:, 5]) * 2 + 1]),
            "relation": sentence * len(config.relations) + triples[:, 3],
            "object": number * length + triples[triple, 4],
        }
        counts = np.bincount(instances[:, 0], instances[:, 4], minlength=len(batch.rows)).astype(
            np.int64
        )
        return {
            "instances": shape.padded(instances[:, [0, 3, 4]]),
            "subjects": shape.padded(
                flat_spans(instances[:, 0], instances[:, 1], instances[:, 2], length)
            ),
            "weights": shape.sentences(np.maximum(counts, 1)),
            **write_gold(shape, cells),
        }

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor, **targets: Tensor
    ) -> ExtractorOutput:
        hidden = self.encode(input_ids, attention_mask)
        heads, tails, relation = self.heads(hidden), self.tails(hidden), self.relation(hidden[:, 0])
        gold, weights = read_gold(targets), targets["weights"]
        sentence, relation_id, count = targets["instances"].unbind(1)
        objects = self.object_logits(
            hidden, attention_mask, sentence, targets["subjects"], relation_id
        )
        tokens, own_tokens = (
            attention_mask * weights[:, None],
            attention_mask[sentence] * count[:, None],
        )
        terms = {  # means over tokens, summed over subject and object; over relations; over the tokens of instances
            "heads": mean_bce(heads, gold["heads"], tokens),
            "tails": mean_bce(tails, gold["tails"], tokens),
            "relation": mean_bce(relation, gold["relation"], weights, relation.shape[1]),
            "object": self.config.translation_weight
            * mean_bce(objects, gold["object"], own_tokens),
        }
        return ExtractorOutput.of(terms)

    def object_logits(
        self,
        hidden: Tensor,
        mask: Tensor,
        sentence: Tensor,
        subjects: Tensor,
        relation: Tensor,
        base: Tensor | None = None,
    ) -> Tensor:
        """Return object-head logits [n, L] of n instances.

        Sentence and relation are [n], subjects flat spans [n, 2].

        ``mask`` [B, L]: padding is no key. ``base`` is ``self.attention(hidden)`` where it is
        known.
        """
        base = self.attention(hidden) if base is None else base
        subject = span_mean(hidden, subjects)  # [n, H]
        shift = self.attention(
            subject + self.relation_projection(self.relation_embedding(relation)).relu()
        )
        projected = (
            sentences_of(base, sentence) + shift[:, None]
        ).relu() + self.attention_bias  # [n, L, 3 H]
        queries, keys, values = projected.chunk(3, dim=-1)
        weights = raise_precision(queries @ keys.mT)  # not scaled: saturates in half precision
        weights = weights.masked_fill(mask[sentence][:, None] == 0, -torch.inf).softmax(dim=-1)
        values = raise_precision(values @ self.object.weight[0])  # [n, L]
        return (weights @ values[..., None]).squeeze(-1) + values + self.object.bias

    def predict_rows(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        hidden = self.encode(input_ids, attention_mask)
        base = self.attention(hidden)

        def objects(instances: Tensor) -> Tensor:
            sentence, start, end, relation = instances.unbind(1)
            subjects = flat_spans(sentence, start, end, hidden.shape[1])
            return self.object_logits(hidden, attention_mask, sentence, subjects, relation, base)

        return decode(
            (self.heads(hidden), self.tails(hidden)),
            self.relation(hidden[:, 0]),
            objects,
            content_mask.bool(),
            at_once(hidden.device, hidden[0].numel(), CELLS_AT_ONCE),
        )


def draw_instances(
    rows: np.ndarray, rng: np.random.Generator, neg_samples: int, max_positives: int = 0
) -> list[tuple[int, int, int, int]]:
    """Draw the (subject, relation) instances of one sentence.

    Every gold triple is a positive instance. For each, candidate negatives are, in this order: its
    object as the subject; its subject with every other gold relation; every other gold subject with
    its relation. A candidate is dropped if it is gold or was a candidate before; of the others
    ``neg_samples`` random ones are kept.

    Args:
        rows: [n, 5] (subject start, subject end, relation, object start, object end).
        max_positives: the most positives, a random choice; 0 for all.

    Returns:
        distinct (subject start, subject end, relation, count), positives with the number of their
        triples.
    """
    triples = [tuple(map(int, row)) for row in rows]
    gold = {row[:3] for row in triples}
    subjects = list(dict.fromkeys(row[:2] for row in triples))
    relations = list(dict.fromkeys(row[2] for row in triples))
    if max_positives and len(triples) > max_positives:
        chosen = np.sort(rng.choice(len(triples), max_positives, replace=False))
        triples = [triples[number] for number in chosen]
    counts: dict[tuple[int, int, int], int] = {}
    seen = set(gold)
    for *subject, relation, start, end in triples:
        own = (*subject, relation)
        counts[own] = counts.get(own, 0) + 1
        candidates = [
            (start, end, relation),
            *((*subject, other) for other in relations),
            *((*other, relation) for other in subjects),
        ]
        fresh = [candidate for candidate in dict.fromkeys(candidates) if candidate not in seen]
        seen.update(fresh)
        for position in rng.permutation(len(fresh))[:neg_samples]:
            counts[fresh[position]] = 1
    return [(*key, count) for key, count in counts.items()]


def decode(
    entity_logits: tuple[Tensor, Tensor],
    relation_logits: Tensor,
    object_logits: Callable[[Tensor], Tensor],
    content: Tensor,
    instances_at_once: int = 1024,
) -> tuple[Tensor, Tensor]:
    """Return triples; thresholds 0.5, nearest tails, and objects that head an object entity.

    Args:
        entity_logits: heads and tails [B, L, 2], subject and object.
        relation_logits: [B, R].
        object_logits: instances [n, 4] (sentence, subject start, subject end, relation) -> [n, L].
        content: [B, L] bool.

    Returns:
        rows [n, 6] and scores [n], the product of the six probabilities used.
    """
    heads, tails = (
        torch.where(content[..., None], raise_precision(part), -torch.inf) for part in entity_logits
    )
    relation_logits = raise_precision(relation_logits)
    length = content.shape[1]
    ends = nearest_tail(tails > 0, dim=1)  # [B, L, 2]
    entity = (heads > 0) & (ends < length)
    # all pairs of a sentence's subjects and relations
    sentence, relation = torch.nonzero(relation_logits > 0, as_tuple=True)
    row, start = torch.nonzero(entity[sentence][..., 0], as_tuple=True)
    sentence, relation = sentence[row], relation[row]
    instances = torch.stack([sentence, start, ends[sentence, start, 0], relation], dim=1)
    instances = instances[first_rows(instances[:, 0], CANDIDATES)]
    found = Found(content.device)
    for at in range(0, len(instances), instances_at_once):
        chunk = instances[at : at + instances_at_once]
        logits = raise_precision(object_logits(chunk))
        row, head = torch.nonzero((logits > 0) & entity[chunk[:, 0]][..., 1], as_tuple=True)
        sentence, start, end, relation = chunk[row].unbind(1)
        tail = ends[sentence, head, 1]
        evidence = (
            heads[sentence, start, 0],
            tails[sentence, end, 0],
            relation_logits[sentence, relation],
            logits[row, head],
            heads[sentence, head, 1],
            tails[sentence, tail, 1],
        )
        found.add(
            sentence, start, end, relation, head, tail, torch.stack(evidence).sigmoid().prod(dim=0)
        )
    return found.first()
