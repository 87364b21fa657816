"""Shared parts of readers: lists of JSON objects, and checks of triples and texts."""

import contextlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import explain_read_errors, json_explained, open_text

OLD_EXCEL: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
FIRST_OBJECT_CHARACTERS = 1 << 16  # enough for the first object of most files
_SPACE = re.compile(r"\s*")
_LIST_START = re.compile(r"\s*\[?\s*")


def first_character(path: str | Path) -> str:
    """Return the first character of a text file that is not white space, or the empty string."""
    with open_text(path) as stream:
        while block := stream.read(4096):
            if stripped := block.lstrip("\ufeff \t\r\n"):
                return stripped[0]
    return ""


def _first_bytes(path: Path, size: int) -> bytes:
    """Return the first bytes of a file; empty if there is no such file."""
    if not path.is_file():
        return b""
    with explain_read_errors(path), path.open("rb") as stream:
        return stream.read(size)


def is_parquet(path: Path) -> bool:
    """Return whether a file starts with the signature of Parquet."""
    return _first_bytes(path, 4) == b"PAR1"


def split_of(path: str | Path) -> tuple[str, str | None]:
    """Return data set and split of ``folder#test`` or ``hub:NAME#test``; None without a split."""
    base, mark, split = str(path).rpartition("#")
    if (
        mark
        and split
        and not Path(path).exists()
        and (base.startswith("hub:") or Path(base).is_dir())
    ):
        return base, split
    return str(path), None


SPLITS: Final = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "dev": "valid",
    "test": "test",
}


def named_split(path: str | Path) -> str | None:
    """Return the split in a file's name or after ``#`` of a data set; None without one."""
    base, split = split_of(path)
    parts = re.split(r"[^a-z]+", (split or Path(base).name).lower())
    return next((SPLITS[part] for part in parts if part in SPLITS), None)


def check_archive(path: Path) -> None:
    """Raise :class:`UserError` with advice for Excel files and archives, which no format reads."""
    start = _first_bytes(path, 8)
    excel = start == OLD_EXCEL
    if start.startswith(b"PK\x03\x04"):
        with contextlib.suppress(zipfile.BadZipFile, OSError), zipfile.ZipFile(path) as archive:
            excel = "xl/workbook.xml" in archive.namelist()
    elif not excel:
        return
    if excel:
        raise UserError(f"{path}: this is a table of Excel; save it as CSV (UTF-8)")
    raise UserError(f"{path}: this is an archive; unpack it and name one of its files")


def load_json(path: str | Path) -> Any:
    """Read a JSON file; repeated keys of an object are errors, because a value would be lost."""
    with open_text(path) as stream, json_explained(path):
        return json.load(stream, object_pairs_hook=unique_keys(path))


def unique_keys(path: str | Path) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """Return a hook for JSON objects that refuses repeated keys."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
            raise UserError(f"{path}: the key {key[:60]!r} occurs twice in one object")
        return value

    return unique


def read_objects(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(where, object)`` of a JSON list, or of concatenated objects such as JSON lines.

    ``where`` is ``FILE item N`` or ``FILE line N``, counted from 1.

    Raises:
        UserError: a value is not an object.
    """
    first = first_character(path)
    if not first:
        return
    values = _list_items(path) if first == "[" else _values(path)
    for where, value in values:
        if not isinstance(value, dict):
            raise UserError(f"{where}: expected an object, got {shown(value)}")
        yield where, value


def _list_items(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Yield ``(where, value)`` of the items of a JSON list."""
    for number, value in enumerate(load_json(path), 1):
        yield f"{path} item {number}", value


def _values(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Yield ``(where, value)`` of concatenated JSON values.

    The file is read line by line. Once a line is not a complete value, the rest of the file is
    decoded as one text.
    """
    decoder = json.JSONDecoder(object_pairs_hook=unique_keys(path))
    name = str(path)
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.isspace():
                continue
            try:
                value = decoder.decode(line)
            except (ValueError, RecursionError):
                yield from _values_of_text(path, decoder, line + stream.read(), number)
                return
            yield f"{name} line {number}", value


def _values_of_text(
    path: str | Path, decoder: json.JSONDecoder, text: str, number: int
) -> Iterator[tuple[str, Any]]:
    """Yield ``(where, value)`` of the JSON values in a text that begins on a numbered line."""
    line = number
    end = 0  # of the previous value
    while (start := _SPACE.match(text, end).end()) < len(text):  # type: ignore[union-attr]  # it also matches nothing
        line += text.count("\n", end, start)
        with json_explained(path, number):
            value, end = decoder.raw_decode(text, start)
        yield f"{path} line {line}", value
        line += text.count("\n", start, end)


def first_object(path: Path) -> Any:
    """Return the first JSON value, None for an empty list; reads only the start of large files."""
    text = ""
    with open_text(path) as stream:
        for size in (FIRST_OBJECT_CHARACTERS, -1):  # -1: the rest of the file
            text += stream.read(size)
            start = _LIST_START.match(text).end()  # type: ignore[union-attr]  # it also matches nothing
            if text[start : start + 1] == "]":
                return None
            try:
                with json_explained(path):
                    return json.JSONDecoder().raw_decode(text, start)[0]
            except UserError:
                if size < 0:
                    raise
    return None


_KINDS = {str: "a string", list: "a list", dict: "an object", int: "a whole number"}


def take(value: dict[str, Any], key: str, kind: type, where: str) -> Any:
    """Return ``value[key]``, or raise :class:`UserError` where it is missing or of another type."""
    if key not in value:
        raise UserError(f"{where}: field {key!r} is missing")
    if not isinstance(value[key], kind) or (kind is int and isinstance(value[key], bool)):
        raise UserError(f"{where}: field {key!r} is {shown(value[key])}, expected {_KINDS[kind]}")
    return value[key]


def items(value: dict[str, Any], key: str, kind: type, where: str) -> list[Any]:
    """Return the list ``value[key]``.

    Raises :class:`UserError` if it, or one of its items, has another type.
    """
    found = take(value, key, list, where)
    for item in found:
        if not isinstance(item, kind):
            raise UserError(f"{where}: {key!r} holds {shown(item)}, expected {_KINDS[kind]}")
    return found


def shown(value: Any) -> str:
    """Return a value as JSON of at most 80 characters, for messages."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."
