"""What has been paid: an append-only file beside the cache, shared by all jobs of a study."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

from tripleaudit.errors import UserError


class BudgetExceeded(UserError):
    """The next request could cost more than the budget has left; nothing was sent for it."""


class Ledger:
    """Money spent and reserved, with an optional limit.

    Before a request is sent, the most that it can cost is reserved; when its answer is there, the reservation is
    replaced by the real cost. A job that is killed leaves its reservations behind: they count as spent, because the
    requests may have been billed, until the same request is sent again.

    Args:
        path: the file, one JSON object a line: ``{"key", "reserved"}`` or ``{"key", "cost"}``.
        limit: the budget, in the currency of the prices; None for no limit.
    """

    def __init__(self, path: str | Path, limit: float | None = None) -> None:
        self.path = Path(path)
        self.limit = limit
        self._offset = 0
        self._spent = 0.0
        self._open: dict[str, float] = {}
        self._mine: set[str] = set()

    @property
    def waiting(self) -> bool:
        """Whether this process has reservations that will be settled, so that waiting may help."""
        return bool(self._mine)

    def spent(self) -> float:
        """Return the money spent so far, by all processes."""
        with self._locked():
            return self._spent

    def committed(self) -> float:
        """Return the money spent and reserved so far, by all processes."""
        with self._locked():
            return self._spent + sum(self._open.values())

    def is_open(self, key: str) -> bool:
        """Whether a reservation for this request was never settled, as far as the file has been read."""
        return key in self._open and key not in self._mine

    def reserve(self, key: str, amount: float) -> bool:
        """Reserve money for one request; returns False if the budget does not allow it now."""
        with self._locked() as append:
            committed = self._spent + sum(self._open.values()) - self._open.get(key, 0.0)
            if self.limit is not None and committed + amount > self.limit + 1e-12:
                return False
            append({"key": key, "reserved": amount})
            self._mine.add(key)
            return True

    def settle(self, key: str, cost: float) -> None:
        """Replace the reservation of one request by what it cost."""
        with self._locked() as append:
            append({"key": key, "cost": cost})
            self._mine.discard(key)

    @contextlib.contextmanager
    def _locked(self) -> Iterator:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a+b") as stream:
            with contextlib.suppress(OSError):  # a file system without locks: the limit holds for each process alone
                fcntl.flock(stream, fcntl.LOCK_EX)
            self._read(stream)

            def append(row: dict) -> None:
                stream.write(json.dumps(row).encode() + b"\n")
                stream.flush()
                self._read(stream)

            yield append

    def _read(self, stream) -> None:
        stream.seek(self._offset)
        block = stream.read()
        end = block.rfind(b"\n") + 1
        self._offset += end
        for line in block[:end].splitlines():
            try:
                row = json.loads(line)
                key = row["key"]
            except (ValueError, KeyError, TypeError):  # half a line of a process that was killed while writing
                continue
            if "cost" in row:
                self._spent += row["cost"]
                self._open.pop(key, None)
            else:
                self._open[key] = row["reserved"]
        stream.seek(0, os.SEEK_END)
