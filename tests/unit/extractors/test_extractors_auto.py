"""transformers' own loaders know every extractor, and what they load is the same model."""

import pytest
import torch
from transformers import AutoConfig, AutoModel

import tripleaudit.extractors.auto  # noqa: F401
from support.extractors import save_tiny_encoder
from tripleaudit.descriptors import EXTRACTORS
from tripleaudit.extractors.registry import extractor_class, load_extractor

TEXTS = ["tim cook leads apple .", "ada lovelace wrote notes on the engine of charles babbage in london"]


def test_every_extractor_and_classifier_is_known():
    for name in EXTRACTORS:
        config = extractor_class(name).config_class
        assert type(AutoConfig.for_model(config.model_type)) is config


@pytest.mark.parametrize("name", ["casrel", "zcc"])
def test_what_they_load_is_the_model_that_was_saved(name, tmp_path):
    torch.manual_seed(0)
    encoder = save_tiny_encoder(tmp_path / "encoder", layers=1)
    model = extractor_class(name).from_encoder(encoder, ["leads", "wrote"])
    model.save_pretrained(tmp_path / "model")
    found = AutoModel.from_pretrained(str(tmp_path / "model"))
    assert type(found) is type(model) and found.tokenizer is not None
    assert type(AutoConfig.from_pretrained(tmp_path / "model")) is type(model.config)
    saved = load_extractor(tmp_path / "model")
    state = found.state_dict()
    assert all(torch.equal(value, state[key]) for key, value in saved.state_dict().items())
    if name == "casrel":
        assert found.extract(TEXTS) == saved.extract(TEXTS)
