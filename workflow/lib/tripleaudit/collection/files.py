"""The text files of a collection: finding them, and reading them as bytes, compressed or not."""

import contextlib
import glob
import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from tripleaudit.errors import UserError
from tripleaudit.shipped import shipped

TEXT, JSON = (".txt", ".text"), (".jsonl", ".ndjson")
KINDS = "text with a sentence a line (.txt) or JSON lines with 'text' (.jsonl), each also as .gz"


def is_text_file(path: str | Path) -> bool:
    """Whether the name of a file says that it can be read."""
    return suffix(path) in TEXT + JSON


def suffix(path: str | Path) -> str:
    """Return the ending of a file name without ``.gz``."""
    return Path(str(path).removesuffix(".gz")).suffix.lower()


def collection_files(entries: Sequence[str]) -> list[str]:
    """Return the files that files, folders (all text files below them) and glob patterns stand for, none twice.

    The order is that of the entries, sorted by name within a folder or pattern.

    Raises:
        UserError: an entry stands for nothing, or for a file of another kind.
    """
    files: dict[str, None] = {}
    for entry in entries:
        path = Path(shipped(entry))
        if path.is_dir():
            found = sorted(str(file) for file in path.rglob("*") if file.is_file() and is_text_file(file))
            if not found:
                raise UserError(f"{entry}: this folder has no text files; expected {KINDS}")
        elif path.is_file():
            found = [str(path)]
        else:
            found = sorted(name for name in glob.glob(entry, recursive=True) if Path(name).is_file())
            if not found:
                what = "no file fits this pattern" if glob.has_magic(entry) else "no such file or folder"
                raise UserError(f"{entry}: {what}; expected {KINDS}")
        for name in found:
            if not is_text_file(name):
                raise UserError(f"{name}: cannot tell what this file holds; expected {KINDS}")
        files.update(dict.fromkeys(found))
    return list(files)


@contextlib.contextmanager
def open_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, through gzip if its name ends in ``.gz``.

    Raises:
        UserError: the file is missing, or is no whole gzip file.
    """
    try:
        with gzip.open(path, "rb") if str(path).endswith(".gz") else open(path, "rb") as stream:
            yield stream
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file") from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UserError(f"{path}: not a whole gzip file ({error})") from error
