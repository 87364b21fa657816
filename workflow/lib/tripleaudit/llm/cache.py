"""Answers on disk: one JSON file for each request, stored the moment it arrives, safe for several processes."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.machine.locks import try_lock
from tripleaudit.machine.storage import explained

DEFAULT_CACHE = "results/cache/llm"


class Cache:
    """A folder of answers, ``<folder>/<2 digits>/<key>.json``.

    Files appear whole or not at all, so any number of processes may share the folder. :meth:`claim` lets one of
    several processes that want the same answer pay for it while the others wait.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        """Return where the answer with this key is stored."""
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a stored record, or None; a file that is no record of this key counts as absent."""
        path = self.path(key)
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
            return None
        except PermissionError as error:
            raise UserError(f"{path}: this answer cannot be read; expected a readable cache") from error
        return record if isinstance(record, dict) and record.get("key") == key else None

    def has_any(self) -> bool:
        """Return whether an answer is stored."""
        return any(self.folder.glob("[0-9a-f][0-9a-f]/*.json"))

    def put(self, key: str, record: dict[str, Any], room: Path) -> None:
        """Store a record; the last of several equal writers wins.

        Args:
            room: what :meth:`room` gave for it.

        Raises:
            UserError: the disk is full or the folder cannot be written.
        """
        text = json.dumps({"key": key, **record}, ensure_ascii=False, sort_keys=True)
        with explained(self.path(key)):
            with room.open("r+b") as stream:
                stream.write(text.encode())
                stream.truncate()
            room.replace(self.path(key))

    @contextlib.contextmanager
    def room(self, key: str, size: int) -> Iterator[Path]:
        """Take so many bytes of the disk before an answer is paid for, so that it can be stored when it comes.

        Raises:
            UserError: the disk is full or the folder cannot be written.
        """
        path = self.folder / "claims" / f"{key}.room"
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.path(key).parent.mkdir(parents=True, exist_ok=True)
        try:
            with explained(path), path.open("wb") as stream:
                stream.write(bytes(size))
            yield path
        finally:
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Try to become the one sender of this request; yields False if another client is sending it now.

        The claim is the lock of a file, so that it vanishes with its process, however that ends. Where the file system
        has no locks, every claim is granted: answers stay correct, and two processes may pay for the same one.
        """
        path = self.folder / "claims" / f"{key}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = try_lock(path)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                path.unlink(missing_ok=True)  # whoever opened it before finds the answer, once the lock is given back
                lock.release()
