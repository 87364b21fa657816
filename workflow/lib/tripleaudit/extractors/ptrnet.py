"""PtrNet: a decoder writes a triple per step with four pointers (Nayak and Ng, AAAI 2020).

The encoder is a pre-trained one; the first piece of each whitespace word stands for the word.
Entities are runs of whole words: a span that begins or ends inside a word is trained and predicted
as the words that cover it.

Shortcut, with unchanged mathematics: on a CPU a sentence leaves the batch after its last step.
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.extractors.alignment import Alignment
from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import GoldBatch
from tripleaudit.extractors.dropping import Dropout
from tripleaudit.extractors.formulation import on_device
from tripleaudit.extractors.losses import raise_precision
from tripleaudit.extractors.padded_lstm import PaddedLSTM
from tripleaudit.extractors.specs.ptrnet import PtrNetSettings

PAD, NONE, FIRST_RELATION = range(3)  # classes of a step; relation r is class r + 2
IGNORED = -100
STEPS_OF = 3  # static batches have a multiple of so many steps
POINTERS = "subject_start", "subject_end", "object_start", "object_end"


class Words(NamedTuple):
    """The decoder's input of a batch, positions first and sentences second.

    Attributes:
        mask: [W, B] bool.
        vectors: [W, B, D].
        keys: [W, B, 2 D], the word parts of both attentions.
        lstms: the pointer LSTMs, one for subjects and one for objects.
    """

    mask: Tensor
    vectors: Tensor
    keys: Tensor
    lstms: tuple[PaddedLSTM, ...]

    def take(self, rows: Tensor | slice) -> "Words":
        """Select sentences of the batch."""
        lstms = tuple(lstm.take(rows) for lstm in self.lstms)
        return Words(self.mask[:, rows], self.vectors[:, rows], self.keys[:, rows], lstms)


class State(NamedTuple):
    """Decoder state h and c [B, D] and the sum of what earlier steps wrote [B, 9 D]."""

    hidden: Tensor
    cell: Tensor
    written: Tensor

    def take(self, rows: Tensor | slice) -> "State":
        """Select sentences of the batch."""
        return State(*(each[rows] for each in self))


class PtrNet(Extractor):
    """The recurrent decoder of triples with pointers to words."""

    name = "ptrnet"
    settings = PtrNetSettings
    static = True
    words = True

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        width, classes = config.width, len(config.relations) + FIRST_RELATION
        self.project = nn.Linear(self.hidden_size, width)
        # a written triple has four pointed-at vectors [2D] and its relation [D]: 9 D; the decoder
        # adds two contexts [D]
        self.query = nn.Linear(9 * width, width, bias=False)
        self.state_attention, self.written_attention = (
            nn.Linear(width, width),
            nn.Linear(width, width),
        )
        self.attention_keys = nn.Linear(width, 2 * width, bias=False)
        self.attention_scores = nn.Parameter(torch.empty(2, width))
        nn.init.uniform_(
            self.attention_scores, -(width**-0.5), width**-0.5
        )  # as a Linear of that width
        self.cell = nn.LSTMCell(11 * width, width)
        self.subject_lstm = nn.LSTM(2 * width, width, bidirectional=True)
        self.object_lstm = nn.LSTM(4 * width, width, bidirectional=True)
        self.subject_pointers = nn.Linear(2 * width, 2, bias=False)  # start, end
        self.object_pointers = nn.Linear(2 * width, 2, bias=False)
        self.relation_embeddings = nn.Embedding(classes, width)
        self.relation_out = nn.Linear(9 * width, classes)
        self.dropout = Dropout(config.dropout)
        self.post_init()

    @classmethod
    def representable(
        cls, config: ExtractorConfig, alignment: Alignment, rows: np.ndarray
    ) -> np.ndarray:
        starts, ends = rows[:, [0, 3]], rows[:, [1, 4]]
        short = alignment.word_ids[ends] - alignment.word_ids[starts] < config.max_words
        return (short & alignment.first_of_word(starts) & alignment.last_of_word(ends)).all(axis=1)

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Return the targets of the decoder's steps: triples in the configured order, then none.

        Returns:
            ``classes`` [B, T], ``PAD`` after the last step, and ``positions`` [B, T, 4], the tokens
            of subject start, subject end, object start and object end, 0 where there is no triple.
        """
        rows, shape = batch.rows, batch.shape
        if config.order == "text":
            steps = [np.lexsort(each[:, [4, 2, 1, 3, 0]].T).argsort() for each in rows]
        else:
            steps = [rng.permutation(len(each)) for each, rng in zip(rows, batch.rngs, strict=True)]
        most = config.max_triples
        longest = max((min(len(each) + 1, most + (len(each) <= most)) for each in rows), default=1)
        if shape.static:
            longest = min(most + 1, -(-longest // STEPS_OF) * STEPS_OF)
        classes = np.full((len(rows), longest), PAD, dtype=np.int64)
        positions = np.zeros((len(rows), longest, 4), dtype=np.int64)
        for number, (each, order) in enumerate(zip(rows, steps, strict=True)):
            early = order < most
            classes[number, order[early]] = each[early, 2] + FIRST_RELATION
            positions[number, order[early]] = each[early][:, [0, 1, 3, 4]]
            if len(each) <= most:
                classes[number, len(each)] = NONE
        return {"classes": shape.sentences(classes), "positions": shape.sentences(positions)}

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        word_ids: Tensor,
        word_first: Tensor,
        classes: Tensor,
        positions: Tensor,
        **_: Tensor,
    ) -> ExtractorOutput:
        """Compute the loss of ``classes`` [B, T] and ``positions`` [B, T, 4].

        See :meth:`Extractor.forward` and :meth:`collate_targets`.
        """
        writes = classes >= FIRST_RELATION  # [B, T]
        pointers = (
            word_ids.gather(1, positions.flatten(1))
            .view_as(positions)
            .masked_fill(~writes[..., None], IGNORED)
        )
        relation_logits, pointer_logits, classes, pointers = self.teach(
            self.read(input_ids, attention_mask, word_first), classes, pointers
        )
        terms = {
            "relation": F.cross_entropy(raise_precision(relation_logits), classes, ignore_index=PAD)
        }
        losses = F.cross_entropy(
            pointer_logits.flatten(0, 1), pointers.flatten(), ignore_index=IGNORED, reduction="none"
        ).view_as(pointers)
        written = writes.sum().clamp(min=1)  # no triple in the batch: the pointer terms are 0
        for name, loss in zip(POINTERS, losses.sum(dim=0).unbind(), strict=True):
            terms[name] = loss / written
        return ExtractorOutput.of(terms)

    def teach(
        self, words: Words, classes: Tensor, pointers: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Let the decoder write the gold triples.

        Args:
            classes, pointers: [B, T] and [B, T, 4], what each step is to write.

        Returns:
            relation logits [n, R + 2] and pointer logits [n, 4, W] of the steps of all sentences,
            with their classes [n] and pointers [n, 4].
        """
        steps = [len(classes)] * classes.shape[1]  # sentences that take part in each
        if not on_device(classes):
            order = torch.argsort((classes != PAD).sum(dim=1), descending=True, stable=True)
            words, classes, pointers = words.take(order), classes[order], pointers[order]
            steps = (classes != PAD).sum(dim=0).tolist()
        state, scored = self.start(words), []
        for active, wanted, positions in zip(
            steps, classes.unbind(1), pointers.unbind(1), strict=True
        ):
            if not active:
                break
            if active < len(state.hidden):
                words, state = words.take(slice(active)), state.take(slice(active))
            state, relation_logits, pointer_logits, arguments = self.advance(words, state)
            scored.append((relation_logits, pointer_logits, wanted[:active], positions[:active]))
            state = self.write(state, arguments, wanted[:active])
        return tuple(torch.cat(each) for each in zip(*scored, strict=True))

    # The decoder

    def read(self, input_ids: Tensor, attention_mask: Tensor, word_first: Tensor) -> Words:
        """Encode a batch; everything that does not change from step to step."""
        if not word_first.shape[1]:  # no sentence has any word
            word_first = word_first.new_full((len(word_first), 1), -1)
        tokens = self.encode(input_ids, attention_mask)
        rows = torch.arange(len(tokens), device=tokens.device)
        first = word_first.T  # [W, B]
        vectors = self.dropout(self.project(tokens[rows, first.clamp(min=0)]))
        mask = first >= 0
        lstms = tuple(
            PaddedLSTM.of(lstm, mask, vectors.dtype)
            for lstm in (self.subject_lstm, self.object_lstm)
        )
        return Words(mask, vectors, self.attention_keys(vectors), lstms)

    def start(self, words: Words) -> State:
        """The state before the first step."""
        zero = words.vectors.new_zeros(words.mask.shape[1], self.config.width)
        return State(zero, zero, zero.repeat(1, 9))

    def advance(self, words: Words, state: State) -> tuple[State, Tensor, Tensor, Tensor]:
        """One step of the decoder (Nayak and Ng 2020, section 3.3).

        Returns:
            the new state, relation logits [B, R + 2], pointer logits [B, 4, W] (subject start,
            subject end, object start, object end) and the argument vectors [B, 8 D].
        """
        query = [
            self.state_attention(state.hidden),
            self.written_attention(self.query(state.written)),
        ]
        keys = (words.keys + torch.cat(query, dim=-1)).tanh().unflatten(-1, (2, -1))
        weights = masked((keys * self.attention_scores).sum(dim=-1), words.mask[..., None]).softmax(
            dim=0
        )
        context = torch.einsum(
            "wbk,wbd->bkd", weights.to(words.vectors.dtype), words.vectors
        ).flatten(1)
        hidden, cell = self.cell(
            torch.cat([state.written, context], dim=-1), (state.hidden, state.cell)
        )
        hidden = self.dropout(hidden)
        pointers, arguments, before = [], [], None
        for lstm, out in zip(
            words.lstms, (self.subject_pointers, self.object_pointers), strict=True
        ):
            features = self.dropout(lstm.run(words.vectors, hidden, before))
            logits = masked(out(features), words.mask[..., None])  # [W, B, 2]
            ends = (
                logits.softmax(dim=0).flip(-1).to(features.dtype)
            )  # the end-weighted half comes first
            arguments.append(self.dropout(torch.einsum("wbk,wbd->bkd", ends, features).flatten(1)))
            pointers.append(logits.permute(1, 2, 0))
            before = features
        arguments = torch.cat(arguments, dim=-1)
        relation_logits = self.relation_out(torch.cat([hidden, arguments], dim=-1))
        return (
            state._replace(hidden=hidden, cell=cell),
            relation_logits,
            torch.cat(pointers, dim=1),
            arguments,
        )

    def write(self, state: State, arguments: Tensor, relations: Tensor) -> State:
        """Add what a step wrote; ``relations`` [B] are classes, of the gold triples in training."""
        relation = self.dropout(self.relation_embeddings(relations))
        return state._replace(written=state.written + torch.cat([arguments, relation], dim=-1))

    # Prediction

    def predict_rows(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        word_first: Tensor,
        word_last: Tensor,
        **_: Tensor,
    ) -> tuple[Tensor, Tensor]:
        words = self.read(input_ids, attention_mask, word_first)
        state, device = self.start(words), on_device(input_ids)
        sentence = torch.arange(len(input_ids), device=input_ids.device)
        going = torch.ones_like(sentence, dtype=torch.bool)
        rows, scores, kept = [sentence.new_zeros(0, 6)], [words.vectors.new_zeros(0)], [going[:0]]
        for _ in range(self.config.max_triples):
            state, relation_logits, pointer_logits, arguments = self.advance(words, state)
            probability, relation = best_relation(relation_logits)
            going = going & (relation != NONE)
            if not going.any():
                break
            state = self.write(state, arguments, relation)
            if (
                not device and not going.all()
            ):  # a GPU lets every sentence take as many steps as the longest one
                some = torch.nonzero(going)[:, 0]
                words, state, sentence, going = (
                    words.take(some),
                    state.take(some),
                    sentence[some],
                    going[some],
                )
                pointer_logits, probability, relation = (
                    pointer_logits[some],
                    probability[some],
                    relation[some],
                )
            spans, likelihood = best_spans(pointer_logits, words.mask.T, self.config.max_words)
            rows.append(
                torch.stack(
                    [sentence, *spans[:, :2].T, relation - FIRST_RELATION, *spans[:, 2:].T], dim=1
                )
            )
            scores.append((likelihood.exp() * probability).float())
            kept.append(going & torch.isfinite(likelihood))
        found = torch.cat(kept)
        parts = torch.cat(rows)[found], torch.cat(scores)[found], input_ids, word_first, word_last
        return self.rows_of_text(*(each.cpu() for each in parts))

    def rows_of_text(
        self, rows: Tensor, score: Tensor, input_ids: Tensor, word_first: Tensor, word_last: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Turn rows of words into rows of tokens, without those that relate a text to itself."""
        rows = token_rows(rows, word_first, word_last)
        unknown = self.tokenizer.unk_token_id if self.tokenizer is not None else None
        kept = ~same_text(rows, input_ids, unknown)
        return rows[kept], score[kept].clamp(min=torch.finfo(score.dtype).tiny, max=1.0)


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Return logits in float32 or better, the least finite number at padding.

    No words then give no NaN.
    """
    logits = raise_precision(logits)
    return logits.masked_fill(~mask, torch.finfo(logits.dtype).min)


def best_relation(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Probability and number of the likeliest class of [B, R + 2] logits, PAD excepted."""
    probability, relation = raise_precision(logits).softmax(dim=-1)[:, NONE:].max(dim=-1)
    return probability, relation + NONE


def best_spans(logits: Tensor, mask: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The likeliest pair of spans that do not overlap, found greedily from both sides.

    The best subject and then the best object outside of it, or the best object and then the best
    subject outside of it, whichever is likelier; the latter on equality. The first maximum in
    row-major order wins.

    Args:
        logits: [n, 4, W]: subject start, subject end, object start, object end.
        mask: [n, W] bool, the words of each sentence.
        width: longest span in words.

    Returns:
        [n, 4] words (subject start, subject end, object start, object end) and log-probabilities
        [n], -inf where no two spans fit.
    """
    logs = raise_precision(logits).masked_fill(~mask[:, None], float("-inf")).log_softmax(dim=-1)
    logs = logs.masked_fill(~mask[:, None], float("-inf"))
    length = logs.shape[-1]
    ends = F.pad(logs[:, 1::2], (0, width - 1), value=float("-inf")).unfold(-1, width, 1)
    table = (logs[:, 0::2, :, None] + ends).flatten(
        2
    )  # [n, 2, W * width]: start, then words after the start
    start = torch.arange(length, device=logs.device).repeat_interleave(width)
    end = start + torch.arange(width, device=logs.device).repeat(length)

    def outside(cell: Tensor, values: Tensor) -> Tensor:
        free = (end < start[cell][:, None]) | (start > end[cell][:, None])
        return values.masked_fill(~free, float("-inf"))

    first = table.argmax(dim=-1)
    options = []
    for role in (0, 1):
        other = outside(first[:, role], table[:, 1 - role])
        second = other.argmax(dim=-1)
        likelihood = table[:, role].gather(1, first[:, role, None]) + other.gather(
            1, second[:, None]
        )
        pair = (first[:, role], second) if role == 0 else (second, first[:, role])
        options.append((torch.stack(pair, dim=1), likelihood[:, 0]))
    (subject_first, likelihood), (object_first, alternative) = options
    likelier = likelihood > alternative
    cells = torch.where(likelier[:, None], subject_first, object_first)
    return torch.stack([start[cells], end[cells]], dim=-1).flatten(1), torch.where(
        likelier, likelihood, alternative
    )


def token_rows(rows: Tensor, word_first: Tensor, word_last: Tensor) -> Tensor:
    """Turn the words of rows [n, 6] into tokens."""
    sentence = rows[:, :1]
    result = rows.clone()
    result[:, [1, 4]] = word_first[sentence, rows[:, [1, 4]]]
    result[:, [2, 5]] = word_last[sentence, rows[:, [2, 5]]]
    return result


def same_text(rows: Tensor, input_ids: Tensor, unknown: int | None = None) -> Tensor:
    """Return which rows [n, 6] have equal pieces as subject and object, [n] bool.

    Unknown pieces equal none.
    """
    sizes = rows[:, [2, 5]] - rows[:, [1, 4]]
    offsets = torch.arange(input_ids.shape[1], device=rows.device)
    positions = (rows[:, [1, 4]][..., None] + offsets).clamp(
        max=input_ids.shape[1] - 1
    )  # [n, 2, L]
    subject, object_ = input_ids[rows[:, 0, None, None], positions].unbind(1)
    equal = (subject == object_) & (subject != (-1 if unknown is None else unknown))
    return (sizes[:, 0] == sizes[:, 1]) & (equal | (offsets > sizes[:, :1])).all(dim=1)
