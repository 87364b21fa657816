"""Reading blocks: their rows one by one, in constant memory, with everything that is no sentence counted."""

import hashlib
import io
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

from tripleaudit.collection.addresses import TextFile, kind, packing, store, told
from tripleaudit.collection.blocks import CHUNK, Block, RawStream, Reading, check_characters, opened, record_bytes
from tripleaudit.collection.tabular import records
from tripleaudit.errors import UserError

logger = logging.getLogger(__name__)

SHOWN = 5  # broken or overlong rows of a block that are named in the log
OVERHEAD = 1 << 16  # bytes of a JSON line besides its text
PIECE = 1 << 20  # bytes of an overlong line that are skipped at a time


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
    with raw, told(file.name), io.BufferedReader(RawStream(raw), CHUNK) as stream:
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
    if number == 1:
        raw = raw.removeprefix(b"\xef\xbb\xbf")

    def content() -> tuple[str | None, str | None]:
        try:
            text = raw.decode("utf-8").rstrip("\r\n")
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
        columns = reading.columns
        if not isinstance(row, dict) or not isinstance(row.get(columns.text), str):
            raise ValueError(f"expected an object with the string '{columns.text}'")
        if "\\u" in text:
            check_characters(row[columns.text])
        return (None if row.get(columns.id) is None else str(row[columns.id])), row[columns.text]

    return content


# Tables


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
