"""PFN: the partition filter step by step, targets, decoding, losses against naive formulas, and
whole models.
"""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from support.contract import Evidence, ExtractorContract, PlainLoss
from support.extractors import dense, random_batch, with_words
from tripleaudit.extractors.partition_filter import partition_filter
from tripleaudit.extractors.pfn import PFN, decode, last_of_word, table_spans
from tripleaudit.testing import build_extractor, training_batch, worked_example

LAST = torch.arange(70).expand(2, -1)  # of words of one token each


def partition_step(gates: torch.Tensor, cell: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Relation, entity and shared partition [B, d] as in equations 2 to 6 of the paper.

    Args:
        gates: [B, 5 d], of the candidate, and the entity and relation gates of previous cell and
            candidate.
        cell: [B, d], the previous one.
    """
    candidate, *others = gates.chunk(5, dim=-1)
    entity_cell, relation_cell, entity_candidate, relation_candidate = (
        gate.softmax(dim=-1).cumsum(dim=-1) for gate in others
    )
    entity_cell, entity_candidate = 1 - entity_cell, 1 - entity_candidate
    candidate = candidate.tanh()
    both_cell, both_candidate = entity_cell * relation_cell, entity_candidate * relation_candidate
    share = both_cell * cell + both_candidate * candidate
    only_entity = (entity_cell - both_cell) * cell + (entity_candidate - both_candidate) * candidate
    only_relation = (relation_cell - both_cell) * cell
    only_relation = only_relation + (relation_candidate - both_candidate) * candidate
    return only_relation + share, only_entity + share, share


def plain_logits(model: PFN, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """The model as the paper writes it, without dropout: entity logits [L, L] and relation logits
    [L, L, R].

    Args:
        hidden: [L, H] of one sentence without padding.
    """
    state = cell = hidden.new_zeros(1, model.config.width)
    weight, steps = model.recurrent.weight * (1 - model.config.drop_connect), []
    for x in hidden[:, None]:
        partitions = partition_step(
            model.input(x) + F.linear(state, weight, model.recurrent.bias), cell
        )
        cell = model.cell(torch.cat(partitions, dim=-1))
        state = cell.tanh()
        steps.append(torch.cat(partitions).tanh())
    relation, entity, share = torch.stack(steps, dim=1)  # [L, d] each
    size, tables = len(hidden), []
    for own, pool, pair, norm, out in (
        (entity, model.entity_global, model.entity_pair, model.entity_norm, model.entity_out),
        (
            relation,
            model.relation_global,
            model.relation_pair,
            model.relation_norm,
            model.relation_out,
        ),
    ):
        whole = pool(torch.cat([share, own], dim=-1)).tanh().amax(dim=0)
        parts = (
            own[:, None].expand(-1, size, -1),
            own[None].expand(size, -1, -1),
            whole.expand(size, size, -1),
        )
        tables.append(out(F.elu(norm(pair(torch.cat(parts, dim=-1))))))
    return tables[0][..., 0], tables[1]


def oracle(batch: dict, relations: int):
    """Decode perfect logits built with the target functions; of several entities at one start
    the longest is best.
    """
    triples, (size, length) = batch["triples"], batch["input_ids"].shape
    starts, stops = table_spans(triples, batch["word_ids"], batch["word_first"], PFN.config_class())
    sentence = triples[:, :1].expand(-1, 2)
    entity = dense((size, length, length), sentence.flatten(), starts.flatten(), stops.flatten())
    entity = entity * (20 + 0.01 * torch.arange(length)) - 10
    table = (
        dense(
            (size, length, length, relations),
            triples[:, 0],
            starts[:, 0],
            starts[:, 1],
            triples[:, 3],
        )
        * 20
        - 10
    )
    last = last_of_word(*(batch[name] for name in ("word_ids", "word_first", "word_last")))
    return decode(entity, lambda cells: table[tuple(cells.T)], batch["content_mask"].bool(), last)


def naive_loss(model: PFN, batch: dict) -> torch.Tensor:
    """The loss sentence by sentence, with dense logits and labels."""
    hidden = model.encode(batch["input_ids"], batch["attention_mask"])
    total = 0.0
    for number in range(len(hidden)):
        length = int(batch["attention_mask"][number].sum())
        entities, relations = plain_logits(model, hidden[number, :length])
        own = batch["triples"][batch["triples"][:, 0] == number]
        starts, ends = table_spans(own, batch["word_ids"], batch["word_first"], model.config)
        labels, spans = torch.zeros_like(relations), torch.zeros_like(entities)
        labels[starts[:, 0], starts[:, 1], own[:, 3]] = 1
        spans[starts.flatten(), ends.flatten()] = 1
        upper = torch.ones_like(spans).triu()
        total = total + F.binary_cross_entropy_with_logits(entities, spans, upper, reduction="sum")
        total = total + F.binary_cross_entropy_with_logits(relations, labels, reduction="sum")
    return total / batch["attention_mask"].shape[1]


def decodable(batch: dict) -> set:
    """Of entities that share a start the longest."""
    rows = list(map(tuple, batch["triples"].tolist()))
    longest = {}
    for s, a, b, _, c, d in rows:
        for start, end in ((a, b), (c, d)):
            longest[s, start] = max(end, longest.get((s, start), 0))
    return {(s, a, longest[s, a], r, c, longest[s, c]) for s, a, _, r, c, _ in rows}


def evidence(logits: list[float]):
    """Of both entities, and of the relation between their starts."""
    entities, relations = torch.full((1, 6, 6), -9.0), torch.full((6, 6, 2), -9.0)
    entities[0, 1, 2], entities[0, 3, 4], relations[1, 3, 1] = logits
    entities[0, 3, 3] = -0.5  # a start has its likeliest end
    return decode(
        entities, lambda cells: relations[cells[:, 1], cells[:, 2]], torch.ones(1, 6).bool(), LAST
    )


class TestPFN(ExtractorContract, PlainLoss, Evidence):
    kind, words, behind, half = PFN, True, 3, True  # a half as in the authors' code
    oracle, decodable, plain, evidence = map(
        staticmethod, (oracle, decodable, naive_loss, evidence)
    )
    ceilings = {"nyt": 98.88, "webnlg": 96.02}
    whole = {"width": 32, "dropout": 0.0, "drop_connect": 0.0}
    exact = {"width": 6}

    @staticmethod
    def random(seed):
        return with_words(random_batch(seed))

    @staticmethod
    def prepare(model):
        model.eval()  # the plain formulas have no dropped connections


@pytest.mark.parametrize(("entities", "first"), [("full", (1, 2)), ("last_word", (2, 2))])
def test_worked_example(tiny_encoder, entities, first):
    model = build_extractor(PFN, tiny_encoder, width=8, entities=entities)
    batch = training_batch(model, [worked_example()])
    starts, ends = table_spans(
        batch["triples"], batch["word_ids"], batch["word_first"], model.config
    )
    found = list(zip(starts.flatten().tolist(), ends.flatten().tolist(), strict=True))
    assert found == [first, (4, 4), (4, 4), (6, 6)]


def test_partitions_and_their_gradients_are_those_of_the_equations():
    torch.manual_seed(0)
    shapes = (4, 3, 20), (20, 4), (4, 12), (4,)
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    gates, weight, mix, bias = inputs
    state = cell = torch.zeros(3, 4, dtype=torch.float64)
    steps = []
    for gate in gates:
        relation, entity, share = partition_step(gate + state @ weight.T, cell)
        cell = torch.cat([relation, entity, share], dim=-1) @ mix.T + bias
        state = cell.tanh()
        steps.append(torch.stack([entity, relation, share], dim=1))
    expected, partitions = torch.stack(steps), partition_filter(*inputs)
    torch.testing.assert_close(partitions, expected)
    upstream = torch.randn_like(expected)
    for gradient, plain in zip(
        torch.autograd.grad(partitions, inputs, upstream),
        torch.autograd.grad(expected, inputs, upstream),
        strict=True,
    ):
        torch.testing.assert_close(gradient, plain)


def test_dropped_connections_keep_their_scale_at_test(tiny_encoder):
    model = build_extractor(PFN, tiny_encoder, width=6, dropout=0.0, drop_connect=0.5)
    hidden = torch.randn(2, 5, model.hidden_size)
    model.eval()
    assert torch.equal(model.partition(hidden)[0], model.partition(hidden)[0])
    model.train()
    assert not torch.equal(model.partition(hidden)[0], model.partition(hidden)[0])


def test_an_eager_model_follows_up_60_starts_and_writes_1000_rows_of_a_sentence():
    asked = []

    def relations(cells):
        asked.append(cells)
        return torch.ones(len(cells), 1)

    rows, _ = decode(torch.ones(2, 64, 64), relations, torch.ones(2, 64).bool(), LAST)
    assert torch.cat(asked).tolist() == [
        [s, i, j] for s in range(2) for i in range(60) for j in range(60)
    ]
    assert torch.bincount(rows[:, 0]).tolist() == [1000, 1000]


def test_a_span_that_ends_with_a_words_first_piece_ends_with_its_last():
    """The first word of the text, too; other pieces, specials and padding stand for themselves."""
    word_ids = torch.tensor([[-1, 0, 0, 1, 2, 2, 2, -1], [-1, 0, -1, -1, -1, -1, -1, -1]])
    first, last = torch.tensor([[1, 3, 4], [1, -1, -1]]), torch.tensor([[2, 3, 6], [1, -1, -1]])
    assert last_of_word(word_ids, first, last).tolist() == [
        [0, 2, 2, 3, 6, 5, 6, 7],
        [0, 1, 2, 3, 4, 5, 6, 7],
    ]
