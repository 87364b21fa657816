"""PtrNet: the recurrence, targets, decoding and loss against plain formulations, and whole
models.
"""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from support.contract import ExtractorContract, PlainLoss
from support.extractors import random_batch, with_words
from tripleaudit.core.randomness import generator
from tripleaudit.extractors.batches import GoldBatch, Shape
from tripleaudit.extractors.ptrnet import (
    FIRST_RELATION,
    NONE,
    PAD,
    PtrNet,
    best_relation,
    best_spans,
    same_text,
    token_rows,
)
from tripleaudit.testing import build_extractor, toy_sentences

UNK = 100


def plain_step(
    model: PtrNet, words: Tensor, hidden: Tensor, cell: Tensor, written: Tensor
) -> tuple[Tensor, Tensor, list[Tensor], Tensor, Tensor]:
    """One step as the paper writes it, without dropout, for one sentence.

    Args:
        words: [W, D]; ``hidden`` and ``cell`` [D], the decoder's state; ``written`` [9 D], the sum
            of what was written.

    Returns:
        the new state, pointer logits (4 of [W]), argument vectors [8 D] and relation logits [R +
        2].
    """
    contexts, queries = (
        [],
        (model.state_attention(hidden), model.written_attention(model.query(written))),
    )
    for query, keys, scores in zip(
        queries, model.attention_keys.weight.chunk(2), model.attention_scores, strict=True
    ):
        contexts.append(((query + F.linear(words, keys)).tanh() @ scores).softmax(0) @ words)
    hidden, cell = (
        each[0]
        for each in model.cell(torch.cat([written, *contexts])[None], (hidden[None], cell[None]))
    )
    inputs = torch.cat([words, hidden.expand(len(words), -1)], dim=1)
    subject, _ = model.subject_lstm(inputs)
    object_, _ = model.object_lstm(torch.cat([inputs, subject], dim=1))
    pointers = [*model.subject_pointers(subject).T, *model.object_pointers(object_).T]
    s1, s2, o1, o2 = (each.softmax(0) for each in pointers)
    arguments = torch.cat(
        [s2 @ subject, s1 @ subject, o2 @ object_, o1 @ object_]
    )  # ends weigh first
    return hidden, cell, pointers, arguments, model.relation_out(torch.cat([hidden, arguments]))


def oracle(batch: dict, relations: int):
    """Decode distributions that put all their weight on the targets; order of the triples as
    they stand.
    """
    triples, word_ids = batch["triples"], batch["word_ids"]
    classes = torch.full((len(word_ids), 11), PAD)
    pointers = torch.zeros(len(word_ids), 11, 4, dtype=torch.long)
    for number in range(len(word_ids)):
        own = triples[triples[:, 0] == number]
        steps = min(10, len(own))
        classes[number, :steps] = own[:10, 3] + FIRST_RELATION
        classes[number, steps] = NONE
        pointers[number, :steps] = word_ids[number, own[:10][:, [1, 2, 4, 5]]]
    mask = batch["word_first"] >= 0
    rows, scores = [torch.zeros(0, 6, dtype=torch.long)], [torch.zeros(0)]
    for step in range(10):
        logits = F.one_hot(classes[:, step], relations + FIRST_RELATION) * 20.0
        probability, relation = best_relation(logits)
        writing = (relation != NONE) & (classes[:, step] != PAD)
        if not writing.any():
            break
        perfect = F.one_hot(pointers[writing, step], mask.shape[1]).double().log()
        spans, likelihood = best_spans(perfect, mask[writing], 5)
        found = torch.isfinite(likelihood)
        sentence, relation = writing.nonzero()[:, 0], relation[writing] - FIRST_RELATION
        row = torch.stack([sentence, *spans[:, :2].T, relation, *spans[:, 2:].T], dim=1)[found]
        rows.append(token_rows(row, batch["word_first"], batch["word_last"]))
        scores.append(probability[writing][found])
    rows, scores = torch.cat(rows), torch.cat(scores)
    kept = ~same_text(rows, batch["input_ids"], UNK)
    return rows[kept], scores[kept]


def plain_spans(logits: torch.Tensor, width: int):
    """The official search: loops over spans of one sentence; logits [4, W]."""
    s1, s2, o1, o2 = logits.softmax(dim=-1).tolist()
    length = len(s1)
    spans = [(i, j) for i in range(length) for j in range(i, min(length, i + width))]

    def best(start, end, taken=None):
        top, where = 0.0, None
        for i, j in spans:
            if taken is not None and not (j < taken[0] or i > taken[1]):
                continue
            if start[i] * end[j] > top:
                top, where = start[i] * end[j], (i, j)
        return top, where

    p, subject = best(s1, s2)
    q, object_ = best(o1, o2, subject)
    first = (p * q, subject, object_)
    p, object_ = best(o1, o2)
    q, subject = best(s1, s2, object_)
    second = (p * q, subject, object_)
    return first if first[0] > second[0] else second


def plain_loss(model: PtrNet, batch: dict) -> torch.Tensor:
    """The loss sentence by sentence and step by step, with PyTorch's own LSTMs over whole
    inputs.
    """
    config, terms = model.config, {"relation": [], "pointers": [[], [], [], []]}
    tokens = model.encode(batch["input_ids"], batch["attention_mask"])
    for number in range(len(tokens)):
        first = batch["word_first"][number]
        u = model.project(tokens[number, first[first >= 0]])
        own = batch["triples"][:, 0] == number
        rows = torch.tensor(
            sorted(
                batch["triples"][own].tolist(), key=lambda row: [row[at] for at in (1, 4, 2, 3, 5)]
            )
        )
        h = c = torch.zeros(config.width, dtype=u.dtype)
        written = torch.zeros(9 * config.width, dtype=u.dtype)
        for row in [*rows, None]:
            h, c, logits, arguments, scores = plain_step(model, u, h, c, written)
            wanted = NONE if row is None else int(row[3]) + 2
            terms["relation"].append(-scores.log_softmax(0)[wanted])
            if row is not None:
                for losses, logit, token in zip(
                    terms["pointers"], logits, row[[1, 2, 4, 5]], strict=True
                ):
                    losses.append(-logit.log_softmax(0)[batch["word_ids"][number, token]])
            written = written + torch.cat([arguments, model.relation_embeddings.weight[wanted]])
    return sum(torch.stack(each).mean() for each in (terms["relation"], *terms["pointers"]))


def decodable(batch: dict) -> set:
    """All but overlapping arguments, long ones, and surplus triples."""
    fits = set()
    for _, rows in itertools.groupby(map(tuple, batch["triples"].tolist()), key=lambda row: row[0]):
        for row in list(rows)[:10]:
            _, a, b, _, c, d = row
            if b - a < 5 and d - c < 5 and (b < c or d < a):
                fits.add(row)
    return fits


class TestPtrNet(ExtractorContract, PlainLoss):
    kind, words = PtrNet, True
    oracle, decodable, plain = map(staticmethod, (oracle, decodable, plain_loss))
    ceilings = {"nyt": 99.36, "webnlg": 96.22}
    whole, exact = {"width": 32, "dropout": 0.0}, {"width": 6, "dropout": 0.0}

    @staticmethod
    def random(seed):
        batch = with_words(random_batch(seed, triples=14, longest=7))
        texts = torch.arange(batch["input_ids"].numel()).view_as(batch["input_ids"]) + 200
        return batch | {"input_ids": texts}  # all differ


def test_none_comes_first_without_triples_and_last_where_all_of_them_fit():
    rows = np.array([[1, 1, 0, 2, 2], [2, 2, 1, 1, 1], [1, 1, 2, 3, 3]])
    written = [FIRST_RELATION, 2 + FIRST_RELATION, 1 + FIRST_RELATION]
    for most, classes in (
        (2, [[NONE, PAD], written[:2]]),
        (3, [[NONE, PAD, PAD, PAD], [*written, NONE]]),
    ):
        config, batch = (
            PtrNet.config_class(max_triples=most),
            GoldBatch([rows[:0], rows], [None] * 2, Shape(2, 5)),
        )
        made = PtrNet.collate_targets(config, batch)
        assert made["classes"].tolist() == classes
        assert made["positions"][:, :2].tolist() == [[[0] * 4] * 2, [[1, 1, 2, 2], [1, 1, 3, 3]]]


def test_spans_inside_words_become_the_words_that_cover_them():
    content = torch.tensor([[0, 1, 1, 1, 1, 1, 1, 0]])
    batch = with_words({"input_ids": torch.arange(8)[None], "content_mask": content}, size=2)
    batch["triples"] = torch.tensor([[0, 2, 2, 0, 5, 5]])
    decoded, _ = oracle(batch, 3)
    assert decoded.tolist() == [[0, 1, 2, 0, 5, 6]]


def test_triples_are_shuffled_by_the_generator_of_the_sentence():
    rows = [np.arange(5 * count).reshape(count, 5) for count in (6, 0, 8)]

    def steps(epoch: int) -> list[list[int]]:
        rngs = [generator(0, epoch, str(number)) for number in range(3)]
        return PtrNet.collate_targets(
            PtrNet.config_class(order="epoch"), GoldBatch(rows, rngs, Shape(3, 20))
        )["positions"][..., 0].tolist()

    assert [sorted(each) for each in steps(0)] == [
        [0] * 3 + [*range(0, 30, 5)],
        [0] * 9,
        [0, *range(0, 40, 5)],
    ]
    assert steps(0) == steps(0) != steps(1)
    assert steps(0)[2][:8] != sorted(steps(0)[2][:8])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(2, 12), width=st.integers(1, 6))
def test_best_spans_equal_the_plain_search(seed, length, width):
    torch.manual_seed(seed)
    logits = torch.randn(3, 4, length + 3, dtype=torch.float64) * 2
    mask = torch.arange(length + 3).expand(3, -1) < length
    spans, likelihood = best_spans(logits, mask, width)
    for row in range(3):
        probability, subject, object_ = plain_spans(logits[row, :, :length], width)
        assert likelihood[row].exp().item() == pytest.approx(probability)
        if probability:  # else no two spans fit
            assert (tuple(spans[row, :2].tolist()), tuple(spans[row, 2:].tolist())) == (
                subject,
                object_,
            )


def test_equal_options_take_the_first_maximum_and_start_from_the_object():
    spans, _ = best_spans(torch.zeros(1, 4, 3), torch.ones(1, 3, dtype=torch.bool), 2)
    assert spans.tolist() == [[1, 1, 0, 0]]


def test_a_word_alone_holds_no_two_spans():
    _, likelihood = best_spans(
        torch.randn(2, 4, 3), torch.tensor([[True, False, False], [False] * 3]), 2
    )
    assert likelihood.tolist() == [float("-inf")] * 2


def test_equal_texts_are_skipped():
    ids = torch.tensor([[101, 7, 8, 7, 8, 7, UNK, UNK, 102]])
    rows = [(1, 2, 3, 4), (1, 2, 4, 5), (1, 1, 5, 5), (1, 2, 3, 3), (6, 6, 7, 7)]
    marked = same_text(torch.tensor([(0, a, b, 0, c, d) for a, b, c, d in rows]), ids, UNK)
    assert marked.tolist() == [True, False, True, False, False]
    assert same_text(
        torch.tensor([[0, 0, 1, 0, 3, 4]]), torch.tensor([[8, 7, 7, 8, 7]])
    ).tolist() == [True]


def test_equal_texts_are_skipped_in_prediction(tiny_encoder):
    model = build_extractor(PtrNet, tiny_encoder, width=6, max_words=1).eval()
    model.relation_out.bias.data[NONE] = -100.0
    equal, other = model.extract(["london london", "london apple"])
    assert other.triples and not equal.triples


def test_an_untrained_model_writes_at_most_ten_triples_and_none_for_no_words(tiny_encoder):
    model = build_extractor(PtrNet, tiny_encoder, width=6).eval()
    model.relation_out.bias.data[NONE] = -100.0  # never stops by itself
    found = model.extract([*(each.text for each in toy_sentences()), "", "one"])
    assert all(len(each.triples) <= 10 for each in found)
    assert found[-2].triples == found[-1].triples == ()
    assert any(each.triples for each in found)
    assert model.extract([""])[0].triples == ()


def test_attention_scores_start_as_those_of_a_layer_of_their_width(tiny_encoder):
    torch.manual_seed(0)
    scores = build_extractor(PtrNet, tiny_encoder, width=100).attention_scores
    assert scores.shape == (2, 100)
    assert -0.1 <= scores.min() < -0.09 and 0.09 < scores.max() <= 0.1


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_the_text_is_that_of_subject_start_object_start_subject_end_relation_object_end(
    seed,
):
    rows = np.unique(np.random.default_rng(seed).integers(0, 3, (40, 5)), axis=0)
    np.random.default_rng(seed).shuffle(rows)
    made = PtrNet.collate_targets(
        PtrNet.config_class(max_triples=40), GoldBatch([rows], [None], Shape(1, 20))
    )
    classes, places = (
        made["classes"][0, : len(rows)] - FIRST_RELATION,
        made["positions"][0, : len(rows)],
    )
    written = torch.cat([places[:, :2], classes[:, None], places[:, 2:]], dim=1).tolist()
    assert written == sorted(
        rows.tolist(), key=lambda row: (row[0], row[3], row[1], row[2], row[4])
    )


def test_scores_are_probabilities_whatever_rounding_makes_of_them(tiny_encoder):
    model = build_extractor(PtrNet, tiny_encoder, width=6)
    words, ids = torch.tensor([[0, 1]]), torch.tensor([[7, 8]])
    rows, scores = model.rows_of_text(
        torch.tensor([[0, 0, 0, 1, 1, 1]] * 3), torch.tensor([1.0001, 0.5, 0.0]), ids, words, words
    )
    assert len(rows) == 3
    assert scores[:2].tolist() == [1.0, 0.5] and 0 < scores[2].item() < 1e-30


def test_the_first_token_of_a_text_can_be_a_word(tiny_encoder):
    """As with tokenizers that put nothing before a text."""
    model = build_extractor(PtrNet, tiny_encoder, width=6).eval()
    words = model.read(torch.tensor([[9, 10]]), torch.ones(1, 2).long(), torch.tensor([[0, 1]]))
    assert words.mask.all()
