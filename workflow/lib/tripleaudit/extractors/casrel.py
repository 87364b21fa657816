"""CasRel: tag all subjects, then for each subject its objects under every relation (Wei et al., ACL 2020).

Shortcut: the object taggers are linear, so ``W(h_i + v) = W h_i + W v`` and each subject only adds one vector to
logits that are computed once per sentence.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import GoldBatch, flat_spans, span_mean
from tripleaudit.extractors.declared.casrel_settings import CasRelSettings
from tripleaudit.extractors.decoding import Found, nearest_tail, spans_from_tags
from tripleaudit.extractors.formulation import at_once
from tripleaudit.extractors.losses import mean_bce, read_gold, write_gold

ROWS_AT_ONCE = 2**24  # cells of [subjects, L, R] decoded at a time: bounds memory, changes nothing else


class CasRel(Extractor):
    name = "casrel"
    settings = CasRelSettings
    static = True

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        relations = len(config.relations)
        self.subject = nn.Linear(self.hidden_size, 2)  # head, tail
        self.object = nn.Linear(self.hidden_size, 2 * relations)  # all heads, then all tails
        for layer in (self.subject, self.object):
            nn.init.zeros_(layer.bias)
        nn.init.xavier_uniform_(self.subject.weight[:1])
        nn.init.xavier_uniform_(self.subject.weight[1:])
        nn.init.xavier_uniform_(self.object.weight[:relations])
        nn.init.xavier_uniform_(self.object.weight[relations:])
        self.post_init()

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Draw one subject of each sentence and number the positive cells.

        Returns:
            ``subject`` [B, 2] flat span (see :func:`tripleaudit.extractors.batches.flat_spans`) and ``present`` [B]
            bool, whether there is one; gold cells (:func:`losses.write_gold`) ``subject`` of [B, L, 2] and ``object``
            of [B, L, 2, R].
        """
        draws = np.array([rng.random(dtype=np.float32) for rng in batch.rngs])
        triples, shape, sentences = batch.triples.numpy(), batch.shape, len(batch.rows)
        start, end, present, drawn = draw_subjects(triples, draws, sentences)
        own = triples[drawn]
        relations = len(config.relations)
        subjects = tag_cells(shape.length, triples[:, 0], triples[:, 1], triples[:, 2])
        objects = tag_cells(shape.length, own[:, 0], own[:, 4], own[:, 5]) * relations
        objects += np.concatenate([own[:, 3], own[:, 3]])
        return {
            "subject": shape.sentences(flat_spans(np.arange(sentences), start, end, shape.length)),
            "present": shape.sentences(present),
            **write_gold(shape, {"subject": subjects, "object": objects}),
        }

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor, **targets: Tensor
    ) -> ExtractorOutput:
        hidden = self.encode(input_ids, attention_mask)
        gold, valid = read_gold(targets), attention_mask * targets["present"][:, None]
        terms = {  # sums over the tags of a token, means over the tokens of the sentences that take part
            "subject": mean_bce(self.subject(hidden), gold["subject"], attention_mask),
            "object": mean_bce(self.object_logits(hidden, targets["subject"]), gold["object"], valid),
        }
        return ExtractorOutput.of(terms)

    def object_logits(self, hidden: Tensor, spans: Tensor, sentence: Tensor | None = None) -> Tensor:
        """Object head and tail logits [N, L, 2, R] of hidden [B, L, H] for one subject, a flat span [N, 2], per row.

        ``sentence`` [N] is that of each row; None means row b belongs to sentence b (N = B).
        """
        base = self.object(hidden)  # [B, L, 2 R]
        if sentence is not None:
            base = base[sentence]  # [N, L, 2 R]
        shift = span_mean(hidden, spans) @ self.object.weight.T  # [N, 2 R]
        return (base + shift[:, None]).unflatten(-1, (2, -1))  # [N, L, 2, R]

    def predict_rows(self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.encode(input_ids, attention_mask)

        def objects(sentence: Tensor, start: Tensor, end: Tensor) -> Tensor:
            return self.object_logits(hidden, flat_spans(sentence, start, end, hidden.shape[1]), sentence)

        return decode(self.subject(hidden), objects, content_mask.bool(), len(self.config.relations))


def draw_subjects(
    triples: np.ndarray, draw: np.ndarray, batch: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw one distinct gold subject span per sentence, uniformly.

    Args:
        triples: [n, 6], sentences rising.
        draw: [B] uniforms in [0, 1).

    Returns:
        start, end: [B] the drawn subject, 0 where the sentence has none; present: [B] bool; drawn: [n] bool, the
        triples of the drawn subjects.
    """
    start, end = np.zeros((2, batch), dtype=np.int64)
    spans: list[dict[tuple[int, int], None]] = [{} for _ in range(batch)]
    for sentence, first, last in triples[:, :3].tolist():
        spans[sentence][first, last] = None
    for sentence, distinct in enumerate(spans):
        if distinct:
            position = min(int(float(draw[sentence]) * len(distinct)), len(distinct) - 1)
            start[sentence], end[sentence] = list(distinct)[position]
    drawn = (triples[:, 1] == start[triples[:, 0]]) & (triples[:, 2] == end[triples[:, 0]])
    return start, end, np.array([bool(distinct) for distinct in spans], dtype=bool), drawn


def tag_cells(length: int, sentence: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Flat numbers [2n] of the cells of [B, L, 2] where spans start (index 0) and where they end (index 1)."""
    return np.concatenate([(sentence * length + start) * 2, (sentence * length + end) * 2 + 1])


def decode(
    subject_logits: Tensor, object_logits: Callable[[Tensor, Tensor, Tensor], Tensor], content: Tensor, relations: int
) -> tuple[Tensor, Tensor]:
    """Thresholds 0.5; a head takes the nearest tail at or after it (Wei et al. 2020, Section 3.2).

    Args:
        subject_logits: [B, L, 2].
        object_logits: (sentence [N], start [N], end [N]) -> [N, L, 2, R].
        content: [B, L] bool; specials and padding start and end nothing.

    Returns:
        rows [n, 6] and scores [n], the product of the four probabilities used.
    """
    subject = torch.where(content[..., None], subject_logits, -torch.inf)
    sentence, start, end = spans_from_tags(subject[..., 0] > 0, subject[..., 1] > 0)  # [N]
    found = Found(content.device)
    step = at_once(content.device, content.shape[1] * relations, ROWS_AT_ONCE)
    for at in range(0, len(sentence), step):
        s, a, b = sentence[at : at + step], start[at : at + step], end[at : at + step]
        logits = object_logits(s, a, b)  # [N, L, 2, R]
        logits = torch.where(content[s][..., None, None], logits, -torch.inf)
        heads, tails = logits.unbind(dim=2)  # [N, L, R]
        stops = nearest_tail(tails > 0, dim=1)  # [N, L, R]
        row, first, relation = torch.nonzero((heads > 0) & (stops < heads.shape[1]), as_tuple=True)
        last = stops[row, first, relation]  # [n]
        evidence = (
            subject[s[row], a[row], 0],
            subject[s[row], b[row], 1],
            heads[row, first, relation],
            tails[row, last, relation],
        )
        score = torch.stack(evidence).float().sigmoid().prod(dim=0)
        found.add(s[row], a[row], b[row], relation, first, last, score)
    return found.all()
