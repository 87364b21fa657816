"""Blocks of a collection: runs of equally many rows of a file, each processed alone.

A block never holds rows of two files and always begins at a multiple of its size, so that a file
that is added or changed alters no block of another one, and one that grew only its last. Files are
read row by row, in constant memory, with everything that is no sentence counted.
"""

import codecs
import hashlib
import io
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tripleaudit.collection.addresses import PACKED, TextFile, explained, kind, store
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import json_explained
from tripleaudit.corpora.corpus import half_character
from tripleaudit.corpora.readers.row_files import parquet_rows, table_rows

logger = logging.getLogger(__name__)

CHUNK = 1 << 22  # bytes that are read at a time
FIELD = 1 << 17  # characters of a field of a table, at which a quote is taken to be missing
SHOWN = 5  # broken or overlong rows of a block that are named in the log
OVERHEAD = 1 << 16  # bytes of a JSON line besides its text
PIECE = 1 << 20  # bytes of an overlong line that are skipped at a time

Record = tuple[str | None, str | None]  # id and text of a row, None where it has none
Row = (
    bytes | Record | None
)  # a line as it is, a record of a table, or a line that is too long to be read


@dataclass(frozen=True, slots=True)
class Block:
    """A run of rows of one file.

    Attributes:
        file: its name in the collection.
        first: number of its first row (a line of text and JSON lines, else a record), from 1.
        rows: how many.
        sha256: of its lines, of tables of its ids and texts.
    """

    file: str
    first: int
    rows: int
    sha256: str


@dataclass(frozen=True)
class Reading:
    """How rows are read.

    Attributes:
        size: rows of a block.
        text, id: columns of a table, keys of a JSON line; a row need not have an id.
        max_chars: a longer text is left out.
        skip: leave broken rows out; otherwise the first one is an error.
    """

    size: int = 20_000
    text: str = "text"
    id: str = "id"
    max_chars: int = 10_000
    skip: bool = False


class Line(NamedTuple):
    """A sentence of a collection and the row where it stands, from 1."""

    id: str
    text: str
    number: int


class Sentences(NamedTuple):
    """What a block holds.

    Attributes:
        block: that was read.
        lines: its sentences.
        counts: ``lines`` read, and of these ``empty``, ``broken`` (not UTF-8, not JSON, or without
            a text) and ``too_long``; every other one is a sentence.
    """

    block: Block
    lines: list[Line]
    counts: Counter[str]


def divide(file: TextFile, reading: Reading) -> list[Block]:
    """Return the blocks of a file, which is read once.

    Raises:
        UserError: it cannot be read, is not UTF-8 or begins with a broken row (unless those are
            left out), or lacks the column.
    """
    rows, blocks, number = _Rows(file, reading), list[Block](), 0
    found = iter(rows)
    while True:
        first, digest = number + 1, hashlib.sha256()
        for number, (data, row) in enumerate(islice(found, reading.size), first):
            digest.update(data)
            if isinstance(row, bytes) and not reading.skip:
                rows.decoded(row, number)
                if number == 1:  # the column that the first one lacks, they all lack
                    rows.content(row, number)
        if number < first:
            return blocks
        blocks.append(Block(file.name, first, number - first + 1, digest.hexdigest()))


def read_blocks(file: TextFile, blocks: Sequence[Block], reading: Reading) -> Iterator[Sentences]:
    """Yield what blocks of one file hold, in their order; what stands before them is read, too.

    Raises:
        UserError: the file cannot be read, a row is broken, or it changed since it was divided.
    """
    rows, before = _Rows(file, reading), 0
    found = iter(rows)
    for block in blocks:
        skipped = block.first - 1 - before
        yield rows.sentences(block, islice(found, skipped, skipped + block.rows))
        before = block.first - 1 + block.rows


class _Rows:
    """The rows of a file, each behind what of it goes into the digest of its block."""

    def __init__(self, file: TextFile, reading: Reading):
        self.name, self.location, self.reading, self.kind = (
            file.name,
            file.location,
            reading,
            kind(file.name),
        )

    def __iter__(self) -> Iterator[tuple[bytes, Row]]:
        system, path = store(self.location)
        with explained(self.name):
            if self.kind == "parquet":
                with system.open_input_file(path) as raw:
                    yield from map(_signed, self._of_parquet(raw))
                return
            source = system.open_input_stream(
                path, compression=PACKED.get(Path(self.name).suffix.lower())
            )
            with source as raw, io.BufferedReader(raw, CHUNK) as stream:
                if stream.peek(3).startswith(codecs.BOM_UTF8):
                    stream.read(3)
                yield from (
                    map(_signed, self._of_csv(stream))
                    if self.kind == "csv"
                    else self._lines(stream)
                )

    def sentences(self, block: Block, found: Iterable[tuple[bytes, Row]]) -> Sentences:
        """Return the sentences of a block; the first rows that are left out are logged.

        Raises:
            UserError: a row is broken, and broken rows are not left out; or the file has changed.
        """
        lines, counts = list[Line](), Counter(lines=0, empty=0, broken=0, too_long=0)
        digest, most = hashlib.sha256(), self.reading.max_chars
        for number, (data, row) in enumerate(found, block.first):
            digest.update(data)
            counts["lines"] += 1
            state, why, content = (
                "too_long",
                f"{self.name} line {number}: longer than {most} characters",
                None,
            )
            try:
                content = row and self.content(row, number)
            except UserError as error:
                if not self.reading.skip:
                    raise
                state, why = "broken", str(error)
            id_, text = content or (None, None)
            if content and not (text or "").strip():
                counts["empty"] += 1
            elif text is not None and len(text) <= most:
                lines.append(Line(f"{self.name}:{number}" if id_ is None else id_, text, number))
            else:
                counts[state] += 1
                if counts[state] <= SHOWN:
                    logger.warning("left out: %s", why)
        if digest.hexdigest() != block.sha256:
            raise UserError(
                f"{self.name}: changed since the collection was divided into blocks; run again to divide it again"
            )
        return Sentences(block, lines, counts)

    def _lines(self, stream: BinaryIO) -> Iterator[tuple[bytes, bytes | None]]:
        """Yield lines twice as they are; for a line that is too long, its digest and None."""
        limit = 4 * self.reading.max_chars + OVERHEAD
        while line := stream.readline(limit):
            if line.endswith(b"\n") or len(line) < limit:
                yield line, line
                continue
            digest = hashlib.sha256(line)
            while line and not line.endswith(b"\n"):
                line = stream.readline(PIECE)
                digest.update(line)
            yield digest.digest(), None

    def _of_csv(self, stream: BinaryIO) -> Iterator[Record]:
        advice = "; is a quote missing? If not, expected a larger max_chars (--max-chars)"
        most, errors = (
            max(FIELD, self.reading.max_chars + 1),
            "surrogateescape" if self.reading.skip else "strict",
        )
        lines = (self.decoded(line, number, errors) for number, line in enumerate(stream, 1))
        names, rows = table_rows(lines, self.name, most=most, strict=False, advice=advice)
        self._check_column(names)
        yield from ((row.get(self.reading.id), row[self.reading.text] or "") for _, row in rows)

    def _of_parquet(self, raw: Any) -> Iterator[Record]:
        import pyarrow.parquet as parquet

        with parquet.ParquetFile(raw) as table:
            names = table.schema_arrow.names
            self._check_column(names)
            wanted = [
                column
                for column in dict.fromkeys((self.reading.text, self.reading.id))
                if column in names
            ]
            for row in parquet_rows(table, wanted):
                yield _string(row.get(self.reading.id)), _string(row[self.reading.text])

    def _check_column(self, names: Sequence[str]) -> None:
        if self.reading.text not in names:
            there = ", ".join(names) or "none"
            advice = "name it with text_column (--text-column)"
            raise UserError(
                f"{self.name}: has no column {self.reading.text!r}; it has {there}: {advice}"
            )

    def decoded(self, line: bytes, number: int, errors: str = "strict") -> str:
        """Return the text of a line.

        Raises:
            UserError: it is not UTF-8.
        """
        try:
            return line.decode("utf-8", errors)
        except UnicodeDecodeError as error:
            advice = (
                "convert the file, or leave broken lines out with on_error: skip (--skip-broken)"
            )
            raise UserError(f"{self.name} line {number}: not UTF-8 text; {advice}") from error

    def content(self, row: bytes | Record, number: int) -> Record:
        """Return id and text of a row.

        Raises:
            UserError: it is broken.
        """
        if isinstance(row, bytes):
            line = self.decoded(row, number).rstrip("\r\n")
            if self.kind == "text" or not line.strip():
                return None, line
            try:
                row = self._record(json.loads(line), number)
            except (ValueError, RecursionError):
                with json_explained(
                    self.name, number
                ):  # entered for each line it would cost a microsecond
                    raise
            if "\\u" not in line:
                return row
        if half_character(row[1] or ""):
            reason = "the text has half a surrogate pair, which is no character"
            raise UserError(f"{self.name} line {number}: {reason}")
        return row

    def _record(self, value: Any, number: int) -> Record:
        text = self.reading.text
        if isinstance(value, dict) and isinstance(value.get(text), str):
            return _string(value.get(self.reading.id)), value[text]
        there = ", ".join(map(str, value)) if isinstance(value, dict) and text not in value else ""
        named = there and f"; it has {there[:200]}: name it with text_column (--text-column)"
        raise UserError(
            f"{self.name} line {number}: expected an object with the string '{text}'{named}"
        )


def _signed(record: Record) -> tuple[bytes, Record]:
    return f"{record[0]!r}\0{record[1]!r}\n".encode("utf-8", "surrogatepass"), record


def _string(value: Any) -> str | None:
    return None if value is None else str(value)
