"""Checks of model folders before a library loads them."""

from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json, sha256

LAYER_KEYS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
MAX_LAYERS = 1000
WEIGHTS = "model.safetensors"
WEIGHTS_DIGEST = "weights_sha256"
"""Key of a training's ``provenance.json``: digest of the weights next to it."""


def check_layers(folder: str | Path) -> None:
    """Check that no part of a model has more layers than any model has.

    A library builds all layers that ``config.json`` names before it looks at the weights, which
    takes hours and all memory for a broken number.

    Raises:
        UserError: there are more than :data:`MAX_LAYERS`, or the file is no JSON.
    """
    config = Path(folder) / "config.json"
    layers = _most_layers(read_json(config))
    if layers > MAX_LAYERS:
        raise UserError(
            f"{config}: the model has {layers} layers; expected at most {MAX_LAYERS}, as in the "
            "original file of the model"
        )


def check_weights(folder: Path) -> None:
    """Check that the weights of a trained model are those that its training saved.

    A folder without a training's provenance passes.

    Raises:
        UserError: The weights are other ones, such as those of a damaged copy.
    """
    record_file = folder / "provenance.json"
    record = read_json(record_file) if record_file.is_file() else None
    expected = record.get(WEIGHTS_DIGEST) if isinstance(record, dict) else None
    weights = folder / WEIGHTS
    if expected and weights.is_file() and sha256(weights) != expected:
        raise UserError(
            f"{weights}: has changed since its training; copy the model again, or remove "
            "provenance.json if other weights are intended"
        )


def _most_layers(config: Any) -> int:
    if not isinstance(config, dict):
        return 0
    layers = [config[key] for key in LAYER_KEYS if type(config.get(key)) is int]
    return max([0, *layers, *map(_most_layers, config.values())])
