"""OneRel: targets, decoding, losses against naive formulas, and whole models."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from support.contract import ExtractorContract, PlainLoss
from support.pairs import dense_classes, listed, perfect
from tripleaudit.extractors.onerel import OneRel, decode, targets
from tripleaudit.testing import build_extractor, toy_sentences, training_batch, worked_example


def plain_logits(model: OneRel, hidden: Tensor) -> Tensor:
    """The same as the paper writes it, to compare, without dropout: logits [B, L, L, 4, R] from
    hidden [B, L, H].
    """
    size = hidden.shape[1]
    joined = torch.cat(
        [hidden[:, :, None].expand(-1, -1, size, -1), hidden[:, None].expand(-1, size, -1, -1)],
        dim=-1,
    )
    return model.tags(torch.relu(model.pair(joined))).unflatten(-1, (4, -1))


def oracle(batch: dict, relations: int):
    """Decode exactly the cells of the gold triples."""
    length = batch["input_ids"].shape[1]
    return decode(perfect(targets(batch["triples"]), length, relations), relations, length)


def naive_loss(model: OneRel, batch: dict) -> torch.Tensor:
    """Dense logits and labels, without dropout."""
    hidden = model.encode(batch["input_ids"], batch["attention_mask"])
    size, length, _ = hidden.shape
    logits = plain_logits(model, hidden)
    labels = dense_classes(targets(batch["triples"]), size, length, logits.shape[-1])
    loss = F.cross_entropy(logits.movedim(3, 1), labels, reduction="none").sum(dim=-1)
    valid = batch["attention_mask"].double()
    valid = valid[:, :, None] * valid[:, None]
    return (loss * valid).sum() / valid.sum()


def decodable(batch: dict) -> set:
    """What the official scan finds."""
    size, length = batch["input_ids"].shape
    labels = dense_classes(targets(batch["triples"]), size, length, 3)
    found = set()
    for sentence in range(size):
        table = labels[sentence].permute(2, 0, 1)  # [R, L, L]
        marked = torch.nonzero(table).tolist()
        for number, (relation, i, j) in enumerate(marked[:-1]):
            second = marked[number + 1][2]
            if table[relation, i, j] != 1 or table[relation, i, second] != 2:
                continue
            ends = [row for row in range(i, length) if table[relation, row, second] == 3]
            if ends and second >= j and ends[0] >= i:
                found.add((sentence, i, ends[0], relation, j, second))
    return found


class TestOneRel(ExtractorContract, PlainLoss):
    kind = OneRel
    oracle, decodable, plain = map(staticmethod, (oracle, decodable, naive_loss))
    worked = {(0, 1, 4, 0, 7, 8), (0, 7, 8, 1, 11, 14)}
    ceilings = {"nyt": 99.99, "webnlg": 99.91}
    whole = exact = {"hidden_dropout": 0.0, "pair_dropout": 0.0}
    overfit = {"learning_rate": 5e-3}


def test_worked_example(tiny_encoder):
    batch = training_batch(build_extractor(OneRel, tiny_encoder), [worked_example()])
    assert batch["triples"].tolist() == [[0, 1, 4, 0, 7, 8], [0, 7, 8, 1, 11, 14]]
    cells = targets(batch["triples"])
    assert listed(cells) == [
        (0, 1, 7, 1),
        (0, 1, 8, 2),
        (0, 4, 8, 3),
        (1, 7, 11, 1),
        (1, 7, 14, 2),
        (1, 8, 14, 3),
    ]


def test_triples_are_written_grouped_by_subject():
    triples = torch.tensor([[0, 1, 2, 0, 5, 6], [0, 3, 4, 0, 5, 6], [0, 1, 2, 0, 7, 8]])
    assert targets(triples).row.tolist() == [1, 1, 2, 1, 1, 2, 3, 3, 4]


def test_dropout_acts_in_training_only(tiny_encoder):
    model = build_extractor(OneRel, tiny_encoder)
    batch = training_batch(model, toy_sentences())
    assert model.train()(**batch).loss != model(**batch).loss
    assert model.eval()(**batch).loss == model(**batch).loss
    ones = torch.ones(400, 1, 10)
    dropped = model.train().features(ones, ones)
    assert sorted(dropped.unique().tolist()) == [0.0, pytest.approx(2 / 0.9, rel=1e-4)]
    assert 0.05 < (dropped == 0).float().mean() < 0.15


def test_the_score_is_the_product_of_the_three_probabilities_used():
    cells = targets(torch.tensor([[0, 1, 4, 0, 7, 8], [1, 2, 2, 1, 3, 3]]))
    by_place = {(0, 1, 7): 0.5, (0, 1, 8): 0.6, (0, 4, 8): 0.7, (1, 2, 3): 0.9}
    scores = [
        by_place[tuple(map(int, each))]
        for each in zip(cells.sentence, cells.row, cells.column, strict=True)
    ]
    rows, found = decode(replace(cells, scores=torch.tensor(scores)), 2, 10)
    assert rows[0].tolist() == [0, 1, 4, 0, 7, 8]
    torch.testing.assert_close(found[:1], torch.tensor([0.5 * 0.6 * 0.7]))
    rows, found = decode(
        replace(cells, scores=torch.tensor(scores)).select(cells.classes < 3), 2, 10
    )  # no last cell
    assert (rows.shape, found.shape) == ((0, 6), (0,))
