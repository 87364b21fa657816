"""TDEER: entities and relations of a sentence, then a translation from (subject, relation) to objects (Li et al., EMNLP
2021).

A sentence is encoded once, and all its (subject, relation) instances are scored together; the official code repeats
the sentence for each instance. Shortcuts: the projections of ``h + s + e`` are those of ``h``, shared by all instances,
plus those of ``s + e``; and as the object score is linear in the attention's output, ``w (A v + v) = A (w v) + w v``
needs one number for each position instead of a vector.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

import numpy as np
import torch
from torch import Tensor, nn

from tripleaudit.errors import UserError
from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import Shape, flat_spans, last_rows, sentences_of, span_mean, stack_triples
from tripleaudit.extractors.decoding import first_rows, nearest_tail
from tripleaudit.extractors.formulation import at_once
from tripleaudit.extractors.losses import binary_cells, raise_precision
from tripleaudit.fields import Count, NotNegative, Number, among

CELLS_AT_ONCE = 2**24  # numbers of [instances, L, H] held at a time in prediction: bounds memory, changes nothing else
ROWS_PER_SENTENCE = 1000
WEIGHTINGS = ("instances", "uniform")


class TDEERConfig(ExtractorConfig):
    """Settings of :class:`TDEER`.

    Attributes:
        neg_samples: the most negative instances for each positive one.
        max_sample_triples: the most positive instances of a sentence and visit, a random choice; 0 for all.
        weighting: ``instances`` weights a sentence's entity and relation terms by its number of instances, which is
            what repeating the sentence for each instance amounts to; ``uniform`` weights all sentences alike.
        translation_weight: of the object term.
        max_candidates: at most this many (subject, relation) pairs of a sentence are followed up when decoding, the
            first ones; far beyond what a trained model finds.
    """

    model_type = "tripleaudit-tdeer"
    neg_samples: Count = 2
    max_sample_triples: Count = 0
    weighting: Annotated[str, among(WEIGHTINGS)] = "instances"
    translation_weight: NotNegative = 5.0
    max_candidates: Number = 100


class TDEER(Extractor):
    """The translating decoding extractor."""

    name = "tdeer"
    config_class = TDEERConfig
    static = True
    sparse_outputs = {"heads": 1, "tails": 1, "object": 1}
    training_defaults = {
        "optimizer": "adam",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 5e-5,
        "head_learning_rate": 5e-5,
        "schedule": "steps",
        "learning_rate_points": [[0, 0.0], [1, 1.0], [2, 0.1]],
        "batch_size": 8,
        "epochs": 200,
    }

    def __init__(self, config: TDEERConfig, encoder=None):
        if config.weighting not in WEIGHTINGS:
            raise UserError(
                f"tdeer setting 'weighting' is {config.weighting!r}, expected one of {', '.join(WEIGHTINGS)}"
            )
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
    def instance_count(cls, config: TDEERConfig, rows: np.ndarray) -> int:
        drawn = draw_instances(rows, np.random.default_rng(0), config.neg_samples, config.max_sample_triples)
        return max(1, sum(instance[-1] for instance in drawn))

    @classmethod
    def collate_targets(
        cls,
        config: TDEERConfig,
        rows: Sequence[np.ndarray],
        rngs: Iterable[np.random.Generator],
        shape: Shape,
        chosen: Sequence[int] | None = None,
    ) -> dict[str, Tensor]:
        """Draw the instances, or of these the one that each entry stands for, and number the positive cells.

        Returns:
            ``instances`` [m, 3] int64 (sentence, relation, how often the instance counts: a subject and relation with
            two objects are two positive instances with the same labels) with the flat ``subjects`` [m, 2]; ``weights``
            [B], how much each sentence counts in the entity and relation terms (one without an instance counts once);
            ``head_cells`` and ``tail_cells`` of [B, L, 2], ``relation_cells`` of [B, R] and ``object_cells`` of [m, L],
            each with ``…_last``, the rows that count.
        """
        drawn = [
            (number, *instance)
            for number, (own, rng) in enumerate(zip(rows, rngs, strict=True))
            for instance in draw_instances(own, rng, config.neg_samples, config.max_sample_triples)
        ]
        if chosen is not None:
            single = [
                [(*instance[:-1], 1) for instance in drawn if instance[0] == number for _ in range(instance[-1])]
                for number in range(len(rows))
            ]
            drawn = [own[place % len(own)] for own, place in zip(single, chosen, strict=True) if own]
        instances = np.array(drawn, dtype=np.int64).reshape(-1, 5)
        triples = stack_triples(rows).numpy()
        sentence, length = triples[:, 0], shape.length
        number, triple = np.nonzero((instances[:, None, :4] == triples[None, :, :4]).all(axis=-1))
        first = sentence * length
        cells = {
            "head": np.concatenate([(first + triples[:, 1]) * 2, (first + triples[:, 4]) * 2 + 1]),
            "tail": np.concatenate([(first + triples[:, 2]) * 2, (first + triples[:, 5]) * 2 + 1]),
            "relation": sentence * len(config.relations) + triples[:, 3],
            "object": number * length + triples[triple, 4],
        }
        weights = np.ones(len(rows), dtype=np.int64)
        if config.weighting == "instances":
            counts = np.bincount(instances[:, 0], instances[:, 4], minlength=len(rows))
            weights = np.maximum(counts.astype(np.int64), 1)
        return {
            "instances": shape.padded(instances[:, [0, 3, 4]]),
            "subjects": shape.padded(flat_spans(instances[:, 0], instances[:, 1], instances[:, 2], length)),
            "weights": shape.sentences(weights),
            **{f"{name}_cells": shape.padded(own) for name, own in cells.items()},
            **{f"{name}_last": shape.padded(last_rows(own)) for name, own in cells.items()},
        }

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        content_mask: Tensor,
        triples: Tensor | None = None,
        **targets: Tensor,
    ) -> ExtractorOutput:
        """See :meth:`Extractor.forward` and :meth:`collate_targets`."""
        hidden = self.encode(input_ids, attention_mask)
        heads, tails, relation = self.heads(hidden), self.tails(hidden), self.relation(hidden[:, 0])
        scores = {"heads": heads, "tails": tails, "relation": relation}
        if triples is None:
            return ExtractorOutput(scores=scores)
        weights = targets["weights"]
        sentence, relation_id, count = targets["instances"].unbind(1)
        valid = attention_mask * weights[:, None]
        terms = {
            "heads": entity_term(heads, targets["head_cells"], targets["head_last"], valid),
            "tails": entity_term(tails, targets["tail_cells"], targets["tail_last"], valid),
            "relation": relation_term(relation, targets["relation_cells"], targets["relation_last"], weights),
        }
        objects = self.object_logits(hidden, attention_mask, sentence, targets["subjects"], relation_id)
        own = attention_mask[sentence] * count[:, None]
        object_ = object_term(objects, targets["object_cells"], targets["object_last"], own)
        terms["object"] = self.config.translation_weight * object_
        loss = sum(terms.values())
        return ExtractorOutput(loss=loss, terms={key: term.detach() for key, term in terms.items()}, scores=scores)

    def object_logits(
        self,
        hidden: Tensor,
        mask: Tensor,
        sentence: Tensor,
        subjects: Tensor,
        relation: Tensor,
        base: Tensor | None = None,
    ) -> Tensor:
        """Object-head logits of n instances.

        Args:
            hidden: [B, L, H].
            mask: [B, L]; padding is no key.
            sentence, relation: [n].
            subjects: [n, 2] flat spans.
            base: ``self.attention(hidden)`` where it is known.

        Returns:
            [n, L] float.
        """
        base = self.attention(hidden) if base is None else base
        subject = span_mean(hidden, subjects)  # [n, H]
        shift = self.attention(subject + self.relation_projection(self.relation_embedding(relation)).relu())
        projected = (sentences_of(base, sentence) + shift[:, None]).relu() + self.attention_bias  # [n, L, 3 H]
        queries, keys, values = projected.chunk(3, dim=-1)
        weights = raise_precision(queries @ keys.mT)  # not scaled: saturates in half precision
        weights = weights.masked_fill(mask[sentence][:, None] == 0, -torch.inf).softmax(dim=-1)
        values = raise_precision(values @ self.object.weight[0])  # [n, L]
        return (weights @ values[..., None]).squeeze(-1) + values + self.object.bias

    def predict_rows(self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.encode(input_ids, attention_mask)
        base = self.attention(hidden)

        def objects(instances: Tensor) -> Tensor:
            sentence, start, end, relation = instances.unbind(1)
            first = sentence * hidden.shape[1]
            subjects = torch.stack([first + start, first + end], dim=1)
            return self.object_logits(hidden, attention_mask, sentence, subjects, relation, base)

        return decode(
            (self.heads(hidden), self.tails(hidden)),
            self.relation(hidden[:, 0]),
            objects,
            content_mask.bool(),
            self.config.max_candidates,
            at_once(hidden.device, hidden[0].numel(), CELLS_AT_ONCE),
        )


def draw_instances(
    rows: np.ndarray, rng: np.random.Generator, neg_samples: int, max_positives: int = 0
) -> list[tuple[int, int, int, int]]:
    """Draw the (subject, relation) instances of one sentence.

    Every gold triple is a positive instance. For each, candidate negatives are, in this order: its object as the
    subject; its subject with every other gold relation; every other gold subject with its relation. A candidate is
    dropped if it is gold or was a candidate before; of the others ``neg_samples`` random ones are kept.

    Args:
        rows: [n, 5] (subject start, subject end, relation, object start, object end).
        rng: the sentence's generator.
        neg_samples: the most negatives of each positive.
        max_positives: the most positives, a random choice; 0 for all.

    Returns:
        distinct (subject start, subject end, relation, count), positives with the number of their triples.
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
        for place in rng.permutation(len(fresh))[:neg_samples]:
            counts[fresh[place]] = 1
    return [(*key, count) for key, count in counts.items()]


def entity_term(logits: Tensor, cells: Tensor, last: Tensor, mask: Tensor) -> Tensor:
    """Mean over valid tokens of the BCE summed over both types of entities.

    Args:
        logits: [B, L, 2], subject and object heads (or tails).
        cells, last: [n] flat numbers of the positive ones, and which of them count.
        mask: [B, L], weights of the tokens, 0 for padding.
    """
    return binary_cells(logits, cells, mask[..., None], last) / mask.sum()


def relation_term(logits: Tensor, cells: Tensor, last: Tensor, weights: Tensor) -> Tensor:
    """Mean BCE over sentences and relations; logits [B, R], positive cells of it [n], weights [B] of the sentences."""
    return binary_cells(logits, cells, weights[:, None], last) / (weights.sum() * logits.shape[1])


def object_term(logits: Tensor, cells: Tensor, last: Tensor, mask: Tensor) -> Tensor:
    """Mean over valid tokens of all instances of the object-head BCE; 0 without instances.

    Args:
        logits: [m, L].
        cells, last: [n] flat numbers of the positive ones, and which of them count.
        mask: [m, L], weights of the tokens, 0 for padding.
    """
    return binary_cells(logits, cells, mask, last) / mask.sum().clamp(min=1)


def decode(
    entity_logits: tuple[Tensor, Tensor],
    relation_logits: Tensor,
    object_logits: Callable[[Tensor], Tensor],
    content: Tensor,
    candidates: int = 100,
    instances_at_once: int = 1024,
) -> tuple[Tensor, Tensor]:
    """Thresholds 0.5; an entity head takes the nearest tail of its type; an object head must head an object.

    Args:
        entity_logits: heads and tails [B, L, 2], subject and object.
        relation_logits: [B, R].
        object_logits: instances [n, 4] (sentence, subject start, subject end, relation) -> [n, L].
        content: [B, L] bool.
        candidates: the most instances of a sentence.
        instances_at_once: for ``object_logits``.

    Returns:
        rows [n, 6] and scores [n], the product of the six probabilities used.
    """
    heads, tails = (torch.where(content[..., None], raise_precision(part), -torch.inf) for part in entity_logits)
    relation_logits = raise_precision(relation_logits)
    length = content.shape[1]
    ends = nearest_tail(tails > 0, dim=1)  # [B, L, 2]
    entity = (heads > 0) & (ends < length)
    # all pairs of a sentence's subjects and relations
    sentence, relation = torch.nonzero(relation_logits > 0, as_tuple=True)
    row, start = torch.nonzero(entity[sentence][..., 0], as_tuple=True)
    sentence, relation = sentence[row], relation[row]
    instances = torch.stack([sentence, start, ends[sentence, start, 0], relation], dim=1)
    instances = instances[first_rows(instances[:, 0], candidates)]
    rows = [torch.zeros(0, 6, dtype=torch.long, device=content.device)]
    scores = [torch.zeros(0, device=content.device)]
    for at in range(0, len(instances), instances_at_once):
        chunk = instances[at : at + instances_at_once]
        logits = raise_precision(object_logits(chunk))
        row, head = torch.nonzero((logits > 0) & entity[chunk[:, 0]][..., 1], as_tuple=True)
        sentence, start, end, relation = chunk[row].unbind(1)
        tail = ends[sentence, head, 1]
        rows.append(torch.stack([sentence, start, end, relation, head, tail], dim=1))
        evidence = (
            heads[sentence, start, 0],
            tails[sentence, end, 0],
            relation_logits[sentence, relation],
            logits[row, head],
            heads[sentence, head, 1],
            tails[sentence, tail, 1],
        )
        scores.append(torch.stack(evidence).sigmoid().prod(dim=0).float())
    triples = torch.cat(rows)
    kept = torch.nonzero(first_rows(triples[:, 0], ROWS_PER_SENTENCE))[:, 0]
    return triples[kept], torch.cat(scores)[kept]
