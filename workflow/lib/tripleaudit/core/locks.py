"""One process at a time with a file, or in a folder for as long as it lives."""

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
    """Hold a folder's lock; the system gives it back when the process ends, however it ends.

    The lock's file goes when the block ends. A file system without locks is used without one, with
    a warning. Another process is waited for ``patience`` seconds: workers of one that was killed
    may outlive it for a moment.

    Raises:
        UserError: another process keeps the lock.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / NAME, timeout=patience)
    if not taken(lock):
        raise UserError(
            f"{folder}: another process is at work in this folder; expected to be alone there. Wait for it, or stop "
            "it: a run that was killed may have left its jobs alive"
        )
    if not lock.is_locked:
        log.warning("%s: the file system has no locks; see that no other run trains here", folder)
    try:
        yield
    finally:
        (folder / NAME).unlink(
            missing_ok=True
        )  # before the lock is given back: nobody else can hold this file
        lock.release()


@contextlib.contextmanager
def waiting_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file, waiting for it; a file system without locks is used without one."""
    lock = FileLock(path)
    with contextlib.suppress(NotImplementedError, OSError):
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def try_lock(path: Path) -> FileLock | None:
    """Return the lock of a file if it is free; always granted without support for locks."""
    lock = FileLock(path, timeout=0, thread_local=False)
    return lock if taken(lock) else None


def taken(lock: FileLock) -> bool:
    """Take a lock if it is free; without support for locks it counts as taken."""
    try:
        lock.acquire()
    except Timeout:
        return False
    except (NotImplementedError, OSError):
        pass
    return True
