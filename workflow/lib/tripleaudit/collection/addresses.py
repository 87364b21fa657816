"""Locations of collections: paths of this machine, or addresses of pyarrow or fsspec stores."""

import functools
import glob
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tripleaudit.core import storage
from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import shipped

PACKED = {".gz": "gzip", ".zst": "zstd"}
KINDS = {
    ".txt": "text",
    ".text": "text",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
}
EXPECTED = (
    "text with a sentence a line (.txt), JSON lines (.jsonl) or tables (.csv, .tsv), each also as .gz or .zst, "
    "or .parquet"
)
# what stores say, in words of their own, where they refuse; numbers and signatures stand in other
# messages, too
DENIED = re.compile(
    r"credential|access[ _]?denied|forbidden|unauthori[sz]ed|accesskeyid|signaturedoesnotmatch|signature we calculated"
    r"|\b(?:http\S*|status|code|error)\W{1,3}40[13]\b|\b40[13] (?:client|error)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TextFile:
    """A file of a collection; ``size`` and ``changed`` tell whether it may have changed.

    Attributes:
        name: as the collection names it, which is the ``source`` of its rows.
        location: where any process finds it, an absolute path or the address.
    """

    name: str
    location: str
    size: int
    changed: float


def kind(path: str) -> str | None:
    """Return the kind of a file by its suffix: ``text``, ``json``, ``csv``, ``parquet`` or None."""
    suffixes = Path(path).suffixes
    inner = suffixes[:-1] if suffixes and suffixes[-1].lower() in PACKED else suffixes
    found = KINDS.get(inner[-1].lower()) if inner else None
    return None if found == "parquet" and inner != suffixes else found


def is_remote(entry: str) -> bool:
    """Whether an entry is the address of a store instead of a path."""
    return "://" in entry


@functools.lru_cache(maxsize=64)
def store(address: str) -> tuple[Any, str]:
    """Return the pyarrow file system of a path or address, and the path within it.

    Raises:
        UserError: the address is of no known kind, or its store cannot be reached.
    """
    from pyarrow import fs, lib

    if not is_remote(address):
        return fs.LocalFileSystem(), str(Path(address).absolute())
    with explained(address):
        try:
            return fs.FileSystem.from_uri(address)
        except (lib.ArrowInvalid, lib.ArrowNotImplementedError):
            import fsspec
        try:
            system, path = fsspec.core.url_to_fs(address)
        except (ValueError, ImportError) as error:
            what = str(error).splitlines()[0]
            raise UserError(
                f"{address}: {what}; expected a path or an address such as s3://"
            ) from None
        return fs.PyFileSystem(fs.FSSpecHandler(system)), path


@contextmanager
def explained(location: str) -> Iterator[None]:
    """Turn errors of a store into one sentence that names the location."""
    try:
        yield
    except UserError:
        raise
    except FileNotFoundError as error:
        raise UserError(f"{location}: no such file or folder") from error
    except (OSError, ValueError) as error:
        text = " ".join(str(error).split())
        words = re.sub(r"\S*/\S*", "", text)  # less what it names, which may be called anything
        if is_remote(location) and DENIED.search(words):
            raise UserError(
                f"{location}: the store refuses access or there are no credentials; expected them where its tools "
                f"look, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY ({text[:160]})"
            ) from error
        if is_remote(location):
            raise UserError(f"{location}: cannot be reached or read ({text[:200]})") from error
        raise UserError(
            storage.sentence(error, location) or f"{location}: cannot be read ({text[:200]})"
        ) from error


def text_files(entries: Sequence[str]) -> list[TextFile]:
    """Return the files that paths, folders, patterns and addresses stand for, none twice.

    The order is that of the entries, sorted by name within a folder or pattern.

    Raises:
        UserError: an entry stands for nothing or cannot be reached, or a file is of another kind.
    """
    files: dict[str, TextFile] = {}
    for entry in entries:
        found, folder = _in_store(entry) if is_remote(entry) else _on_disk(entry)
        if folder:
            found = [file for file in found if kind(file.name)]
        if not found:
            nothing = (
                "no file fits this pattern" if glob.has_magic(entry) else "no such file or folder"
            )
            raise UserError(
                f"{entry}: {'this folder has no text files' if folder else nothing}; expected {EXPECTED}"
            )
        for file in found:
            if not kind(file.name):
                raise UserError(
                    f"{file.name}: cannot recognise what this file holds; expected {EXPECTED}"
                )
            files.setdefault(file.name, file)
    return list(files.values())


def _on_disk(entry: str) -> tuple[list[TextFile], bool]:
    """Return the files of an entry, and whether it is a folder."""
    path = Path(shipped(entry))
    named = (
        path.rglob("*")
        if path.is_dir()
        else [path]
        if path.is_file()
        else glob.glob(entry, recursive=True)
    )
    stats = {name: Path(name).stat() for name in sorted(map(str, named)) if Path(name).is_file()}
    files = [
        TextFile(name, str(Path(name).absolute()), stat.st_size, stat.st_mtime)
        for name, stat in stats.items()
    ]
    return files, path.is_dir()


def _in_store(entry: str) -> tuple[list[TextFile], bool]:
    """Return the same of an address."""
    from pyarrow import fs

    pattern = "*" in entry
    fixed = entry.partition("*")[0].rpartition("/")[0] if pattern else entry
    system, base = store(fixed)
    with explained(entry):
        info = system.get_file_info(base)
        folder = info.type == fs.FileType.Directory
        listed = system.get_file_info(fs.FileSelector(base, recursive=True)) if folder else [info]
    named = {
        fixed + item.path.removeprefix(base): item
        for item in listed
        if item.type == fs.FileType.File
    }
    files = [
        TextFile(name, name, item.size or 0, item.mtime.timestamp() if item.mtime else 0.0)
        for name, item in sorted(named.items())
        if not pattern or fnmatchcase(name, entry)
    ]
    return files, folder and not pattern
