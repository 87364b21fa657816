"""Reading one shard: its lines one by one, in constant memory, with everything that is no sentence counted."""

import hashlib
import json
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from tripleaudit.collection.files import JSON, open_bytes, suffix
from tripleaudit.errors import UserError

logger = logging.getLogger(__name__)

SHOWN = 5  # broken or overlong lines that a shard names in its log
OVERHEAD = 1 << 16  # bytes of a JSON line besides its text
SURROGATE = re.compile("[\ud800-\udfff]")
PIECE = 1 << 20  # bytes of an overlong line that are skipped at a time


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a collection and where it stands (lines from 1)."""

    id: str
    text: str
    source: str
    number: int


class ShardReader:
    """Iterates over the sentences of a shard.

    ``counts`` has ``lines``, and of these ``empty``, ``broken`` (not UTF-8, not JSON, or without a text) and
    ``too_long``; every other line is a sentence. Bytes are checked against the index at the end.

    Args:
        shard: of the index (:func:`tripleaudit.collection.index.build_index`).
        max_chars: a longer text is left out.
        skip: leave broken lines out; otherwise the first one is an error.
    """

    def __init__(self, shard: Mapping[str, Any], *, max_chars: int = 10_000, skip: bool = False):
        self.shard, self.max_chars, self.skip = shard, max_chars, skip
        self.counts: Counter[str] = Counter(lines=0, empty=0, broken=0, too_long=0)

    def __iter__(self) -> Iterator[Line]:
        digest = hashlib.sha256()
        for part in self.shard["parts"]:
            with open_bytes(part["file"]) as stream:
                stream.seek(part["start"])
                for number, raw in enumerate(self._lines(stream, part["stop"] - part["start"], digest)):
                    self.counts["lines"] += 1
                    line = self._line(part["file"], part["first_line"] + number, raw)
                    if line is not None:
                        yield line
        if digest.hexdigest() != self.shard["sha256"]:
            names = ", ".join(dict.fromkeys(part["file"] for part in self.shard["parts"]))
            raise UserError(f"{names}: changed since the index of the collection was made; run again to index it anew")

    def _lines(self, stream: BinaryIO, left: int, digest: Any) -> Iterator[bytes | None]:
        """Yield raw lines, None for one that is too long to be looked at."""
        limit = 4 * self.max_chars + OVERHEAD
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

    def _line(self, file: str, number: int, raw: bytes | None) -> Line | None:
        if raw is None:
            return self._left_out("too_long", file, number, f"longer than {self.max_chars} characters")
        try:
            id_, text = self._content(file, raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw)
        except ValueError as error:
            if not self.skip:
                raise UserError(f"{file} line {number}: {error}") from error
            return self._left_out("broken", file, number, str(error))
        if not text.strip():
            self.counts["empty"] += 1
            return None
        if len(text) > self.max_chars:
            return self._left_out("too_long", file, number, f"longer than {self.max_chars} characters")
        return Line(f"{file}:{number}" if id_ is None else id_, text, file, number)

    def _content(self, file: str, raw: bytes) -> tuple[str | None, str]:
        """Return id and text of a line; raises ValueError with what is wrong."""
        try:
            text = raw.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 text (byte {error.start} of the line)") from error
        if suffix(file) not in JSON or not text.strip():
            return None, text
        try:
            row = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"not valid JSON ({error.msg})") from error
        except RecursionError as error:
            raise ValueError("not usable JSON (nested too deeply)") from error
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise ValueError("expected an object with the string 'text'")
        if "\\u" in text and SURROGATE.search(row["text"]):
            raise ValueError("the text has half a surrogate pair, which is no character")
        return (None if row.get("id") is None else str(row["id"])), row["text"]

    def _left_out(self, kind: str, file: str, number: int, why: str) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN:
            logger.warning("%s line %d is left out: %s", file, number, why)
