"""The blocks of a collection: runs of equally many rows of one file, which are read, extracted, written and kept alone.

A block never holds rows of two files and always begins at a multiple of its size, so that a file that is added or
changed alters no block of another one, and one that grew only its last.
"""

import codecs
import hashlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from tripleaudit.collection.addresses import TextFile, kind, packing, told
from tripleaudit.collection.blocks import CHUNK, Block, Reading, not_utf8, opened, record_bytes
from tripleaudit.collection.tabular import records


def divide(file: TextFile, reading: Reading) -> list[Block]:
    """Return the blocks of a file, which is read once.

    Raises:
        UserError: it cannot be read, is not UTF-8 (unless broken rows are left out), or lacks the column.
    """
    if kind(file.name) in ("csv", "parquet"):
        return list(_runs(file, reading.size, records(file, reading)))
    with opened(file) as stream:
        return list(_lines(file, stream, reading))


def _lines(file: TextFile, stream: BinaryIO, reading: Reading) -> Iterator[Block]:
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


def _runs(file: TextFile, size: int, found: Iterator[tuple[str | None, str]]) -> Iterator[Block]:
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
