"""Answers, embeddings and spending of language models in one SQLite database that all jobs share.

A request that is being sent has a row in ``in_flight``. The row is the claim (no other job sends
the same request), the slot (an endpoint has ``concurrency`` of them) and the reservation (the most
that the request can cost counts as spent). When the job of a row has died, the row says what may
have been billed. An answer and its cost are written in one transaction.

Folders of version 0.3 are read: answers as ``<2 digits>/<key>.json``, ``embeddings.sqlite``,
``ledger-<study>.jsonl``.
"""

import json
import shutil
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from enum import Enum
from pathlib import Path
from typing import Any

from filelock import FileLock
from pydantic import BaseModel, FiniteFloat, ValidationError

from tripleaudit.core.errors import UserError
from tripleaudit.core.locks import try_lock, waiting_lock
from tripleaudit.core.storage import explained, is_network_folder

DEFAULT_CACHE = "results/cache/llm"
FILE_NAME = "store.sqlite"
MIN_FREE_BYTES = 64 * 2**20  # on the disk, before a request is paid for
BUSY_SECONDS = 120.0  # of waiting for another job's transaction
ROUNDING = 1e-12  # tolerance of sums of money

TABLES = """
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS embeddings (key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spending (study TEXT PRIMARY KEY, spent REAL NOT NULL, lost REAL NOT NULL);
CREATE TABLE IF NOT EXISTS in_flight (key TEXT PRIMARY KEY, study TEXT, endpoint TEXT, owner TEXT, amount REAL);
CREATE TABLE IF NOT EXISTS capabilities (endpoint TEXT PRIMARY KEY, known TEXT NOT NULL);
"""


STORAGE_PROBLEMS = {
    "SQLITE_FULL": "the disk is full; free some space and run again, what was finished is kept",
    "SQLITE_IOERR": (
        "the disk cannot be read or written (a limit or a quota may be used up); make room and run "
        "again, what was finished is kept"
    ),
    "SQLITE_BUSY": (
        "another program keeps the stored answers locked; end it and run again, what was finished "
        "is kept"
    ),
    "SQLITE_CANTOPEN": "the stored answers cannot be opened; make the file and its folder readable",
    "SQLITE_READONLY": "the stored answers cannot be written; make the file and its folder writable",
}
"""Beginnings of SQLite's names of errors that do not come from a damaged file."""


class BudgetExceeded(UserError):
    """The next request could cost more than the budget has left; nothing was sent for it."""


class Reservation(Enum):
    """Outcome of an attempt to reserve a request."""

    GRANTED = "granted"
    BUSY = "busy"  # another job sends the same request, or all slots are taken
    OVER_BUDGET = "over budget"


class Store:
    """The database of one cache folder, opened by one job.

    Reading does not create the folder or the database.

    Args:
        folder: may be shared by processes, studies and endpoints.
        study: whose money is spent.
        budget: most money that the study may ever spend; None for no limit.
    """

    def __init__(self, folder: str | Path, study: str = "", budget: float | None = None) -> None:
        self.folder = Path(folder)
        self.study = study
        self.budget = budget
        self.path = self.folder / FILE_NAME
        self.owner = uuid.uuid4().hex[:12]
        self._owner_lock: FileLock | None = None
        self._database: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the database, and declare that this job has no request in flight."""
        if self._database is not None:
            self._database.close()
            self._database = None
        if self._owner_lock is not None:
            self._lock_path(self.owner).unlink(missing_ok=True)
            self._owner_lock.release()
            self._owner_lock = None

    # reading

    def answer(self, key: str) -> dict[str, Any] | None:
        """Return the stored record of a request, or None."""
        rows = self._query("SELECT record FROM answers WHERE key = ?", key)
        if rows:
            return _parse_record(rows[0][0])
        return _read_old_answer(self.folder / key[:2] / f"{key}.json", key)

    def answer_keys(self) -> set[str]:
        """Return the keys of all answers in the database."""
        return {key for (key,) in self._query("SELECT key FROM answers")}

    def has_answers(self) -> bool:
        """Return whether an answer is stored."""
        if self._query("SELECT 1 FROM answers LIMIT 1"):
            return True
        return any(self.folder.glob("[0-9a-f][0-9a-f]/*.json"))

    def embeddings(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the stored vectors of these keys, as little-endian float32."""
        wanted = list(keys)
        statement = (
            "SELECT key, vector FROM embeddings WHERE key IN (SELECT value FROM json_each(?))"
        )
        vectors = dict(self._query(statement, json.dumps(wanted)))
        old_path = self.folder / "embeddings.sqlite"
        if len(vectors) < len(set(wanted)) and old_path.is_file():
            missing = [key for key in wanted if key not in vectors]
            with (
                self._explained(old_path),
                closing(sqlite3.connect(old_path, timeout=BUSY_SECONDS)) as old,
            ):
                vectors |= dict(old.execute(statement, [json.dumps(missing)]).fetchall())
        return vectors

    def capabilities(self, endpoint: str) -> dict[str, Any] | None:
        """Return what was learned about an endpoint, or None."""
        rows = self._query("SELECT known FROM capabilities WHERE endpoint = ?", endpoint)
        return _parse_record(rows[0][0]) if rows else None

    def spent(self) -> float:
        """Return the money that the study's answers have cost, over all jobs."""
        return self._spending()[0]

    def lost(self) -> float:
        """Return the most money that the study's attempts without an answer can have cost."""
        return self._spending()[1]

    def committed(self) -> float:
        """Return the money that is spent, lost or reserved."""
        rows = self._query(
            "SELECT coalesce(sum(amount), 0) FROM in_flight WHERE study = ?", self.study
        )
        reserved = rows[0][0] if rows else 0.0
        return sum(self._spending()) + reserved

    def others_in_flight(self) -> bool:
        """Return whether requests of the study are in flight.

        A reservation may then be replaced by a lower cost.
        """
        return bool(self._query("SELECT 1 FROM in_flight WHERE study = ? LIMIT 1", self.study))

    # sending

    def reserve(self, key: str, endpoint: str, slots: int, amount: float) -> Reservation:
        """Enter a request as being in flight, if it may be sent now.

        An earlier reservation of this job for the same request is replaced.

        Args:
            endpoint: requests of one endpoint share its slots.
            amount: the most that the request can cost; 0 is never over budget.

        Raises:
            UserError: the disk is full.
        """
        self._check_free_space()
        with self._transaction() as database:
            database.execute("DELETE FROM in_flight WHERE key = ? AND owner = ?", [key, self.owner])
            outcome = self._try_reserve(database, key, endpoint, slots, amount)
            if outcome is not Reservation.GRANTED and self._release_dead_jobs(database):
                outcome = self._try_reserve(database, key, endpoint, slots, amount)
        return outcome

    def settle(
        self,
        key: str,
        cost: float,
        record: Mapping[str, Any] | None = None,
        embeddings: Mapping[str, bytes] | None = None,
        record_key: str = "",
    ) -> None:
        """End a reservation: store what came back, and enter what it cost.

        Args:
            record_key: key of the record; by default that of the reservation.
        """
        with self._transaction() as database:
            if record is not None:
                row = [record_key or key, json.dumps(record, sort_keys=True)]
                database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", row)
            if embeddings:
                database.executemany(
                    "INSERT OR REPLACE INTO embeddings VALUES (?, ?)", embeddings.items()
                )
            database.execute("DELETE FROM in_flight WHERE key = ? AND owner = ?", [key, self.owner])
            if cost:
                database.execute(
                    "UPDATE spending SET spent = spent + ? WHERE study = ?", [cost, self.study]
                )

    def lose(self, key: str, amount: float) -> None:
        """Replace the reservation of an unanswered attempt by its maximum cost."""
        with self._transaction() as database:
            database.execute("DELETE FROM in_flight WHERE key = ? AND owner = ?", [key, self.owner])
            database.execute(
                "UPDATE spending SET lost = lost + ? WHERE study = ?", [amount, self.study]
            )

    def correct_loss(self, difference: float) -> None:
        """Change the lost money by a (negative) difference when attempts become known."""
        with self._transaction() as database:
            database.execute(
                "UPDATE spending SET lost = lost + ? WHERE study = ?", [difference, self.study]
            )

    def save_capabilities(self, endpoint: str, learned: Mapping[str, Any]) -> None:
        """Keep what was learned about an endpoint, for later jobs."""
        with self._transaction() as database:
            database.execute(
                "INSERT OR REPLACE INTO capabilities VALUES (?, ?)", [endpoint, json.dumps(learned)]
            )

    def _try_reserve(
        self, database: sqlite3.Connection, key: str, endpoint: str, slots: int, amount: float
    ) -> Reservation:
        if database.execute("SELECT 1 FROM in_flight WHERE key = ?", [key]).fetchone():
            return Reservation.BUSY
        used = database.execute(
            "SELECT count(*) FROM in_flight WHERE endpoint = ?", [endpoint]
        ).fetchone()[0]
        if used >= slots:
            return Reservation.BUSY
        if (
            self.budget is not None
            and amount > 0
            and self.committed() + amount > self.budget + ROUNDING
        ):
            return Reservation.OVER_BUDGET
        row = [key, self.study, endpoint, self.owner, amount]
        database.execute("INSERT INTO in_flight VALUES (?, ?, ?, ?, ?)", row)
        return Reservation.GRANTED

    def _release_dead_jobs(self, database: sqlite3.Connection) -> bool:
        """Count reservations of jobs that have died as lost; return whether there were any."""
        owners = database.execute(
            "SELECT DISTINCT owner FROM in_flight WHERE owner != ?", [self.owner]
        ).fetchall()
        dead = [owner for (owner,) in owners if not self._is_alive(owner)]
        for owner in dead:
            amounts = "SELECT study, sum(amount) FROM in_flight WHERE owner = ? GROUP BY study"
            for study, amount in database.execute(amounts, [owner]).fetchall():
                database.execute(
                    "UPDATE spending SET lost = lost + ? WHERE study = ?", [amount, study]
                )
            database.execute("DELETE FROM in_flight WHERE owner = ?", [owner])
        return bool(dead)

    def _lock_path(self, owner: str) -> Path:
        return self.folder / f"{owner}.alive"

    def _is_alive(self, owner: str) -> bool:
        path = self._lock_path(owner)
        if not path.exists():
            return False
        lock = try_lock(path)
        if lock is None:
            return True
        path.unlink(missing_ok=True)
        lock.release()
        return False

    # the database

    def _spending(self) -> tuple[float, float]:
        rows = self._query("SELECT spent, lost FROM spending WHERE study = ?", self.study)
        if not rows:
            return _read_old_ledger(self.folder, self.study)
        spent, lost = rows[0]
        if not (isinstance(spent, int | float) and isinstance(lost, int | float)):
            raise UserError(
                f"{self.path}: the spending of study '{self.study}' is no number; correct its row of "
                "the table 'spending' with sqlite3"
            )
        return spent, lost

    def _check_free_space(self) -> None:
        with explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self.folder).free
        if free < MIN_FREE_BYTES:
            raise UserError(
                f"{self.folder}: the disk is full ({free >> 20} MB are free, {MIN_FREE_BYTES >> 20} are needed); free "
                "some space and run again, what was finished is kept"
            )

    def _query(self, statement: str, *values: Any) -> list[tuple]:
        if self._database is None and not self.path.is_file():
            return []
        with self._explained(self.path):
            return self._opened().execute(statement, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._explained(self.path):
            first = self._owner_lock is None
            if first:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._owner_lock = try_lock(self._lock_path(self.owner))
            database = self._opened()
            database.execute("BEGIN IMMEDIATE")
            try:
                if first:
                    row = [self.study, *_read_old_ledger(self.folder, self.study)]
                    database.execute("INSERT OR IGNORE INTO spending VALUES (?, ?, ?)", row)
                    self._release_dead_jobs(database)
                yield database
                database.commit()
            except BaseException:
                if database.in_transaction:
                    database.rollback()
                raise

    def _opened(self) -> sqlite3.Connection:
        if self._database is None:
            database = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._database = database
            journal, synchronous = "wal", "NORMAL"
            if is_network_folder(self.folder):
                # a write-ahead log needs shared memory, which several machines do not have
                journal, synchronous = "delete", "FULL"
            database.execute(f"PRAGMA synchronous = {synchronous}")
            if database.execute("PRAGMA journal_mode").fetchone()[0] != journal:
                # this change does not wait for other connections
                with waiting_lock(self.folder / "store.lock"):
                    database.execute(f"PRAGMA journal_mode = {journal}")
            for statement in filter(str.strip, TABLES.split(";")):
                database.execute(statement)
        return self._database

    @contextmanager
    def _explained(self, path: Path) -> Iterator[None]:
        """Turn errors about storage into one sentence."""
        try:
            with explained(path):
                yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")  # missing where sqlite3 itself complains
            problem = f"the stored answers cannot be used ({error}); move the file away, or repair it with sqlite3"
            for kind, sentence in STORAGE_PROBLEMS.items():
                if name.startswith(kind):
                    problem = sentence
            raise UserError(f"{path}: {problem}") from error


def _parse_record(text: str | bytes) -> dict[str, Any] | None:
    """Return a stored record; None if it is damaged, so that its request is sent again."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _read_old_answer(path: Path, key: str) -> dict[str, Any] | None:
    """Return an answer stored by version 0.3; None without a file, or for another record."""
    try:
        record = _parse_record(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise UserError(f"{path}: permission denied; make the stored answers readable") from error
    return record if record is not None and record.get("key") == key else None


class _OldLedgerRow(BaseModel):
    """A row of version 0.3's ledger; a negative loss corrects an earlier one."""

    key: str
    reserved: FiniteFloat | None = None
    cost: FiniteFloat = 0.0
    lost: FiniteFloat = 0.0


def _read_old_ledger(folder: Path, study: str) -> tuple[float, float]:
    """Return money spent and lost by version 0.3's ledger; open reservations are lost.

    Damaged lines, such as the last one of a process that was killed, are left out.
    """
    path = folder / (f"ledger-{study}.jsonl" if study else "ledger.jsonl")
    spent = lost = 0.0
    reserved: dict[str, float] = {}
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            row = _OldLedgerRow.model_validate_json(line)
        except ValidationError:
            continue
        if row.reserved is not None:
            reserved[row.key] = row.reserved
            continue
        spent += row.cost
        lost += row.lost
        if row.lost >= 0:
            reserved.pop(row.key, None)
    return spent, lost + sum(reserved.values())
