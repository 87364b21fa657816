"""UniRel: targets, decoding, the map against the paper's formulas, relations as input, and whole
models.
"""

import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from support.contract import Evidence, ExtractorContract, PlainLoss
from support.extractors import dense
from tripleaudit.core.errors import UserError
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.decoding import surest
from tripleaudit.extractors.unirel import HEAD, SPAN, TAIL, UniRel, decode, targets
from tripleaudit.testing import (
    build_extractor,
    save_tiny_encoder,
    toy_sentences,
    training_batch,
    worked_example,
)


def plain_scores(model: UniRel, states: Tensor) -> Tensor:
    """The maps as the paper writes them, head by head: logits [B, 3, L + R, L + R] from states
    [B, L + R, H].
    """
    query, key = (
        layer(states).unflatten(-1, (3 * model.heads, model.head_size)).transpose(1, 2)
        for layer in (model.query, model.key)
    )  # [B, 3 * heads, L + R, size]
    scores = query @ key.transpose(-1, -2) / model.head_size**0.5
    return scores.unflatten(1, (3, model.heads)).mean(dim=2) + model.maps.bias[:, None, None]


def perfect(batch: dict, relations: int) -> torch.Tensor:
    """Logits that are sure of the gold cells and of no other."""
    sentences, length = batch["input_ids"].shape
    shape = (sentences, 3, length + relations, length + relations)
    return (
        40 * dense(shape, *torch.unravel_index(targets(batch["triples"], length, shape), shape))
        - 20
    )


def oracle(batch: dict, relations: int):
    return decode(perfect(batch, relations), batch["content_mask"].bool())


def naive_loss(model: UniRel, batch: dict) -> torch.Tensor:
    """Means over whole maps by the paper's formulas, which the fast maps equal."""
    states = model.represent(batch["input_ids"], batch["attention_mask"])
    expected = plain_scores(model, states)
    torch.testing.assert_close(model.interactions(states), expected)
    labels = (perfect(batch, 4) > 0).double()
    there = torch.cat(
        [batch["attention_mask"], torch.ones(len(labels), 4, dtype=torch.long)], dim=1
    ).bool()
    valid = there[:, :, None] & there[:, None]
    return sum(
        F.binary_cross_entropy_with_logits(expected[:, m][valid], labels[:, m][valid])
        for m in range(3)
    )


def decodable(batch: dict) -> set:
    """What the official joins find; nothing is lost."""
    length, maps = batch["input_ids"].shape[1], perfect(batch, 3) > 0
    found = set()
    for number, (head, tail, span) in enumerate(maps):
        places = torch.nonzero(batch["content_mask"][number])[:, 0].tolist()
        entities = [(a, b) for a, b in itertools.product(places, places) if a <= b and span[a, b]]
        for (a, b), (c, d), r in itertools.product(entities, entities, range(3)):
            name = length + r
            linked = head[a, c] and tail[b, d]
            if linked and head[a, name] and head[name, c] and tail[b, name] and tail[name, d]:
                found.add((number, a, b, r, c, d))
    assert set(map(tuple, batch["triples"].tolist())) <= found
    return found


def evidence(logits: list[float], **options):
    """Of both entities, the links of their ends, and those of each end to and from the relation."""
    maps, r = torch.full((1, 3, 8, 8), -9.0), 7  # two relations behind six tokens
    cells = [(SPAN, 1, 2), (SPAN, 3, 4)]
    cells += [
        (which, *cell)
        for which, a, b in ((HEAD, 1, 3), (TAIL, 2, 4))
        for cell in ((a, b), (a, r), (r, b))
    ]
    for cell, logit in zip(cells, logits, strict=True):
        maps[(0, *cell)] = logit
    return decode(maps, torch.ones(1, 6, dtype=torch.bool), **options)


class TestUniRel(ExtractorContract, PlainLoss, Evidence):
    kind, behind = UniRel, 8
    oracle, decodable, plain, evidence = map(
        staticmethod, (oracle, decodable, naive_loss, evidence)
    )
    ceilings = {"nyt": 99.99, "webnlg": 100.0}
    overfit = {"learning_rate": 5e-3, "steps": 900}


def test_worked_example(tiny_encoder):
    batch = training_batch(build_extractor(UniRel, tiny_encoder), [worked_example()])
    length = batch["input_ids"].shape[1]
    maps = perfect(batch, 4)[0] > 0
    c, f = length, length + 1
    tim, cook, apple, cup, ino = 1, 2, 4, 6, 8
    assert set(map(tuple, maps[HEAD].nonzero().tolist())) == {
        (tim, apple), (apple, tim), (tim, c), (c, apple), (apple, cup), (cup, apple), (apple, f), (f, cup),
    }  # fmt: skip
    assert set(map(tuple, maps[TAIL].nonzero().tolist())) == {
        (cook, apple), (apple, cook), (cook, c), (c, apple), (apple, ino), (ino, apple), (apple, f), (f, ino),
    }  # fmt: skip
    spans = maps[SPAN]
    assert spans.equal(spans.T)
    assert set(map(tuple, spans[:length, :length].nonzero().tolist())) == {
        (tim, cook), (cook, tim), (apple, apple), (cup, ino), (ino, cup),
    }  # fmt: skip
    assert spans[c].nonzero()[:, 0].tolist() == [tim, cook, apple]
    assert spans[f].nonzero()[:, 0].tolist() == [apple, cup, ino]


@pytest.mark.parametrize("segments", [1, 2])
def test_the_encoder_reads_relations_behind_the_sentence_as_its_last_segment(tmp_path, segments):
    """What is reordered for a padded batch equals the sequence written out for one sentence."""
    encoder = save_tiny_encoder(tmp_path, segments=segments)
    model = build_extractor(UniRel, encoder, relations=("leader", "founded by")).double().eval()
    short, long = "it rains today .", "notes of ada lovelace , london ."
    batch = model.collate(model.aligner.align([short, long]))
    found = model.represent(batch["input_ids"], batch["attention_mask"])
    assert found.shape[1] == batch["input_ids"].shape[1] + 2
    table = model.encoder.get_input_embeddings().weight
    words = model.tokenizer(["leader", "founded by"], add_special_tokens=False)["input_ids"]
    names = torch.stack([table[ids].mean(dim=0) for ids in words])
    for row, text in enumerate((short, long)):
        ids = torch.tensor(model.tokenizer(text)["input_ids"])
        written = torch.cat([table[ids], names])[None]
        kinds = torch.tensor([[0] * len(ids) + [segments - 1] * 2])
        states = model.encoder(inputs_embeds=written, token_type_ids=kinds).last_hidden_state[0]
        torch.testing.assert_close(found[row, : len(ids)], states[:-2])
        torch.testing.assert_close(found[row, -2:], states[-2:])
    torch.testing.assert_close(
        model.encode(batch["input_ids"], batch["attention_mask"]), found[:, :-2]
    )


def test_no_weight_belongs_to_a_relation_and_a_model_takes_others(tiny_encoder, tmp_path):
    small, large = (
        build_extractor(UniRel, tiny_encoder, relations=[f"r{n}" for n in range(size)])
        for size in (1, 60)
    )
    shapes = [
        {name: tuple(each.shape) for name, each in model.state_dict().items()}
        for model in (small, large)
    ]
    assert shapes[0] == shapes[1]
    texts = [each.text for each in toy_sentences()]
    small.extract(texts)
    small.config.descriptions = {"founded": "was born in london"}
    small.set_schema(["leads", "founded"])
    assert small.config.relations == ["leads", "founded"]
    assert small.relation_embeddings().shape == (2, 32)
    words = [
        small.tokenizer(name, add_special_tokens=False)["input_ids"]
        for name in ("leads", "was born in london")
    ]
    assert small.extra_token_ids().tolist() == [words[0] + [0] * 3, words[1]]
    small.save_pretrained(tmp_path / "given")
    again = UniRel.from_pretrained(tmp_path / "given")
    assert again.config.descriptions == {"founded": "was born in london"}
    assert [each.triples for each in again.extract(texts)] == [
        each.triples for each in small.extract(texts)
    ]
    with pytest.raises(UserError, match="casrel extracts the relations that it was trained on"):
        build_extractor(CasRel, tiny_encoder).set_schema(["leads"])


def test_too_many_relations_are_refused_with_the_room_they_leave(tiny_encoder):
    names = [f"r{number}" for number in range(150)]
    with pytest.raises(
        UserError, match="all 150 relations into the encoder's 160 positions, which leaves 10"
    ):
        build_extractor(UniRel, tiny_encoder, relations=names)
    model = build_extractor(UniRel, tiny_encoder, relations=names[:70])
    assert model.aligner.limit == 90
    with pytest.raises(UserError, match="150 relations"):
        model.set_schema(names)


def test_less_than_a_half_is_enough_for_a_lower_threshold():
    assert [len(evidence([-0.1] * 8, threshold=threshold)[0]) for threshold in (0.5, 0.4)] == [0, 1]


def test_an_eager_model_follows_up_64_entities_and_512_pairs_of_a_sentence():
    rows, _ = decode(torch.full((2, 3, 23, 23), 0.1), torch.ones(2, 20, dtype=torch.bool))
    for number in (0, 1):
        own = rows[rows[:, 0] == number].tolist()
        assert len({(*row[1:3], *row[4:]) for row in own}) == 512 and len(own) == 3 * 512
        assert len({tuple(row[4:]) for row in own}) == 64
    assert (
        len(decode(torch.full((2, 3, 23, 23), -0.1), torch.ones(2, 20, dtype=torch.bool))[0]) == 0
    )


def test_of_too_many_the_surest_of_every_sentence_are_followed_up_the_first_of_equal_ones():
    sentences, scores = torch.tensor([0, 0, 0, 0, 1]), torch.tensor([0.1, 0.5, 0.9, 0.5, 0.2])
    assert surest(sentences, scores, 2).tolist() == [2, 1, 4]
