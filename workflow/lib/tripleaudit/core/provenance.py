"""Provenance of a result: code, inputs, settings, versions, device and times, as JSON."""

import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripleaudit.core.addresses import clean_values
from tripleaudit.core.files import sha256
from tripleaudit.core.version import __version__

PACKAGES = ("torch", "transformers", "safetensors", "tokenizers", "numpy")


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value in canonical form."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def git_state(folder: Path | None = None) -> dict[str, Any] | None:
    """Return commit and cleanliness of the package's checkout; None outside of one."""
    folder = folder or Path(__file__).resolve().parent
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "clean": not changed}


def provenance(
    *,
    command: str,
    inputs: Mapping[str, Path],
    settings: Mapping[str, Any],
    seed: int | None,
    device: str,
    seconds: float,
) -> dict[str, Any]:
    """Describe a finished job.

    Args:
        command: the sub-command that ran.
        inputs: role -> file; names and digests are kept, folders are not.
        settings: what decided the result besides inputs and seed.
        seed: of the run.
        device: ``cpu`` or the GPU's name.
        seconds: wall time.
    """
    return {
        "command": command,
        "version": __version__,
        "git": git_state(),
        "inputs": {
            role: {"name": Path(path).name, "sha256": sha256(path)} for role, path in inputs.items()
        },
        "settings": clean_values(dict(settings)),
        "settings_sha256": digest(settings),
        "seed": seed,
        "device": device,
        "machine": {
            "system": platform.system(),
            "processor": platform.machine(),
            "cpus": os.cpu_count(),
        },
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": round(seconds, 3),
    }


def _git(folder: Path, *arguments: str) -> str:
    result = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    return result.stdout.strip()


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
