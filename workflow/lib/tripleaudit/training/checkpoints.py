"""Checkpoints of a run: one atomic file each, removed after success."""

import contextlib
import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tripleaudit.core import storage
from tripleaudit.core.files import atomic_write, read_json, write_json

logger = logging.getLogger(__name__)

RUN = "run.json"


def prepare(folder: Path, fingerprint: Mapping[str, Any]) -> Path | None:
    """Return the newest checkpoint of this run or None; remove other runs' from ``folder``.

    ``fingerprint`` is what decides the result: checkpoints of a run with another one cannot be
    continued.
    """
    run = folder / RUN
    if not run.is_file() or read_json(run) != fingerprint:
        if folder.exists():
            logger.info("checkpoints in %s belong to another run and are removed", folder)
            shutil.rmtree(folder)
        write_json(run, fingerprint)
    for unfinished in folder.glob(".checkpoint-*"):
        unfinished.unlink()
    return max(checkpoints(folder), key=step_of, default=None)


def checkpoints(folder: Path) -> list[Path]:
    """Return all checkpoints."""
    return list(folder.glob("checkpoint-*.pt"))


def step_of(checkpoint: Path) -> int:
    """Return the step after which a checkpoint was written."""
    return int(checkpoint.stem.removeprefix("checkpoint-"))


def save(
    folder: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    best: Mapping[str, Tensor] | None,
    run: Mapping[str, Any],
) -> None:
    """Write weights, optimiser, best weights and random state; remove older checkpoints.

    Args:
        run: plain values, with the ``step``.

    Raises:
        UserError: the disk is full or the folder cannot be written.
    """
    older, newest = checkpoints(folder), folder / f"checkpoint-{run['step']}.pt"
    random = [torch.get_rng_state()]
    if (device := next(model.parameters()).device).type == "cuda":
        random.append(torch.cuda.get_rng_state(device))
    parts = {
        "weights": model.state_dict(),
        "optimizer": optimizer.state_dict()["state"],
        "best": best,
    }
    with storage.explained(newest), atomic_write(newest, "wb") as stream:
        torch.save({**parts, "random": random, "run": dict(run)}, stream)
    for path in older:
        with contextlib.suppress(OSError):  # a network drive where somebody has it open
            path.unlink()


def load(
    checkpoint: Path, model: nn.Module, optimizer: torch.optim.Optimizer
) -> tuple[dict[str, Any], dict[str, Tensor] | None]:
    """Restore weights, optimiser and random state; return ``run`` and the best weights."""
    device = next(model.parameters()).device
    state = torch.load(checkpoint, map_location=device, weights_only=True)
    model.load_state_dict(state["weights"])
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state["optimizer"]})
    torch.set_rng_state(state["random"][0].cpu())
    if device.type == "cuda":
        torch.cuda.set_rng_state(state["random"][1].cpu(), device)
    return state["run"], state["best"]
