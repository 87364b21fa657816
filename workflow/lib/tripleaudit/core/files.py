"""Reading and writing files so that outputs appear whole or not at all."""

import codecs
import contextlib
import errno
import gzip
import hashlib
import io
import json
import os
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from tripleaudit.core import storage
from tripleaudit.core.errors import UserError
from tripleaudit.core.outputs import check_unchanged, publish_file

ELSE: ContextVar[str | None] = ContextVar(
    "ELSE", default=None
)  # of texts that are not UTF-8 or UTF-16; "": none is named
ZSTD = b"\x28\xb5\x2f\xfd"  # how a zstd file begins
MANIFEST = "collection.json"  # lists the blocks of a text collection, which are read as one file


@contextlib.contextmanager
def atomic_write(path: str | Path, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file next to ``path`` and move it over ``path`` if the block succeeds.

    Raises:
        UserError: the disk is full or the folder cannot be written.
    """
    path = Path(path)
    if path.is_dir():
        raise UserError(f"{path}: this is a folder, expected a file to write")
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
        publish_file(temporary, path)
    except OSError as error:
        message = storage.sentence(error, path)
        if message is None and temporary is not None:
            raise
        raise UserError(message or f"{path}: cannot be written ({error.strerror})") from error
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
    with open_text(path) as stream, json_explained(path):
        return json.load(stream)


@contextlib.contextmanager
def json_explained(path: str | Path, line: int = 0) -> Iterator[None]:
    """Turn what decoding JSON raises into a :class:`UserError` with the file and line.

    Args:
        line: number of the line that is decoded alone, or of the lines before what is decoded.
    """
    try:
        yield
    except json.JSONDecodeError as error:
        raise UserError(
            f"{path} line {line + error.lineno - bool(line)}: not valid JSON ({error.msg})"
        ) from error
    except RecursionError as error:
        raise UserError(
            f"{path}{f' line {line}' if line else ''}: nested too deeply to be read"
        ) from error
    except ValueError as error:  # more digits than Python converts
        reason = str(error).partition(";")[0]
        raise UserError(
            f"{path}{f' line {line}' if line else ''}: not valid JSON ({reason})"
        ) from error


def write_jsonl(path: str | Path, rows: Iterable[Any]) -> None:
    """Write one JSON value a line, atomically."""
    with atomic_write(path) as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_jsonl(
    path: str | Path, pairs: Callable[[list], Any] | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield ``(line number, value)`` of a JSON-lines file (``.gz`` too); blank lines are skipped.

    A folder with the manifest of a text collection is read as one file, its blocks one after the
    other.

    Args:
        pairs: makes an object of its keys and values, instead of ``dict``.

    Raises:
        UserError: the file is missing or a line is not JSON; the message names the file and line.
    """
    if is_collection(path):
        yield from enumerate(_collection_rows(Path(path)), 1)
        return
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                with json_explained(path, number):
                    value = json.loads(
                        line.rstrip("\n"), object_pairs_hook=pairs
                    )  # what is cut off ends on its line
                yield number, value


def is_collection(path: str | Path) -> bool:
    """Return whether ``path`` is the folder of a finished collection, read as one file."""
    return (Path(path) / MANIFEST).is_file()


def plain_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a block as a prediction, without missing gate score and types."""
    for triple in row["triples"]:
        for span in (triple["subject"], triple["object"]):
            if span.get("type", "") is None:
                del span["type"]
    if row["gate"] is None:
        del row["gate"]
    return row


def _collection_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of all blocks that the manifest of a folder lists, in its order.

    Raises:
        UserError: the list is not one, or a block is missing or no whole Parquet file.
    """
    import pyarrow
    from pyarrow import parquet

    listed = read_json(folder / MANIFEST)
    try:
        parts = [folder / block["file"] for block in listed["blocks"]]
    except (TypeError, KeyError) as error:
        raise UserError(
            f"{folder / MANIFEST}: expected an object with 'blocks', each with a 'file'"
        ) from error
    for part in parts:
        if not part.is_file():
            raise UserError(
                f"{part}: this block is missing, but {MANIFEST} lists it; run the collection again"
            )
    for part in parts:
        try:
            with parquet.ParquetFile(part) as table:
                for batch in table.iter_batches(batch_size=4096):
                    yield from map(plain_row, batch.to_pylist())
        except (OSError, pyarrow.ArrowException) as error:
            raise UserError(
                f"{part}: not a whole Parquet file ({str(error).splitlines()[0]})"
            ) from error


def check_file(path: str | Path) -> Path:
    """Return ``path``, if it is a file that can be read again and again.

    Raises:
        UserError: there is nothing, or a folder, a pipe or a device.
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (
        OSError,
        ValueError,
    ) as error:  # a circle of links, a part that is a file, a name that no file can have
        reason = (
            storage.sentence(error, path)
            or f"{path}: not a file ({getattr(error, 'strerror', None) or error})"
        )
        raise UserError(reason) from error
    if stat.S_ISDIR(mode):
        raise UserError(f"{path}: this is a folder, expected a file")
    if not stat.S_ISREG(mode):
        raise UserError(
            f"{path}: this is a pipe or a device, which cannot be read twice; expected a file"
        )
    return path


@contextlib.contextmanager
def explain_read_errors(path: str | Path) -> Iterator[None]:
    """Turn a failing disk, which an error names without the file, into a :class:`UserError`."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        raise UserError(
            f"{path}: cannot be read ({error.strerror}); check the disk, or take another copy"
        ) from error


@contextlib.contextmanager
def reading_else_as(encoding: str | None) -> Iterator[None]:
    """Read texts that are not UTF-8 in another encoding inside the block.

    Args:
        encoding: its name; empty where none was named, None where a command has no option to name
            one.

    Raises:
        UserError: there is no such encoding of texts.
    """
    if encoding:
        try:
            if not codecs.lookup(encoding)._is_text_encoding:
                raise LookupError
        except LookupError:
            raise UserError(
                f"--encoding: {encoding!r} is no encoding of texts; expected one such as cp1252"
            ) from None
    before = ELSE.set(encoding)
    try:
        yield
    finally:
        ELSE.reset(before)


@contextlib.contextmanager
def open_text(path: str | Path) -> Iterator[IO[str]]:
    """Open a text file: UTF-8 or UTF-16, with or without byte-order mark, also gzip or zstd.

    Line ends are left as they are (universal newlines off), because offsets depend on them.

    Raises:
        UserError: the file is missing, is a folder, is no text, or not a whole compressed file; or
            it belongs to a study and has changed since its job wrote it.
    """
    path = check_file(path)
    check_unchanged(path)
    try:
        with explain_read_errors(path), _opened(path) as content:
            encoding = _encoding(content.peek(4)[:4])
            if (other := ELSE.get()) and encoding == "utf-8" and _line_that_is_not_utf8(path):
                encoding = other
            with io.TextIOWrapper(content, encoding=encoding, newline="") as stream:
                yield stream
    except UnicodeError as error:
        advice = "; --encoding names another one, such as cp1252" if ELSE.get() == "" else ""
        raise UserError(f"{path}{_line_that_is_not_utf8(path)}: not UTF-8 text{advice}") from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UserError(f"{path}: not a whole gzip file ({error})") from error


def _line_that_is_not_utf8(path: Path) -> str:
    with _opened(path) as content:
        for number, line in enumerate(content, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return f" line {number} (byte {error.start + 1})"
    return ""


def _opened(path: Path) -> io.BufferedReader | gzip.GzipFile:
    """Open a file for reading bytes, decompressed."""
    with path.open("rb") as content:
        start = content.read(4)
    if path.suffix == ".gz" or start.startswith(b"\x1f\x8b"):
        return gzip.open(path, "rb")
    if start == ZSTD:
        import pyarrow

        return io.BufferedReader(
            _Zstd(pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd"), path)
        )
    return path.open("rb")


class _Zstd(io.RawIOBase):
    """What pyarrow decompresses; a broken file is a broken file."""

    def __init__(self, stream: Any, path: Path) -> None:
        self.stream, self.path = stream, path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return self.stream.readinto(buffer)
        except OSError as error:
            raise UserError(f"{self.path}: not a whole zstd file ({error})") from error


def _encoding(start: bytes) -> str:
    """Return the encoding that the first four bytes of a text show."""
    if start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    zeros = "".join("0" if byte == 0 else "x" for byte in start)
    return {"x0x0": "utf-16-le", "0x0x": "utf-16-be"}.get(zeros, "utf-8")


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_sha256(value: object) -> bool:
    """Whether ``value`` is a SHA-256 written as 64 hexadecimal digits."""
    return (
        isinstance(value, str)
        and len(value) == 64
        and all(digit in "0123456789abcdefABCDEF" for digit in value)
    )
