"""Small copies of trained extractors."""

import json
import os

import pytest
import torch

from tripleaudit.core.errors import UserError
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.compact import save_compact
from tripleaudit.extractors.registry import load_extractor
from tripleaudit.testing import toy_sentences

TEXTS = [sentence.text for sentence in toy_sentences()]
SPECIAL = 8  # of the tiny encoder, which lists them first


@pytest.fixture
def model(tiny_encoder):
    torch.manual_seed(0)
    return CasRel.from_encoder(tiny_encoder, ["W", "L"])


def hidden_states(extractor, texts):
    batch = extractor.eval().collate(extractor.aligner.align(texts))
    with torch.inference_mode():
        return extractor.encode(batch["input_ids"], batch["attention_mask"])


def test_texts_of_kept_pieces_have_equal_states_up_to_half_precision(model, tmp_path):
    before = hidden_states(model, TEXTS)
    pieces = save_compact(model, TEXTS, SPECIAL, tmp_path / "small")
    small = load_extractor(tmp_path / "small")
    assert pieces == small.config.encoder.vocab_size < len(model.tokenizer)
    assert small.dtype == torch.float32
    assert torch.allclose(hidden_states(small, TEXTS), before, atol=0.02)


def test_other_words_are_divided_into_the_pieces_that_are_left(model, tmp_path):
    characters = SPECIAL + 36  # the vocabulary goes on with letters and digits
    save_compact(model, ["in"], characters, tmp_path / "small")
    tokenizer = load_extractor(tmp_path / "small").tokenizer
    assert tokenizer.tokenize("in") == ["in"]
    assert tokenizer.tokenize("a london") == ["a", "[UNK]"]  # no piece that continues a word
    ids = tokenizer("in")["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids) == ["[CLS]", "in", "[SEP]"]


def test_frequent_pieces_are_kept_without_unused_ones(model, tmp_path):
    save_compact(model, [], SPECIAL + 1, tmp_path / "small")
    vocabulary = load_extractor(tmp_path / "small").tokenizer.get_vocab()
    assert set(vocabulary) == {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"}


def test_a_copy_is_about_half_as_large_without_fewer_pieces(model, tmp_path):
    model.save_pretrained(tmp_path / "whole")
    save_compact(model, TEXTS, 10**6, tmp_path / "small")
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("whole", "small")]
    assert sizes[1] < 0.6 * sizes[0]


def test_a_tokenizer_of_another_kind_is_refused(model, tmp_path, monkeypatch):
    state = json.loads(model.tokenizer.backend_tokenizer.to_str())
    state["model"] = {"type": "BPE"}

    class Tokenizer:
        class backend_tokenizer:
            @staticmethod
            def to_str():
                return json.dumps(state)

    model.tokenizer = Tokenizer
    with pytest.raises(UserError, match="is a BPE model; expected an extractor on an encoder with"):
        save_compact(model, TEXTS, 8, tmp_path / "small")


def test_the_weights_of_a_copy_follow_the_umask(model, tmp_path):
    umask = os.umask(0o022)
    try:
        save_compact(model, TEXTS, SPECIAL, tmp_path / "small")
    finally:
        os.umask(umask)
    assert (tmp_path / "small" / "model.safetensors").stat().st_mode & 0o777 == 0o644
