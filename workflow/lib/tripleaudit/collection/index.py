"""The index of a collection: which lines of which files each shard holds, found in two passes over the bytes.

A shard is a run of whole lines, equal in number to the others but for one. It may begin in one file and end in another.
"""

import bisect
import codecs
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tripleaudit.collection.files import open_bytes
from tripleaudit.errors import UserError
from tripleaudit.files import read_json, write_json

BLOCK = 1 << 22  # bytes


def shard_name(number: int, shards: int) -> str:
    """Return the name of a shard, such as ``00003-of-00016``; names of another division never coincide with it."""
    return f"{number:05d}-of-{shards:05d}"


def shard_names(shards: int) -> list[str]:
    """Return the names of all shards."""
    return [shard_name(number, shards) for number in range(shards)]


def build_index(files: Sequence[str], shards: int, strict: bool = True) -> dict[str, Any]:
    """Divide the lines of files into shards.

    Args:
        files: as :func:`tripleaudit.collection.files.collection_files` returns them.
        shards: their number; some are empty if there are fewer lines.
        strict: refuse files that are not UTF-8.

    Returns:
        ``lines``, ``bytes`` (uncompressed) and ``shards``: each with ``name``, ``lines``, ``sha256`` of its bytes and
        ``parts``, which have ``file``, ``first_line`` (from 1), ``lines``, ``start`` and ``stop`` (bytes).

    Raises:
        UserError: a file is missing or is not UTF-8 text, or the files have no line.
    """
    counts = [count_lines(file, strict) for file in files]
    total = sum(counts)
    if not total:
        raise UserError(f"{_shown(files)}: the collection is empty, expected at least one line of text")
    bounds = [number * total // shards for number in range(shards + 1)]
    names = shard_names(shards)
    digests = [hashlib.sha256() for _ in names]
    parts: list[list[dict[str, Any]]] = [[] for _ in names]
    before = size = 0
    for file, lines in zip(files, counts, strict=True):
        runs = list(_runs(bounds, before, lines))
        start = place = 0
        for piece, stop in _cut(file, [last for _, _, last in runs]):
            shard, first, last = runs[place]
            digests[shard].update(piece)
            if stop is not None:
                part = {"first_line": first + 1, "lines": last - first, "start": start, "stop": stop}
                parts[shard].append({"file": str(file), **part})
                start, place = stop, place + 1
        before, size = before + lines, size + start
    rows = [
        {"name": name, "lines": bounds[number + 1] - bounds[number], "sha256": digest.hexdigest(), "parts": own}
        for number, (name, digest, own) in enumerate(zip(names, digests, parts, strict=True))
    ]
    return {"lines": total, "bytes": size, "files": len(files), "shards": rows}


def write_index(path: str | Path, index: dict[str, Any]) -> None:
    """Write an index, atomically."""
    write_json(path, index)


def read_shard(path: str | Path, name: str) -> dict[str, Any]:
    """Return what the index says about one shard.

    Raises:
        UserError: the file is missing, is no index, or has no such shard.
    """
    index = read_json(path)
    if not isinstance(index, dict) or not isinstance(index.get("shards"), list):
        raise UserError(f"{path}: not the index of a collection, it has no list 'shards'")
    for shard in index["shards"]:
        if shard["name"] == name:
            return shard
    raise UserError(f"{path}: has no shard {name!r}; expected {_shown([shard['name'] for shard in index['shards']])}")


def count_lines(file: str | Path, strict: bool = True) -> int:
    """Return the number of lines; the last one may lack its line feed.

    Args:
        file: plain or ``.gz``.
        strict: refuse a file that is not UTF-8.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines, last = 0, b"\n"
    with open_bytes(file) as stream:
        while block := stream.read(BLOCK):
            if strict:
                pending = len(decoder.getstate()[0])
                try:
                    decoder.decode(block)
                except UnicodeDecodeError as error:
                    raise _not_utf8(file, lines + block[: max(0, error.start - pending)].count(b"\n")) from error
            lines += block.count(b"\n")
            last = block[-1:]
    if strict and decoder.getstate()[0]:
        raise _not_utf8(file, lines)
    return lines + (last != b"\n")


def _not_utf8(file: str | Path, before: int) -> UserError:
    return UserError(
        f"{file} line {before + 1}: not UTF-8 text; convert the file, or leave broken lines out with on_error: skip"
    )


def _runs(bounds: Sequence[int], before: int, lines: int) -> Iterator[tuple[int, int, int]]:
    """Yield (shard, first line, stop line) of the shards that a file has lines of; lines of the file, from 0."""
    shard = bisect.bisect_right(bounds, before) - 1
    while shard < len(bounds) - 1 and bounds[shard] < before + lines:
        first, stop = max(bounds[shard], before) - before, min(bounds[shard + 1], before + lines) - before
        if stop > first:
            yield shard, first, stop
        shard += 1


def _cut(file: str | Path, stops: Sequence[int]) -> Iterator[tuple[bytes, int | None]]:
    """Yield the bytes of a file in pieces, and after the last piece of each run the place in bytes where it ends.

    Args:
        file: plain or ``.gz``.
        stops: line numbers, rising; the last one is the number of lines.
    """
    if not stops:
        return
    inner, done, place = list(stops[:-1]), 0, 0
    with open_bytes(file) as stream:
        while block := stream.read(BLOCK):
            feeds = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == 10) + 1
            begin = 0
            while inner and inner[0] <= done + len(feeds):
                end = int(feeds[inner.pop(0) - done - 1])
                yield block[begin:end], place + end
                begin = end
            yield block[begin:], None
            done, place = done + len(feeds), place + len(block)
    if inner:
        raise UserError(f"{file}: lost lines while it was read; expected a file that nobody writes to")
    yield b"", place


def _shown(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more
