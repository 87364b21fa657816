"""Blocks of a collection: runs of equally many rows of one file, each found, read, extracted, written and kept alone.

A block never holds rows of two files and always begins at a multiple of its size, so that a file that is added or
changed alters no block of another one, and one that grew only its last. Blocks are read row by row, in constant memory,
with everything that is no sentence counted.
"""

import codecs
import hashlib
import io
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from tripleaudit.collection.addresses import TextFile, kind, packing, store, told
from tripleaudit.corpora.corpus import half_character
from tripleaudit.corpora.readers.row_files import parquet_rows, table_rows
from tripleaudit.errors import UserError

logger = logging.getLogger(__name__)

CHUNK = 1 << 22  # bytes that are read at a time
NO_UTF8 = "not UTF-8 text; convert the file, or leave broken lines out with on_error: skip (--skip-broken)"
FIELD = 1 << 17  # characters of a field of a table, at which a quote is taken to be missing
SHOWN = 5  # broken or overlong rows of a block that are named in the log
OVERHEAD = 1 << 16  # bytes of a JSON line besides its text
PIECE = 1 << 20  # bytes of an overlong line that are skipped at a time


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
    if half_character(text):
        raise ValueError("the text has half a surrogate pair, which is no character")


def record_bytes(id_: str | None, text: str | None) -> bytes:
    """What of a record of a table goes into the digest of its block."""
    return f"{id_!r}\0{text!r}\n".encode("utf-8", "surrogatepass")


def divide(file: TextFile, reading: Reading) -> list[Block]:
    """Return the blocks of a file, which is read once.

    Raises:
        UserError: it cannot be read, is not UTF-8 or begins with a broken row (unless those are left out), or lacks the
            column.
    """
    if kind(file.name) in ("csv", "parquet"):
        return list(_runs_of_records(file, reading.size, records(file, reading)))
    with opened(file) as stream:
        blocks = list(_runs_of_lines(file, stream, reading))
    if blocks and kind(file.name) == "json" and not reading.skip:
        with opened(file) as raw, told(file.name), io.BufferedReader(raw, CHUNK) as stream:
            line = next(_lines(stream, blocks[0].stop, hashlib.sha256(), reading.max_chars))
        Sorter(blocks[0], reading).take(None if line is None else _content(True, line, 1, reading))
    return blocks


def _runs_of_lines(file: TextFile, stream: BinaryIO, reading: Reading) -> Iterator[Block]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    digest = hashlib.sha256()
    first, rows, start, place, last = 1, 0, 0, 0, b"\n"
    while True:
        with told(file.name):
            chunk = stream.read(CHUNK)
        if not reading.skip:
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                before = chunk[: max(0, error.start - pending)].count(b"\n")
                raise not_utf8(file.name, first + rows + before) from error
        if not chunk:
            break
        feeds = np.flatnonzero(np.frombuffer(chunk, dtype=np.uint8) == 10) + 1
        begin = taken = 0
        while len(feeds) - taken >= reading.size - rows:
            taken += reading.size - rows
            end = int(feeds[taken - 1])
            digest.update(chunk[begin:end])
            yield Block(file.name, first, reading.size, start, place + end, digest.hexdigest())
            first, rows, start, begin, digest = first + reading.size, 0, place + end, end, hashlib.sha256()
        digest.update(chunk[begin:])
        rows, place, last = rows + len(feeds) - taken, place + len(chunk), chunk[-1:]
    rows += last != b"\n"  # the last line may lack its line feed
    if rows:
        yield Block(file.name, first, rows, start, place, digest.hexdigest())


def _runs_of_records(file: TextFile, size: int, found: Iterator[tuple[str | None, str]]) -> Iterator[Block]:
    """Yield the blocks of a table."""
    digest, rows, first = hashlib.sha256(), 0, 1
    for record in found:
        digest.update(record_bytes(*record))
        rows += 1
        if rows == size:
            yield Block(file.name, first, rows, 0, 0, digest.hexdigest())
            digest, rows, first = hashlib.sha256(), 0, first + size
    if rows:
        yield Block(file.name, first, rows, 0, 0, digest.hexdigest())


def tasks(blocks: Sequence[Block]) -> list[list[Block]]:
    """Group blocks into what one process reads in one go: a file that has to be unpacked from its beginning is one."""
    groups: list[list[Block]] = []
    for block in blocks:
        whole = packing(block.file) or kind(block.file) == "csv"
        if whole and groups and groups[-1][0].file == block.file:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


# Reading


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a collection and where it stands (rows from 1)."""

    id: str
    text: str
    source: str
    number: int


@dataclass(frozen=True)
class Sentences:
    """What a block holds.

    Attributes:
        block: that was read.
        lines: its sentences.
        counts: ``lines`` read, and of these ``empty``, ``broken`` (not UTF-8, not JSON, or without a text) and
            ``too_long``; every other one is a sentence.
    """

    block: Block
    lines: list[Line]
    counts: Counter[str]


def read_blocks(file: TextFile, blocks: Sequence[Block], reading: Reading) -> Iterator[Sentences]:
    """Yield what blocks of one file hold, in their order; of a packed file also what stands before is unpacked.

    Raises:
        UserError: the file cannot be read, a row is broken, or it changed since it was divided.
    """
    read = _read_records if kind(file.name) in ("csv", "parquet") else _read_lines
    yield from read(file, blocks, reading)


class Sorter:
    """Tells sentences from rows that are none, and counts both."""

    def __init__(self, block: Block, reading: Reading):
        self.block, self.reading = block, reading
        self.counts: Counter[str] = Counter(lines=0, empty=0, broken=0, too_long=0)
        self.lines: list[Line] = []

    def take(self, content: Callable[[], tuple[str | None, str | None]] | None) -> None:
        """Take the next row: ``content`` returns its id and text or raises ValueError; None is a row too long to read.

        Raises:
            UserError: it is broken, and broken rows are not left out.
        """
        number = self.block.first + self.counts["lines"]
        self.counts["lines"] += 1
        long = f"longer than {self.reading.max_chars} characters"
        if content is None:
            return self._left_out("too_long", number, long)
        try:
            id_, text = content()
        except ValueError as error:
            if not self.reading.skip:
                raise UserError(f"{self.block.file} line {number}: {error}") from error
            return self._left_out("broken", number, str(error))
        if text is None or not text.strip():
            self.counts["empty"] += 1
        elif len(text) > self.reading.max_chars:
            self._left_out("too_long", number, long)
        else:
            named = f"{self.block.file}:{number}" if id_ is None else id_
            self.lines.append(Line(named, text, self.block.file, number))
        return None

    def done(self, sha256: str) -> Sentences:
        """Return what was taken.

        Raises:
            UserError: the block is another one than when the collection was divided.
        """
        if sha256 != self.block.sha256 or self.counts["lines"] != self.block.rows:
            raise UserError(
                f"{self.block.file}: changed since the collection was divided into blocks; run again to divide it anew"
            )
        return Sentences(self.block, self.lines, self.counts)

    def _left_out(self, kind: str, number: int, why: str) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN:
            logger.warning("%s line %d is left out: %s", self.block.file, number, why)


# Lines


def _read_lines(file: TextFile, blocks: Sequence[Block], reading: Reading) -> Iterator[Sentences]:
    packed, structured = packing(file.name), kind(file.name) == "json"
    if packed:
        raw: Any = opened(file)
    else:
        system, path = store(file.place)
        with told(file.name):
            raw = system.open_input_file(path)
    with raw, told(file.name), io.BufferedReader(raw, CHUNK) as stream:
        place = 0
        for block in blocks:
            if packed:
                while place < block.start and (skipped := stream.read(min(CHUNK, block.start - place))):
                    place += len(skipped)
            else:
                stream.seek(block.start)
            sorter, digest = Sorter(block, reading), hashlib.sha256()
            for number, line in enumerate(_lines(stream, block.stop - block.start, digest, reading.max_chars)):
                sorter.take(None if line is None else _content(structured, line, block.first + number, reading))
            place = block.stop
            yield sorter.done(digest.hexdigest())


def _lines(stream: BinaryIO, left: int, digest: Any, max_chars: int) -> Iterator[bytes | None]:
    """Yield raw lines, None for one that is too long to be looked at."""
    limit = 4 * max_chars + OVERHEAD
    while left > 0:
        raw = stream.readline(min(limit, left))
        if not raw:
            return
        left -= len(raw)
        digest.update(raw)
        if raw.endswith(b"\n") or not left:
            yield raw
            continue
        while left > 0 and not raw.endswith(b"\n"):
            raw = stream.readline(min(PIECE, left))
            if not raw:
                break
            left -= len(raw)
            digest.update(raw)
        yield None


def _content(
    structured: bool, raw: bytes, number: int, reading: Reading
) -> Callable[[], tuple[str | None, str | None]]:
    """Return what reads id and text off a line; it raises ValueError with what is wrong."""

    def content() -> tuple[str | None, str | None]:
        try:
            text = _unmarked(raw, number).decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 text (byte {error.start} of the line)") from error
        if not structured or not text.strip():
            return None, text
        try:
            row = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"not valid JSON ({error.msg})") from error
        except RecursionError as error:
            raise ValueError("not usable JSON (nested too deeply)") from error
        if not isinstance(row, dict) or not isinstance(row.get(reading.text), str):
            there = ", ".join(map(str, row)) if isinstance(row, dict) and reading.text not in row else ""
            named = there and f"; it has {there[:200]}: name it with text_column (--text-column)"
            raise ValueError(f"expected an object with the string '{reading.text}'{named}")
        if "\\u" in text:
            check_characters(row[reading.text])
        return (None if row.get(reading.id) is None else str(row[reading.id])), row[reading.text]

    return content


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
    if kind(file.name) == "parquet":
        import pyarrow.parquet as parquet

        system, path = store(file.place)
        with told(file.name), parquet.ParquetFile(system.open_input_file(path)) as table:
            names = table.schema_arrow.names
            _check_column(file.name, reading.text, names)
            wanted = [name for name in dict.fromkeys((reading.text, reading.id)) if name in names]
            for row in parquet_rows(table, wanted, skipped):
                text, id_ = row[reading.text], row.get(reading.id)
                yield (None if id_ is None else str(id_)), (None if text is None else str(text))
        return
    advice = "; is a quote missing? If not, expected a larger max_chars (--max-chars)"
    most = max(FIELD, reading.max_chars + 1)
    with opened(file) as raw, told(file.name):
        lines = _decoded(file.name, io.BufferedReader(raw, CHUNK), reading.skip)
        names, rows = table_rows(lines, file.name, most=most, strict=False, advice=advice)
        _check_column(file.name, reading.text, names)
        for _, row in islice(rows, skipped, None):
            yield row.get(reading.id), row[reading.text] or ""


def _decoded(name: str, stream: BinaryIO, skip: bool) -> Iterator[str]:
    for number, raw in enumerate(stream, 1):
        try:
            yield _unmarked(raw, number).decode("utf-8", "surrogateescape" if skip else "strict")
        except UnicodeDecodeError as error:
            raise not_utf8(name, number) from error


def _unmarked(raw: bytes, number: int) -> bytes:
    return raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw


def _check_column(name: str, column: str, names: Sequence[str]) -> None:
    if column not in names:
        there = ", ".join(names) or "none"
        raise UserError(f"{name}: has no column {column!r}; it has {there}: name it with text_column (--text-column)")


def _read_records(file: TextFile, blocks: Sequence[Block], reading: Reading) -> Iterator[Sentences]:
    place = blocks[0].first - 1
    found = records(file, reading, place)
    for block in blocks:
        for _ in islice(found, block.first - 1 - place):
            pass
        sorter, digest = Sorter(block, reading), hashlib.sha256()
        for id_, text in islice(found, block.rows):
            digest.update(record_bytes(id_, text))

            def content(id_: str | None = id_, text: str | None = text) -> tuple[str | None, str | None]:
                check_characters(text or "")
                return id_, text

            sorter.take(content)
        place = block.first - 1 + block.rows
        yield sorter.done(digest.hexdigest())
