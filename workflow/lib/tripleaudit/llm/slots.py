"""How many requests may be in flight at an endpoint, over all jobs that share a cache."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from filelock import FileLock

from tripleaudit.llm.endpoint import Endpoint, canonical_key
from tripleaudit.machine.locks import taken

POLL = 0.05  # seconds between two looks at something that another process is working on
LONGEST_POLL = 0.5  # seconds between two looks at slots that other processes have held for long


class Slots:
    """The slots for requests at one endpoint; every request in flight holds one.

    All processes together hold at most ``concurrency`` of them: a slot is the lock of a file. A process keeps the
    slots that it has as long as requests of its own wait, so a full queue never waits for the disk. After a refusal
    for being too fast (:meth:`slower`) fewer requests are sent at once, and with every answer a little more again.

    Args:
        folder: of the locks; None for an endpoint that this process alone uses.
    """

    def __init__(self, folder: Path | None, endpoint: Endpoint) -> None:
        self._size = endpoint.concurrency
        self._allowed = float(self._size)
        self._folder = folder and folder / canonical_key([endpoint.base_url, endpoint.model])[:16]
        self._turn, self._looking, self._returned = asyncio.Condition(), asyncio.Lock(), asyncio.Event()
        self._busy = self._waiting = 0
        self._idle: list[FileLock] = []  # slots that this process holds and does not use
        self._others: list[FileLock] = []  # slots that it does not hold
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            paths = (self._folder / f"{number}.lock" for number in range(self._size))
            self._others = [FileLock(path, timeout=0, thread_local=False) for path in paths]

    @contextlib.asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one slot."""
        self._waiting += 1
        try:
            async with self._turn:
                await self._turn.wait_for(lambda: self._busy < int(self._allowed))
                self._busy += 1
            try:
                lock = await self._lock()
            except BaseException:
                self._busy -= 1
                raise
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._busy -= 1
            if lock is not None:
                self._idle.append(lock) if self._waiting else self._release(lock)
                self._returned.set()
            async with self._turn:
                self._turn.notify(max(1, int(self._allowed) - self._busy))

    def slower(self) -> None:
        """Send half as many requests at once: the server says that they are too many."""
        self._allowed = max(1.0, self._allowed / 2)

    def faster(self) -> None:
        """Send a little more at once, up to the endpoint's concurrency: an answer came."""
        self._allowed = min(float(self._size), self._allowed + 1 / self._allowed)

    def close(self) -> None:
        """Give back all slots."""
        while self._idle:
            self._release(self._idle.pop())

    def _release(self, lock: FileLock) -> None:
        lock.release()
        self._others.append(lock)

    async def _lock(self) -> FileLock | None:
        if self._folder is None:
            return None
        async with self._looking:  # one of those that wait looks for all of them
            pause = POLL
            while True:
                if self._idle:
                    return self._idle.pop()
                for number, lock in enumerate(self._others):
                    if taken(lock):
                        return self._others.pop(number)
                self._returned.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._returned.wait(), pause)
                pause = min(2 * pause, LONGEST_POLL)
