"""Outputs of a study: only the latest job publishes, and every file's digest is recorded.

The workflow names the study's folder in ``TRIPLEAUDIT_STUDY_FOLDER``. Its jobs keep two hidden
folders there:

- ``.claims`` has a file for each running job. A job whose Snakemake was killed lives on; when the
  study was started again, the claim of its successor takes the place of its own, and the older job
  publishes nothing.
- ``.digests`` has a file for each published file, whose name has ``.json`` added: size, time and
  SHA-256. Readers compare size and time, and the SHA-256 where these differ. ``tripleaudit verify``
  compares every SHA-256.
"""

import contextlib
import hashlib
import json
import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tripleaudit.core.errors import UserError

VARIABLE = "TRIPLEAUDIT_STUDY_FOLDER"
DIGESTS = ".digests"
SUFFIX = ".json"
CLAIMS = ".claims"
NOT_RESULTS = ("logs", "benchmarks", "tmp")
"""Folders of a study that Snakemake and running jobs fill."""
OUTPUT_OPTIONS = ("answers", "factualness", "folder", "step", "number")
"""Options besides ``--out...`` that tell the outputs of two jobs apart.

The first three name output files or folders. The jobs of a collection share ``--out`` and differ in
their step and the number of their part.
"""

_claims: dict[Path, str] = {}
"""Claims of this process: file -> content."""


class Record(NamedTuple):
    """State of a file when its job published it."""

    size: int
    modified_ns: int
    sha256: str


# claims


def claim(outputs: str, content: str | None = None) -> None:
    """Claim outputs for this job; an older job for the same outputs no longer publishes.

    Without a study's folder in the environment there is nothing to claim.

    Args:
        outputs: names of the outputs, equal for every job that makes them.
        content: what decides them, so that an older job that makes the same ones may finish; None
            if only the latest job may.
    """
    folder = _job_folder()
    if folder is None:
        return
    file = folder / CLAIMS / hashlib.sha256(outputs.encode()).hexdigest()[:32]
    content = content or uuid.uuid4().hex
    _write(file, content)
    if _read(file) == content:  # in a folder that cannot be written, the job's own files say so
        _claims[file] = content


def claim_options(command: str, options: Mapping[str, Any]) -> None:
    """Claim the outputs that the options of a command name; a training claims its own."""
    names = {
        name: str(options[name])
        for name in options
        if name.startswith("out") or name in OUTPUT_OPTIONS
    }
    if command == "tables":  # jobs of single tables write into one folder
        names["tables"] = " ".join(sorted(options["tables"]))
    if names and command != "train":
        claim(f"{command} {json.dumps(names, sort_keys=True)}")


def release_claims() -> None:
    """Remove the claims of this process that no other process has taken over."""
    for file, content in _claims.items():
        if _read(file) == content:
            file.unlink(missing_ok=True)
    _claims.clear()


def check_claims(path: Path) -> None:
    """Check that no later job makes the outputs of this process.

    Raises:
        UserError: Another job for the same outputs was started meanwhile.
    """
    for file, content in _claims.items():
        if _read(file) != content:
            raise UserError(
                f"{path}: another job was started for this file meanwhile, so that this result is not kept; run the "
                "study again if that one has failed"
            )


# publishing and digests


def publish_file(temporary: Path, path: Path) -> None:
    """Move a finished file to its place, readable as the umask says, and keep its digest.

    Raises:
        UserError: A later job makes this file.
    """
    check_claims(path)
    apply_umask(temporary)
    folder = _job_folder()
    record = None if folder is None else _record_file(folder, path)
    if record is None:
        temporary.replace(path)
        return
    digest = _sha256(temporary)
    record.unlink(missing_ok=True)
    temporary.replace(path)
    status = path.stat()
    _write(record, json.dumps(Record(status.st_size, status.st_mtime_ns, digest)))


def check_unchanged(path: str | Path) -> None:
    """Check that a file of a study is as its job published it; files without a digest pass.

    Raises:
        UserError: It has changed.
    """
    path = Path(path)
    folder = _study_folder(path.parent)
    file = None if folder is None else _record_file(folder, path)
    record = None if file is None else _read_record(file)
    if record is None:
        return
    if not path.is_file():  # its reader says so
        return
    status = path.stat()
    if (status.st_size, status.st_mtime_ns) == (record.size, record.modified_ns):
        return
    if status.st_size != record.size or _sha256(path) != record.sha256:
        raise UserError(
            f"{path}: has changed since its job wrote it; delete the file and run the study again"
        )


def verify(folder: Path) -> Iterator[tuple[str, str]]:
    """Compare all files of a study with their digests.

    Yields:
        Path below the folder, and its state: ``unchanged``, ``missing``, ``empty``, ``cut``,
        ``changed`` or, where the digest itself is damaged, ``without a digest``.
    """
    digests = folder / DIGESTS
    for file in sorted(
        path
        for path in digests.rglob(f"*{SUFFIX}")
        if path.is_file() and not path.name.startswith(".")
    ):
        record = _read_record(file)
        name = file.relative_to(digests).as_posix().removesuffix(SUFFIX)
        yield name, "without a digest" if record is None else _state(folder / name, record)


def without_digest(folder: Path) -> list[str]:
    """Return the files of a study that have no digest, and should have one."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    records = {path: _record_file(folder, path) for path in files}
    names = {
        path.relative_to(folder): record
        for path, record in records.items()
        if record is not None and path.relative_to(folder).parts[0] not in NOT_RESULTS
    }
    return [str(name) for name, record in names.items() if not record.is_file()]


def _state(path: Path, record: Record) -> str:
    if not path.is_file():
        return "missing"
    size = path.stat().st_size
    if size == record.size and _sha256(path) == record.sha256:
        return "unchanged"
    if size == 0:
        return "empty"
    return "cut" if size < record.size else "changed"


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# folders and small files


def _job_folder() -> Path | None:
    """Return the folder of the study that this job belongs to; None outside the workflow."""
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder else None


@cache
def _study_folder(folder: Path) -> Path | None:
    """Return the nearest folder with digests, from a file's folder upwards.

    A reader may open files of a finished study, so that the environment does not name the folder.
    """
    absolute = folder.absolute()
    return next(
        (parent for parent in (absolute, *absolute.parents) if (parent / DIGESTS).is_dir()), None
    )


def _record_file(folder: Path, path: Path) -> Path | None:
    """Return the location of a file's digest.

    None for files outside the study, hidden files and checkpoints.
    """
    try:
        name = path.absolute().relative_to(folder.absolute())
    except ValueError:
        return None
    hidden = any(part.startswith(".") for part in name.parts)
    if hidden or "checkpoints" in name.parts[2:]:  # a corpus may have this name, as second part
        return None
    return folder / DIGESTS / f"{name}{SUFFIX}"


def _read_record(file: Path) -> Record | None:
    try:
        return Record(*json.loads(_read(file) or ""))
    except (ValueError, TypeError):
        return None


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _write(file: Path, text: Any) -> None:
    """Write a small file at once; the job's own files report a folder that cannot be written."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=file.parent, prefix=".", delete=False, encoding="utf-8"
        ) as stream:
            stream.write(text)
        apply_umask(Path(stream.name))
        Path(stream.name).replace(file)


def apply_umask(file: Path) -> None:
    """Make a temporary file, which its owner alone may read, readable as the umask says."""
    umask = os.umask(0)
    os.umask(umask)
    file.chmod(0o666 & ~umask)
