"""GRTE: targets, decoding, rounds and losses against naive formulas, and whole models."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from support.contract import ExtractorContract, PlainLoss, Portions
from support.extractors import random_batch
from support.pairs import dense_classes, listed, perfect
from tripleaudit.extractors import grte, tables
from tripleaudit.extractors.grte import GRTE, MMH, MMT, MSH, MST, SMH, SMT, SS, decode, targets
from tripleaudit.testing import build_extractor, check_determinism, toy_sentences, training_batch


def plain_logits(
    model: GRTE, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor
) -> Tensor:
    """The model as the paper writes it, without dropout: logits [B, L, L, 8, R] of the last
    round's tables.
    """
    hidden, valid, content = (
        model.encode(input_ids, attention_mask),
        attention_mask.bool(),
        content_mask.bool(),
    )
    subject, object_ = model.subject(hidden), model.object(hidden)
    for last in reversed(range(model.config.rounds)):
        table = model.table(F.elu(subject[:, :, None] * object_[:, None]))  # [B, L, L, 8 R]
        if not last:
            return table.unflatten(-1, (8, -1))
        rows = (
            table.masked_fill(~content[:, None, :, None], -torch.inf).amax(dim=2) * valid[..., None]
        )
        columns = (
            table.masked_fill(~content[:, :, None, None], -torch.inf).amax(dim=1) * valid[..., None]
        )
        subject = subject + model.refine(model.subject_summary(rows), hidden, valid)
        object_ = object_ + model.refine(model.object_summary(columns), hidden, valid)
    raise AssertionError("a model has at least one round")


def oracle(batch: dict, relations: int):
    """Decode exactly the cells of the gold triples."""
    length = batch["input_ids"].shape[1]
    return decode(perfect(targets(batch["triples"]), length, relations), relations, length)


def naive_loss(model: GRTE, batch: dict) -> torch.Tensor:
    """Whole tables and dense labels, without dropout."""
    table = plain_logits(
        model, *(batch[name] for name in ("input_ids", "attention_mask", "content_mask"))
    )
    size, length, _, _, relations = table.shape
    labels = dense_classes(targets(batch["triples"]), size, length, relations)
    loss = F.cross_entropy(table.movedim(3, 1), labels, reduction="none").sum(dim=-1)
    content = batch["content_mask"].bool()
    return (loss * content[:, :, None] * content[:, None]).sum()


def decodable(batch: dict) -> set:
    """What the official scan finds."""
    labels = dense_classes(targets(batch["triples"]), *batch["input_ids"].shape, 3)
    found = set()
    for s, i, j, r in torch.nonzero(labels).tolist():
        table = labels[s, :, :, r]
        label = int(table[i, j])
        after = [
            (row, column)
            for row, column in torch.nonzero(table == label + 1).tolist()
            if (label == SMH and row == i and column > j)
            or (label == MSH and column == j and row > i)
            or (label == MMH and row > i and column > j)
        ]
        if label == SS:
            after = [(i, j)]
        if after:
            found.add((s, i, after[0][0], r, j, after[0][1]))
    return found


class TestGRTE(ExtractorContract, PlainLoss, Portions):
    kind = GRTE
    oracle, decodable, plain = map(staticmethod, (oracle, decodable, naive_loss))
    exact = {"dropout": 0.0}
    ceilings = {"nyt": 99.99, "webnlg": 99.94}
    portions = grte, "CELLS_AT_ONCE"
    whole = {"rounds": 2, "dropout": 0.0}
    sgd_learning_rate = 1e-5  # the loss is a sum: large gradients

    def test_dropout_and_further_rounds_are_reproducible(self, tiny_encoder):
        check_determinism(GRTE, tiny_encoder, learning_rate=1e-5, rounds=3, dropout=0.1)

    @staticmethod
    def random(seed):
        return random_batch(seed, triples=8)


def test_labels_of_all_lengths():
    triples = [[0, 1, 1, 0, 4, 4], [0, 2, 3, 0, 5, 7], [0, 4, 5, 1, 8, 8], [0, 6, 6, 1, 8, 9]]
    pairs = [
        (0, 2, 5, MMH),
        (0, 3, 7, MMT),
        (1, 4, 8, MSH),
        (1, 5, 8, MST),
        (1, 6, 8, SMH),
        (1, 6, 9, SMT),
    ]
    assert listed(targets(torch.tensor(triples))) == [(0, 1, 4, SS), *pairs]


def test_initialisation_is_orthogonal(tiny_encoder):
    model = build_extractor(GRTE, tiny_encoder)
    weight = model.subject_summary.weight
    torch.testing.assert_close(weight @ weight.T, torch.eye(len(weight)), atol=1e-5, rtol=0)


def test_the_score_is_the_product_of_the_one_or_two_probabilities_used():
    triples = torch.tensor(
        [[0, 1, 1, 0, 4, 4], [0, 2, 2, 1, 5, 6], [1, 2, 3, 0, 5, 5], [1, 1, 2, 1, 5, 7]]
    )
    cells = targets(triples)
    by_label = {SS: 0.3, SMH: 0.4, SMT: 0.5, MSH: 0.6, MST: 0.7, MMH: 0.8, MMT: 0.9}
    cells = replace(
        cells, scores=torch.tensor([by_label[label] for label in cells.classes.tolist()])
    )
    rows, scores = decode(cells, 2, 10)
    found = {tuple(row): score for row, score in zip(rows.tolist(), scores.tolist(), strict=True)}
    expected = [0.3, 0.4 * 0.5, 0.6 * 0.7, 0.8 * 0.9]
    assert found == {
        tuple(row): pytest.approx(score)
        for row, score in zip(triples.tolist(), expected, strict=True)
    }


def test_the_refining_block_is_one_of_bert(tiny_encoder, monkeypatch):
    """Normalised as BERT's; in training each of its attentions and its three outputs are dropped
    at one rate.
    """
    model, calls = build_extractor(GRTE, tiny_encoder, dropout=0.25, rounds=3), []
    norms = [layer for layer in model.refine.modules() if isinstance(layer, torch.nn.LayerNorm)]
    assert len(norms) == 3 and {layer.eps for layer in norms} == {1e-12}
    assert model.refine.widen.out_features == model.config.encoder.intermediate_size
    attend, drop = F.scaled_dot_product_attention, grte.dropped
    monkeypatch.setattr(
        F,
        "scaled_dot_product_attention",
        lambda *args, **options: (
            calls.append(("weights", options["dropout_p"])) or attend(*args, **options)
        ),
    )
    monkeypatch.setattr(
        grte,
        "dropped",
        lambda values, rate, training: (
            calls.append(("values", rate * training)) or drop(values, rate, training)
        ),
    )
    batch = training_batch(model, toy_sentences())
    for training, rate in ((True, 0.25), (False, 0.0)):
        calls.clear()
        model.train(training)
        hidden = model.encode(batch["input_ids"], batch["attention_mask"])
        calls.clear()
        model.encode = lambda *_, hidden=hidden: hidden
        model.token_features(
            *(batch[name] for name in ("input_ids", "attention_mask", "content_mask"))
        )
        del model.encode
        block = [("weights", rate), ("values", rate)] * 2 + [("values", rate)]
        assert calls == [("values", rate), *block, *block]


def test_a_head_takes_no_tail_of_another_relation_or_sentence():
    """Neither below and to the right of it, nor in its row or column; one on its own place is
    none either.
    """
    for head, tail in ((SMH, SMT), (MSH, MST), (MMH, MMT)):
        for sentence, relation in ((0, 1), (1, 0)):
            cells = torch.tensor(
                [
                    [0, 2, 2, 0, head],
                    [sentence, 2 + (tail != SMT), 2 + (tail != MST), relation, tail],
                ]
            )
            found = tables.Cells(*cells.unbind(1), torch.ones(2))
            assert not len(decode(found, 2, 9)[0])
            found = replace(found, sentence=torch.zeros(2).long(), relation=torch.zeros(2).long())
            assert decode(found, 2, 9)[0].tolist() == [
                [0, 2, cells[1, 1].item(), 0, 2, cells[1, 2].item()]
            ]
