"""Telling the format of a file from its content."""

import json
import re
from pathlib import Path
from typing import Any

from tripleaudit.corpora.readers.ade_corpus import NEGATIVE
from tripleaudit.corpora.readers.common import first_character
from tripleaudit.corpora.readers.pairs import END, TABS
from tripleaudit.corpora.readers.semeval import FIRST_LINE
from tripleaudit.errors import UserError
from tripleaudit.files import is_sharded, open_text

_ENOUGH = 1 << 16
_SENT_TUP = (".sent", ".tup", ".pointer")
_SAVED = ("dataset_dict.json", "dataset_info.json", "state.json")
_RELATION_LINE = re.compile(r"\d+\|(?:[^|]*\|){6}[^|]*")


def detect_format(path: str | Path) -> str:
    """Return the name of the reader that fits a file, or a folder with a saved data set.

    Raises:
        UserError: the file is missing or empty, or no format fits; the message says how to name one.
    """
    if str(path).startswith("hub:"):
        return "datasets"
    path = Path(path)
    if path.is_dir() and any((path / name).exists() for name in _SAVED):
        return "datasets"
    if is_sharded(path):
        return "jsonl"
    if path.suffix in _SENT_TUP or (not path.exists() and path.with_name(f"{path.name}.sent").exists()):
        return "sent-tup"
    first = first_character(path)
    if not first:
        raise UserError(f"{path}: the corpus is empty, expected at least one sentence")
    format = _format_of_json(path, first) if first in "[{" else _format_of_lines(path)
    if format is None:
        raise UserError(f"{path}: the format cannot be told from the content, please name one")
    return format


def _format_of_lines(path: Path) -> str | None:
    with open_text(path) as stream:
        line = next((line for line in stream if line.strip()), "").rstrip("\r\n")
    if line.count("\t") == 8:
        return "conll04"
    if line.count("\t") >= TABS and line.rstrip().endswith(END):
        return "pairs"
    if NEGATIVE.fullmatch(line) or _RELATION_LINE.fullmatch(line):
        return "ade-corpus-v2"
    if FIRST_LINE.fullmatch(line.strip()):
        return "semeval"
    return None


def _format_of_json(path: Path, first: str) -> str | None:
    value = _first_object(path, first)
    if value is None:
        raise UserError(f"{path}: the corpus is empty, expected at least one sentence")
    if not isinstance(value, dict):
        return None
    if "predict" in value and "truth" in value:
        return "predictions"
    if "relation_list" in value and "text" in value:
        return "triple-list-spans"
    if "triple_list" in value:
        return "triple-list"
    if "tokens" in value and "relations" in value:
        return "entity-relation"
    if "sentText" in value:
        return "nyt-raw"
    if "relation" in value and ({"h", "t"} <= value.keys() or {"head", "tail", "sentence"} <= value.keys()):
        return "pairs"
    if "triples" in value and "text" in value:
        return "jsonl"
    if first == "{" and value and all(isinstance(rows, list) for rows in value.values()):
        from tripleaudit.corpora.readers.genres import guess_order

        return "genres" if guess_order(path) == "sor" else "genres-processed"
    return None


def _first_object(path: Path, first: str) -> Any:
    """Decode the first object, if it can be, without parsing the whole file, which may have tens of megabytes."""
    with open_text(path) as stream:
        text = stream.read(_ENOUGH)
        for attempt in range(2):
            lead = text.lstrip("\ufeff \t\r\n")
            start = lead[1:].lstrip() if first == "[" else lead
            if start.startswith("]"):
                return None
            try:
                return json.JSONDecoder().raw_decode(start)[0]
            except json.JSONDecodeError as error:
                if attempt:
                    skipped = text[: len(text) - len(start)].count("\n")
                    raise UserError(f"{path} line {error.lineno + skipped}: not valid JSON ({error.msg})") from error
                text += stream.read()
    return None
