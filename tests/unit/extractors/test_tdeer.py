"""TDEER: instances, decoding, losses against naive formulas, and whole models."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from support.contract import Evidence, ExtractorContract, PlainLoss
from support.extractors import dense, random_batch, tag_logits
from tripleaudit.extractors.tdeer import TDEER, decode, draw_instances
from tripleaudit.testing import build_extractor, make_sentence


def oracle(batch: dict, relations: int, **limits):
    """Decode perfect logits (+10 / -10); a subject or relation that is not gold yields nothing."""
    triples = batch["triples"]
    size, length = batch["input_ids"].shape
    sides = [
        tag_logits((size, length), triples[:, 0], triples[:, at], triples[:, at + 1])
        for at in (1, 4)
    ]
    heads, tails = torch.stack(sides, dim=-1).unbind(dim=2)  # of subject and object

    def objects(instances):
        logits = torch.full((len(instances), length), -10.0)
        n, t = torch.nonzero(
            (instances[:, None] == triples[None, :, :4]).all(dim=-1), as_tuple=True
        )
        logits[n, triples[t, 4]] = 10.0
        return logits

    relation = dense((size, relations), triples[:, 0], triples[:, 3])
    content = batch["content_mask"].bool()
    return decode((heads, tails), relation * 20 - 10, objects, content, **limits)


def instances_of(batch: dict) -> list[list[int]]:
    """(sentence, subject start, subject end, relation, count) of each instance."""
    length = batch["input_ids"].shape[1]
    rows = zip(batch["instances"].tolist(), (batch["subjects"] % length).tolist(), strict=True)
    return [[number, *span, relation, count] for (number, relation, count), span in rows]


def naive_objects(
    model: TDEER, hidden: torch.Tensor, mask: torch.Tensor, instance: list[int]
) -> torch.Tensor:
    """Object-head logits [L] of one instance, as the paper writes the attention."""
    number, start, end, relation = instance
    subject = (hidden[number, start] + hidden[number, end]) / 2
    y = (
        hidden[number]
        + subject
        + model.relation_projection(model.relation_embedding.weight[relation]).relu()
    )
    q, k, v = (
        F.relu(y @ part.T) + model.attention_bias for part in model.attention.weight.chunk(3)
    )
    scores = (q @ k.T)[:, mask[number].bool()]
    output = scores.softmax(dim=-1) @ v[mask[number].bool()] + v
    return model.object(output)[:, 0]


def naive_loss(model: TDEER, batch: dict) -> torch.Tensor:
    """The loss with the sentence repeated for each of its instances."""
    hidden = model.encode(batch["input_ids"], batch["attention_mask"])
    mask = batch["attention_mask"].double()
    size, length = mask.shape
    rows = batch["triples"].tolist()
    copies = [each[:4] for each in instances_of(batch) for _ in range(each[4])]
    numbers = [each[0] for each in copies]
    numbers += [number for number in range(size) if number not in numbers]
    entity = relation = objects = 0.0
    for number in numbers:
        own = [row for row in rows if row[0] == number]
        for layer, places in ((model.heads, (1, 4)), (model.tails, (2, 5))):
            labels = torch.zeros(length, 2, dtype=torch.float64)
            for row in own:
                labels[row[places[0]], 0] = labels[row[places[1]], 1] = 1
            loss = F.binary_cross_entropy_with_logits(
                layer(hidden[number]), labels, reduction="none"
            )
            entity = entity + (loss.sum(dim=-1) * mask[number]).sum()
        labels = torch.zeros(len(model.config.relations), dtype=torch.float64)
        labels[[row[3] for row in own]] = 1
        relation = relation + F.binary_cross_entropy_with_logits(
            model.relation(hidden[number, 0]), labels
        )
    total = entity / sum(mask[number].sum() for number in numbers) + relation / len(numbers)
    for instance in copies:
        labels = torch.zeros(length, dtype=torch.float64)
        labels[[row[4] for row in rows if row[:4] == instance]] = 1
        logits = naive_objects(model, hidden, mask, instance)
        objects = (
            objects
            + (
                F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
                * mask[instance[0]]
            ).sum()
        )
    return total + 5.0 * objects / sum(mask[each[0]].sum() for each in copies)


def decodable(batch: dict) -> set:
    """One object a head distinguishes no more."""
    gold = set(map(tuple, batch["triples"].tolist()))
    found = set()
    for number in range(len(batch["input_ids"])):
        own = [row for row in gold if row[0] == number]
        subject_tails, object_tails = {row[2] for row in own}, {row[5] for row in own}
        for row in own:
            if row[2] == min(tail for tail in subject_tails if tail >= row[1]):
                found.add((*row[:5], min(tail for tail in object_tails if tail >= row[4])))
    return found


def evidence(logits: list[float]):
    """Of the subject's head and tail, the relation, the object's head and tail, and the object
    logit.
    """
    heads, tails, objects = (
        torch.full((1, 6, 2), -9.0),
        torch.full((1, 6, 2), -9.0),
        torch.full((1, 6), -9.0),
    )
    heads[0, 1, 0], tails[0, 2, 0], relation, heads[0, 3, 1], tails[0, 4, 1], objects[0, 3] = logits
    objects[0, 1] = 3.0  # no object begins there

    def asked(instances):
        assert instances.tolist() == [[0, 1, 2, 1]]
        return objects

    return decode((heads, tails), torch.tensor([[-9.0, relation]]), asked, torch.ones(1, 6).bool())


class TestTDEER(ExtractorContract, PlainLoss, Evidence):
    kind, draws, behind = TDEER, True, 6
    oracle, decodable, plain, evidence = map(
        staticmethod, (oracle, decodable, naive_loss, evidence)
    )
    ceilings = {"nyt": 99.73, "webnlg": 98.22}
    extra = [
        make_sentence(
            "tim cook leads apple .",
            ("tim cook", "C", "apple"),
            ("tim cook", "C", "leads"),
            id="several",
        )
    ]

    @staticmethod
    def prepare(model):
        model.attention_bias.fill_(0.1)


def test_negatives_are_sampled_per_positive():
    rows = np.array([[1, 1, 0, 2, 2], [1, 1, 0, 3, 3], [4, 4, 1, 5, 5], [6, 6, 2, 1, 1]])
    gold = {tuple(row[:3]) for row in rows.tolist()}
    seen = set()
    for seed in range(60):
        instances = draw_instances(rows, np.random.default_rng(seed), neg_samples=1)
        counts = {tuple(each[:3]): each[3] for each in instances}
        assert {key: counts[key] for key in gold} == {(1, 1, 0): 2, (4, 4, 1): 1, (6, 6, 2): 1}
        negatives = set(counts) - gold
        assert 3 <= len(negatives) <= 4
        seen |= negatives
    assert seen == {
        (2, 2, 0), (3, 3, 0), (1, 1, 1), (1, 1, 2), (4, 4, 0), (6, 6, 0), (5, 5, 1), (4, 4, 2), (6, 6, 1), (1, 1, 2)
    }  # fmt: skip
    assert {key[:3] for key in draw_instances(rows, np.random.default_rng(0), 0)} == gold
    assert draw_instances(rows[:0], np.random.default_rng(0), 2) == []


def test_an_eager_model_stays_within_its_limits():
    ones = torch.ones(2, 30, 2)
    called = []

    def objects(instances):
        called.append(len(instances))
        return torch.ones(len(instances), 30)

    rows, _ = decode((ones, ones), torch.ones(2, 50), objects, torch.ones(2, 30).bool(), 64)
    assert called == [64, 64, 64, 8]
    for batch in map(random_batch, range(20)):
        assert torch.equal(oracle(batch, 3)[0], oracle(batch, 3, instances_at_once=2)[0])
    assert torch.bincount(rows[:, 0]).tolist() == [1000, 1000]
    assert decode((ones, ones), -torch.ones(2, 50), objects, torch.ones(2, 30).bool())[0].shape == (
        0,
        6,
    )
    assert decode((-ones, ones), torch.ones(2, 50), objects, torch.ones(2, 30).bool())[0].shape == (
        0,
        6,
    )


def test_queries_keys_and_values_start_as_three_square_layers(tiny_encoder):
    weight = build_extractor(TDEER, tiny_encoder).attention.weight.detach()
    width = weight.shape[1]
    assert weight.shape == (3 * width, width)
    for part in weight.chunk(3):  # Xavier: variance 2 / (inputs + outputs)
        assert part.std().item() == pytest.approx((1 / width) ** 0.5, rel=0.05)


def test_relation_embeddings_start_as_keras_has_it(tiny_encoder):
    """Uniform between -0.05 and 0.05, what an Embedding of the authors' framework starts from."""
    torch.manual_seed(0)
    model = build_extractor(TDEER, tiny_encoder)
    weight = model.relation_embedding.weight
    assert 0.04 < weight.abs().max().item() <= 0.05 and weight.min() < -0.04


def test_as_many_positives_as_may_be_are_all_without_a_draw_and_fewer_are_distinct():
    rows = np.array([[1, 1, 0, 2, 2], [4, 4, 1, 5, 5], [6, 6, 2, 1, 1]])
    for seed in range(20):
        whole, exact = (
            draw_instances(rows, np.random.default_rng(seed), 1, most) for most in (0, 3)
        )
        assert whole == exact
        fewer = draw_instances(rows, np.random.default_rng(seed), 0, 2)
        assert [each[3] for each in fewer] == [1, 1]
        assert fewer == sorted(fewer)  # in the order of the triples
