"""Predictions without texts, one line for each sentence in the order of the gold set.

``triple-lines``: a list of triples a line, as Python or JSON writes it (EDC), or one JSON list of
such lists. ``ptrnet-output``: ``subject ; object ; relation | …`` a line, as PtrNet writes its test
output; an empty line is a sentence without triples.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import open_text
from tripleaudit.corpora.readers.common import shown
from tripleaudit.corpora.readers.row_files import Malformed, Probe, Row, Rows
from tripleaudit.corpora.spec import CorpusFormat

PART = r"[^;|\t]+"
PTRNET_TRIPLE = rf"{PART} ; {PART} ; {PART}"
PTRNET_LINE = re.compile(rf"{PTRNET_TRIPLE}(?: \| {PTRNET_TRIPLE})*")


def refuse_without_gold(path: str | Path) -> Iterator[Any]:
    """Raise :class:`UserError`: the file cannot be read as a corpus."""
    raise UserError(
        f"{path}: has triples without texts; expected as predictions next to a gold set, as in tripleaudit score GOLD "
        f"{Path(path).name}"
    )
    yield


def _literal(text: str) -> Any:
    """Return a value as JSON or Python writes it.

    Raises:
        ValueError: it is neither.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(str(error)) from error


def listed_rows(path: Path, columns: Mapping[str, str] | None = None) -> Rows:
    """Yield the triples of each sentence."""
    with open_text(path) as stream:
        lines = [line.strip() for line in stream if line.strip()]
    if len(lines) == 1 and _depth(lines[0]) == 3:
        for number, triples in enumerate(_literal(lines[0]), 1):
            yield f"{path} item {number}", Row({"triples": triples})
        return
    for number, line in enumerate(lines, 1):
        where = f"{path} line {number}"
        try:
            triples = _literal(line)
        except ValueError:
            triples = [Malformed(line, f"{where}: {shown(line)} is no list of triples")]
        yield where, Row({"triples": triples})


def _depth(line: str) -> int:
    """Return how deep lists are nested at the first innermost value; 0 if it is no list."""
    try:
        value = _literal(line)
    except ValueError:
        return 0
    depth = 0
    while isinstance(value, list):
        depth += 1
        value = next(filter(None, value), None)
    return depth


def _are_lists(probe: Probe) -> bool:
    if probe.first != "[":
        return False
    with open_text(probe.path) as stream:
        lines = list(islice((line.strip() for line in stream if line.strip()), 2))
    if not all(line.startswith(("[[", "[]", "[(")) for line in lines):
        return False
    if len(lines) == 1:
        return _depth(lines[0]) == 3
    return all(line.endswith("]") for line in lines)


def ptrnet_rows(path: Path, columns: Mapping[str, str] | None = None) -> Rows:
    """Yield the triples of each line."""
    with open_text(path) as stream:
        lines = [line.strip() for line in stream]
    for number, line in enumerate(lines, 1):
        where = f"{path} line {number}"
        triples = [_ptrnet_triple(part, where) for part in line.split(" | ") if part]
        yield where, Row({"triples": triples})


def _ptrnet_triple(part: str, where: str) -> list[str] | Malformed:
    pieces = [piece.strip() for piece in part.split(" ; ")]
    if len(pieces) != 3:
        reason = f"{where}: {shown(part)} is no 'subject ; object ; relation'"
        return Malformed(part, reason)
    subject, object_, relation = pieces
    return [subject, relation, object_]


TRIPLE_LINES = CorpusFormat(
    name="triple-lines",
    order=1.4,
    read=refuse_without_gold,
    detects=_are_lists,
    rows_without_texts=listed_rows,
)
PTRNET_OUTPUT = CorpusFormat(
    name="ptrnet-output",
    order=1.5,
    read=refuse_without_gold,
    detects=lambda probe: bool(PTRNET_LINE.fullmatch(probe.line.strip())),
    rows_without_texts=ptrnet_rows,
)
