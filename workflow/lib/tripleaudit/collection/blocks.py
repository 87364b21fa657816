"""What a collection is divided into, how its files are opened, and id and text of each row of tables."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, BinaryIO

from tripleaudit.collection.addresses import TextFile, kind, packing, store, told
from tripleaudit.errors import UserError

CHUNK = 1 << 22  # bytes that are read at a time
NO_UTF8 = "not UTF-8 text; convert the file, or leave broken lines out with on_error: skip (--skip-broken)"
FIELD = 1 << 17  # characters of a field of a table, at which a quote is taken to be missing
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Block:
    """A run of rows of one file.

    Attributes:
        file: its name in the collection.
        first: number of its first row (a line of text and JSON lines, else a record), from 1.
        rows: how many.
        start, stop: bytes of the unpacked file; 0 for tables.
        sha256: of its bytes, of tables of its ids and texts.
    """

    file: str
    first: int
    rows: int
    start: int
    stop: int
    sha256: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Columns:
    """Where a row has its text and, perhaps, its id: columns of a table, keys of a JSON line."""

    text: str = "text"
    id: str = "id"


@dataclass(frozen=True)
class Reading:
    """How rows are read.

    Attributes:
        size: rows of a block.
        columns: of tables and JSON lines.
        max_chars: a longer text is left out.
        skip: leave broken rows out; otherwise the first one is an error.
    """

    size: int = 20_000
    columns: Columns = Columns()
    max_chars: int = 10_000
    skip: bool = False


def opened(file: TextFile) -> Any:
    """Open a file for reading its unpacked bytes one after the other."""
    system, path = store(file.place)
    with told(file.name):
        return system.open_input_stream(path, compression=packing(file.name), buffer_size=CHUNK)


def not_utf8(name: str, line: int) -> UserError:
    """The error about a line that is no text."""
    return UserError(f"{name} line {line}: {NO_UTF8}")


def check_characters(text: str) -> None:
    """Raise ValueError if a text holds what is no character."""
    if SURROGATE.search(text):
        raise ValueError("the text has half a surrogate pair, which is no character")


def record_bytes(id_: str | None, text: str | None) -> bytes:
    """What of a record of a table goes into the digest of its block."""
    return f"{id_!r}\0{text!r}\n".encode("utf-8", "surrogatepass")


# Tables


def records(file: TextFile, reading: Reading, skipped: int = 0) -> Iterator[tuple[str | None, str]]:
    """Yield id and text of the records of a table, None where they have none; what is no text is half a surrogate.

    Args:
        file: whose name ends in .csv, .tsv or .parquet.
        reading: which columns.
        skipped: records at its beginning to leave out.

    Raises:
        UserError: the table cannot be read, or lacks the column.
    """
    yield from (_parquet if kind(file.name) == "parquet" else _csv)(file, reading, skipped)


def _csv(file: TextFile, reading: Reading, skipped: int) -> Iterator[tuple[str | None, str]]:
    csv.field_size_limit(max(FIELD, reading.max_chars + 1))
    delimiter = "\t" if ".tsv" in file.name.lower() else ","
    with opened(file) as raw, told(file.name):
        table = csv.reader(_decoded(file.name, io.BufferedReader(raw, CHUNK), reading.skip), delimiter=delimiter)
        try:
            head = next(table, [])
            text, id_ = (_column(file.name, head, column) for column in (reading.columns.text, reading.columns.id))
            if text is None:
                raise _missing(file.name, reading.columns.text, head)
            for row in islice(filter(None, table), skipped, None):
                yield _cell(row, id_), _cell(row, text) or ""
        except csv.Error as error:
            why = f"{error}; is a quote missing? If not, expected a larger max_chars (--max-chars)"
            raise UserError(f"{file.name} line {table.line_num}: {why}") from error


def _decoded(name: str, stream: BinaryIO, skip: bool) -> Iterator[str]:
    for number, raw in enumerate(stream, 1):
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            yield raw.decode("utf-8", "surrogateescape" if skip else "strict")
        except UnicodeDecodeError as error:
            raise not_utf8(name, number) from error


def _column(name: str, head: Sequence[str], column: str) -> int | None:
    return head.index(column) if column in head else None


def _cell(row: Sequence[str], column: int | None) -> str | None:
    return row[column] if column is not None and column < len(row) else None


def _missing(name: str, column: str, found: Sequence[str]) -> UserError:
    there = ", ".join(found) or "none"
    return UserError(f"{name}: has no column {column!r}; it has {there}: name it with text_column (--text-column)")


def _parquet(file: TextFile, reading: Reading, skipped: int) -> Iterator[tuple[str | None, str]]:
    import pyarrow.parquet as parquet

    system, path = store(file.place)
    columns = reading.columns
    with told(file.name), parquet.ParquetFile(system.open_input_file(path)) as table:
        names = table.schema_arrow.names
        if columns.text not in names:
            raise _missing(file.name, columns.text, names)
        wanted = [columns.text] + [columns.id] * (columns.id in names and columns.id != columns.text)
        groups, left = list(range(table.num_row_groups)), skipped
        while groups and table.metadata.row_group(groups[0]).num_rows <= left:
            left -= table.metadata.row_group(groups.pop(0)).num_rows
        for batch in table.iter_batches(batch_size=4096, row_groups=groups, columns=wanted) if groups else ():
            rows = batch.slice(min(left, batch.num_rows))
            left -= batch.num_rows - rows.num_rows
            texts = rows.column(columns.text).to_pylist()
            ids = rows.column(columns.id).to_pylist() if len(wanted) > 1 else [None] * len(texts)
            for id_, text in zip(ids, texts, strict=True):
                yield (None if id_ is None else str(id_)), (None if text is None else str(text))
