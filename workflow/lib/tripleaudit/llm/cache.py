"""Answers on disk: one JSON file for each request, stored the moment it arrives, safe for several processes."""

import contextlib
import fcntl
import json
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write


class Cache:
    """A folder of answers, ``<folder>/<2 digits>/<key>.json``.

    Files appear whole or not at all, so any number of processes may share the folder. :meth:`claim` lets one of
    several processes that want the same answer pay for it while the others wait.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._lock_file: int | None = None

    def path(self, key: str) -> Path:
        """Return where the answer with this key is stored."""
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a stored record, or None; a file that is no record of this key counts as absent."""
        try:
            record = json.loads(self.path(key).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        except PermissionError as error:
            raise UserError(f"{self.path(key)}: this answer cannot be read; expected a readable cache") from error
        return record if isinstance(record, dict) and record.get("key") == key else None

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Store a record; the last of several equal writers wins.

        Raises:
            UserError: the disk is full or the folder cannot be written.
        """
        with atomic_write(self.path(key)) as stream:
            json.dump({"key": key, **record}, stream, ensure_ascii=False, sort_keys=True)

    @contextlib.contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Try to become the one sender of this request; yields False if another client is sending it now.

        The claim is a lock on one byte of a lock file, at an offset taken from the key, so that it vanishes with
        its process, however that ends. Where the file system or the platform has no such locks, every claim is
        granted: answers stay correct, and two processes may pay for the same one.
        """
        offset = int(key[:15], 16)
        granted = self._lock(fcntl.F_WRLCK, offset)
        try:
            yield granted
        finally:
            if granted:
                self._lock(fcntl.F_UNLCK, offset)

    def _lock(self, kind: int, offset: int) -> bool:
        if not hasattr(fcntl, "F_OFD_SETLK"):
            return True
        if self._lock_file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock_file = os.open(self.folder / ".claims", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            # struct flock: type, whence, start, length, pid (must be 0 for locks of the open file)
            fcntl.fcntl(self._lock_file, fcntl.F_OFD_SETLK, struct.pack("hhqqixxxx", kind, os.SEEK_SET, offset, 1, 0))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # no locks on this file system
            return True
        return True

    def close(self) -> None:
        """Give back the lock file."""
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None
