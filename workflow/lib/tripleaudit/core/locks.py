"""File locks between processes.

* :func:`folder_lock` keeps a folder to one process, such as a training: another process gives up
  after some seconds with an error.
* :func:`waiting_lock` guards a short step, such as writing to a shared file: others wait.
* :func:`try_lock` returns at once, so that the caller can do something else.

The system releases the locks of a process that ends, however it ends. On a file system without
locks all three go on without one.
"""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from tripleaudit.core.errors import UserError

NAME = ".lock"

log = logging.getLogger(__name__)


@contextlib.contextmanager
def folder_lock(folder: str | Path, patience: float = 20.0) -> Iterator[None]:
    """Keep a folder to this process inside the block, and remove the lock's file afterwards.

    Args:
        folder: the folder, which is created if needed.
        patience: seconds to wait for another process: workers of a run that was killed may outlive
            it for a moment.

    Raises:
        UserError: another process keeps the lock.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / NAME, timeout=patience)
    if not _acquire(lock):
        raise UserError(
            f"{folder}: another process is at work in this folder; expected to be alone there. Wait for it, or stop "
            "it: a run that was killed may have left its jobs alive"
        )
    if not lock.is_locked:
        log.warning("%s: the file system has no locks; see that no other run trains here", folder)
    try:
        yield
    finally:
        # Removed while this process still holds it: after the release it may be another's. A process
        # that waits opens the path anew for each attempt, so it finds the next file.
        (folder / NAME).unlink(missing_ok=True)
        lock.release()


@contextlib.contextmanager
def waiting_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file inside the block, after waiting for it as long as needed."""
    lock = FileLock(path)
    _acquire(lock)
    try:
        yield
    finally:
        lock.release()


def try_lock(path: Path) -> FileLock | None:
    """Return the lock of a file, or None if another process holds it.

    Any thread may release it.
    """
    lock = FileLock(path, timeout=0, thread_local=False)
    return lock if _acquire(lock) else None


def _acquire(lock: FileLock) -> bool:
    """Acquire a lock within its time-out; return False if another process keeps it.

    On a file system without locks this returns True, and the lock is not locked.
    """
    try:
        lock.acquire()
    except Timeout:
        return False
    except (NotImplementedError, OSError):
        pass
    return True
