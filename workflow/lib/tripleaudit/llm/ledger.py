"""What has been paid: an append-only file next to the cache, shared by all jobs of a study."""

import contextlib
import errno
import json
import os
import uuid
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock

from tripleaudit.errors import UserError
from tripleaudit.machine.locks import try_lock
from tripleaudit.machine.storage import explained

POLL = 0.002  # seconds between two looks at the file's lock, which others hold for less than that


class BudgetExceeded(UserError):
    """The next request could cost more than the budget has left; nothing was sent for it."""


class Ledger:
    """Money spent, reserved and perhaps lost, with an optional limit.

    Before a request is sent, the most that it can cost is reserved; when its answer is there, the reservation is
    replaced by the real cost. An attempt that ended without an answer although the server may have worked on it (a
    time-out) counts with the most that it can have cost. A job that is killed leaves its reservations behind: they
    count as spent, because the requests may have been billed, and go on to count so when the same request is sent
    again.

    Args:
        path: the file, one JSON object a line: ``{"key", "reserved", "owner"}``, ``{"key", "cost"}`` or
            ``{"key", "lost"}``.
        limit: the budget, in the currency of the prices; None for no limit.
    """

    def __init__(self, path: str | Path, limit: float | None = None) -> None:
        self.path = Path(path)
        self.limit = limit
        self._offset = 0
        self._spent = 0.0
        self._lost: dict[str, float] = defaultdict(float)
        self._open: dict[str, tuple[float, str]] = {}  # key -> (amount, owner)
        self._owner = uuid.uuid4().hex[:12]
        self._alive: FileLock | None = None
        self._lock = FileLock(self.path.with_name(f".{self.path.name}.lock"))

    def waiting(self) -> bool:
        """Whether a process that still lives has reservations, so that waiting may help."""
        return any(owner == self._owner or self._lives(owner) for owner in {owner for _, owner in self._open.values()})

    def spent(self) -> float:
        """Return the money spent on answers so far, by all processes."""
        with self._locked():
            return self._spent

    def lost(self) -> float:
        """Return the most that attempts without an answer can have cost so far, by all processes."""
        with self._locked():
            return sum(self._lost.values())

    def committed(self) -> float:
        """Return the money spent, lost and reserved so far, by all processes."""
        with self._locked():
            return self._committed()

    def orphaned(self, key: str) -> bool:
        """Whether a process that is gone never settled its reservation, as far as the file was read (at least once)."""
        if not self._offset and self.path.exists():  # a job whose answers are all stored has not looked yet
            with self._locked():
                pass
        owner = self._open[key][1] if key in self._open else self._owner
        return owner != self._owner and not self._lives(owner)

    def reserve(self, key: str, amount: float) -> bool:
        """Reserve money for one request; returns False if the budget does not allow it now."""
        with self._locked() as append:
            before, owner = self._open.get(key, (0.0, self._owner))
            billed = owner != self._owner and not self._lives(owner)
            committed = self._committed() - (0.0 if billed else before)
            if self.limit is not None and committed + amount > self.limit + 1e-12:
                return False
            if billed:  # what was in flight when its process was killed may be on the bill
                append({"key": key, "lost": before})
            if self._alive is None:
                self._alive = try_lock(self._life_of(self._owner))
            append({"key": key, "reserved": amount, "owner": self._owner})
            return True

    def settle(self, key: str, cost: float) -> None:
        """Replace the reservation of one request by what it cost."""
        with self._locked() as append:
            append({"key": key, "cost": cost})

    def lose(self, key: str, amount: float) -> None:
        """Enter what an attempt without an answer can have cost; a negative amount corrects that when more is known."""
        with self._locked() as append:
            append({"key": key, "lost": amount})

    def close(self) -> None:
        """Say that this process has no more reservations to settle."""
        if self._alive is not None:
            self._life_of(self._owner).unlink(missing_ok=True)
            self._alive.release()
            self._alive = None

    def _committed(self) -> float:
        return self._spent + sum(self._lost.values()) + sum(amount for amount, _ in self._open.values())

    def _life_of(self, owner: str) -> Path:
        return self.path.with_name(f".{self.path.name}.{owner}.alive")

    def _lives(self, owner: str) -> bool:
        path = self._life_of(owner)
        if not path.exists():
            return False
        lock = try_lock(path)
        if lock is None:
            return True
        path.unlink(missing_ok=True)
        lock.release()
        return False

    @contextlib.contextmanager
    def _locked(self) -> Iterator:
        if not self._offset:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(NotImplementedError, OSError):  # no locks: the limit holds for each process alone
            self._lock.acquire(poll_interval=POLL)
        try:
            with explained(self.path), self.path.open("a+b", buffering=0) as stream:
                self._read(stream)

                def append(row: dict) -> None:
                    line = json.dumps(row).encode() + b"\n"
                    if stream.seek(0, os.SEEK_END) > self._offset:  # half a line of a process that could not end it
                        line = b"\n" + line
                    if stream.write(line) < len(line):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
                    self._read(stream)

                yield append
        finally:
            self._lock.release()

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
            if "lost" in row:
                self._lost[key] += row["lost"]
                if row["lost"] > 0:  # in place of the attempt's reservation
                    self._open.pop(key, None)
            elif "cost" in row:
                self._spent += row["cost"]
                self._open.pop(key, None)
            elif "reserved" in row:
                self._open[key] = (row["reserved"], row.get("owner", ""))
