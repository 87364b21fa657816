"""Which sentences are trained on, in which batches, and with which random numbers."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.testing import build_extractor, make_sentence, toy_sentences
from tripleaudit.training.data import Collator, TrainingSentences, batches


@pytest.fixture(scope="module")
def model(tiny_encoder):
    return build_extractor(CasRel, tiny_encoder)


def test_sentences_that_lost_all_triples_never_become_negatives(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder, max_length=8)
    sentences = [
        make_sentence("tim leads apple and it was in london today .", ("tim", "C", "apple"), id="kept"),
        make_sentence("it was in london today and tim leads apple .", ("tim", "C", "apple"), id="cut"),
        Sentence("absent", "it rains .", (Triple(Span(0, 2, "it"), "C", Span(None, None, "nowhere")),)),
        Sentence("half", "tim leads .", (
            Triple(Span(0, 3, "tim"), "C", Span(4, 9, "leads")), Triple(Span(0, 2, "ti"), "F", Span(4, 9, "leads")),
        )),
        Sentence("zero", "it rains ."),
    ]  # fmt: skip
    dataset = TrainingSentences(sentences, model)
    assert [example.id for example in dataset.examples] == ["kept", "half", "zero"]
    assert dataset.counts["lost_sentences"] == 2
    assert dataset.counts["lost_triples"] == 3
    assert dataset.counts["truncated"] == 2
    assert dataset.counts["zero"] == 1
    assert [len(example.rows) for example in dataset.examples] == [1, 1, 0]


def test_batches_hold_every_sentence_once_and_similar_lengths():
    lengths = np.random.default_rng(0).integers(5, 100, size=1003)

    def numbers(seed: int, epoch: int, **options) -> list[list[int]]:
        found = batches(lengths, 8, seed, epoch, **options)
        assert {key[0] for batch in found for key in batch} == {epoch}
        return [[index for _, index in batch] for batch in found]

    orders = [numbers(3, 0), numbers(3, 1), numbers(4, 0)]
    assert len(orders[0]) == 126 and sorted(
        index for batch in orders[0] for index in batch
    ) == list(range(1003))
    spread, plain = (
        np.mean([np.ptp(lengths[batch]) for batch in each])
        for each in (orders[0], numbers(3, 0, grouped=False))
    )
    assert spread < 0.1 * plain
    assert numbers(3, 0) == orders[0] != orders[1] and orders[0] != orders[2]
    together = [{frozenset(batch) for batch in order} for order in orders]
    assert len(together[0] & together[1]) < 5  # not the same batches in another order either


def test_draws_depend_on_sentence_seed_and_epoch_but_not_on_the_batch(model):
    twice = make_sentence(
        "tim leads apple and london .",
        *(("tim", "C", "apple"), ("apple", "C", "tim"), ("london", "C", "tim")),
        id="t",
    )
    texts = [
        replace(twice, id=str(number), text=f"{twice.text} {'today ' * number}")
        for number in range(8)
    ]
    dataset = TrainingSentences(texts, model)

    def draws(batch_size, seed=0, epoch=0):
        collate, rows = Collator(CasRel, model.config, 0, seed), {}
        for keys in batches(dataset.lengths, batch_size, seed, epoch):
            batch = collate([dataset[key] for key in keys])
            places = (
                batch["subject"]
                - batch["input_ids"].shape[1] * torch.arange(len(batch["subject"]))[:, None]
            )
            for ids, row in zip(batch["input_ids"].tolist(), places.tolist(), strict=True):
                rows[tuple(token for token in ids if token)] = row
        return rows

    assert draws(1) == draws(3) == draws(8)
    assert draws(3) != draws(3, seed=1)
    assert draws(3) != draws(3, epoch=1)


class Loud:
    """Noise that makes every sentence longer in odd epochs."""

    def __init__(self, words: int):
        self.words = words

    def __call__(self, each: Sentence, epoch: int):
        if epoch % 2 == 0 or not each.triples:
            return None
        front = "rain " * self.words

        def move(span):
            return Span(span.start + len(front), span.end + len(front), span.text)

        return replace(
            each,
            text=front + each.text,
            triples=tuple(
                replace(t, subject=move(t.subject), object=move(t.object)) for t in each.triples
            ),
        )


def test_noised_sentences_are_aligned_again_in_their_epoch(model):
    dataset = TrainingSentences(toy_sentences(), model, Loud(3))
    before, after = dataset[0, 0], dataset[1, 0]
    assert before.alignment is dataset.examples[0].alignment
    assert (after.rows[:, [0, 1, 3, 4]] == before.rows[:, [0, 1, 3, 4]] + 3).all()
    assert len(after.alignment) == len(before.alignment) + 3
    assert after.epoch == 1
    assert dataset[2, 0].alignment is before.alignment


def test_noise_that_pushes_an_entity_over_the_limit_is_taken_back(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder, max_length=12)
    dataset = TrainingSentences(toy_sentences(), model, Loud(6))
    assert dataset[1, 0].alignment is dataset.examples[0].alignment
    assert dataset[1, 0].rows.tolist() == dataset.examples[0].rows.tolist()


@pytest.mark.parametrize(
    ("dropped", "kept"),
    [
        ({}, ["0", "1", "2"]),
        ({"drop_above": 1}, ["0", "1"]),
        ({"drop_above": 2, "drop_zero": True}, ["1", "2"]),
    ],
)
def test_sentences_with_too_many_triples_or_with_none_can_be_dropped(
    tiny_encoder, dropped: dict, kept: list[str]
):
    triples = [("tim", "C", "apple"), ("apple", "F", "tim")]
    sentences = [
        make_sentence("tim leads apple .", *triples[:count], id=str(count)) for count in range(3)
    ]
    dataset = TrainingSentences(sentences, build_extractor(CasRel, tiny_encoder, **dropped))
    assert [example.id for example in dataset.examples] == kept
    assert dataset.counts["dropped_long"] == ("2" not in kept) and dataset.counts[
        "dropped_zero"
    ] == ("0" not in kept)


def test_portions_of_the_alignment_change_nothing(model, monkeypatch):
    whole = TrainingSentences(toy_sentences(), model)
    monkeypatch.setattr("tripleaudit.training.data.ALIGN_AT_ONCE", 3)
    parts = TrainingSentences(toy_sentences(), model)
    assert parts.counts == whole.counts and [each.id for each in parts.examples] == [
        each.id for each in whole.examples
    ]
    for one, other in zip(parts.examples, whole.examples, strict=True):
        assert (one.rows == other.rows).all() and (one.epoch, one.instance) == (0, None)


def test_sentences_of_fifty_batches_are_sorted_from_long_to_short():
    """Each group of 50 batches holds the sentences that a plain epoch of this seed has in these
    places.
    """
    lengths = np.random.default_rng(0).permutation(1000)
    plain = [index for batch in batches(lengths, 4, 2, 0, grouped=False) for _, index in batch]
    grouped = [[index for _, index in batch] for batch in batches(lengths, 4, 2, 0)]
    for batch in grouped:
        assert sorted(lengths[batch], reverse=True) == lengths[batch].tolist()
    for at in range(0, 1000, 200):
        group = sorted(plain[at : at + 200], key=lambda index: -lengths[index])
        assert all(group[place : place + 4] in grouped for place in range(0, 200, 4))
