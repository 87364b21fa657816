"""PRGC: tags, correspondence, decoding, losses against naive formulas, and whole models."""

import itertools

import pytest
import torch
import torch.nn.functional as F

from support.contract import ExtractorContract, PlainLoss, Portions
from support.extractors import dense
from tripleaudit.extractors import prgc
from tripleaudit.extractors.prgc import PRGC, decode, tag_labels
from tripleaudit.testing import build_extractor, toy_sentences, training_batch, worked_example


def instances_of(triples: torch.Tensor) -> torch.Tensor:
    """Return the distinct pairs (sentence, relation) of triples, [m, 2]."""
    return torch.unique(triples[:, [0, 3]], dim=0).reshape(-1, 2)


def labels_of(
    triples: torch.Tensor, places: tuple[int, int], instances: torch.Tensor, length: int
) -> torch.Tensor:
    """Return the target tags [m, L] of the instances; ``places`` are the columns of start and end."""
    return torch.from_numpy(
        tag_labels(triples.numpy(), places, list(map(tuple, instances.tolist())), length)
    )


def oracle(batch: dict, relations: int, **config):
    """Decode perfect logits (+10 / -10) built with the target functions."""
    triples = batch["triples"]
    size, length = batch["input_ids"].shape
    gold = instances_of(triples)
    labels = [labels_of(triples, places, gold, length) for places in ((1, 2), (4, 5))]
    relation = dense((size, relations), triples[:, 0], triples[:, 3]) * 20 - 10
    pairs = dense((size, length, length), triples[:, 0], triples[:, 1], triples[:, 4]) * 20 - 10

    def tags(instances):
        place = (instances[:, None] == gold[None]).all(dim=-1).long().argmax(dim=1)
        return tuple(F.one_hot(part[place], 3).double() * 20 for part in labels)

    config = PRGC.config_class(**{"fallback": False, **config})
    return decode(
        relation, tags, lambda cells: pairs[tuple(cells.T)], batch["content_mask"].bool(), config
    )


def naive_tags(rows: list[list[int]], places: tuple[int, int], length: int) -> list[int]:
    """Write BIO tags (0 outside, 1 begin, 2 inside) triple by triple."""
    tags = [0] * length
    for row in rows:
        start, end = row[places[0]], row[places[1]]
        tags[start : end + 1] = [1] + [2] * (end - start)
    return tags


def naive_chunks(tags: list[int]) -> list[tuple[int, int]]:
    """Read BIO tags one by one: an inside tag without an open chunk opens one."""
    chunks, start = [], None
    for place, tag in enumerate([*tags, 0]):
        if start is not None and tag != 2:
            chunks.append((start, place - 1))
            start = None
        if tag == 1 or (tag == 2 and start is None):
            start = place
    return chunks


def naive_loss(model: PRGC, batch: dict) -> torch.Tensor:
    """Compute the loss from its formula.

    Each sentence is repeated for each of its relations, inputs are concatenated, labels are dense.
    """
    hidden = model.encode(batch["input_ids"], batch["attention_mask"])
    rows = batch["triples"].tolist()
    copies = batch["instances"].tolist()
    relation = pair = tags = 0.0
    tokens = pairs = 0
    repeated = [number for number, _ in copies]
    for number in repeated:
        words = batch["content_mask"][number].bool()
        h = hidden[number, words]
        sentence_rows = [row for row in rows if row[0] == number]
        labels = torch.zeros(len(model.config.relations), dtype=torch.float64)
        labels[[row[3] for row in sentence_rows]] = 1
        logits = model.relation(model.relation_hidden(h.mean(dim=0)).relu())
        relation = relation + F.binary_cross_entropy_with_logits(logits, labels)
        n = len(h)
        both = torch.cat([h[:, None].expand(n, n, -1), h[None].expand(n, n, -1)], dim=-1)
        labels = torch.zeros(n, n, dtype=torch.float64)
        for row in sentence_rows:
            labels[row[1] - 1, row[4] - 1] = 1  # the table has no row for [CLS]
        logits = model.pair(model.pair_hidden(both).relu())[..., 0]
        pair = pair + F.binary_cross_entropy_with_logits(logits, labels, reduction="sum")
        pairs += n * n
    for number, relation_id in copies:
        words = batch["content_mask"][number].bool()
        h = hidden[number, words]
        h = torch.cat([h, model.relation_embedding.weight[relation_id].expand(len(h), -1)], dim=-1)
        instance_rows = [row for row in rows if row[0] == number and row[3] == relation_id]
        for first, second, places in (
            (model.subject_hidden, model.subject, (1, 2)),
            (model.object_hidden, model.object, (4, 5)),
        ):
            labels = torch.tensor(naive_tags(instance_rows, places, batch["input_ids"].shape[1]))[
                words
            ]
            tags = tags + F.cross_entropy(second(first(h).relu()), labels, reduction="sum") / 2
        tokens += len(h)
    return relation / len(repeated) + pair / pairs + tags / tokens


def decodable(batch: dict) -> set:
    """Return the triples that remain if the tags of an instance overwrite each other."""
    rows, length = batch["triples"].tolist(), batch["input_ids"].shape[1]
    instances = instances_of(batch["triples"])
    triples = set()
    for place, (number, relation) in enumerate(instances.tolist()):
        instance_rows = [row for row in rows if row[0] == number and row[3] == relation]
        sides = []
        for places in ((1, 2), (4, 5)):
            tags = naive_tags(instance_rows, places, length)
            assert labels_of(batch["triples"], places, instances, length)[place].tolist() == tags
            sides.append(naive_chunks(tags))
        heads = {(row[1], row[4]) for row in rows if row[0] == number}
        for subject, object_ in itertools.product(*sides):
            if (subject[0], object_[0]) in heads:
                triples.add((number, *subject, relation, *object_))
    return triples


class TestPRGC(ExtractorContract, PlainLoss, Portions):
    kind, draws = PRGC, True
    oracle, decodable, plain = map(staticmethod, (oracle, decodable, naive_loss))
    ceilings = {"nyt": 99.97, "webnlg": 99.84}
    whole, exact = {"dropout": 0.0, "fallback": False}, {"dropout": 0.0}
    overfit = {"steps": 1200}  # the small initial weights of the heads are slow to grow
    portions = prgc, "CELLS_AT_ONCE", "PAIRS_AT_ONCE"

    @staticmethod
    def prepare(model):
        for name, parameter in model.named_parameters():
            if not name.startswith("encoder."):
                parameter.mul_(10)


def test_every_gold_relation_of_a_sentence_is_an_instance(tiny_encoder):
    batch = training_batch(build_extractor(PRGC, tiny_encoder), [worked_example()])
    assert batch["instances"].tolist() == [[0, 0], [0, 1]]


def test_thresholds_and_fallback():
    content = torch.tensor([[False, True, True, True, False]])
    relation = torch.tensor([[-4.0, -3.0]])  # both below 0.1
    subject = torch.tensor([0.0, 1, 0, 0, 0])
    object_ = torch.tensor([2.0, 0, 2, 2, 2])  # an inside tag opens a chunk; specials are outside

    def tags(instances):
        return tuple(
            F.one_hot(part.long(), 3).float().expand(len(instances), -1, -1) * 2
            for part in (subject, object_)
        )

    def run(pair, relation=relation, **settings_):
        config = PRGC.config_class(**settings_)
        return decode(
            relation, tags, lambda cells: torch.full((len(cells),), pair), content, config
        )

    rows, scores = run(1.0)
    assert rows.tolist() == [[0, 1, 1, 1, 2, 3]]
    tag_probability = torch.tensor([2.0, 0, 0]).softmax(dim=0)[0]  # equal for all tags
    relation_probability = torch.tensor([-3.0]).sigmoid()
    expected = relation_probability * torch.tensor(1.0).sigmoid() * tag_probability
    torch.testing.assert_close(scores, expected, rtol=1e-5, atol=0)
    assert run(1.0, fallback=False)[0].shape == (0, 6)
    assert run(1.0, pair_threshold=0.8)[0].shape == (0, 6)
    assert run(-1.0, pair_threshold=0.2)[0].shape == (1, 6)
    assert run(1.0, relation_threshold=0.01)[0][:, 3].tolist() == [0, 1]
    # As in the authors' code, a probability equal to the threshold does not exceed it.
    half = {"relation_threshold": 0.5, "pair_threshold": 0.5, "fallback": False}
    for relation_logit, pair_logit, count in ((0.0, 1.0, 0), (1.0, 0.0, 0), (0.01, 0.01, 1)):
        rows, _ = run(pair_logit, torch.tensor([[-4.0, relation_logit]]), **half)
        assert len(rows) == count


def test_an_eager_model_stays_within_its_limits():
    """At most 100 relations and 1000 triples of a sentence are decoded."""
    begin = F.one_hot(torch.ones(1, 30, dtype=torch.long), 3).float()
    decoded_instances = []

    def tags(instances):
        decoded_instances.append(instances)
        logits = begin.expand(len(instances), -1, -1)
        return logits, logits

    rows, _ = decode(
        torch.ones(2, 150),
        tags,
        lambda cells: torch.ones(len(cells)),
        torch.ones(2, 30).bool(),
        PRGC.config_class(),
    )
    assert torch.cat(decoded_instances).tolist() == [
        [sentence, relation] for sentence in (0, 1) for relation in range(100)
    ]
    assert torch.bincount(rows[:, 0]).tolist() == [1000, 1000]


@pytest.mark.parametrize("cells", [1, 100, 10**6])
def test_correspondence_does_not_depend_on_the_size_of_blocks(tiny_encoder, monkeypatch, cells):
    """Values and gradients are those of the layer over all pairs at once, without dropout."""
    model = build_extractor(PRGC, tiny_encoder, dropout=0.3).double().eval()
    torch.manual_seed(0)
    parts = [
        torch.randn(2, 6, model.hidden_size, dtype=torch.float64, requires_grad=True)
        for _ in range(2)
    ]
    rows, columns = parts
    inputs = [*parts, model.pair.weight, model.pair.bias]
    weights = torch.randn(2, 6, 6, dtype=torch.float64)
    plain = model.pair((rows[:, :, None] + columns[:, None]).relu())[..., 0]
    monkeypatch.setattr(prgc, "CELLS_AT_ONCE", cells)
    logits = model.pair_logits(*parts)
    torch.testing.assert_close(logits, plain, rtol=0, atol=1e-12)
    for gradient, expected in zip(
        torch.autograd.grad((logits * weights).sum(), inputs),
        torch.autograd.grad((plain * weights).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(gradient, expected, rtol=0, atol=1e-10)


def test_sentences_with_zero_triples_train_outside_tags_of_a_random_relation(tiny_encoder):
    model = build_extractor(PRGC, tiny_encoder)
    zero = [sentence for sentence in toy_sentences() if not sentence.triples]
    batches = [training_batch(model, zero, epoch=epoch) for epoch in range(12)]
    drawn = [batch["instances"] for batch in batches]
    assert all(instances[:, 0].tolist() == [0, 1] for instances in drawn)
    assert set(torch.cat(drawn)[:, 1].tolist()) == {0, 1, 2, 3}
    assert all(batch["subject_tags"].sum() == batch["object_tags"].sum() == 0 for batch in batches)


def test_pairs_are_dropped_in_training_alone(tiny_encoder):
    model = build_extractor(PRGC, tiny_encoder, dropout=0.3)
    parts = [torch.ones(1, 3, model.hidden_size) for _ in range(2)]
    model.eval()
    state = torch.get_rng_state()
    assert torch.equal(model.pair_logits(*parts), model.pair_logits(*parts))
    assert torch.equal(torch.get_rng_state(), state)
    model.train()
    assert not torch.equal(model.pair_logits(*parts), model.pair_logits(*parts))
