"""Blocks of a collection: runs of equally many rows of one file, each found, read, extracted, written and kept alone.

A block never holds rows of two files and always begins at a multiple of its size, so that a file that is added or
changed alters no block of another one, and one that grew only its last. Files are read row by row, in constant memory,
with everything that is no sentence counted.
"""

import codecs
import hashlib
import io
import json
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from tripleaudit.collection.addresses import TextFile, explained, kind, packing, store
from tripleaudit.corpora.corpus import half_character
from tripleaudit.corpora.readers.row_files import parquet_rows, table_rows
from tripleaudit.errors import UserError

logger = logging.getLogger(__name__)

CHUNK = 1 << 22  # bytes that are read at a time
FIELD = 1 << 17  # characters of a field of a table, at which a quote is taken to be missing
SHOWN = 5  # broken or overlong rows of a block that are named in the log
OVERHEAD = 1 << 16  # bytes of a JSON line besides its text
PIECE = 1 << 20  # bytes of an overlong line that are skipped at a time

Record = tuple[str | None, str | None]  # id and text of a row, None where it has none
Row = bytes | Record | None  # a line as it is, a record of a table, or a line that is too long to be read


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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


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


def divide(file: TextFile, reading: Reading) -> list[Block]:
    """Return the blocks of a file, which is read once.

    Raises:
        UserError: it cannot be read, is not UTF-8 or begins with a broken row (unless those are left out), or lacks the
            column.
    """
    blocks, found, number = list[Block](), _rows(file, reading), 0
    while True:
        first, digest = number + 1, hashlib.sha256()
        for number, (data, row) in enumerate(islice(found, reading.size), first):
            digest.update(data)
            if not reading.skip and isinstance(row, bytes):
                _check(row, file, number, reading)
        if number < first:
            return blocks
        blocks.append(Block(file.name, first, number - first + 1, digest.hexdigest()))


def _check(line: bytes, file: TextFile, number: int, reading: Reading) -> None:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(file.name, number) from error
    if number == 1:  # the column that the first one lacks, they all lack
        try:
            _content(line, kind(file.name), number, reading)
        except ValueError as error:
            raise UserError(f"{file.name} line {number}: {error}") from error


def _not_utf8(name: str, line: int) -> UserError:
    advice = "convert the file, or leave broken lines out with on_error: skip (--skip-broken)"
    return UserError(f"{name} line {line}: not UTF-8 text; {advice}")


class Line(NamedTuple):
    """A sentence of a collection and the row where it stands, from 1."""

    id: str
    text: str
    number: int


class Sentences:
    """What a block holds, as its rows are taken.

    Attributes:
        block: that is read.
        lines: its sentences.
        counts: ``lines`` read, and of these ``empty``, ``broken`` (not UTF-8, not JSON, or without a text) and
            ``too_long``; every other one is a sentence.
    """

    def __init__(self, block: Block, reading: Reading):
        self.block, self.kind, self.reading = block, kind(block.file), reading
        self.counts: Counter[str] = Counter(lines=0, empty=0, broken=0, too_long=0)
        self.lines: list[Line] = []

    def take(self, row: Row) -> None:
        """Take the next row.

        Raises:
            UserError: it is broken, and broken rows are not left out.
        """
        number, most = self.block.first + self.counts["lines"], self.reading.max_chars
        self.counts["lines"] += 1
        name, text, state, why = None, None, "too_long", f"longer than {most} characters"
        try:
            if row is not None:
                name, text = _content(row, self.kind, number, self.reading)
        except ValueError as error:
            if not self.reading.skip:
                raise UserError(f"{self.block.file} line {number}: {error}") from error
            row, state, why = None, "broken", str(error)
        if row is not None and not (text or "").strip():
            self.counts["empty"] += 1
        elif text is None or len(text) > most:
            self.counts[state] += 1
            if self.counts[state] <= SHOWN:
                logger.warning("%s line %d is left out: %s", self.block.file, number, why)
        else:
            self.lines.append(Line(f"{self.block.file}:{number}" if name is None else name, text, number))


def read_blocks(file: TextFile, blocks: Sequence[Block], reading: Reading) -> Iterator[Sentences]:
    """Yield what blocks of one file hold, in their order; what stands before them is read, too.

    Raises:
        UserError: the file cannot be read, a row is broken, or it changed since it was divided.
    """
    found, before = _rows(file, reading), 0
    for block in blocks:
        sentences, digest = Sentences(block, reading), hashlib.sha256()
        skipped = block.first - 1 - before
        for data, row in islice(found, skipped, skipped + block.rows):
            digest.update(data)
            sentences.take(row)
        before = block.first - 1 + block.rows
        if digest.hexdigest() != block.sha256:
            raise UserError(
                f"{file.name}: changed since the collection was divided into blocks; run again to divide it again"
            )
        yield sentences


def _rows(file: TextFile, reading: Reading) -> Iterator[tuple[bytes, Row]]:
    """Yield the rows of a file, each behind what of it goes into the digest of its block."""
    what, (system, path) = kind(file.name), store(file.location)
    with explained(file.name):
        if what == "parquet":
            with system.open_input_file(path) as raw:
                yield from map(_signed, _of_parquet(file.name, raw, reading))
            return
        source = system.open_input_stream(path, compression=packing(file.name))
        with source as raw, io.BufferedReader(raw, CHUNK) as stream:
            if what == "csv":
                yield from map(_signed, _of_csv(file.name, stream, reading))
            else:
                yield from _lines(stream, reading.max_chars)


def _signed(record: Record) -> tuple[bytes, Record]:
    return f"{record[0]!r}\0{record[1]!r}\n".encode("utf-8", "surrogatepass"), record


def _lines(stream: BinaryIO, max_chars: int) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield lines twice as they are; of one that is too long to be looked at its digest and None."""
    limit = 4 * max_chars + OVERHEAD
    while line := stream.readline(limit):
        if line.endswith(b"\n") or len(line) < limit:
            yield line, line
            continue
        digest = hashlib.sha256(line)
        while line and not line.endswith(b"\n"):
            line = stream.readline(PIECE)
            digest.update(line)
        yield digest.digest(), None


def _content(row: bytes | Record, of: str | None, number: int, reading: Reading) -> Record:
    """Return id and text of a row of a file of some kind.

    Raises:
        ValueError: what is wrong with it.
    """
    if not isinstance(row, bytes):
        _check_characters(row[1] or "")
        return row
    try:
        text = _unmarked(row, number).decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start} of the line)") from error
    if of == "text" or not text.strip():
        return None, text
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON ({error.msg})") from error
    except RecursionError as error:
        raise ValueError("not usable JSON (nested too deeply)") from error
    if not isinstance(value, dict) or not isinstance(value.get(reading.text), str):
        there = ", ".join(map(str, value)) if isinstance(value, dict) and reading.text not in value else ""
        named = there and f"; it has {there[:200]}: name it with text_column (--text-column)"
        raise ValueError(f"expected an object with the string '{reading.text}'{named}")
    if "\\u" in text:
        _check_characters(value[reading.text])
    return (None if value.get(reading.id) is None else str(value[reading.id])), value[reading.text]


def _check_characters(text: str) -> None:
    if half_character(text):
        raise ValueError("the text has half a surrogate pair, which is no character")


def _unmarked(line: bytes, number: int) -> bytes:
    return line.removeprefix(codecs.BOM_UTF8) if number == 1 else line


def _of_parquet(name: str, raw: Any, reading: Reading) -> Iterator[Record]:
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(raw) as table:
        names = table.schema_arrow.names
        _check_column(name, reading.text, names)
        wanted = [column for column in dict.fromkeys((reading.text, reading.id)) if column in names]
        for row in parquet_rows(table, wanted):
            text, id_ = row[reading.text], row.get(reading.id)
            yield (None if id_ is None else str(id_)), (None if text is None else str(text))


def _of_csv(name: str, stream: BinaryIO, reading: Reading) -> Iterator[Record]:
    advice = "; is a quote missing? If not, expected a larger max_chars (--max-chars)"
    most = max(FIELD, reading.max_chars + 1)
    names, rows = table_rows(_decoded(name, stream, reading.skip), name, most=most, strict=False, advice=advice)
    _check_column(name, reading.text, names)
    yield from ((row.get(reading.id), row[reading.text] or "") for _, row in rows)


def _decoded(name: str, stream: BinaryIO, skip: bool) -> Iterator[str]:
    for number, line in enumerate(stream, 1):
        try:
            yield _unmarked(line, number).decode("utf-8", "surrogateescape" if skip else "strict")
        except UnicodeDecodeError as error:
            raise _not_utf8(name, number) from error


def _check_column(name: str, column: str, names: Sequence[str]) -> None:
    if column not in names:
        there = ", ".join(names) or "none"
        raise UserError(f"{name}: has no column {column!r}; it has {there}: name it with text_column (--text-column)")
