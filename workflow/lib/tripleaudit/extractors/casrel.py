"""CasRel: tag all subjects, then for each subject its objects under every relation (Wei et al., ACL 2020).

Shortcut: the object taggers are linear, so ``W(h_i + v) = W h_i + W v`` and each subject only adds one vector to
logits that are computed once per sentence.
"""

from collections.abc import Callable
from typing import Annotated

import torch
from torch import Tensor, nn

from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.decoding import nearest_tail, spans_from_tags
from tripleaudit.extractors.losses import binary_cells, flat_cells
from tripleaudit.fields import among

ROWS_AT_ONCE = 2**24  # cells of [subjects, L, R] decoded at a time: bounds memory, changes nothing else


class CasRelConfig(ExtractorConfig):
    """Settings of :class:`CasRel`.

    Attributes:
        zero_subject: what a sentence with zero triples trains beside its empty subject maps: ``none``, or ``random``
            for a random pseudo-subject of up to three tokens with empty object maps.
    """

    model_type = "tripleaudit-casrel"
    zero_subject: Annotated[str, among(("none", "random"))] = "none"


class CasRel(Extractor):
    """The cascade binary tagging extractor."""

    name = "casrel"
    config_class = CasRelConfig
    draws = 3  # which subject; start and length of a pseudo-subject
    sparse_outputs = {"subject": 1, "object": 1}
    training_defaults = {
        "optimizer": "adam",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 1e-5,
        "head_learning_rate": 1e-5,
        "schedule": "constant",
        "batch_size": 6,
        "epochs": 100,
        "patience": 7,
        "min_delta": 1e-4,
    }

    def __init__(self, config: CasRelConfig, encoder=None):
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

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        content_mask: Tensor,
        triples: Tensor | None = None,
        draws: Tensor | None = None,
    ) -> ExtractorOutput:
        """See :meth:`Extractor.forward`; without ``draws`` the first subject of each sentence is taken."""
        hidden = self.encode(input_ids, attention_mask)
        subject_logits = self.subject(hidden)
        if triples is None:
            return ExtractorOutput(scores={"subject": subject_logits})
        if draws is None:
            draws = torch.zeros(len(hidden), self.draws, device=hidden.device)
        start, end, present, rows = draw_subjects(triples, draws[:, 0], len(hidden))
        if self.config.zero_subject == "random":
            start, end, present = _fill_pseudo_subjects(start, end, present, draws, content_mask)
        subject_loss = subject_term(subject_logits, triples, attention_mask)
        object_loss = object_term(self.object_logits(hidden, start, end), rows, attention_mask, present)
        return ExtractorOutput(
            loss=subject_loss + object_loss,
            terms={"subject": subject_loss.detach(), "object": object_loss.detach()},
            scores={"subject": subject_logits},
        )

    def object_logits(self, hidden: Tensor, start: Tensor, end: Tensor, sentence: Tensor | None = None) -> Tensor:
        """Object head and tail logits for one subject per row.

        Args:
            hidden: [B, L, H].
            start, end: [N] subject spans (inclusive).
            sentence: [N] sentence of each row; None means row b belongs to sentence b (N = B).

        Returns:
            [N, L, 2, R]; index 0 of dimension 2 is heads, 1 is tails.
        """
        base = self.object(hidden)
        if sentence is None:
            sentence = torch.arange(len(hidden), device=hidden.device)
        else:
            base = base[sentence]
        subject = (hidden[sentence, start] + hidden[sentence, end]) / 2
        shift = subject @ self.object.weight.T
        return (base + shift[:, None]).unflatten(-1, (2, -1))

    def predict_rows(self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.encode(input_ids, attention_mask)

        def objects(sentence: Tensor, start: Tensor, end: Tensor) -> Tensor:
            return self.object_logits(hidden, start, end, sentence)

        return decode(self.subject(hidden), objects, content_mask.bool(), len(self.config.relations))


def draw_subjects(triples: Tensor, draw: Tensor, batch: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Draw one distinct gold subject span per sentence, uniformly, without leaving the device.

    Args:
        triples: [n, 6].
        draw: [B] uniforms in [0, 1).
        batch: B.

    Returns:
        start, end: [B] the drawn subject, 0 where the sentence has none; present: [B] bool; rows: [n, 6] ``triples``
        with the sentence number -1 wherever the subject is not the drawn one.
    """
    sentence, keys = triples[:, 0], triples[:, :3]
    zeros = torch.zeros(batch, dtype=torch.long, device=triples.device)
    same = (keys[:, None] == keys[None]).all(dim=-1)
    first = ~same.tril(diagonal=-1).any(dim=1)
    counts = zeros.index_add(0, sentence, first.long())
    earlier = (sentence[:, None] == sentence[None]).tril(diagonal=-1) & first[None]
    rank = earlier.sum(dim=1)
    wanted = torch.minimum((draw.to(torch.float64) * counts).long(), (counts - 1).clamp(min=0))
    chosen = first & (rank == wanted[sentence])
    start = zeros.index_add(0, sentence, triples[:, 1] * chosen)
    end = zeros.index_add(0, sentence, triples[:, 2] * chosen)
    drawn = (triples[:, 1] == start[sentence]) & (triples[:, 2] == end[sentence])
    rows = torch.cat([torch.where(drawn, sentence, -1)[:, None], triples[:, 1:]], dim=1)
    return start, end, counts > 0, rows


def _fill_pseudo_subjects(start: Tensor, end: Tensor, present: Tensor, draws: Tensor, content_mask: Tensor):
    """Give sentences without a subject a random span of one to three content tokens, if they have any token."""
    count = content_mask.sum(dim=1)
    offset = (draws[:, 1] * count).long()
    place = ((content_mask.cumsum(dim=1) <= offset[:, None]).sum(dim=1)).clamp(max=content_mask.shape[1] - 1)
    last = content_mask.shape[1] - 1 - content_mask.flip(1).argmax(dim=1)
    stop = torch.minimum(place + (draws[:, 2] * 3).long(), last)
    filled = ~present & (count > 0)
    return torch.where(filled, place, start), torch.where(filled, stop, end), present | filled


def subject_term(logits: Tensor, triples: Tensor, mask: Tensor) -> Tensor:
    """Mean over valid tokens of BCE(subject head) + BCE(subject tail).

    Args:
        logits: [B, L, 2].
        triples: [n, 6].
        mask: [B, L], 1 for valid tokens (specials included).
    """
    sentence, start, end = triples[:, :3].unbind(1)
    heads = flat_cells(logits.shape, sentence, start, torch.zeros_like(start))
    tails = flat_cells(logits.shape, sentence, end, torch.ones_like(end))
    return binary_cells(logits, torch.cat([heads, tails]), mask[..., None]) / mask.sum().clamp(min=1)


def object_term(logits: Tensor, rows: Tensor, mask: Tensor, present: Tensor) -> Tensor:
    """Mean over valid tokens of the BCE of object heads and tails, summed over relations.

    Args:
        logits: [B, L, 2, R], for the drawn subjects.
        rows: [n, 6] from :func:`draw_subjects`; sentence -1 is ignored.
        mask: [B, L].
        present: [B] bool, sentences that have a subject; others are left out, also of the denominator.
    """
    mask = mask * present[:, None]
    sentence, relation, start, end = rows[:, 0], rows[:, 3], rows[:, 4], rows[:, 5]
    zero = torch.zeros_like(start)
    heads = flat_cells(logits.shape, sentence, start, zero, relation)
    tails = flat_cells(logits.shape, sentence, end, zero + 1, relation)
    cells = torch.cat([heads, tails])
    cells = cells[torch.cat([sentence, sentence]) >= 0]
    return binary_cells(logits, cells, mask[..., None, None]) / mask.sum().clamp(min=1)


def decode(
    subject_logits: Tensor,
    object_logits: Callable[[Tensor, Tensor, Tensor], Tensor],
    content: Tensor,
    relations: int,
) -> tuple[Tensor, Tensor]:
    """Thresholds 0.5; a head takes the nearest tail at or after it (Wei et al. 2020, Section 3.2).

    Args:
        subject_logits: [B, L, 2].
        object_logits: (sentence [N], start [N], end [N]) -> [N, L, 2, R].
        content: [B, L] bool; specials and padding start and end nothing.
        relations: R.

    Returns:
        rows [n, 6] and scores [n], the product of the four probabilities used.
    """
    subject = torch.where(content[..., None], subject_logits, -torch.inf)
    sentence, start, end = spans_from_tags(subject[..., 0] > 0, subject[..., 1] > 0)
    found = [torch.zeros(0, 6, dtype=torch.long, device=content.device)]
    scores = [torch.zeros(0, device=content.device)]
    step = max(1, ROWS_AT_ONCE // (content.shape[1] * relations))
    for at in range(0, len(sentence), step):
        s, a, b = sentence[at : at + step], start[at : at + step], end[at : at + step]
        logits = object_logits(s, a, b)
        logits = torch.where(content[s][..., None, None], logits, -torch.inf)
        heads, tails = logits.unbind(dim=2)  # [N, L, R]
        stops = nearest_tail(tails > 0, dim=1)
        row, first, relation = torch.nonzero((heads > 0) & (stops < heads.shape[1]), as_tuple=True)
        last = stops[row, first, relation]
        found.append(torch.stack([s[row], a[row], b[row], relation, first, last], dim=1))
        evidence = (
            subject[s[row], a[row], 0],
            subject[s[row], b[row], 1],
            heads[row, first, relation],
            tails[row, last, relation],
        )
        scores.append(torch.stack(evidence).float().sigmoid().prod(dim=0))
    return torch.cat(found), torch.cat(scores)
