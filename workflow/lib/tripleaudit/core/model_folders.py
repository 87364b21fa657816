"""Checks of model folders before a library loads them."""

from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json

LAYER_KEYS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
MAX_LAYERS = 1000


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


def _most_layers(config: Any) -> int:
    if not isinstance(config, dict):
        return 0
    layers = [config[key] for key in LAYER_KEYS if type(config.get(key)) is int]
    return max([0, *layers, *map(_most_layers, config.values())])
