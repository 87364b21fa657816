"""What is made once for all test processes of a run."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder ``name`` that ``make`` fills, by whichever process comes first; the others wait
    for it.

    Args:
        factory: of temporary folders; those of the processes of one run (``-n 2``) lie in one
            folder.
        name: of the folder, one for each thing that is made.
        make: fills the empty folder; if it fails, the next one that asks tries again.
    """
    base = factory.getbasetemp()
    folder = (base.parent if base.name.startswith("popen-") else base) / f"shared-{name}"
    done = folder.with_suffix(".done")
    with FileLock(folder.with_suffix(".lock")):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
