"""UniRel: text and relation names in one sequence, one interaction map (Tang et al., 2022).

The encoder reads ``[CLS] sentence [SEP] relation ... relation``, one input embedding a relation.
Attention scores before the softmax, averaged over heads, are logits of links between any two of
these: subject to object (either way), subject to relation, relation to object. One such map links
first tokens, one links last tokens, and a third says which tokens begin and end an entity. No
weight belongs to a relation: a trained model can be given other relations.

Known from the paper and the published code: the sequence, the three maps of a third of the heads
each, their gold cells, the loss and the decoder. Reconstructed here, for encoders of any kind
(``docs/explanation/differences.md``): the queries and keys are a layer of their own on the last hidden states,
not those of BERT's last layer, whose scores transformers does not give (only what follows the
softmax, and that not of every encoder); a relation's embedding is the mean over the subwords of its
plain name or description, not that of one word chosen by hand; each map has a bias, 0 unless
``prior`` sets it, for a short training without both learnt only that cells are empty
(``docs/results.md``).

Shortcut: the mean over heads of ``q_h k_h`` is one product of the concatenated heads.
"""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.verbaliser import Verbaliser
from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput, encoder_limit
from tripleaudit.extractors.batches import GoldBatch
from tripleaudit.extractors.decoding import pairs_within, surest
from tripleaudit.extractors.losses import (
    flat_cells,
    mean_bce,
    raise_precision,
    read_gold,
    write_gold,
)
from tripleaudit.extractors.specs.unirel import UniRelSettings

HEAD, TAIL, SPAN = range(3)  # maps: first tokens, last tokens, entities
MOST_SPANS = 64  # of a sentence that are decoded, and
MOST_PAIRS = 512  # of these: an untrained model marks thousands


class UniRel(Extractor):
    """The extractor that encodes relation names with the text in one sequence."""

    name = "unirel"
    settings = UniRelSettings
    static = True
    takes_schema = True

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        heads, width = config.encoder.num_attention_heads, self.hidden_size
        self.heads = max(1, heads // 3)  # of a map
        self.head_size = width // heads
        self.query = nn.Linear(width, 3 * self.heads * self.head_size)  # [map, head, size]
        self.key = nn.Linear(width, 3 * self.heads * self.head_size)
        for layer in (self.query, self.key):
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)
        self.maps = nn.Module()
        self.maps.bias = nn.Parameter(torch.zeros(3))
        self._subwords: tuple[Tensor, ...] = ()
        self.post_init()

    # The relations, which are input

    @classmethod
    def text_limit(cls, config: ExtractorConfig) -> int:
        """See :meth:`Extractor.text_limit`: what the relations leave of the encoder's positions."""
        whole, room = (
            encoder_limit(config.encoder),
            encoder_limit(config.encoder) - len(config.relations),
        )
        if room < min(config.max_length, whole // 2):
            raise UserError(
                f"unirel puts all {len(config.relations)} relations into the encoder's {whole} positions, which leaves "
                f"{max(0, room)} for a sentence; expected a corpus of fewer relations or an encoder of more positions"
            )
        return room

    def set_schema(self, relations: Sequence[str]) -> None:
        """See :meth:`Extractor.set_schema`; relations with a description are read by it."""
        super().set_schema(relations)
        self._subwords = self._read()

    def take(self, tokenizer: PreTrainedTokenizerBase) -> None:
        super().take(tokenizer)
        self._subwords = self._read()

    def extra_token_ids(self) -> Tensor:
        """See :meth:`Extractor.extra_token_ids`: the words of the relations."""
        return self._subwords[0]

    def _read(self) -> tuple[Tensor, Tensor]:
        """Return token ids [R, W] of the relations' words, and their weights in the mean.

        Padding has weight 0.
        """
        names = Verbaliser(self.config.relations, self.config.descriptions)
        words = self.tokenizer(
            [names(each) for each in self.config.relations], add_special_tokens=False
        )["input_ids"]
        table = np.zeros((len(words), max(1, *map(len, words))), dtype=np.int64)
        weights = np.zeros(table.shape, dtype=np.float32)
        for row, own in enumerate(own or [self.tokenizer.unk_token_id] for own in words):
            table[row, : len(own)], weights[row, : len(own)] = own, 1 / len(own)
        return torch.from_numpy(table), torch.from_numpy(weights)

    def relation_embeddings(self) -> Tensor:
        """Return the encoder's input for each relation [R, H]: the mean over its subwords."""
        if self._subwords[0].device != self.device:
            self._subwords = tuple(each.to(self.device) for each in self._subwords)
        ids, weights = self._subwords
        words = self.encoder.get_input_embeddings()(ids)  # [R, W, H]
        return (words * weights[..., None].to(words.dtype)).sum(dim=1)

    # The model

    def represent(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return states [B, L + R, H] of the tokens and of the relations.

        Inside the encoder the relations stand right behind [SEP] and padding behind them, so that
        no position depends on what else is in the batch.
        """
        tokens = self.encoder.get_input_embeddings()(input_ids)  # [B, L, H]
        names = self.relation_embeddings()
        batch, length, relations = *input_ids.shape, len(names)
        both = torch.cat([tokens, names.expand(batch, -1, -1)], dim=1)
        position = torch.arange(length + relations, device=input_ids.device)  # [L + R]
        used = attention_mask.sum(dim=1, keepdim=True)  # [B, 1]
        of_relation = (position >= used) & (
            position < used + relations
        )  # [B, L + R], in the encoder's order
        inward = torch.where(position < used, position, position - relations)
        inward = torch.where(of_relation, length + position - used, inward)
        outward = torch.where(position < used, position, position + relations)
        outward = torch.where(position < length, outward, used + position - length)
        further = {}
        if (
            getattr(self.config.encoder, "type_vocab_size", 0) > 1
        ):  # relations are the second segment
            further["token_type_ids"] = of_relation.long()
        mask = (position < used + relations).long()
        states = self.encoded(
            None, mask, inputs_embeds=_reordered(both, inward), **further
        ).last_hidden_state
        states = _reordered(states, outward)
        self.keep_states(states[:, :length])
        return states

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """States [B, L, H] of the tokens."""
        return self.represent(input_ids, attention_mask)[:, : input_ids.shape[1]]

    def interactions(self, states: Tensor) -> Tensor:
        """Logits [B, 3, L + R, L + R] of the links from states [B, L + R, H]."""
        query, key = (
            layer(states).unflatten(-1, (3, -1)).transpose(1, 2) for layer in (self.query, self.key)
        )
        scores = query @ key.transpose(-1, -2) / (self.heads * self.head_size**0.5)
        return scores + self.maps.bias[:, None, None]

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, **targets: Tensor
    ) -> ExtractorOutput:
        """Compute the loss: mean over cells of tokens and relations, summed over maps.

        See :meth:`Extractor.forward`.
        """
        scores = self.interactions(self.represent(input_ids, attention_mask))
        relations = attention_mask[:, :1].expand(
            -1, len(self.config.relations)
        )  # of sentences that are no dummies
        there = torch.cat([attention_mask, relations], dim=1)  # [B, L + R]
        valid = there[:, None, :, None] * there[:, None, None, :]
        return ExtractorOutput.of(
            {"interactions": mean_bce(scores, read_gold(targets)["interactions"], valid)}
        )

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Return gold cells ``interactions`` of [B, 3, L + R, L + R].

        See :func:`losses.write_gold`.
        """
        shape, size = batch.shape, batch.shape.length + len(config.relations)
        cells = targets(batch.triples, shape.length, (shape.batch, 3, size, size))
        return write_gold(shape, {"interactions": cells.numpy()})

    def predict_rows(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        scores = self.interactions(self.represent(input_ids, attention_mask))
        return decode(raise_precision(scores), content_mask.bool(), self.config.threshold)


def _reordered(states: Tensor, order: Tensor) -> Tensor:
    """Put states [B, T, H] into an order [B, T] of their own in every sentence."""
    first = torch.arange(len(order), device=order.device)[:, None] * order.shape[1]
    return F.embedding(order + first, states.flatten(0, 1))  # its gradient has a fixed order


def targets(triples: Tensor, length: int, shape: Sequence[int]) -> Tensor:
    """Return flat numbers [20 n] of the gold cells of triples [n, 6] in ``shape`` maps.

    The shape is [B, 3, L + R, L + R].

    The third map is also taught which relations an entity takes part in, as the authors' is;
    nothing decodes these.

    Args:
        length: L.
    """
    sentence, start, end, relation, object_start, object_end = triples.unbind(1)
    relation = relation + length
    cells = [(SPAN, *each) for each in ((start, end), (end, start), (object_start, object_end))]
    cells.append((SPAN, object_end, object_start))
    for which, subject, object_ in ((HEAD, start, object_start), (TAIL, end, object_end)):
        cells += [(which, subject, object_), (which, object_, subject), (which, subject, relation)]
        cells.append((which, relation, object_))
        for entity in (subject, object_):
            cells += [(SPAN, entity, relation), (SPAN, relation, entity)]
    return torch.cat(
        [
            flat_cells(tuple(shape), sentence, torch.full_like(sentence, which), row, at)
            for which, row, at in cells
        ]
    )


def decode(scores: Tensor, content: Tensor, threshold: float = 0.5) -> tuple[Tensor, Tensor]:
    """Join entities with linked first and last tokens, and relations linked to all four tokens.

    Below, e counts entities, p linked pairs of them, t triples.

    Args:
        scores: logits [B, 3, L + R, L + R].
        content: [B, L] bool, tokens of the text.
        threshold: of a link's probability.

    Returns:
        rows [n, 6] and scores [n], the product of the probabilities of all eight cells.
    """
    length = content.shape[1]
    links = scores > torch.logit(scores.new_tensor(threshold))
    sure = F.logsigmoid(scores)
    inside = (content[:, :, None] & content[:, None]).triu()
    sentence, start, end = torch.nonzero(
        links[:, SPAN, :length, :length] & inside, as_tuple=True
    )  # [e]
    best = surest(sentence, sure[sentence, SPAN, start, end], MOST_SPANS)
    sentence, start, end = sentence[best], start[best], end[best]

    subject, object_ = pairs_within(sentence, sentence)
    heads = sentence[subject], HEAD, start[subject], start[object_]
    tails = sentence[subject], TAIL, end[subject], end[object_]
    linked = links[heads] & links[tails]
    subject, object_ = subject[linked], object_[linked]  # [p]
    at = sentence[subject]
    score = (
        sure[at, SPAN, start[subject], end[subject]]
        + sure[at, SPAN, start[object_], end[object_]]
        + sure[heads][linked]
        + sure[tails][linked]
    )
    best = surest(at, score, MOST_PAIRS)
    subject, object_, at, score = subject[best], object_[best], at[best], score[best]

    def related(values: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What maps say of the pairs' tokens and every relation, [p, R] each."""
        return (
            values[at, HEAD, start[subject], length:],
            values[at, TAIL, end[subject], length:],
            values[at, HEAD, length:, start[object_]],
            values[at, TAIL, length:, end[object_]],
        )

    first, second, third, fourth = related(links)
    pair, relation = torch.nonzero(first & second & third & fourth, as_tuple=True)  # [t]
    score = score[pair] + sum(each[pair, relation] for each in related(sure))
    one, other = subject[pair], object_[pair]
    rows = torch.stack([at[pair], start[one], end[one], relation, start[other], end[other]], dim=1)
    return rows, score.exp().clamp(min=torch.finfo(score.dtype).tiny)
