"""TPLinker: targets, decoding, losses against naive formulas, and whole models."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from support.contract import ExtractorContract, PlainLoss, Portions, check_loss
from support.pairs import perfect
from tripleaudit.extractors import tables, tplinker
from tripleaudit.extractors.tplinker import TPLinker, decode, targets
from tripleaudit.testing import build_extractor, toy_sentences, training_batch


def plain_logits(model: TPLinker, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """The model as the paper writes it: entity logits [B, L, L, 2] and link logits [B, L, L, 3, 2,
    R] of all pairs.

    Args:
        hidden: [B, L, H].
    """
    size = hidden.shape[1]
    joined = torch.cat(
        [hidden[:, :, None].expand(-1, -1, size, -1), hidden[:, None].expand(-1, size, -1, -1)],
        dim=-1,
    )
    pairs = torch.tanh(model.pair(joined))  # [B, L, L, H]
    return model.entity(pairs), model.links(pairs).unflatten(-1, (3, 2, -1))


def oracle(batch: dict, relations: int):
    """Decode exactly the cells of the gold triples."""
    length = batch["input_ids"].shape[1]
    return decode(
        perfect(targets(batch["triples"], relations), length, 2 * relations + 1), relations, length
    )


def naive_loss(model: TPLinker, batch: dict, valid: torch.Tensor) -> torch.Tensor:
    """Dense logits and labels, one map after the other."""
    hidden = model.encode(batch["input_ids"], batch["attention_mask"])
    relations = len(model.config.relations)
    entities, links = plain_logits(model, hidden)
    entity_loss, link_loss, count = 0.0, 0.0, 0
    for number in range(len(hidden)):
        rows = [row for row in batch["triples"].tolist() if row[0] == number]
        places = torch.nonzero(valid[number])[:, 0].tolist()
        for i in places:
            for j in [place for place in places if place >= i]:
                entity = any((i, j) in ((row[1], row[2]), (row[4], row[5])) for row in rows)
                entity_loss = entity_loss + F.cross_entropy(
                    entities[number, i, j][None], torch.tensor([int(entity)])
                )
                for side in (0, 1):
                    labels = torch.zeros(relations, dtype=torch.long)
                    for row in rows:
                        one, two = row[1 + side], row[4 + side]
                        if (min(one, two), max(one, two)) == (i, j):
                            labels[row[3]] = 1 if one <= two else 2
                    logits = links[number, i, j, :, side].T
                    link_loss = link_loss + F.cross_entropy(logits, labels, reduction="sum")
                count += 1
    entity_weight, link_weight = model.loss_weights()
    return entity_weight * entity_loss / count + link_weight * link_loss / (count * relations)


def decodable(batch: dict) -> set:
    """What the official joins find."""
    cells = perfect(targets(batch["triples"], 3), batch["input_ids"].shape[1], 7)
    kept = [
        tuple(int(part) for part in each)
        for each in zip(
            cells.sentence, cells.row, cells.column, cells.relation, cells.classes, strict=True
        )
    ]
    entities = [each[:3] for each in kept if each[3] == 6]

    def links(first):
        return {
            (s, relation - first, *((j, i) if class_ == 2 else (i, j)))
            for s, i, j, relation, class_ in kept
            if first <= relation < first + 3
        }

    tails = links(3)
    return {
        (s, a, b, relation, c, d)
        for s, relation, head, other in links(0)
        for t, a, b in entities
        for u, c, d in entities
        if s == t == u and (a, c) == (head, other) and (s, relation, b, d) in tails
    }


class TestTPLinker(ExtractorContract, PlainLoss, Portions):
    kind = TPLinker
    oracle, decodable = map(staticmethod, (oracle, decodable))
    ceilings = {"nyt": 99.99, "webnlg": 100.0}
    whole, overfit = {"recover_steps": 20, "occurrence": "given"}, {"learning_rate": 1e-2}
    portions = tplinker, "JOINED_AT_ONCE"

    @staticmethod
    def plain(model, batch):
        return naive_loss(model, batch, batch["content_mask"])

    @staticmethod
    def prepare(model):
        model.step = 2500


def test_the_loss_of_padded_cells_is_that_of_an_input_padded_to_its_limit(
    tiny_encoder, monkeypatch
):
    """Where every cell counts, those of specials and padding, too."""
    monkeypatch.setattr(tables, "MAX_PAIRS", 30)
    monkeypatch.setattr(tables, "MAX_LOGITS", 200)
    model = build_extractor(TPLinker, tiny_encoder, padded_cells=True, max_length=14).double()
    model.step = 2500
    batch = training_batch(model, [toy_sentences()[index] for index in (2, 4)])
    model.config.encoder.pad_token_id = 3  # as of encoders whose padding is not the first piece
    fast, shape = model(**batch).loss, batch["input_ids"].shape
    whole = {
        key: F.pad(value, (0, 14 - shape[1]), value=3 * (key == "input_ids"))
        if value.shape == shape
        else value
        for key, value in batch.items()
    }
    check_loss(model, fast, naive_loss(model, whole, torch.ones_like(whole["content_mask"])))


def test_loss_weights_move_from_entities_to_a_mean_over_all_maps(tiny_encoder):
    assert (
        build_extractor(TPLinker, tiny_encoder).config.recover_steps == 6000
    )  # officially, on WebNLG
    model = build_extractor(TPLinker, tiny_encoder, recover_steps=9)
    assert model.loss_weights() == (1 / 9 + 1, 0.0)
    batch = training_batch(model, toy_sentences())
    model(**batch).loss.backward()
    assert model.links.weight.grad is not None
    assert not model.links.weight.grad.any()
    model.step = 5
    assert model.loss_weights() == pytest.approx((1 / 9 + 0.5, 4 / 9 * 0.5))
    model.step = 100
    assert model.loss_weights() == pytest.approx((1 / 9, 4 / 9))


def test_the_score_is_the_product_of_the_four_probabilities_used():
    triples = torch.tensor(
        [[0, 1, 2, 0, 4, 5], [1, 4, 6, 1, 1, 1]]
    )  # the second has its object first
    cells = targets(triples, 2)
    by_table = {
        4: {(1, 2): 0.5, (4, 5): 0.6, (4, 6): 0.9, (1, 1): 0.8},
        0: 0.7,
        2: 0.8,
        1: 0.5,
        3: 0.4,
    }
    scores = []
    for row, column, table in zip(
        cells.row.tolist(), cells.column.tolist(), cells.relation.tolist(), strict=True
    ):
        scores.append(by_table[4][row, column] if table == 4 else by_table[table])
    rows, found = decode(replace(cells, scores=torch.tensor(scores)), 2, 8)
    assert rows.tolist() == triples.tolist()
    torch.testing.assert_close(found, torch.tensor([0.5 * 0.6 * 0.7 * 0.8, 0.9 * 0.8 * 0.5 * 0.4]))
