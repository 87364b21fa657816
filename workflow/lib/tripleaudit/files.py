"""Reading and writing files so that outputs appear whole or not at all."""

import contextlib
import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from tripleaudit.errors import UserError
from tripleaudit.machine import storage

SHARDS = "shards.json"  # lists the JSON-lines files of a folder that are read as one


@contextlib.contextmanager
def atomic_write(path: str | Path, mode: str = "w") -> Iterator[IO]:
    """Open a temporary neighbour of ``path`` and move it over ``path`` when the block ends without an error.

    Raises:
        UserError: the disk is full or the folder cannot be written.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        encoding = None if "b" in mode else "utf-8"
        with tempfile.NamedTemporaryFile(
            mode, dir=path.parent, prefix=f".{path.name}.", delete=False, encoding=encoding
        ) as stream:
            temporary = Path(stream.name)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        message = storage.sentence(error, path)
        if message is None:
            raise
        raise UserError(message) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_json(path: str | Path, value: Any) -> None:
    """Write ``value`` as indented JSON, atomically."""
    with atomic_write(path) as stream:
        json.dump(value, stream, ensure_ascii=False, indent=2)
        stream.write("\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file.

    Raises:
        UserError: the file is missing or is not JSON; the message names the file and line.
    """
    with open_text(path) as stream:
        try:
            return json.load(stream)
        except json.JSONDecodeError as error:
            raise UserError(f"{path} line {error.lineno}: not valid JSON ({error.msg})") from error


def write_jsonl(path: str | Path, rows: Iterable[Any]) -> None:
    """Write one JSON value a line, atomically."""
    with atomic_write(path) as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_jsonl(path: str | Path) -> Iterator[tuple[int, Any]]:
    """Yield ``(line number, value)`` of a JSON-lines file (``.gz`` too); blank lines are skipped.

    A folder with a ``shards.json`` is read as one file, its shards one after the other; lines are counted through.

    Raises:
        UserError: the file is missing or a line is not JSON; the message names the file and line.
    """
    before = 0
    for part in jsonl_parts(path):
        number = 0
        with open_text(part) as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    try:
                        value = json.loads(line)
                    except json.JSONDecodeError as error:
                        raise UserError(f"{part} line {number}: not valid JSON ({error.msg})") from error
                    yield before + number, value
        before += number


def is_sharded(path: str | Path) -> bool:
    """Whether ``path`` is a folder of JSON-lines shards that are read as one."""
    return (Path(path) / SHARDS).is_file()


def jsonl_parts(path: str | Path) -> list[Path]:
    """Return the files of a JSON-lines ``path``: itself, or the shards that the ``shards.json`` of a folder lists.

    Raises:
        UserError: the list is not one, or a shard is missing.
    """
    path = Path(path)
    if not is_sharded(path):
        return [path]
    listed = read_json(path / SHARDS)
    try:
        parts = [path / shard["file"] for shard in listed["shards"]]
    except (TypeError, KeyError) as error:
        raise UserError(f"{path / SHARDS}: expected an object with 'shards', each with a 'file'") from error
    for part in parts:
        if not part.is_file():
            raise UserError(f"{part}: this shard is missing, but {SHARDS} lists it; make the shards again")
    return parts


@contextlib.contextmanager
def open_text(path: str | Path) -> Iterator[IO[str]]:
    """Open a UTF-8 text file for reading, through gzip if its name ends in ``.gz``.

    Line ends are left as they are (universal newlines off), because offsets depend on them.

    Raises:
        UserError: the file is missing, is a folder, or is not UTF-8.
    """
    path = Path(path)
    if not path.exists():
        raise UserError(f"{path}: no such file")
    if path.is_dir():
        raise UserError(f"{path}: this is a folder, expected a file")
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="") as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start} of a block)") from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UserError(f"{path}: not a whole gzip file ({error})") from error


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_sha256(value: object) -> bool:
    """Whether ``value`` is a SHA-256 written as 64 hexadecimal digits."""
    return isinstance(value, str) and len(value) == 64 and all(digit in "0123456789abcdefABCDEF" for digit in value)
