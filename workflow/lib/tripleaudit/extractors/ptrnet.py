"""PtrNet: a recurrent decoder writes one triple per step with four word pointers (Nayak and Ng, AAAI 2020; PNDec).

The encoder is a pre-trained one; the first piece of each whitespace word stands for the word. Entities are runs of
whole words: a span that begins or ends inside a word is trained and predicted as the words that cover it.

Shortcuts, none of which changes the mathematics: what both two-way LSTMs read from the words is one matrix product for
all steps; their two directions run side by side, the second over each sentence reversed, so padding always comes last;
and a sentence leaves the batch after its last step. On a GPU the LSTMs are cuDNN's on packed sequences.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tripleaudit.errors import UserError
from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import Shape
from tripleaudit.extractors.dropping import Dropout
from tripleaudit.extractors.losses import raise_precision
from tripleaudit.extractors.recurrence import two_way
from tripleaudit.randomness import generator

PAD, NONE, FIRST_RELATION = range(3)  # classes of a step; relation r is class r + 2
IGNORED = -100
ORDERS = ("epoch", "once")


class PtrNetConfig(ExtractorConfig):
    """Settings of :class:`PtrNet`.

    Attributes:
        width: D, of words, decoder state and each direction of the pointer LSTMs.
        dropout: of words, states, arguments and relation embeddings.
        max_words: longest entity that is decoded, in words.
        max_triples: steps when decoding. In training, a sentence with more triples trains on this many of its shuffled
            ones, without the NONE that would follow (the official code drops such sentences).
        skip_equal: drop predictions whose subject and object are the same text, as the official code does.
        order: ``epoch`` shuffles the triples of a sentence anew in every epoch; ``once`` keeps one shuffled order for
            all epochs and runs, as the official loader does.
    """

    model_type = "tripleaudit-ptrnet"
    width: int = 300
    dropout: float = 0.3
    max_words: int = 5
    max_triples: int = 10
    skip_equal: bool = True
    order: str = "epoch"


class SplitLSTM(NamedTuple):
    """Weights of a two-way LSTM by what they read, directions first, and the gates' part that the words decide.

    Attributes:
        gates: [W, 2, B, 4 D] with all biases, for the second direction with every sentence reversed.
        hidden: [2, D, 4 D], from the decoder's state.
        before: [2, 2 D, 4 D], from the features of the LSTM before it; None for the first.
        recurrent: [2, 4 D, D].
    """

    gates: Tensor
    hidden: Tensor
    before: Tensor | None
    recurrent: Tensor


class Words(NamedTuple):
    """What the decoder reads of a batch; positions first, so that sentences are the second dimension.

    Attributes:
        mask: [W, B] bool.
        vectors: [W, B, D].
        keys: [W, B, 2 D], the word parts of both attentions.
        split: what the split LSTMs read, one for subjects and one for objects; None when packed.
        back: [W, B], the position that each position has in the reversed sentence.
        lengths: [B], words of each sentence, at least 1; on the host.
    """

    mask: Tensor
    vectors: Tensor
    keys: Tensor
    split: tuple["SplitLSTM", "SplitLSTM"] | None
    back: Tensor
    lengths: Tensor

    def take(self, rows: Tensor | slice) -> "Words":
        """The words of some sentences of the batch."""
        split = None
        if self.split is not None:
            split = tuple(each._replace(gates=each.gates[:, :, rows]) for each in self.split)
        host = rows.cpu() if isinstance(rows, Tensor) else rows
        return Words(
            self.mask[:, rows], self.vectors[:, rows], self.keys[:, rows], split, self.back[:, rows], self.lengths[host]
        )


class State(NamedTuple):
    """Decoder state h and c [B, D] and the sum of what earlier steps wrote [B, 9 D]."""

    hidden: Tensor
    cell: Tensor
    written: Tensor

    def take(self, rows: Tensor | slice) -> "State":
        """The state of some sentences of the batch."""
        return State(*(each[rows] for each in self))


class PtrNet(Extractor):
    """The pointer network decoder."""

    name = "ptrnet"
    config_class = PtrNetConfig
    words = True
    training_defaults = {
        "optimizer": "adam",
        "encoder_learning_rate": 2e-5,
        "head_learning_rate": 1e-3,
        "schedule": "linear",
        "head_schedule": "constant",
        "clip": "global",
        "clip_norm": 10.0,
        "batch_size": 32,
        "epochs": 30,
        "patience": 5,
        "min_delta": -1e-9,  # an equal F1 counts as a new best one for the patience
    }

    def __init__(self, config: PtrNetConfig, encoder=None):
        if config.order not in ORDERS:
            raise UserError(f"ptrnet setting 'order' is {config.order!r}, expected one of {', '.join(ORDERS)}")
        for name in ("width", "max_words", "max_triples"):
            if getattr(config, name) < 1:
                raise UserError(f"ptrnet setting {name!r} is {getattr(config, name)}, expected at least 1")
        super().__init__(config, encoder)
        width, classes = config.width, len(config.relations) + FIRST_RELATION
        self.project = nn.Linear(self.hidden_size, width)
        self.query = nn.Linear(9 * width, width, bias=False)
        self.state_attention, self.written_attention = nn.Linear(width, width), nn.Linear(width, width)
        self.attention_keys = nn.Linear(width, 2 * width, bias=False)
        self.attention_scores = nn.Parameter(torch.empty(2, width))
        nn.init.uniform_(self.attention_scores, -(width**-0.5), width**-0.5)  # as a Linear of that width
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
    def collate_targets(
        cls, config: PtrNetConfig, rows: Sequence[np.ndarray], rngs: Sequence[np.random.Generator], shape: Shape
    ) -> dict[str, Tensor]:
        """Return ``steps`` [n], the decoder step that writes each triple: a shuffled order of each sentence's."""
        if config.order == "once":
            rngs = [generator(0, each.tobytes().hex(), "order") for each in rows]
        steps = [rng.permutation(len(each)) for each, rng in zip(rows, rngs, strict=True)]
        return {"steps": torch.from_numpy(np.concatenate([np.zeros(0, dtype=np.int64), *steps]))}

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        content_mask: Tensor,
        word_ids: Tensor,
        word_first: Tensor,
        word_last: Tensor,
        triples: Tensor | None = None,
        steps: Tensor | None = None,
    ) -> ExtractorOutput:
        """See :meth:`Extractor.forward`; ``steps`` [n] is the step of each triple."""
        if triples is None:
            return ExtractorOutput()
        words = self.read(input_ids, attention_mask, word_first)
        relations, pointers, counts = step_targets(triples, steps, word_ids, len(input_ids), self.config.max_triples)
        order = torch.argsort(counts, descending=True, stable=True)
        words, relations, pointers = words.take(order), relations[order], pointers[order]
        state = self.start(words)
        logits = []
        for step, active in enumerate((relations != PAD).sum(dim=0).tolist()):
            if not active:
                break
            if active < len(state.hidden):
                words, state = words.take(slice(active)), state.take(slice(active))
            state, relation_logits, pointer_logits, arguments = self.advance(words, state)
            logits.append((relation_logits, pointer_logits))
            state = self.write(state, arguments, relations[:active, step])
        targets = [(relations[: len(each), step], pointers[: len(each), step]) for step, (each, _) in enumerate(logits)]
        relation_logits, pointer_logits = (torch.cat(each) for each in zip(*logits, strict=True))
        relations, pointers = (torch.cat(each) for each in zip(*targets, strict=True))
        terms = {"relation": F.cross_entropy(raise_precision(relation_logits), relations)}
        written = (relations != NONE).sum().clamp(min=1)  # no triple in the batch: the pointer terms are 0
        for number, name in enumerate(("subject_start", "subject_end", "object_start", "object_end")):
            loss = F.cross_entropy(
                pointer_logits[:, number], pointers[:, number], ignore_index=IGNORED, reduction="sum"
            )
            terms[name] = loss / written
        return ExtractorOutput(loss=sum(terms.values()), terms={key: term.detach() for key, term in terms.items()})

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
        lengths = mask.sum(dim=0)
        places = torch.arange(len(first), device=first.device)[:, None].expand_as(first)
        back = torch.where(mask, lengths - 1 - places, places)
        split = None
        if not vectors.is_cuda:
            split = tuple(split_lstm(lstm, vectors, back) for lstm in (self.subject_lstm, self.object_lstm))
        return Words(mask, vectors, self.attention_keys(vectors), split, back, lengths.clamp(min=1).cpu())

    def start(self, words: Words) -> State:
        """The state before the first step."""
        zero = words.vectors.new_zeros(words.mask.shape[1], self.config.width)
        return State(zero, zero, zero.repeat(1, 9))

    def advance(self, words: Words, state: State) -> tuple[State, Tensor, Tensor, Tensor]:
        """One step of the decoder (Nayak and Ng 2020, section 3.3).

        Returns:
            the new state, relation logits [B, R + 2], pointer logits [B, 4, W] (subject start, subject end, object
            start, object end) and the argument vectors [B, 8 D].
        """
        query = [self.state_attention(state.hidden), self.written_attention(self.query(state.written))]
        keys = (words.keys + torch.cat(query, dim=-1)).tanh().unflatten(-1, (2, -1))
        weights = masked((keys * self.attention_scores).sum(dim=-1), words.mask[..., None]).softmax(dim=0)
        context = torch.einsum("wbk,wbd->bkd", weights.to(words.vectors.dtype), words.vectors).flatten(1)
        hidden, cell = self.cell(torch.cat([state.written, context], dim=-1), (state.hidden, state.cell))
        hidden = self.dropout(hidden)
        pointers, arguments, before = [], [], None
        for number, (lstm, out) in enumerate(
            ((self.subject_lstm, self.subject_pointers), (self.object_lstm, self.object_pointers))
        ):
            if words.split is None:
                features = run_packed(lstm, words, hidden, before)
            else:
                features = run_split(words.split[number], words.back, hidden, before)
            features = self.dropout(features)
            logits = masked(out(features), words.mask[..., None])  # [W, B, 2]
            ends = logits.softmax(dim=0).flip(-1).to(features.dtype)  # the end-weighted half comes first
            arguments.append(self.dropout(torch.einsum("wbk,wbd->bkd", ends, features).flatten(1)))
            pointers.append(logits.permute(1, 2, 0))
            before = features
        arguments = torch.cat(arguments, dim=-1)
        relation_logits = self.relation_out(torch.cat([hidden, arguments], dim=-1))
        return state._replace(hidden=hidden, cell=cell), relation_logits, torch.cat(pointers, dim=1), arguments

    def write(self, state: State, arguments: Tensor, relations: Tensor) -> State:
        """Add what a step wrote; ``relations`` [B] are classes, of the gold triples in training."""
        relation = self.dropout(self.relation_embeddings(relations))
        return state._replace(written=state.written + torch.cat([arguments, relation], dim=-1))

    # Prediction

    def predict_rows(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        content_mask: Tensor,
        word_ids: Tensor,
        word_first: Tensor,
        word_last: Tensor,
    ) -> tuple[Tensor, Tensor]:
        words = self.read(input_ids, attention_mask, word_first)
        state = self.start(words)
        sentence = torch.arange(len(input_ids), device=input_ids.device)
        found, scores = [torch.zeros(0, 6, dtype=torch.long, device=input_ids.device)], [words.vectors.new_zeros(0)]
        for _ in range(self.config.max_triples):
            state, relation_logits, pointer_logits, arguments = self.advance(words, state)
            probability, relation = best_relation(relation_logits)
            going = torch.nonzero(relation != NONE)[:, 0]
            if not len(going):
                break
            state = self.write(state, arguments, relation)
            if len(going) < len(sentence):
                words, state, sentence = words.take(going), state.take(going), sentence[going]
                pointer_logits, probability, relation = pointer_logits[going], probability[going], relation[going]
            spans, likelihood = best_spans(pointer_logits, words.mask.T, self.config.max_words)
            kept = torch.isfinite(likelihood)
            rows = torch.stack([sentence, *spans[:, :2].T, relation - FIRST_RELATION, *spans[:, 2:].T], dim=1)[kept]
            found.append(rows)
            scores.append((likelihood.exp() * probability)[kept])
        rows, score = token_rows(torch.cat(found), word_first, word_last), torch.cat([each.float() for each in scores])
        unknown = self.tokenizer.unk_token_id if self.tokenizer is not None else None
        kept = ~same_text(rows, input_ids, unknown) | (not self.config.skip_equal)
        return rows[kept], score[kept].clamp(min=torch.finfo(score.dtype).tiny, max=1.0)


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Logits in float32 or better, the least finite number where there is no word, so that no words give no NaN."""
    logits = raise_precision(logits)
    return logits.masked_fill(~mask, torch.finfo(logits.dtype).min)


def reverse(values: Tensor, back: Tensor) -> Tensor:
    """Reverse [W, B, …] along the words of each sentence; padding stays where it is."""
    return values[back, torch.arange(back.shape[1], device=back.device)]


def run_packed(lstm: nn.LSTM, words: Words, hidden: Tensor, before: Tensor | None) -> Tensor:
    """A pointer LSTM over packed ``[words; hidden; before]``; returns [W, B, 2 D]."""
    parts = [words.vectors, hidden.expand(len(words.vectors), -1, -1), *([] if before is None else [before])]
    packed = pack_padded_sequence(torch.cat(parts, dim=-1), words.lengths, enforce_sorted=False)
    return pad_packed_sequence(lstm(packed)[0], total_length=len(words.vectors))[0]


def run_split(lstm: SplitLSTM, back: Tensor, hidden: Tensor, before: Tensor | None) -> Tensor:
    """The same as :func:`run_packed`, with the word part of the gates computed beforehand."""
    gates = lstm.gates + torch.matmul(hidden, lstm.hidden)
    if before is not None:
        gates = gates + by_direction(before, back, lstm.before)
    ahead, behind = two_way(gates, lstm.recurrent).unbind(1)
    return torch.cat([ahead, reverse(behind, back)], dim=-1)


def split_lstm(lstm: nn.LSTM, vectors: Tensor, back: Tensor) -> SplitLSTM:
    """Split a pointer LSTM for :func:`run_split`; vectors [W, B, D]."""
    width = vectors.shape[-1]
    inputs = torch.stack([lstm.weight_ih_l0, lstm.weight_ih_l0_reverse]).mT
    bias = torch.stack([lstm.bias_ih_l0 + lstm.bias_hh_l0, lstm.bias_ih_l0_reverse + lstm.bias_hh_l0_reverse])
    own, hidden, before = inputs.split([width, width, inputs.shape[1] - 2 * width], dim=1)
    return SplitLSTM(
        by_direction(vectors, back, own) + bias[:, None],
        hidden,
        before if before.shape[1] else None,
        torch.stack([lstm.weight_hh_l0, lstm.weight_hh_l0_reverse]),
    )


def by_direction(values: Tensor, back: Tensor, weight: Tensor) -> Tensor:
    """Multiply [W, B, I], as it is and reversed, by the weights [2, I, O] of the directions; returns [W, 2, B, O]."""
    both = torch.stack([values, reverse(values, back)])
    product = torch.bmm(both.flatten(1, 2), weight)
    return product.unflatten(1, values.shape[:2]).transpose(0, 1)


def step_targets(
    triples: Tensor, steps: Tensor, word_ids: Tensor, sentences: int, max_triples: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Targets of the decoder: the triples of a sentence at their steps, then NONE, then PAD.

    Args:
        triples: [n, 6].
        steps: [n], distinct within a sentence, from 0 on.
        word_ids: [B, L].
        sentences: B.
        max_triples: later steps are left out; a sentence with more triples has no NONE.

    Returns:
        classes [B, T], pointers [B, T, 4] (words; subject start, subject end, object start, object end; ``IGNORED``
        where there is no triple), and the number of steps of each sentence [B].
    """
    sentence = triples[:, 0]
    counts = torch.bincount(sentence, minlength=sentences)
    longest = max_triples + 1
    relations = torch.full((sentences, longest), PAD, device=triples.device)
    pointers = torch.full((sentences, longest, 4), IGNORED, device=triples.device)
    ending = torch.nonzero(counts <= max_triples)[:, 0]
    relations[ending, counts[ending]] = NONE
    early = steps < max_triples
    sentence, steps, triples = sentence[early], steps[early], triples[early]
    relations[sentence, steps] = triples[:, 3] + FIRST_RELATION
    pointers[sentence, steps] = word_ids[sentence[:, None], triples[:, [1, 2, 4, 5]]]
    return relations, pointers, (relations != PAD).sum(dim=1)


def best_relation(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Probability and number of the likeliest class of [B, R + 2] logits, PAD excepted."""
    probability, relation = raise_precision(logits).softmax(dim=-1)[:, NONE:].max(dim=-1)
    return probability, relation + NONE


def best_spans(logits: Tensor, mask: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The likeliest pair of spans that do not overlap, found greedily from both sides.

    The best subject and then the best object outside of it, or the best object and then the best subject outside of it,
    whichever is likelier; the latter on equality. The first maximum in row-major order wins.

    Args:
        logits: [n, 4, W]: subject start, subject end, object start, object end.
        mask: [n, W] bool, the words of each sentence.
        width: longest span in words.

    Returns:
        [n, 4] words (subject start, subject end, object start, object end) and log-probabilities [n], -inf where no two
        spans fit.
    """
    logs = raise_precision(logits).masked_fill(~mask[:, None], float("-inf")).log_softmax(dim=-1)
    logs = logs.masked_fill(~mask[:, None], float("-inf"))
    length = logs.shape[-1]
    ends = F.pad(logs[:, 1::2], (0, width - 1), value=float("-inf")).unfold(-1, width, 1)
    table = (logs[:, 0::2, :, None] + ends).flatten(2)  # [n, 2, W * width]: start, then words after the start
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
        likelihood = table[:, role].gather(1, first[:, role, None]) + other.gather(1, second[:, None])
        pair = (first[:, role], second) if role == 0 else (second, first[:, role])
        options.append((torch.stack(pair, dim=1), likelihood[:, 0]))
    (subject_first, likelihood), (object_first, alternative) = options
    likelier = likelihood > alternative
    cells = torch.where(likelier[:, None], subject_first, object_first)
    return torch.stack([start[cells], end[cells]], dim=-1).flatten(1), torch.where(likelier, likelihood, alternative)


def token_rows(rows: Tensor, word_first: Tensor, word_last: Tensor) -> Tensor:
    """Turn the words of rows [n, 6] into tokens."""
    sentence = rows[:, :1]
    result = rows.clone()
    if len(rows):
        result[:, [1, 4]] = word_first[sentence, rows[:, [1, 4]]]
        result[:, [2, 5]] = word_last[sentence, rows[:, [2, 5]]]
    return result


def same_text(rows: Tensor, input_ids: Tensor, unknown: int | None = None) -> Tensor:
    """Mark rows [n, 6] whose subject and object are the same pieces, [n] bool; unknown pieces equal none."""
    sizes = rows[:, [2, 5]] - rows[:, [1, 4]]
    offsets = torch.arange(input_ids.shape[1], device=rows.device)
    places = (rows[:, [1, 4]][..., None] + offsets).clamp(max=input_ids.shape[1] - 1)  # [n, 2, L]
    subject, object_ = input_ids[rows[:, 0, None, None], places].unbind(1)
    equal = (subject == object_) & (subject != (-1 if unknown is None else unknown))
    return (sizes[:, 0] == sizes[:, 1]) & (equal | (offsets > sizes[:, :1])).all(dim=1)
