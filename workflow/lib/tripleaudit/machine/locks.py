"""One process at a time in a folder, for as long as it lives."""

import contextlib
import fcntl
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

from tripleaudit.errors import UserError

NAME = ".lock"

log = logging.getLogger(__name__)


@contextlib.contextmanager
def alone_in(folder: str | Path, patience: float = 20.0, poll: float = 0.5) -> Iterator[None]:
    """Hold a folder's lock; the system gives it back when the process ends, however it ends.

    The lock's file goes when the block ends. A file system without locks is used without one, with a warning.

    Args:
        folder: made if needed.
        patience: seconds to wait for another process, whose workers may outlive it for a moment.
        poll: seconds between two attempts.

    Raises:
        UserError: another process keeps the lock.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + patience
    while (descriptor := _acquire(folder)) is None:
        if time.monotonic() >= until:
            raise UserError(
                f"{folder}: another process is at work in this folder; expected to be alone there. Wait for it, or "
                "stop it: a run that was killed may have left its jobs alive"
            )
        time.sleep(poll)
    try:
        yield
    finally:
        (folder / NAME).unlink(missing_ok=True)  # before the lock is given back: nobody else can hold this file
        os.close(descriptor)


def _acquire(folder: Path) -> int | None:
    """Return the descriptor that holds the lock, or None if another process has it."""
    path = folder / NAME
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:
        log.warning("%s: the file system has no locks (%s); see that no other run trains here", folder, error)
        return descriptor
    if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
        return descriptor
    os.close(descriptor)  # its holder took the file away in between
    return None
