"""Fetching of a source (:mod:`tripleaudit.sources.source`) to a path.

The source is downloaded, copied or unpacked in a temporary folder next to the path, verified there,
and then moved to the path, so that the path never holds a part of it. Called by ``tripleaudit
fetch``, which the rules of ``sources.smk`` run, and wherever a command takes the name of a model.
"""

import shutil
import tempfile
from pathlib import Path, PurePosixPath

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import is_sha256
from tripleaudit.core.files import sha256 as sha256_of
from tripleaudit.sources import archives
from tripleaudit.sources.download import download, download_model, download_wheel, shown
from tripleaudit.sources.source import Source, parse_source

MODEL_FILES = (".safetensors", ".gguf", ".json", ".txt", ".model", ".tiktoken", ".jinja")
"""Suffixes of the files of a model that are fetched: weights that hold no code, vocabularies and
configurations.
"""
_WEIGHTS = (".safetensors", ".gguf")
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".h5", ".joblib", ".npy", ".npz")


def fetch(
    source: str | Source,
    destination: str | Path,
    *,
    model: bool = False,
    sha256: str | None = None,
    size: int | None = None,
    unverified: bool = False,
) -> Path:
    """Fetch a source (file or folder) to ``destination``, which is replaced if it exists.

    Args:
        model: take only weights that hold no code (safetensors, GGUF), vocabularies and
            configurations, and insist on weights.
        sha256, size: of the file, archive or wheel that is transferred, in bytes; of a source in
            parts, of the file that they make.
        unverified: allow a download without ``sha256``; the caller then checks the content.

    Raises:
        UserError: the source is not well formed, cannot be reached, or is not what was expected.
    """
    source = parse_source(source) if isinstance(source, str) else source
    destination = Path(destination)
    if sha256 is not None and not is_sha256(sha256):
        raise UserError(f"{source}: sha256 {sha256!r} is not 64 hexadecimal digits")
    if source.kind in ("https", "parts") and sha256 is None and not unverified:
        raise UserError(f"{source}: a download needs its sha256, so that it can be verified")
    if source.kind == "hub" and not model:
        raise UserError(f"{source}: a hub id names a model or a data set, not a single file")
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=destination.parent, prefix=f".{destination.name}."
    ) as folder:
        work = Path(folder)
        result = work / "result"
        if source.kind == "hub":
            download_model(source, result, [f"*{suffix}" for suffix in MODEL_FILES])
            left_out = []
        else:
            transferred = _transfer(source, work, sha256, size)
            left_out = _take(source, transferred, result, model)
        if model:
            _check_model(source, result, left_out)
        if not result.exists():
            raise UserError(f"{source}: the folder is empty")
        _move(result, destination, work)
    return destination


def _transfer(source: Source, work: Path, sha256: str | None, size: int | None) -> Path:
    """Return the verified file, archive, wheel or local folder on this machine."""
    what = str(source)
    if source.kind == "https":
        path, what = work / "download", shown(source.location)
        download(source.location, path)
    elif source.kind == "parts":
        path = _joined(source, work)
    elif source.kind == "pypi":
        path = download_wheel(source.location, source.version, work)
    else:
        path = Path(source.location)
        if not path.exists():
            raise UserError(f"{source.location}: no such file or folder")
        if path.is_dir() and (sha256 is not None or size is not None):
            raise UserError(f"{source.location}: this is a folder, sha256 and size belong to files")
    if size is not None and (received := path.stat().st_size) != size:
        raise UserError(f"{what}: {received} bytes, expected {size}")
    if sha256 is not None and (digest := sha256_of(path)) != sha256.lower():
        raise UserError(f"{what}: sha256 is {digest}, expected {sha256.lower()}")
    return path


def _joined(source: Source, work: Path) -> Path:
    """Fetch parts one after another, each removed before the next, and return their file."""
    whole = work / "whole"
    with whole.open("wb") as sink:
        for part in source.parts:
            piece = fetch(part, work / "part", unverified=True)
            if not piece.is_file():
                raise UserError(f"{part}: a part is one file, this is a folder")
            with piece.open("rb") as stream:
                shutil.copyfileobj(stream, sink)
            piece.unlink()
    return whole


def _take(source: Source, transferred: Path, result: Path, model: bool) -> list[str]:
    """Copy or unpack the selection to ``result``; return the model's files left out."""

    def wanted(name: str) -> bool:
        return not model or PurePosixPath(name).suffix.lower() in MODEL_FILES

    left_out: list[str] = []
    if transferred.is_dir():
        start = transferred / (source.inner or "")
        if not start.exists():
            raise UserError(f"{source}: no such file or folder")
        for path in sorted(start.rglob("*")) if start.is_dir() else [start]:
            name = path.relative_to(start).as_posix()
            if path.is_file() and (path == start or wanted(name)):
                if model:
                    _check_link(source, path, transferred)
                target = result / name  # the name is "." for a source that is one file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
            elif path.is_file():
                left_out.append(name)
    elif source.inner is not None:
        left_out = archives.extract(transferred, source.inner, result, wanted)
    elif source.kind == "local":
        shutil.copyfile(transferred, result)
    else:
        transferred.replace(result)
    return left_out


def _check_link(source: Source, path: Path, folder: Path) -> None:
    """Refuse a file of a model that is a link out of its folder, or out of the cache of the hub."""
    folder = folder.resolve()
    blobs = folder.parent.parent / "blobs"  # where snapshots of the hub's cache link to
    target = path.resolve()
    if not (target.is_relative_to(folder) or target.is_relative_to(blobs)):
        raise UserError(
            f"{source}: {path.name} is a link to a file outside the folder; copy that file into the "
            "folder if it belongs to the model"
        )


def _check_model(source: Source, result: Path, left_out: list[str]) -> None:
    """Refuse a model without weights that hold no code.

    Args:
        source: the source, for the message.
        result: the fetched file or folder.
        left_out: names of the files of the source that were not fetched.
    """
    if result.is_file():
        fetched = [PurePosixPath(source.inner or source.location).name]
    else:
        fetched = [path.name for path in result.rglob("*")]
    if any(name.endswith(_WEIGHTS) for name in fetched):
        return
    refused = fetched if result.is_file() else left_out
    pickles = [name for name in refused if name.endswith(_PICKLES)]
    found = ""
    if pickles:
        found = f" (found {', '.join(pickles[:3])}, which can run code when loaded)"
    raise UserError(f"{source}: there are no .safetensors or .gguf weights{found}, expected some")


def _move(result: Path, destination: Path, work: Path) -> None:
    if destination.is_dir() and not destination.is_symlink():
        destination.replace(work / "old")
    elif result.is_dir() and (destination.exists() or destination.is_symlink()):
        destination.unlink()
    result.replace(destination)
