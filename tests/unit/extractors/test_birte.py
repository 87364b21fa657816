"""BiRTE: draws, decoding in both directions, losses against naive formulas, and whole models."""

from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F

from support.contract import Evidence, ExtractorContract, PlainLoss
from support.extractors import tag_logits
from tripleaudit.extractors.batches import GoldBatch, Shape
from tripleaudit.extractors.birte import BiRTE, decode, draw_pairs, given_logits
from tripleaudit.extractors.casrel import draw_subjects
from tripleaudit.testing import build_extractor, toy_sentences, training_batch


def oracle(batch: dict, relations: int, **limits):
    """Decode perfect logits (+10 / -10); spans and pairs that are not gold yield nothing."""
    triples = batch["triples"]
    shape = batch["input_ids"].shape
    sides = [triples[:, [0, 1, 2]], triples[:, [0, 4, 5]]]
    tags = [tag_logits(shape, *side.unbind(1)) for side in sides]

    def given(own, other):
        def logits(spans):
            keys = torch.stack(spans, dim=1)
            table = torch.full((len(keys), shape[1], 2), -10.0)
            n, t = torch.nonzero((keys[:, None] == own[None]).all(dim=-1), as_tuple=True)
            table[n, other[t, 1], 0] = 10.0
            table[n, other[t, 2], 1] = 10.0
            return table

        return logits

    def pair_relations(pairs):
        table = torch.full((len(pairs), relations), -10.0)
        n, t = torch.nonzero(
            (pairs[:, None] == triples[None][..., [0, 1, 2, 4, 5]]).all(dim=-1), as_tuple=True
        )
        table[n, triples[t, 3]] = 10.0
        return table

    subjects, objects = sides
    content = batch["content_mask"].bool()
    forth, back = (tags[0], given(subjects, objects)), (tags[1], given(objects, subjects))
    return decode(forth, back, pair_relations, content, **limits)


def naive_loss(model: BiRTE, batch: dict) -> torch.Tensor:
    """The five terms sentence by sentence with dense labels and the un-folded formulas; the
    first spans are drawn.
    """
    encoded = model.encoder(batch["input_ids"], batch["attention_mask"])
    width = encoded.last_hidden_state.shape[-1]
    weights, biases = model.tokens.weight.split(width), model.tokens.bias.split(width)
    a, b, e = (encoded.last_hidden_state @ w.T + c for w, c in zip(weights, biases, strict=True))
    a = a + b[:, 0][:, None]
    b = b + a[:, 0][:, None]
    p = encoded.pooler_output
    mask = batch["attention_mask"].bool()
    rows = batch["triples"].tolist()
    size, length = mask.shape
    totals = dict.fromkeys(("subject", "object", "forth", "back", "relation"), 0.0)
    counts = dict.fromkeys(totals, 0)

    def add(name, number, logits, spans):
        labels = torch.zeros(length, 2, dtype=torch.float64)
        for start, end in spans:
            labels[start, 0] = labels[end, 1] = 1
        loss = F.binary_cross_entropy_with_logits(logits, labels, reduction="none").mean(dim=-1)
        totals[name] = totals[name] + loss[mask[number]].sum()
        counts[name] += int(mask[number].sum())

    for number in range(size):
        own = [row for row in rows if row[0] == number]
        add("subject", number, model.subject(a[number] + p[number]), [row[1:3] for row in own])
        add("object", number, model.object(b[number] + p[number]), [row[4:6] for row in own])
        if not own:
            continue
        s, o = own[0][1:3], own[0][4:6]
        mean_a, mean_b = a[number, s].mean(dim=0), b[number, o].mean(dim=0)
        add("forth", number, model.object_given_subject(b[number] * mean_a + p[number]),
            [row[4:6] for row in own if row[1:3] == s])  # fmt: skip
        add("back", number, model.subject_given_object(a[number] * mean_b + p[number]),
            [row[1:3] for row in own if row[4:6] == o])  # fmt: skip
        one = torch.ones(1, dtype=torch.float64)
        left, right = (
            torch.cat([e[number, s].mean(dim=0), one]),
            torch.cat([e[number, o].mean(dim=0), one]),
        )
        logits = torch.einsum("i,irj,j->r", left, model.biaffine, right)
        labels = torch.zeros_like(logits)
        labels[[row[3] for row in own if row[1:3] == s and row[4:6] == o]] = 1
        totals["relation"] = totals["relation"] + F.binary_cross_entropy_with_logits(logits, labels)
        counts["relation"] += 1
    return sum(totals[name] / counts[name] for name in totals if counts[name])


def nearest(spans: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Spans as start/end taggers give them back: each start with the nearest end."""
    ends = {end for _, end in spans}
    return {(start, min(end for end in ends if end >= start)) for start, _ in spans}


def decodable(batch: dict) -> set:
    """Both directions are united."""
    gold = set(map(tuple, batch["triples"].tolist()))
    found = set()
    for number in range(len(batch["input_ids"])):
        own = [row for row in gold if row[0] == number]
        for one, two, flip in ((slice(1, 3), slice(4, 6), False), (slice(4, 6), slice(1, 3), True)):
            for span in nearest({row[one] for row in own}) & {row[one] for row in own}:
                for other in nearest({row[two] for row in own if row[one] == span}):
                    s, o = (other, span) if flip else (span, other)
                    found |= {row for row in own if row[1:3] == s and row[4:6] == o}
    return found


def direction(logits: list[float], own: tuple = (1, 2), other: tuple = (3, 4)):
    """Logits of one side's start and end, and of those of the other side, given it; all others
    are negative.
    """
    first, second = torch.full((1, 6, 2), -9.0), torch.full((1, 6, 2), -9.0)
    first[0, own, (0, 1)], second[0, other, (0, 1)] = torch.tensor(logits).view(2, 2)
    return first, lambda spans: second.expand(len(spans[0]), -1, -1)


def related(forth: tuple, back: tuple, logit: float):
    """Decode both directions, where any pair has the second of two relations."""
    relations = torch.tensor([[-9.0, logit]])
    return decode(
        forth, back, lambda pairs: relations.expand(len(pairs), -1), torch.ones(1, 6).bool()
    )


def evidence(logits: list[float]):
    """Of start and end of the first side, start and end of the other, given it, and of the
    relation; both ways.
    """
    *own, relation = logits
    rows, scores = related(direction(own), direction([-9.0] * 4), relation)
    back, same = related(direction([-9.0] * 4), direction(own, (3, 4), (1, 2)), relation)
    assert torch.equal(back, rows) and torch.equal(same, scores)
    return rows, scores


class TestBiRTE(ExtractorContract, PlainLoss, Evidence):
    kind, draws, behind = BiRTE, True, 5
    oracle, decodable, plain, evidence = map(
        staticmethod, (oracle, decodable, naive_loss, evidence)
    )
    ceilings = {"nyt": 99.99, "webnlg": 99.59}
    whole = exact = {"dropout": 0.0}
    first = True

    @staticmethod
    def prepare(model):
        model.biaffine.mul_(20)


def test_pairs_are_drawn_uniformly_subject_first():
    triples = np.array(
        [
            [1, 3, 3, 0, 5, 5],
            [1, 3, 3, 1, 5, 5],
            [1, 3, 3, 0, 6, 7],
            [1, 4, 5, 2, 6, 7],
            [2, 1, 1, 0, 2, 2],
        ]
    )
    counts: dict[tuple, int] = {}
    steps = np.linspace(0.01, 0.99, 20)
    for one in steps:
        for two in steps:
            subject, object_, drawn = draw_pairs(triples, np.full(3, one), np.full(3, two), 3)
            key = tuple(int(part[1]) for part in (*subject, *object_))
            counts[key] = counts.get(key, 0) + 1
            assert drawn.tolist() == [
                *(tuple(row[1:3] + row[4:6]) == key for row in triples.tolist()[:4]),
                True,
            ]
            assert draw_subjects(triples, np.full(3, one), 3)[2].tolist() == [False, True, True]
    assert counts == {(3, 3, 5, 5): 100, (3, 3, 6, 7): 100, (4, 5, 6, 7): 200}


def test_the_score_is_that_of_the_better_direction():
    forth, back = [1.0, 1.0, 2.0, 2.0], [3.0, 3.0, 0.5, 0.5]
    _, scores = related(direction(forth), direction(back, (3, 4), (1, 2)), 4.0)
    better = max(torch.tensor(each).sigmoid().prod() for each in (forth, back))
    torch.testing.assert_close(scores, better[None] * torch.tensor(4.0).sigmoid())


def test_an_eager_model_stays_within_its_limits():
    content = torch.ones(2, 30, dtype=torch.bool)
    everything, asked = torch.ones(2, 30, 2), []

    def given(spans):
        return torch.ones(len(spans[0]), 30, 2)

    def relations(pairs):
        asked.append(pairs)
        return torch.ones(len(pairs), 50)

    rows, _ = decode((everything, given), (everything, given), relations, content, pairs_at_once=7)
    assert torch.bincount(torch.cat(asked)[:, 0]).tolist() == [100, 100]
    assert torch.bincount(rows[:, 0]).tolist() == [1000, 1000]
    nothing = decode((-everything, given), (-everything, given), relations, content)
    assert nothing[0].shape == (0, 6)


def test_folded_tagger_equals_the_plain_one():
    torch.manual_seed(0)
    tagger = torch.nn.Linear(5, 2).double()
    given_, tokens = torch.randn(3, 7, 5).double(), torch.randn(3, 7, 5).double()
    pooled = torch.randn(3, 5).double()
    spans = (
        torch.tensor([0, 0, 2, 2, 2]),
        torch.tensor([1, 2, 0, 3, 3]),
        torch.tensor([1, 4, 6, 3, 5]),
    )
    fast = given_logits(tagger, given_, tokens, pooled, spans)
    for row, (number, start, end) in enumerate(zip(*map(torch.Tensor.tolist, spans), strict=True)):
        mean = (given_[number, start] + given_[number, end]) / 2
        torch.testing.assert_close(
            fast[row], tagger(tokens[number] * mean + pooled[number]), rtol=0, atol=1e-12
        )


def test_sentences_without_triples_leave_the_later_terms(tiny_encoder):
    model = build_extractor(BiRTE, tiny_encoder).double().eval()
    terms = model(
        **training_batch(model, [each for each in toy_sentences() if not each.triples])
    ).terms
    assert {key: float(term) > 0 for key, term in terms.items()} == {
        "subject": True, "object": True, "object_given_subject": False, "subject_given_object": False, "relation": False
    }  # fmt: skip


def test_its_three_stages_draw_apart():
    """The subject of stage 2, its object and the pair of stage 3 each depend on uniforms of
    their own.
    """
    rows, config = (
        np.array([[1, 1, 0, 2, 2], [3, 3, 1, 4, 4]]),
        BiRTE.config_class(relations=["C", "W"]),
    )

    def spans(*numbers: float) -> dict[str, list]:
        uniforms = SimpleNamespace(random=lambda count, dtype: np.array(numbers, dtype))
        made = BiRTE.collate_targets(config, GoldBatch([rows], [uniforms], Shape(1, 6)))
        return {
            name: made[name].tolist()
            for name in ("given_subject", "given_object", "pair_subject", "pair_object")
        }

    first = spans(0.1, 0.1, 0.1, 0.1)
    for draws, own in (
        ((0.9, 0.1, 0.1, 0.1), {"given_subject"}),
        ((0.1, 0.9, 0.1, 0.1), {"given_object"}),
        ((0.1, 0.1, 0.9, 0.1), {"pair_subject", "pair_object"}),
    ):
        assert {name for name, span in spans(*draws).items() if span != first[name]} == own
