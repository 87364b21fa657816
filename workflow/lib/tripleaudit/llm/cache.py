"""Answers on disk: one JSON file for each request, stored the moment it arrives, safe for several processes."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write
from tripleaudit.llm.slots import try_lock

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
        """Return a stored record, or None; a file that is no record of this key counts as absent.

        Truncated answers and refusals of conversations used to lie in a folder ``turns`` of their own.
        """
        for path in (self.path(key), self.folder / "turns" / key[:2] / f"{key}.json"):
            try:
                record = json.loads(path.read_text(encoding="utf-8"))
            except (FileNotFoundError, NotADirectoryError, ValueError):
                continue
            except PermissionError as error:
                raise UserError(f"{path}: this answer cannot be read; expected a readable cache") from error
            if isinstance(record, dict) and record.get("key") == key:
                return record
        return None

    def has_any(self) -> bool:
        """Return whether an answer is stored."""
        return any(self.folder.glob("[0-9a-f][0-9a-f]/*.json"))

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
