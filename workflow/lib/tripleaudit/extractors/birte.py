"""BiRTE: subject-object pairs in both directions, then relations (Ren et al., WSDM 2022).

Shortcuts, none of which changes the mathematics:

- a tagger on ``b_t * v + p`` is ``(W * v) b_t + W p``: the subject is folded into the tagger's
  weights, so that all subjects of a sentence are one matrix product;
- the biaffine ``e_s U e_o`` computes ``e_s U`` once for each subject;
- training multiplies all drawn subjects with U at once, and only the drawn pairs with the result.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import GoldBatch, flat_spans, span_mean
from tripleaudit.extractors.casrel import draw_subjects, tag_cells
from tripleaudit.extractors.decoding import CANDIDATES, Found, first_rows, ranks, spans_from_tags
from tripleaudit.extractors.dropping import Dropout
from tripleaudit.extractors.formulation import at_once
from tripleaudit.extractors.losses import mean_bce, raise_precision, read_gold, write_gold
from tripleaudit.extractors.specs.birte import BiRTESettings

CELLS_AT_ONCE = (
    2**25
)  # numbers of [pairs, R, H] held at a time in prediction: bounds memory, changes nothing else
SWAPPED = [0, 4, 5, 3, 1, 2]  # columns of a triple with subject and object exchanged

Spans = tuple[Tensor, Tensor, Tensor]  # sentence, start, end
Direction = tuple[
    Tensor, Callable[[Spans], Tensor]
]  # [B, L, 2] of one side; its n spans -> [n, L, 2] of the other
Span = tuple[np.ndarray, np.ndarray]  # start, end of one span in each sentence


class BiRTE(Extractor):
    """The bidirectional extractor of pairs and their relations; batches draw conditions."""

    name = "birte"
    settings = BiRTESettings
    static = True
    pooler = True

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        width = self.hidden_size
        # a pooler of its own where the encoder brings none
        self.own_pooler = (
            nn.Linear(width, width) if getattr(self.encoder, "pooler", None) is None else None
        )
        self.tokens = nn.Linear(width, 3 * width)  # a (subjects), b (objects), e (relations)
        self.subject = nn.Linear(width, 2)  # start, end
        self.object = nn.Linear(width, 2)
        self.object_given_subject = nn.Linear(width, 2)
        self.subject_given_object = nn.Linear(width, 2)
        self.biaffine = nn.Parameter(torch.empty(width + 1, len(config.relations), width + 1))
        self.dropout = Dropout(config.dropout)
        for layer in self.children():
            if isinstance(layer, nn.Linear):
                nn.init.normal_(layer.weight, std=0.02)
                nn.init.zeros_(layer.bias)
        nn.init.normal_(self.biaffine, std=0.02)
        self.post_init()

    def represent(
        self, input_ids: Tensor, attention_mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return a, b, e [B, L, H] and p [B, H], after dropout."""
        encoded = self.encoded(input_ids, attention_mask)
        hidden = encoded.last_hidden_state
        pooled = (
            encoded.pooler_output
            if self.own_pooler is None
            else self.own_pooler(hidden[:, 0]).tanh()
        )
        a, b, e = self.tokens(hidden).chunk(3, dim=-1)
        a = a + b[:, :1]
        b = b + a[:, :1]  # [CLS] of the other side, a already the new one: as in the authors' code
        return self.dropout(a), self.dropout(b), self.dropout(e), self.dropout(pooled)

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Draw a subject, an object and a pair as conditions, and number the gold cells.

        The subject selects objects, the object subjects, the pair relations.

        Returns:
            ``given_subject``, ``given_object``, ``pair_subject``, ``pair_object`` [B, 2] flat
            spans; ``present`` [B] bool, whether the sentence has triples; and gold cells
            (:func:`losses.write_gold`) of the terms of the loss: ``subject``, ``object``,
            ``object_given_subject``, ``subject_given_object`` of [B, L, 2], ``relation`` of [B, R].
        """
        draws = np.array([rng.random(4, dtype=np.float32) for rng in batch.rngs])
        triples, shape, everyone = batch.triples.numpy(), batch.shape, np.arange(len(batch.rows))
        swapped = triples[:, SWAPPED]
        spans, cells = {}, {}
        for name, given, other, own, draw in (
            ("subject", "given_subject", "object_given_subject", triples, draws[:, 0]),
            ("object", "given_object", "subject_given_object", swapped, draws[:, 1]),
        ):
            start, end, present, drawn = draw_subjects(own, draw, len(everyone))
            spans[given] = start, end
            cells[name] = tag_cells(shape.length, own[:, 0], own[:, 1], own[:, 2])
            cells[other] = tag_cells(shape.length, own[drawn, 0], own[drawn, 4], own[drawn, 5])
        spans["pair_subject"], spans["pair_object"], drawn = draw_pairs(
            triples, draws[:, 2], draws[:, 3], len(everyone)
        )
        cells["relation"] = triples[drawn, 0] * len(config.relations) + triples[drawn, 3]
        return {
            "present": shape.sentences(present),
            **{
                name: shape.sentences(flat_spans(everyone, *span, shape.length))
                for name, span in spans.items()
            },
            **write_gold(shape, cells),
        }

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor, **targets: Tensor
    ) -> ExtractorOutput:
        a, b, e, pooled = self.represent(input_ids, attention_mask)
        subjects, objects = tagged(self.subject, a, pooled), tagged(self.object, b, pooled)
        present = targets["present"]
        folded = (
            self.object_given_subject.weight * span_mean(a, targets["given_subject"])[:, None]
        )  # [B, 2, H]
        objects_given = (folded @ b.mT).mT + self.object_given_subject(pooled)[:, None]  # [B, L, 2]
        folded = self.subject_given_object.weight * span_mean(b, targets["given_object"])[:, None]
        subjects_given = (folded @ a.mT).mT + self.subject_given_object(pooled)[:, None]
        gold, valid = read_gold(targets), attention_mask * present[:, None]
        pairs = span_mean(e, targets["pair_subject"]), span_mean(e, targets["pair_object"])
        relations = self.relation_logits(*pairs)
        terms = {  # means over start and end, over tokens, over relations
            "subject": mean_bce(subjects, gold["subject"], attention_mask, 2),
            "object": mean_bce(objects, gold["object"], attention_mask, 2),
            "object_given_subject": mean_bce(objects_given, gold["object_given_subject"], valid, 2),
            "subject_given_object": mean_bce(
                subjects_given, gold["subject_given_object"], valid, 2
            ),
            "relation": mean_bce(relations, gold["relation"], present, relations.shape[1]),
        }
        return ExtractorOutput.of(terms)

    def relation_logits(
        self, subjects: Tensor, objects: Tensor, pairs: Tensor | None = None
    ) -> Tensor:
        """Biaffine relation logits [m, R] of means of spans [n, H] and [m, H].

        ``pairs`` [m] says which subject belongs to each object; None pairs them one to one (m = n).
        """
        left = augmented(subjects) @ self.biaffine.flatten(1)  # [n, R * (H + 1)]
        left = left.unflatten(1, self.biaffine.shape[1:])
        if pairs is not None:
            left = left[pairs]
        return (left @ augmented(objects)[..., None]).squeeze(-1)

    def predict_rows(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        a, b, e, pooled = self.represent(input_ids, attention_mask)

        def objects(spans: Spans) -> Tensor:
            return given_logits(self.object_given_subject, a, b, pooled, spans)

        def subjects(spans: Spans) -> Tensor:
            return given_logits(self.subject_given_object, b, a, pooled, spans)

        def relations(pairs: Tensor) -> Tensor:
            sentence, start, end, *object_ = pairs.unbind(1)
            objects = span_mean(e, flat_spans(sentence, *object_, e.shape[1]))
            subjects = flat_spans(sentence, start, end, e.shape[1])
            subjects, number = torch.unique_consecutive(subjects, dim=0, return_inverse=True)
            return self.relation_logits(span_mean(e, subjects), objects, number)

        return decode(
            (tagged(self.subject, a, pooled), objects),
            (tagged(self.object, b, pooled), subjects),
            relations,
            content_mask.bool(),
            at_once(e.device, self.biaffine[0].numel(), CELLS_AT_ONCE),
        )


def tagged(tagger: nn.Linear, tokens: Tensor, pooled: Tensor) -> Tensor:
    """Start and end logits [B, L, 2] of ``tokens + pooled``; tokens [B, L, H], pooled [B, H]."""
    return tokens @ tagger.weight.T + tagger(pooled)[:, None]


def augmented(means: Tensor) -> Tensor:
    """``means`` [n, H] with a 1 behind, [n, H + 1]."""
    return nn.functional.pad(means, (0, 1), value=1.0)


def given_logits(
    tagger: nn.Linear, given: Tensor, tokens: Tensor, pooled: Tensor, spans: Spans
) -> Tensor:
    """Return logits [n, L, 2] of all ``tokens`` for n spans, sentences in rising order.

    The tagger reads ``tokens * mean(span) + pooled``.

    The spans are read in ``given`` [B, L, H]; tokens [B, L, H], pooled [B, H].
    """
    sentence = spans[0]
    if not len(sentence):
        return tokens.new_zeros(0, tokens.shape[1], 2)
    folded = (
        tagger.weight * span_mean(given, flat_spans(*spans, given.shape[1]))[:, None]
    )  # [n, 2, H]
    position = ranks(sentence)
    most = int(position.max()) + 1
    table = folded.new_zeros(len(tokens), most, *folded.shape[1:])
    table = table.index_put((sentence, position), folded)
    logits = (
        (table.flatten(1, 2) @ tokens.mT).unflatten(1, (most, 2))[sentence, position].mT
    )  # [n, L, 2]
    return logits + tagger(pooled)[sentence][:, None]


def draw_pairs(
    triples: np.ndarray, draw_subject: np.ndarray, draw_object: np.ndarray, batch: int
) -> tuple[Span, Span, np.ndarray]:
    """Draw one gold subject per sentence and one of its objects, uniformly over distinct spans.

    As :func:`casrel.draw_subjects`; returns (start, end) [B] of subjects and of objects, and their
    triples [n] bool.
    """
    start, end, _, drawn = draw_subjects(triples, draw_subject, batch)
    object_start, object_end, _, own = draw_subjects(triples[drawn][:, SWAPPED], draw_object, batch)
    drawn[drawn] = own
    return (start, end), (object_start, object_end), drawn


def decode(
    forth: Direction,
    back: Direction,
    relation_logits: Callable[[Tensor], Tensor],
    content: Tensor,
    pairs_at_once: int = 1024,
) -> tuple[Tensor, Tensor]:
    """Join the pairs of both directions and their relations.

    Thresholds are 0.5, starts take the nearest end.

    Args:
        forth: of subjects, and of objects given n subject spans.
        back: of objects, and of subjects given n object spans.
        relation_logits: pairs [n, 5] (sentence, subject start, end, object start, end), sorted ->
            [n, R].
        content: [B, L] bool.

    Returns:
        rows [n, 6] and scores [n]: the better direction's product of four probabilities, times the
        relation's.
    """
    by_subject, forth_scores = _pairs(*forth, content)
    by_object, back_scores = _pairs(*back, content)
    both = torch.cat(
        [by_subject, torch.cat([by_object[:, :1], by_object[:, 3:], by_object[:, 1:3]], dim=1)]
    )
    pairs, number = torch.unique(both, dim=0, return_inverse=True)
    support = torch.zeros(len(pairs), device=pairs.device)
    support.scatter_reduce_(0, number, torch.cat([forth_scores, back_scores]), "amax")
    kept = torch.nonzero(first_rows(pairs[:, 0], CANDIDATES))[:, 0]
    pairs, support = pairs[kept], support[kept]
    found = Found(content.device)
    for at in range(0, len(pairs), pairs_at_once):
        chunk = pairs[at : at + pairs_at_once]
        logits = relation_logits(chunk)
        pair, relation = torch.nonzero(logits > 0, as_tuple=True)
        sentence, start, end, *object_ = chunk[pair].unbind(1)
        score = support[at + pair] * raise_precision(logits[pair, relation]).sigmoid()
        found.add(sentence, start, end, relation, *object_, score)
    return found.first()


def _pairs(
    first: Tensor, second_given: Callable[[Spans], Tensor], content: Tensor
) -> tuple[Tensor, Tensor]:
    """Return pairs of one direction and products of probabilities.

    Pairs are [n, 5]: sentence, first start, end, second start, end.
    """
    first = torch.where(content[..., None], raise_precision(first), -torch.inf)
    spans = torch.stack(spans_from_tags(first[..., 0] > 0, first[..., 1] > 0, CANDIDATES), dim=1)
    sentence, start, end = spans.unbind(1)
    second = raise_precision(second_given((sentence, start, end)))
    second = torch.where(content[sentence][..., None], second, -torch.inf)
    row, second_start, second_end = spans_from_tags(second[..., 0] > 0, second[..., 1] > 0)
    evidence = (
        first[sentence[row], start[row], 0],
        first[sentence[row], end[row], 1],
        second[row, second_start, 0],
        second[row, second_end, 1],
    )
    pairs = torch.cat([spans[row], second_start[:, None], second_end[:, None]], dim=1)
    return pairs, torch.stack(evidence).sigmoid().prod(dim=0).float()
