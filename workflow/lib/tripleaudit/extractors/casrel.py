"""CasRel: tag subjects, then each subject's objects by relation (Wei et al., ACL 2020).

Shortcut: the object taggers are linear, so ``W(h_i + v) = W h_i + W v`` and each subject only adds
one vector to logits that are computed once per sentence.

The same equation limits which labels a sentence can have. The logit of token i for a subject with
first and second state a and b is ``y_i + (y_a + y_b) / 2`` with one number y per token, relation
and tag. Three layouts differ in where an entity's second state and its tail tag are:

- ``subword``: on its last subword. An entity of one token that is an object of one triple and the
  subject of another (a chain) has contradictory labels: ``y_S + y_A > 0``, but ``2 y_S < 0`` and
  ``2 y_A < 0``.
- ``marker``: on the marker after its last word, the authors' layout. Chains fit; inputs are about
  twice as long, and entities that end inside a whitespace word are lost.
- ``exclusive`` (default): on the token after the entity. Chains fit and inputs stay as short as
  with ``subword``. Adjacent entities (no token between them) share a token: a triple between two of
  them whose object is also a subject, or two of them that are objects of one relation, one being a
  subject, have contradictory labels (at most 2 of 1,705 gold triples on CoNLL04, 1 of 11,312 on
  WebNLG, none on NYT).

In every layout all subjects rank the tokens alike, so two pairs of one relation in a sentence (A-B
and C-D without A-D and C-B) have contradictory labels. Decoding pairs a head with the nearest tail,
so that of two entities that begin at the same token the shorter one is found. ``CasRelOwnSubject``
has separate weights for the subject and no chain limit; docs/explanation/differences.md has the
proofs and what share of real gold is concerned.
"""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.extractors.alignment import EXCLUSIVE, LAYOUTS
from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import GoldBatch, flat_spans, span_mean
from tripleaudit.extractors.consistency import contradictory_relations
from tripleaudit.extractors.decoding import Found, nearest_tail
from tripleaudit.extractors.formulation import at_once
from tripleaudit.extractors.losses import mean_bce, read_gold, write_gold
from tripleaudit.extractors.specs.casrel import CasRelOwnSubjectSettings, CasRelSettings

ROWS_AT_ONCE = (
    2**24
)  # cells of [subjects, L, R] decoded at a time: bounds memory, changes nothing else


class CasRel(Extractor):
    """The cascade of subjects and of objects by relation; batches draw a subject."""

    name = "casrel"
    settings = CasRelSettings
    static = True
    layouts = (EXCLUSIVE, *LAYOUTS)
    own_subject: ClassVar[bool] = False
    """Whether the subject has weights of its own."""

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
    def contradictory(cls, config: ExtractorConfig, rows: np.ndarray) -> np.ndarray:
        """See :meth:`Extractor.contradictory`; decided by a linear program over free states."""
        return contradictory_relations(rows, tail_distance(config), cls.own_subject)

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Draw one subject of each sentence and number the positive cells.

        Returns:
            ``subject`` [B, 2] flat numbers of the subject's two states (:func:`batches.flat_spans`)
            and ``present`` [B] bool, whether there is one; gold cells (:func:`losses.write_gold`)
            ``subject`` of [B, L, 2] and ``object`` of [B, L, 2, R].
        """
        draws = np.array([rng.random(dtype=np.float32) for rng in batch.rngs])
        tag_of_end = tail_distance(config)
        triples = batch.triples.numpy() + np.array([0, 0, tag_of_end, 0, 0, tag_of_end])
        shape, sentences = batch.shape, len(batch.rows)
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
            "object": mean_bce(
                self.object_logits(hidden, targets["subject"]), gold["object"], valid
            ),
        }
        return ExtractorOutput.of(terms)

    def object_logits(
        self, hidden: Tensor, spans: Tensor, sentence: Tensor | None = None
    ) -> Tensor:
        """Return object head and tail logits [N, L, 2, R] for one subject per row.

        Hidden states are [B, L, H], subjects flat spans [N, 2].

        ``sentence`` [N] is that of each row; None means row b belongs to sentence b (N = B).
        """
        base = self.object(hidden)  # [B, L, 2 R]
        if sentence is not None:
            base = base[sentence]  # [N, L, 2 R]
        shift = self.subject_shift(span_mean(hidden, spans))  # [N, 2 R]
        return (base + shift[:, None]).unflatten(-1, (2, -1))  # [N, L, 2, R]

    def subject_shift(self, subject: Tensor) -> Tensor:
        """Return what a subject's mean state [N, H] adds to the logits of every token, [N, 2 R]."""
        return subject @ self.object.weight.T

    def predict_rows(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        hidden = self.encode(input_ids, attention_mask)

        def objects(sentence: Tensor, start: Tensor, tail: Tensor) -> Tensor:
            return self.object_logits(
                hidden, flat_spans(sentence, start, tail, hidden.shape[1]), sentence
            )

        relations, distance = len(self.config.relations), tail_distance(self.config)
        return decode(self.subject(hidden), objects, content_mask.bool(), relations, distance)


class CasRelOwnSubject(CasRel):
    """CasRel with separate weights for the subject: ``W h_i + U v_s`` instead of ``W (h_i + v_s)``.

    This is not the published model, and no table calls it CasRel: docs/explanation/differences.md says what it
    is for.
    """

    name = "casrel-own-subject"
    settings = CasRelOwnSubjectSettings
    own_subject = True
    layouts = ("subword",)

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        self.shift = nn.Linear(self.hidden_size, self.object.out_features, bias=False)  # U
        for part in self.shift.weight.chunk(2):  # heads, tails
            nn.init.xavier_uniform_(part)

    def subject_shift(self, subject: Tensor) -> Tensor:
        return self.shift(subject)


def tail_distance(config: ExtractorConfig) -> int:
    """Return the distance of tail tag and second state from an entity's last token.

    1 for the layout ``exclusive``, else 0.
    """
    return 1 if config.layout == EXCLUSIVE else 0


def draw_subjects(
    triples: np.ndarray, draw: np.ndarray, batch: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw one distinct gold subject span per sentence, uniformly.

    Args:
        triples: [n, 6], sentences rising.
        draw: [B] uniforms in [0, 1).

    Returns:
        start, end: [B] the drawn subject, 0 where the sentence has none; present: [B] bool; drawn:
        [n] bool, the triples of the drawn subjects.
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
    """Return cells [2n] of [B, L, 2] where spans start (index 0) and end (index 1)."""
    return np.concatenate([(sentence * length + start) * 2, (sentence * length + end) * 2 + 1])


def decode(
    subject_logits: Tensor,
    object_logits: Callable[[Tensor, Tensor, Tensor], Tensor],
    content: Tensor,
    relations: int,
    distance: int = 0,
) -> tuple[Tensor, Tensor]:
    """Thresholds 0.5; a head takes the nearest tail at or after it (Wei et al. 2020, Section 3.2).

    Args:
        subject_logits: [B, L, 2], head and tail.
        object_logits: (sentence [N], head [N], tail [N]) -> [N, L, 2, R].
        content: [B, L] bool; specials and padding start and end nothing.
        distance: tokens between an entity's last token and its tail tag (:func:`tail_distance`).

    Returns:
        rows [n, 6] and scores [n], the product of the four probabilities used.
    """
    length = content.shape[1]
    may_end = F.pad(content, (distance, 0))[:, :length]
    heads = torch.where(content, subject_logits[..., 0], -torch.inf)
    tails = torch.where(may_end, subject_logits[..., 1], -torch.inf)
    stops = nearest_tail(tails > 0, distance=distance)
    sentence, start = torch.nonzero((heads > 0) & (stops < length), as_tuple=True)  # [N]
    stop = stops[sentence, start]
    found = Found(content.device)
    step = at_once(content.device, length * relations, ROWS_AT_ONCE)
    for at in range(0, len(sentence), step):
        s, a, b = sentence[at : at + step], start[at : at + step], stop[at : at + step]
        object_heads, object_tails = object_logits(s, a, b).unbind(dim=2)  # [N, L, R]
        object_heads = torch.where(content[s][..., None], object_heads, -torch.inf)
        object_tails = torch.where(may_end[s][..., None], object_tails, -torch.inf)
        object_stops = nearest_tail(object_tails > 0, dim=1, distance=distance)  # [N, L, R]
        row, first, relation = torch.nonzero(
            (object_heads > 0) & (object_stops < length), as_tuple=True
        )
        last = object_stops[row, first, relation]  # [n]
        evidence = (
            heads[s[row], a[row]],
            tails[s[row], b[row]],
            object_heads[row, first, relation],
            object_tails[row, last, relation],
        )
        score = torch.stack(evidence).float().sigmoid().prod(dim=0)
        found.add(s[row], a[row], b[row] - distance, relation, first, last - distance, score)
    return found.all()
