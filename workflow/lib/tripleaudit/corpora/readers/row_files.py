"""Rows of JSON, JSON lines, CSV, TSV and Parquet files, and the first row for detection."""

import csv
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import open_text
from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.common import (
    check_archive,
    first_character,
    first_object,
    is_parquet,
    load_json,
    read_objects,
    split_of,
)

ABSENT: Any = object()
CELL = 1 << 30  # characters of a CSV field at most; csv itself stops at 131,072
Rows = Iterator[tuple[str, Any]]  # where a row stands, and the row


class Row(dict):
    """A row, and what its sentence is to have besides: fields of ``RawSentence``."""

    def __init__(
        self,
        row: Mapping[str, Any],
        left_out: Iterable[LeftOut] = (),
        listed: int | None = None,
        names: Sequence[Sequence[str]] = (),
        entities: Sequence[tuple[int, int, str | None]] = (),
    ) -> None:
        super().__init__(row)
        self.left_out = [*left_out]
        self.listed = listed
        self.names = names
        self.entities = entities  # start, end and type, counted as those of the format's triples


@dataclass(frozen=True, slots=True)
class Malformed:
    """An item of a list of triples that is no triple, and why.

    It is an error in gold triples, and a wrong prediction in the output of a system.
    """

    item: Any
    reason: str


def at(value: Any, path: str) -> Any:
    """Return the value at a path, :data:`ABSENT` if missing; for lists, that of each item."""
    if isinstance(value, dict):
        if path in value:
            return value[path]
        key, dot, rest = path.partition(".")
        return at(value[key], rest) if dot and key in value else ABSENT
    if isinstance(value, list):
        key, dot, rest = path.partition(".")
        if key.isdecimal():
            item = value[int(key)] if int(key) < len(value) else ABSENT
            return at(item, rest) if dot else item
        found = [at(item, path) for item in value]
        if any(item is ABSENT for item in found):
            return ABSENT
        return [part for item in found for part in (item if isinstance(item, list) else [item])]
    return ABSENT


def lines(path: str | Path) -> Iterator[tuple[int, str, str]]:
    """Yield number, ``FILE line N`` and text of the lines that are not blank."""
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield number, f"{path} line {number}", line.rstrip("\r\n")


def delimiter_of(line: str) -> str:
    """Return what stands between the fields of a table's first line; empty if it is no table."""
    mark = max("\t,;|", key=line.count)
    return mark if mark in line else ""


def read_rows(path: str | Path, rows: str | None = None, *, has_header: bool = True) -> Rows:
    """Yield ``(where, row)`` of JSON, JSON lines, CSV, TSV or Parquet.

    Args:
        rows: path of the list in a JSON object.
        has_header: whether the first line of a table names its columns; otherwise they are called
            0, 1, and so on.
    """
    path = Path(path)
    if is_parquet(path):
        yield from read_parquet(path)
    elif first_character(path) not in ("[", "{"):
        yield from _table(path, has_header)
    elif rows is None:
        yield from read_objects(path)
    else:
        found = at(load_json(path), rows)
        if isinstance(found, dict):
            found = list(found.values())
        if not isinstance(found, list):
            raise UserError(f"{path}: there is no list at {rows!r} (rows)")
        yield from ((f"{path} item {number}", row) for number, row in enumerate(found, 1))


def read_parquet(*paths: str | Path) -> Rows:
    """Yield ``(where, row)`` of Parquet files."""
    import pyarrow
    from pyarrow import parquet

    for path in paths:
        try:
            with parquet.ParquetFile(path) as table:
                yield from (
                    (f"{path} row {number}", row)
                    for number, row in enumerate(parquet_rows(table), 1)
                )
        except (pyarrow.ArrowException, OSError) as error:
            raise UserError(
                f"{path}: not a whole Parquet file ({str(error).splitlines()[0]})"
            ) from error


def parquet_rows(table: Any, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of an open ``ParquetFile`` with the given columns, in constant memory."""
    for batch in table.iter_batches(batch_size=4096, columns=columns):
        yield from batch.to_pylist()


def _table(path: Path, has_header: bool = True) -> Rows:
    with open_text(path) as stream:
        lines_of_table: Iterable[str] = stream
        if not has_header:
            lines_of_table = _numbered(stream)
        names, rows = table_rows(lines_of_table, str(path))
        if len(names) < 2:
            raise UserError(
                f"{path}: neither JSON nor a table with a header, expected rows with columns"
            )
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise UserError(
                f"{path} line 1: the column {twice[0]!r} stands twice; expected each name once"
            )
        for line, row in rows:
            where = f"{path} line {line if has_header else line - 1}"
            if list(row.values()) == names:
                raise UserError(
                    f"{where}: the header stands again, as where files were joined; expected it once"
                )
            if None in row:
                raise UserError(f"{where}: more fields than the {len(names)} columns of the header")
            if any(value is None for value in row.values()):
                raise UserError(
                    f"{where}: fewer fields than the {len(names)} columns of the header"
                )
            yield where, row


def _numbered(stream: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a table behind a header that numbers its columns."""
    table = iter(stream)
    first = next((line for line in table if line.strip()), "")
    delimiter = delimiter_of(first) or ","
    columns = next(csv.reader([first], delimiter=delimiter), [])
    yield delimiter.join(map(str, range(len(columns)))) + "\n"
    yield first
    yield from table


def table_rows(
    source: Iterable[str], name: str, *, most: int = CELL, strict: bool = True, advice: str = ""
) -> tuple[list[str], Iterator[tuple[int, dict[str, Any]]]]:
    """Return the columns of a CSV file with any delimiter, and ``(line, row)`` of its rows.

    Args:
        source: lines of the file, the header first; ``name`` is its name in messages.
        most: characters of a field.
        strict: refuse quotes that are not as they should be.
        advice: end of the message about broken CSV.
    """
    source = iter(source)
    first, header = next(
        ((number, line) for number, line in enumerate(source, 1) if line.strip()), (1, "")
    )
    header = header.rstrip("\r\n")
    delimiter = delimiter_of(header) or ","
    csv.field_size_limit(most)
    names = [column.strip() for column in next(csv.reader([header], delimiter=delimiter), [])]

    def rows() -> Iterator[tuple[int, dict[str, Any]]]:
        table = csv.DictReader(source, fieldnames=names, delimiter=delimiter, strict=strict)
        try:
            yield from ((table.reader.line_num + first, row) for row in table)
        except csv.Error as error:
            raise UserError(
                f"{name} line {table.reader.line_num + first}: broken table ({error}){advice}"
            ) from error

    return names, rows()


class Probe:
    """Content by which formats detect their files, read lazily.

    Attributes:
        name: as it was given, such as ``hub:NAME``, without the name of a split.
        path: the same as a path, perhaps of a folder or of no file.
    """

    def __init__(self, path: str | Path) -> None:
        self.name = split_of(path)[0]
        self.path = Path(self.name)

    @functools.cached_property
    def first(self) -> str:
        """The first character that is not white space; empty for a folder and for Parquet.

        Raises:
            UserError: the file is missing or empty, a table of Excel, or another archive.
        """
        if self.path.is_dir() or is_parquet(self.path):
            return ""
        check_archive(self.path)
        return first_character(self.path) or self._empty()

    @functools.cached_property
    def line(self) -> str:
        """The first line that is not blank; empty for JSON and for a folder."""
        if not self.first or self.first in "[{":
            return ""
        return next((line for _, _, line in lines(self.path)), "")

    @functools.cached_property
    def value(self) -> dict[str, Any]:
        """The first object of JSON or JSON lines; empty for any other file.

        Raises:
            UserError: the file begins like JSON and is none, or it holds nothing.
        """
        if not self.first or self.first not in "[{":
            return {}
        value = first_object(self.path)
        return self._empty() if value is None else value if isinstance(value, dict) else {}

    @functools.cached_property
    def row(self) -> dict[str, Any]:
        """First row; empty if the file has none, such as running text with a tab."""
        if self.path.is_dir() or not self.path.exists():
            return {}
        if is_parquet(self.path):
            return next((row for _, row in read_parquet(self.path)), {})
        if not delimiter_of(self.line):
            return self.value
        with open_text(self.path) as stream:
            names, rows = table_rows(stream, self.name)
            try:
                first = [row for _, row in itertools.islice(rows, 1)]
            except UserError:  # a broken table, which its reader explains
                first = []
        fit = len(set(names)) == len(names) > 1 and all(row[names[1]] is not None for row in first)
        return dict.fromkeys(names, "") if fit else {}

    def _empty(self) -> Any:
        raise UserError(f"{self.path}: the corpus is empty, expected at least one sentence")


def has(*keys: str) -> Callable[[Probe], bool]:
    """Return whether an object has all keys; used for keys that alone identify no format."""
    return lambda probe: set(keys) <= probe.value.keys()
