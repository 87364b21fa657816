"""The records of tables: id and text of each row of CSV, TSV and Parquet files."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

from tripleaudit.collection.addresses import TextFile, kind, store, told
from tripleaudit.collection.blocks import CHUNK, RawStream, Reading, not_utf8, opened
from tripleaudit.errors import UserError

FIELD = 1 << 17  # characters of a field of a table, at which a quote is taken to be missing


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
        table = csv.reader(
            _decoded(file.name, io.BufferedReader(RawStream(raw), CHUNK), reading.skip), delimiter=delimiter
        )
        try:
            head = next(table, [])
            text, id_ = (_column(file.name, head, column) for column in (reading.columns.text, reading.columns.id))
            if text is None:
                raise _missing(file.name, reading.columns.text, head)
            for row in islice(filter(None, table), skipped, None):
                yield _cell(row, id_), _cell(row, text) or ""
        except csv.Error as error:
            raise UserError(f"{file.name} line {table.line_num}: {error}; is a quote missing?") from error


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
    return UserError(f"{name}: has no column {column!r}; it has {', '.join(found) or 'none'}: name it with text_column")


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
