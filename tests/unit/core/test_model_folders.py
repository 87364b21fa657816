"""Model folders with too many layers or weights, or with weights that are not finite."""

import hashlib
import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.registry import load_extractor
from tripleaudit.testing import build_extractor


@pytest.mark.parametrize("nested", [False, True])
def test_a_million_layers_are_refused_before_they_are_built(tmp_path, nested):
    encoder = {"model_type": "bert", "num_hidden_layers": 1_000_000}
    config = {"model_type": "tripleaudit-casrel", **({"encoder": encoder} if nested else encoder)}
    config["model_type"] = "tripleaudit-casrel"
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="has 1000000 layers; expected at most"):
        load_extractor(tmp_path)


def test_a_training_refuses_an_encoder_with_a_million_layers(tmp_path, tiny_encoder):
    from tripleaudit.extractors.registry import extractor_class

    folder = tmp_path / "encoder"
    shutil.copytree(tiny_encoder, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 1_000_000}))
    with pytest.raises(UserError, match="has 1000000 layers; expected at most"):
        extractor_class("casrel").from_encoder(folder, ["met"])


@pytest.mark.parametrize("vocabulary", [10**15, 10**18])
def test_a_model_that_does_not_fit_into_memory_is_refused_in_one_sentence(
    tmp_path, tiny_encoder, capsys, vocabulary
):
    folder = tmp_path / "model"
    build_extractor(CasRel, tiny_encoder).save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    config["encoder"]["vocab_size"] = vocabulary  # more bytes than any machine can address
    (folder / "config.json").write_text(json.dumps(config))
    assert main(["extract", "Ann lives in Bonn.", "--model", str(folder)]) == 1
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("error: extract: out of memory; ")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(tmp_path, tiny_encoder, value):
    """A damaged copy of a model would predict nothing, without a word."""
    folder = tmp_path / "model"
    build_extractor(CasRel, tiny_encoder).save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    name = next(name for name, tensor in weights.items() if torch.is_floating_point(tensor))
    weights[name].view(-1)[0] = value
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match="are not finite numbers; train the model again"):
        load_extractor(folder)


@pytest.mark.parametrize("has_provenance", [True, False])
def test_other_weights_than_the_training_saved_are_refused(tmp_path, tiny_encoder, has_provenance):
    """Zeros in a damaged copy are numbers, and would predict something else without a word."""
    folder = tmp_path / "model"
    build_extractor(CasRel, tiny_encoder).save_pretrained(folder)
    file = folder / "model.safetensors"
    if has_provenance:
        record = {"weights_sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        (folder / "provenance.json").write_text(json.dumps(record))
    load_extractor(folder)
    weights = file.read_bytes()
    file.write_bytes(weights[:-400] + bytes(400))
    if has_provenance:
        with pytest.raises(UserError, match="has changed since its training"):
            load_extractor(folder)
    else:
        load_extractor(folder)
