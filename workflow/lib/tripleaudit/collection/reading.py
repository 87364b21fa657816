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


class Meter:
    """Size and digest of what was read of a block: its bytes, of a table its ids and texts."""

    def __init__(self) -> None:
        self.size, self.digest = 0, hashlib.sha256()

    def update(self, data: bytes) -> bytes:
        self.size += len(data)
        self.digest.update(data)
        return data

    def take(self) -> tuple[int, str]:
        """Return both, and begin another block."""
        found = self.size, self.digest.hexdigest()
        self.size, self.digest = 0, hashlib.sha256()
        return found


def divide(file: TextFile, reading: Reading) -> list[Block]:
    """Return the blocks of a file, which is read once.

    Raises:
        UserError: it cannot be read, is not UTF-8 or begins with a broken row (unless those are left out), or lacks the
            column.
    """
    meter, blocks, place, first = Meter(), list[Block](), 0, 1
    found, lines = _rows(file, reading, meter), kind(file.name) in ("text", "json")
    while True:
        rows = 0
        for rows, row in enumerate(islice(found, reading.size), 1):
            if not reading.skip and isinstance(row, bytes):
                _check(row, file, first + rows - 1, reading)
        if not rows:
            return blocks
        size, digest = meter.take()
        start, place = place, place + size * lines
        blocks.append(Block(file.name, first, rows, start, place, digest))
        first += rows


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

    def __init__(self, file: TextFile, block: Block, reading: Reading):
        self.kind, self.block, self.reading = kind(file.name), block, reading
        self.counts: Counter[str] = Counter(lines=0, empty=0, broken=0, too_long=0)
        self.lines: list[Line] = []

    def take(self, row: Row) -> None:
        """Take the next row.

        Raises:
            UserError: it is broken, and broken rows are not left out.
        """
        number, long = self.block.first + self.counts["lines"], f"longer than {self.reading.max_chars} characters"
        self.counts["lines"] += 1
        if row is None:
            return self._left_out("too_long", number, long)
        try:
            name, text = _content(row, self.kind, number, self.reading)
        except ValueError as error:
            if not self.reading.skip:
                raise UserError(f"{self.block.file} line {number}: {error}") from error
            return self._left_out("broken", number, str(error))
        if text is None or not text.strip():
            self.counts["empty"] += 1
        elif len(text) > self.reading.max_chars:
            self._left_out("too_long", number, long)
        else:
            self.lines.append(Line(f"{self.block.file}:{number}" if name is None else name, text, number))
        return None

    def _left_out(self, kind: str, number: int, why: str) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN:
            logger.warning("%s line %d is left out: %s", self.block.file, number, why)


def read_blocks(file: TextFile, blocks: Sequence[Block], reading: Reading) -> Iterator[Sentences]:
    """Yield what blocks of one file hold, in their order; of a packed file also what stands before is unpacked.

    Raises:
        UserError: the file cannot be read, a row is broken, or it changed since it was divided.
    """
    meter, row = Meter(), blocks[0].first
    found = _rows(file, reading, meter, blocks[0])
    for block in blocks:
        for _ in islice(found, block.first - row):
            pass
        row = block.first + block.rows
        meter.take()
        sentences = Sentences(file, block, reading)
        for each in islice(found, block.rows):
            sentences.take(each)
        if meter.take()[1] != block.sha256 or sentences.counts["lines"] != block.rows:
            raise UserError(
                f"{file.name}: changed since the collection was divided into blocks; run again to divide it again"
            )
        yield sentences


def _rows(file: TextFile, reading: Reading, meter: Meter, first: Block | None = None) -> Iterator[Row]:
    """Yield the rows of a file, from a block on, and let ``meter`` see them."""
    before = first.first - 1 if first else 0
    packed, what = packing(file.name), kind(file.name)
    system, path = store(file.place)
    with explained(file.name):
        if what == "parquet":
            with system.open_input_file(path) as raw:
                for record in _of_parquet(file.name, raw, reading, before):
                    meter.update(_bytes(record))
                    yield record
            return
        source = system.open_input_stream(path, compression=packed) if packed else system.open_input_file(path)
        with source as raw, io.BufferedReader(raw, CHUNK) as stream:
            if what == "csv":
                for record in islice(_of_csv(file.name, stream, reading), before, None):
                    meter.update(_bytes(record))
                    yield record
                return
            if first and not packed:
                stream.seek(first.start)
            lines = _lines(stream, meter, reading.max_chars)
            for _ in islice(lines, before if packed else 0):
                pass
            meter.take()  # less what stands before
            yield from lines


def _bytes(record: Record) -> bytes:
    """What of a record of a table goes into the digest of its block."""
    return f"{record[0]!r}\0{record[1]!r}\n".encode("utf-8", "surrogatepass")


def _lines(stream: BinaryIO, meter: Meter, max_chars: int) -> Iterator[bytes | None]:
    """Yield lines as they are, None for one that is too long to be looked at."""
    limit = 4 * max_chars + OVERHEAD
    while line := meter.update(stream.readline(limit)):
        if line.endswith(b"\n") or len(line) < limit:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = meter.update(stream.readline(PIECE))
        yield None


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


def _of_parquet(name: str, raw: Any, reading: Reading, skipped: int) -> Iterator[Record]:
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(raw) as table:
        names = table.schema_arrow.names
        _check_column(name, reading.text, names)
        wanted = [column for column in dict.fromkeys((reading.text, reading.id)) if column in names]
        for row in parquet_rows(table, wanted, skipped):
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
