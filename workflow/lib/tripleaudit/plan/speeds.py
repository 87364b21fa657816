"""Seconds of a training that was never recorded, from steps that were measured on one GPU. Imports no torch."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from tripleaudit.extractors.registry import base_name
from tripleaudit.shipped import DATA
from tripleaudit.yaml_files import read_yaml

READS = ("data/speeds.yaml",)


@cache
def _measured() -> dict[str, Any]:
    return read_yaml(DATA / "speeds.yaml")


def seconds(extractor: str, encoder: str, settings: Mapping[str, Any], sentences: int) -> float | None:
    """Return how long a training takes at most, without its validations; None where nothing was measured.

    Args:
        extractor: name of the study.
        encoder: registered name, or a source.
        settings: of the training, defaults filled in.
        sentences: to train on.
    """
    known, name = _measured(), base_name(extractor)
    steps, times = known["steps"].get(name), known["encoders"].get(encoder)
    if steps is None or times is None:
        return None
    size = settings["batch_size"]
    # of a size between two measured ones the larger one's, beyond the largest in proportion
    step = next((milliseconds for batch, milliseconds in sorted(steps.items()) if batch >= size), None)
    if step is None:
        largest = max(steps)
        step = steps[largest] * size / largest
    of_a_sentence = known["instances"].get(name, 1) if settings.get("unit") == "instances" else 1
    batches = math.ceil(sentences * of_a_sentence / size) * settings["epochs"]
    if settings.get("max_steps"):
        batches = settings["max_steps"] * settings.get("accumulation", 1)
    if settings.get("precision") == "float32":
        times *= known["float32"]
    return batches * step * times / 1000


def source() -> str:
    """Say what :func:`seconds` rests on."""
    known = _measured()
    return (
        f"steps measured on one {known['device']} with {known['encoder']} in {known['precision']}, other encoders and "
        "float32 counted at their most; without validation, and at most where a training may stop early"
    )
