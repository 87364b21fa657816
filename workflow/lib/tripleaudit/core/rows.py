"""Rows of JSON lines as dataclasses or models, validated."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict, ValidationError

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_jsonl, write_jsonl
from tripleaudit.core.mistakes import mistakes, type_adapter

CLOSED = ConfigDict(extra="forbid")
"""``__pydantic_config__`` of dataclasses for rows of files: unknown keys are refused."""
Row = TypeVar("Row")


def read_rows(path: str | Path, kind: type[Row]) -> list[Row]:
    """Read JSON lines, each as a dataclass or model of this kind.

    Raises:
        UserError: a line is invalid; the message names file and line.
    """
    return [row_of(row, kind, f"{path} line {number}") for number, row in read_jsonl(path)]


def write_rows(path: str | Path, rows: Iterable[Any]) -> None:
    """Write dataclasses as JSON lines, atomically."""
    write_jsonl(path, map(asdict, rows))


def row_of(value: Any, kind: type[Row], where: str) -> Row:
    """Return a JSON value as a dataclass or model.

    Raises:
        UserError: a key is unknown, missing or has the wrong type; ``where`` begins the message.
    """
    try:
        return type_adapter(kind).validate_python(value)
    except ValidationError as error:
        raise UserError(
            "; ".join(mistake.sentence(where) for mistake in mistakes(error, kind))
        ) from None
