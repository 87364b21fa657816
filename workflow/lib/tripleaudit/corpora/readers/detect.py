"""Telling the format of a file from its content."""

import json
from pathlib import Path
from typing import Any

from tripleaudit.corpora.readers.common import first_character, read_objects
from tripleaudit.errors import UserError
from tripleaudit.files import open_text

_ENOUGH = 1 << 16


def detect_format(path: str | Path) -> str:
    """Return the name of the reader that fits a file.

    Raises:
        UserError: the file is missing or empty, or no format fits; the message says how to name one.
    """
    first = first_character(path)
    if not first:
        raise UserError(f"{path}: the corpus is empty, expected at least one sentence")
    if first in "[{":
        value = _first_object(path)
        if value is None:
            raise UserError(f"{path}: the corpus is empty, expected at least one sentence")
        if format := _format_of_object(value):
            return format
    raise UserError(f"{path}: the format cannot be told from the content, please name one with --format")


def _first_object(path: str | Path) -> dict[str, Any] | None:
    """Decode the first object without parsing the whole file, which may have tens of megabytes."""
    with open_text(path) as stream:
        text = stream.read(_ENOUGH).lstrip("\ufeff \t\r\n")
    start = text.removeprefix("[").lstrip()
    try:
        value, _ = json.JSONDecoder().raw_decode(start)
    except json.JSONDecodeError:
        value = next((value for _, value in read_objects(path)), None)
    return value if isinstance(value, dict) else None


def _format_of_object(value: dict[str, Any]) -> str | None:
    if "triple_list" in value:
        return "triple-list"
    if "triples" in value and "text" in value:
        return "jsonl"
    return None
