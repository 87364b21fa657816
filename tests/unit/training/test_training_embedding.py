"""Training the rows of an embedding table that can occur: the weights are those of training the
whole table.
"""

import contextlib
import logging

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from tripleaudit.core.randomness import generator
from tripleaudit.corpora.store import save_sentences
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.protocols.noising import EntityNoising, NoiseSettings
from tripleaudit.protocols.substitution import entity_positions, substitute
from tripleaudit.testing import (
    build_extractor,
    exact_f1,
    save_tiny_encoder,
    toy_sentences,
)
from tripleaudit.training import checkpoints, embedding, run, trainer
from tripleaudit.training.data import TrainingSentences
from tripleaudit.training.embedding import EmbeddingRows, embedding_rows
from tripleaudit.training.run import train_to
from tripleaudit.training.settings import TrainingSettings

SENTENCES = toy_sentences()
SETTINGS = {"epochs": 3, "batch_size": 3, "encoder_learning_rate": 1e-3, "head_learning_rate": 3e-3}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_tiny_encoder(tmp_path_factory.mktemp("encoder"), dropout=0.1)


def trained(encoder, out, name="casrel", **changes) -> dict[str, torch.Tensor]:
    """The weights of a training, and those of its embedding table before it."""
    save_sentences(out / "train.jsonl", SENTENCES)
    train_to(
        out / "model", name=name, train=SENTENCES, valid=SENTENCES, encoder=encoder, 
        settings=TrainingSettings.checked(SETTINGS | changes, "training"), seed=5,
        score=lambda expected, found: {"f1": exact_f1(expected, found)}, inputs={"train": out / "train.jsonl"},
    )  # fmt: skip
    return load_file(out / "model" / "model.safetensors")


def same(left: dict, right: dict) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[key], right[key]) for key in left)


@pytest.fixture
def seen(monkeypatch) -> list[EmbeddingRows]:
    """The rows of all trainings from here on."""
    found = []
    monkeypatch.setattr(
        trainer, "embedding_rows", lambda *given: found.append(embedding_rows(*given)) or found[-1]
    )
    return found


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        pytest.param(
            "casrel",
            {"noising": {"probability": 0.5}, "optimizer": "adam"},
            marks=pytest.mark.thorough,
        ),
        ("casrel", {"noising": {"probability": 0.5}, "accumulation": 2, "save_every": 2}),
        ("tdeer", {"unit": "instances"}),
        ("unirel", {"clip": "global", "clip_norm": 1e-3}),  # it reads the relations' names, too
        pytest.param(
            "birte",
            {"clip": "parameter", "clip_norm": 1e-3, "adam_bias_correction": False},
            marks=pytest.mark.thorough,
        ),
        ("zcc-binary", {"weight_decay": 0.0}),
    ],
)
def test_all_weights_are_those_of_training_the_whole_table(
    encoder, tmp_path, monkeypatch, seen, name, changes
):
    some = trained(encoder, tmp_path / "rows", name, **changes)
    (rows,) = seen
    monkeypatch.setattr(trainer, "embedding_rows", lambda *_: None)
    assert same(some, trained(encoder, tmp_path / "whole", name, **changes))
    before = load_file(encoder / "model.safetensors")["embeddings.word_embeddings.weight"]
    moved = (
        (before != some["encoder.embeddings.word_embeddings.weight"]).any(dim=1).nonzero().flatten()
    )
    assert 10 < len(moved) <= len(rows.ids) < len(before) and set(moved.tolist()) <= set(
        rows.ids.tolist()
    )


def test_rows_that_only_noise_brings_are_taken_in_and_known_again_after_a_break(
    encoder, tmp_path, monkeypatch, seen
):
    """As where an entity ends inside a word, so that noise makes another word of both."""
    changes = {"noising": {"probability": 1.0}, "save_every": 2, "batch_size": 2, "accumulation": 2}
    monkeypatch.setattr(run, "EntityNoising", LetterNoising)
    with monkeypatch.context() as patch:
        patch.setattr(trainer, "embedding_rows", lambda *_: None)
        whole = trained(encoder, tmp_path / "whole", **changes)
    save = checkpoints.save

    def interrupted(*arguments):
        save(*arguments)
        if arguments[-1]["step"] == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(checkpoints, "save", interrupted)
        trained(encoder, tmp_path / "rows", **changes)
    assert (tmp_path / "rows/model/checkpoints/checkpoint-4.pt").is_file()
    assert same(trained(encoder, tmp_path / "rows", **changes), whole)
    foreseen = embedding_rows(*untrained(encoder), TrainingSettings())
    assert all(set(foreseen.ids.tolist()) < set(rows.ids.tolist()) for rows in seen)


class LetterNoising(EntityNoising):
    """Replaces entities by letters that it does not announce."""

    words = []

    def __call__(self, sentence, epoch):
        entities = sorted(entity_positions(sentence).items())
        letters = generator(self.seed, epoch, sentence.id, "noise").permutation(26)
        replacements = {}
        for (_, positions), letter in zip(entities, letters, strict=False):
            replacements |= dict.fromkeys(positions, chr(ord("a") + int(letter)))
        return substitute(sentence, replacements)[0] if replacements else None


def untrained(encoder, kind=CasRel, **settings):
    torch.manual_seed(0)
    model = build_extractor(kind, encoder)
    noise = None
    if settings:
        noise = EntityNoising(SENTENCES, model.aligner.token_counts, NoiseSettings(**settings), 0)
    return model, TrainingSentences(SENTENCES, model, noise)


def test_a_token_that_nobody_named_is_an_error_and_not_a_weight_that_stands_still(encoder):
    model, dataset = untrained(encoder)
    rows = embedding_rows(model, dataset, TrainingSettings())
    (other, *_) = set(range(len(rows.table.weight))) - set(rows.ids.tolist())
    with pytest.raises(IndexError, match="expected its extractor's `extra_token_ids` to name"):
        model.encode(torch.tensor([[other]]), torch.ones(1, 1, dtype=torch.int64))


class Shared(CasRel):
    """An extractor that names words again with the encoder's own table, as masked language
    models do.
    """

    def __init__(self, config, encoder=None):
        super().__init__(config, encoder)
        self.output = nn.Linear(
            *reversed(self.encoder.get_input_embeddings().weight.shape), bias=False
        )
        self.output.weight = self.encoder.get_input_embeddings().weight


@pytest.mark.parametrize(
    ("reason", "kind", "settings", "formulation"),
    [
        ("weight decay moves rows without a gradient", CasRel, {"weight_decay": 0.01}, ""),
        ("another layer shares its weights", Shared, {}, ""),
        ("the formulation is that for GPUs", CasRel, {}, "device"),
    ],
)
def test_otherwise_the_whole_table_is_trained_and_the_log_says_why(
    encoder, monkeypatch, caplog, reason, kind, settings, formulation
):
    model, dataset = untrained(encoder, kind)
    monkeypatch.setenv("TRIPLEAUDIT_FORMULATION", formulation)
    table = model.encoder.get_input_embeddings()
    with caplog.at_level(logging.INFO, logger=embedding.__name__):
        assert embedding_rows(model, dataset, TrainingSettings(**settings)) is None
    said = [record.getMessage() for record in caplog.records if record.name == embedding.__name__]
    assert said == [f"the whole embedding table is trained: {reason}"]
    assert model.encoder.get_input_embeddings() is table
