"""Where the texts of a collection lie: paths of this machine, or addresses of a store that pyarrow or fsspec reads."""

import functools
import glob
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.machine import storage
from tripleaudit.shipped import shipped

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
# what stores say, in words of their own, where they refuse; numbers and signatures stand in other messages, too
DENIED = re.compile(
    r"credential|access[ _]?denied|forbidden|unauthori[sz]ed|accesskeyid|signaturedoesnotmatch|signature we calculated"
    r"|\b(?:http\S*|status|code|error)\W{1,3}40[13]\b|\b40[13] (?:client|error)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TextFile:
    """A file of a collection; ``size`` and ``changed`` say whether it may have changed since it was last read.

    Attributes:
        name: as the collection names it, which is the ``source`` of its rows.
        location: where any process finds it, an absolute path or the address.
    """

    name: str
    location: str
    size: int
    changed: float


def kind(path: str) -> str | None:
    """Return what the ending of a name says that a file holds: ``text``, ``json``, ``csv``, ``parquet`` or None."""
    suffixes = Path(path).suffixes
    inner = suffixes[:-1] if suffixes and suffixes[-1].lower() in PACKED else suffixes
    found = KINDS.get(inner[-1].lower()) if inner else None
    return None if found == "parquet" and inner != suffixes else found


def packing(path: str) -> str | None:
    """Return the compression that the ending of a name says."""
    return PACKED.get(Path(path).suffix.lower())


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
            raise UserError(f"{address}: {what}; expected a path or an address such as s3://") from None
        return fs.PyFileSystem(fs.FSSpecHandler(system)), path


@contextmanager
def explained(location: str) -> Iterator[None]:
    """Turn what a store says when it cannot be read or written into one sentence that names the location."""
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
        raise UserError(storage.sentence(error, location) or f"{location}: cannot be read ({text[:200]})") from error


def local_files(entries: Sequence[str]) -> list[str]:
    """Return the files of this machine that entries stand for, none twice; addresses are left out.

    The order is that of the entries, sorted by name within a folder or pattern.

    Raises:
        UserError: an entry stands for nothing, or for a file of another kind.
    """
    files: dict[str, None] = {}
    for entry in entries:
        if is_remote(entry):
            continue
        path = Path(shipped(entry))
        what = "no file fits this pattern" if glob.has_magic(entry) else "no such file or folder"
        if path.is_dir():
            found = sorted(str(file) for file in path.rglob("*") if file.is_file() and kind(file.name))
            what = "this folder has no text files"
        elif path.is_file():
            found = [str(path)]
        else:
            found = sorted(name for name in glob.glob(entry, recursive=True) if Path(name).is_file())
        if not found:
            raise UserError(f"{entry}: {what}; expected {EXPECTED}")
        if other := next((name for name in found if not kind(name)), None):
            raise UserError(f"{other}: cannot recognise what this file holds; expected {EXPECTED}")
        files.update(dict.fromkeys(found))
    return list(files)


def text_files(entries: Sequence[str]) -> list[TextFile]:
    """Return the files that paths, folders, patterns and addresses stand for, none twice, in the entries' order.

    Raises:
        UserError: an entry stands for nothing or cannot be reached, or a file is of another kind.
    """
    files: dict[str, TextFile] = {}
    for entry in entries:
        for file in _remote_files(entry) if is_remote(entry) else map(_local_file, local_files([entry])):
            files.setdefault(file.name, file)
    return list(files.values())


def _local_file(name: str) -> TextFile:
    stat = Path(name).stat()
    return TextFile(name, str(Path(name).absolute()), stat.st_size, stat.st_mtime)


def _remote_files(entry: str) -> list[TextFile]:
    from pyarrow import fs

    fixed = entry.partition("*")[0].rpartition("/")[0] if "*" in entry else entry
    system, base = store(fixed)
    with explained(entry):
        info = system.get_file_info(base)
        if info.type == fs.FileType.NotFound:
            raise UserError(f"{entry}: no such file or folder; expected {EXPECTED}")
        whole = info.type == fs.FileType.Directory
        found = system.get_file_info(fs.FileSelector(base, recursive=True)) if whole else [info]
    files = []
    for item in found:
        name = fixed + item.path.removeprefix(base)
        if item.type != fs.FileType.File or ("*" in entry and not fnmatchcase(name, entry)):
            continue
        if kind(name):
            files.append(TextFile(name, name, item.size or 0, item.mtime.timestamp() if item.mtime else 0.0))
        elif "*" in entry or name == entry:
            raise UserError(f"{name}: cannot recognise what this file holds; expected {EXPECTED}")
    if not files:
        raise UserError(f"{entry}: no text files are there; expected {EXPECTED}")
    return sorted(files, key=lambda file: file.name)
