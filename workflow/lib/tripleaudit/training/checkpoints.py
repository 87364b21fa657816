"""Checkpoints of a training run: complete or ignored, tied to one run, and gone after success.

A checkpoint is a folder ``checkpoint-N`` that the Trainer writes; its last file is ``progress.json``, so that a folder
without it was cut short and is not used.
"""

import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_json, write_json

logger = logging.getLogger(__name__)

PROGRESS = "progress.json"
RUN = "run.json"


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
