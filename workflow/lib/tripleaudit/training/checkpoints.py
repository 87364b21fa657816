"""Checkpoints of a training run: complete or ignored, tied to one run, and gone after success.

A checkpoint is a folder ``checkpoint-N`` with weights, the optimiser's state and that of the random numbers; its last
file is ``progress.json``, so that a folder without it was cut short and is not used.
"""

import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from tripleaudit.errors import UserError
from tripleaudit.files import read_json, write_json

logger = logging.getLogger(__name__)

PROGRESS = "progress.json"
RUN = "run.json"
WEIGHTS, OPTIMIZER, BEST = "weights.safetensors", "optimizer.safetensors", "best.safetensors"
RANDOM = "random.safetensors"


def prepare(folder: Path, fingerprint: Mapping[str, Any]) -> Path | None:
    """Return the newest complete checkpoint of this very run, or None; throw away everything else in ``folder``.

    Args:
        folder: where the run keeps its checkpoints; made if it does not exist.
        fingerprint: what decides the result (settings, data digests, seed, code). Checkpoints of a run with another
            one cannot be continued.
    """
    run = folder / RUN
    if folder.exists():
        try:
            known = read_json(run)
        except UserError:
            known = None
        if known != dict(fingerprint):
            logger.info("checkpoints in %s belong to another run and are removed", folder)
            shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if not run.exists():
        write_json(run, dict(fingerprint))
    complete = [path for path in checkpoints(folder) if (path / PROGRESS).is_file()]
    for path in checkpoints(folder):
        if not complete or path != complete[-1]:
            shutil.rmtree(path)
    return complete[-1] if complete else None


def checkpoints(folder: Path) -> list[Path]:
    """Return all checkpoint folders, complete or not, in the order of their steps."""
    found = [path for path in folder.glob("checkpoint-*") if path.name.removeprefix("checkpoint-").isdigit()]
    return sorted(found, key=lambda path: int(path.name.removeprefix("checkpoint-")))


def complete(folder: Path, progress: Mapping[str, Any]) -> None:
    """Mark the newest checkpoint as complete with the run's ``progress`` and remove the older ones."""
    *older, newest = checkpoints(folder)
    write_json(newest / PROGRESS, dict(progress))
    for path in older:
        shutil.rmtree(path, ignore_errors=True)


def write_state(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, best: Mapping[str, Tensor] | None
) -> None:
    """Write weights, the optimiser's state, and the best weights so far."""
    weights = {name: value.clone() for name, value in model.state_dict().items()}  # some may share memory
    save_file(weights, folder / WEIGHTS)
    state = optimizer.state_dict()["state"]
    tensors = {f"{number}.{name}": value for number, own in state.items() for name, value in own.items()}
    save_file(tensors, folder / OPTIMIZER)
    if best is not None:
        save_file({name: value.contiguous() for name, value in best.items()}, folder / BEST)


def read_state(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, device: torch.device
) -> dict[str, Tensor] | None:
    """Take over what :func:`write_state` wrote; returns the best weights."""
    model.load_state_dict(load_file(folder / WEIGHTS, device=str(device)))
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in load_file(folder / OPTIMIZER, device=str(device)).items():
        number, name = key.split(".")
        state.setdefault(int(number), {})[name] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    return load_file(folder / BEST, device=str(device)) if (folder / BEST).is_file() else None


def write_random(folder: Path, device: torch.device) -> None:
    """Write the state of the random numbers."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    save_file(states, folder / RANDOM)


def read_random(folder: Path, device: torch.device) -> None:
    """Go on with the random numbers of a checkpoint."""
    states = load_file(folder / RANDOM)
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)
