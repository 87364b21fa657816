"""What a collection is divided into, how its rows are read, and the bytes and errors that all kinds of files share."""

import io
import re
from dataclasses import asdict, dataclass
from typing import Any

from tripleaudit.collection.addresses import TextFile, packing, store, told
from tripleaudit.errors import UserError

CHUNK = 1 << 22  # bytes that are read at a time
NO_UTF8 = "not UTF-8 text; convert the file, or leave broken lines out with on_error: skip"
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


class RawStream(io.RawIOBase):
    """A file of pyarrow as Python's own buffered reader takes it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self.stream.seekable()

    def seek(self, place: int, whence: int = 0) -> int:
        return self.stream.seek(place, whence)

    def tell(self) -> int:
        return self.stream.tell()

    def readinto(self, buffer: Any) -> int:
        return self.stream.readinto(buffer)


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
