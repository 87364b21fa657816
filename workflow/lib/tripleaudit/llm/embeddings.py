"""Embeddings from an endpoint, stored text by text in one database."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tripleaudit.errors import UserError
from tripleaudit.llm.cache import Cache
from tripleaudit.llm.endpoint import Endpoint, canonical_key
from tripleaudit.llm.transport import EndpointError, RequestRejected

A_VECTOR = 2**15  # bytes of the disk for one, as 8,000 numbers take

Post = Callable[[str, dict[str, Any], int, int], Awaitable[dict[str, Any]]]
"""``(key of the batch, body, most tokens, texts) -> payload``: sends one batch and accounts for it."""


class Vectors:
    """The stored embeddings of a cache: ``<cache>/embeddings.sqlite``.

    Raises:
        UserError: the database cannot be read or written.
    """

    def __init__(self, cache: Cache) -> None:
        self.path = Path(cache.folder) / "embeddings.sqlite"

    def get(self, keys: Iterable[str]) -> dict[str, np.ndarray]:
        """Return what is stored of these keys, as little-endian float32 vectors."""
        if not self.path.exists():
            return {}
        wanted = "SELECT key, vector FROM embeddings WHERE key IN (SELECT value FROM json_each(?))"
        rows = self._run(wanted, [json.dumps(list(keys))])
        return {key: np.frombuffer(vector, dtype="<f4") for key, vector in rows}

    def put(self, vectors: Mapping[str, np.ndarray], model: str) -> None:
        """Store vectors in one transaction."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._run("CREATE TABLE IF NOT EXISTS embeddings (key TEXT PRIMARY KEY, model TEXT, vector BLOB)")
        rows = [(key, model, vector.tobytes()) for key, vector in vectors.items()]
        self._run("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)", rows, many=True)

    def _run(self, statement: str, values: Any = (), many: bool = False) -> list[tuple]:
        try:
            connection = sqlite3.connect(self.path, timeout=60)
            try:
                with connection:
                    return (connection.executemany if many else connection.execute)(statement, values).fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise UserError(
                f"{self.path}: the stored embeddings cannot be used ({error}); expected a database"
            ) from error


def key_of(text: str, endpoint: Endpoint) -> str:
    """Return the cache key of one text's embedding at an endpoint."""
    return canonical_key({"embedding": endpoint.model, "input": text, **endpoint.extra})


def _read(rows: list[dict[str, Any]], count: int, endpoint: Endpoint) -> list[np.ndarray]:
    if len(rows) != count:
        raise EndpointError(f"endpoint '{endpoint.name}' sent {len(rows)} embeddings for {count} texts")
    try:
        found = np.array([row["embedding"] for row in rows], dtype="<f4")
    except (KeyError, TypeError, ValueError):  # no numbers, or not as many for each text
        found = np.zeros(0)
    if found.ndim != 2 or not found.size or not np.isfinite(found).all():
        raise EndpointError(f"endpoint '{endpoint.name}' sent no embeddings; expected a list of numbers for each text")
    return list(found)


async def embed(texts: list[str], batch: int, endpoint: Endpoint, cache: Cache, post: Post) -> tuple[np.ndarray, int]:
    """Return the embeddings as a float32 array (n, d), and how many distinct texts the cache had.

    Raises:
        EndpointError: the endpoint rejects the texts, or sends something else than a vector for each.
    """
    keys = [key_of(text, endpoint) for text in texts]
    stored = Vectors(cache)
    vectors = stored.get(keys)
    found = len(vectors)
    turns, failed = asyncio.Semaphore(endpoint.concurrency), list[Exception]()
    items = list({key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}.items())

    async def fetch(part: list[tuple[str, str]]) -> None:
        body = {"model": endpoint.model, "input": [text for _, text in part], "encoding_format": "float"}
        at_most = sum(len(text.encode("utf-8", "replace")) + 8 for _, text in part)
        batch_key = canonical_key([key for key, _ in part])
        async with turns:
            if failed:  # nothing more is paid for that cannot be read or stored
                raise failed[0]
            try:
                with cache.room(batch_key, A_VECTOR * len(part)) as room:
                    payload = await post(batch_key, {**body, **endpoint.extra}, at_most, len(part))
                    new = dict(zip([key for key, _ in part], _read(payload["data"], len(part), endpoint), strict=True))
                    room.unlink(missing_ok=True)  # in place of which the vectors come
                    await asyncio.to_thread(stored.put, new, endpoint.model)
            except Exception as error:
                failed.append(error)
                raise
        vectors.update(new)

    parts = [items[start : start + batch] for start in range(0, len(items), batch)]
    for outcome in await asyncio.gather(*map(fetch, parts), return_exceptions=True):
        if isinstance(outcome, RequestRejected):
            raise EndpointError(f"endpoint '{endpoint.name}' rejects the texts to embed: {outcome}")
        if isinstance(outcome, BaseException):
            raise outcome
    if len(lengths := {len(vector) for vector in vectors.values()}) > 1:
        raise EndpointError(f"endpoint '{endpoint.name}' sent embeddings of {len(lengths)} lengths; expected one model")
    return np.stack([vectors[key] for key in keys]) if keys else np.zeros((0, 0), dtype=np.float32), found
