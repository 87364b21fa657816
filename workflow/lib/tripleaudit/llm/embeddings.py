"""Embeddings from an endpoint, cached text by text."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from tripleaudit.llm.cache import Cache
from tripleaudit.llm.endpoint import Endpoint, canonical_key
from tripleaudit.llm.transport import EndpointError, RequestRejected

Post = Callable[[str, dict[str, Any], int, int], Awaitable[dict[str, Any]]]
"""``(key of the batch, body, most tokens, texts) -> payload``: sends one batch and accounts for it."""


def key_of(text: str, endpoint: Endpoint) -> str:
    """Return the cache key of one text's embedding at an endpoint."""
    return canonical_key({"embedding": endpoint.model, "input": text, **endpoint.extra})


def stored(key: str, cache: Cache) -> dict[str, Any] | None:
    """Return the cache's record of an embedding, or None."""
    record = cache.get(key)
    return record if record and "float32" in record else None


async def embed(texts: list[str], batch: int, endpoint: Endpoint, cache: Cache, post: Post) -> tuple[np.ndarray, int]:
    """Return the embeddings as a float32 array (n, d), and how many distinct texts the cache had.

    Raises:
        EndpointError: the endpoint rejects the texts, or sends another number of vectors.
    """
    keys = [key_of(text, endpoint) for text in texts]
    vectors: dict[str, np.ndarray] = {}
    missing: dict[str, str] = {}
    for key, text in zip(keys, texts, strict=True):
        if key in vectors or key in missing:
            continue
        record = stored(key, cache)
        if record:
            vectors[key] = np.frombuffer(base64.b64decode(record["float32"]), dtype="<f4")
        else:
            missing[key] = text
    found, items = len(vectors), list(missing.items())

    async def fetch(part: list[tuple[str, str]]) -> None:
        body = {"model": endpoint.model, "input": [text for _, text in part], "encoding_format": "float"}
        at_most = sum(len(text.encode("utf-8", "replace")) + 8 for _, text in part)
        batch_key = canonical_key([key for key, _ in part])
        payload = await post(batch_key, {**body, **endpoint.extra}, at_most, len(part))
        rows = sorted(payload["data"], key=lambda row: row.get("index", 0))
        if len(rows) != len(part):
            raise EndpointError(f"endpoint '{endpoint.name}' sent {len(rows)} embeddings for {len(part)} texts")
        for (key, text), row in zip(part, rows, strict=True):
            vectors[key] = np.asarray(row["embedding"], dtype="<f4")
            packed = base64.b64encode(vectors[key].tobytes()).decode()
            await asyncio.to_thread(cache.put, key, {"float32": packed, "model": endpoint.model, "input": text})

    parts = [items[start : start + batch] for start in range(0, len(items), batch)]
    for outcome in await asyncio.gather(*map(fetch, parts), return_exceptions=True):
        if isinstance(outcome, RequestRejected):
            raise EndpointError(f"endpoint '{endpoint.name}' rejects the texts to embed: {outcome}")
        if isinstance(outcome, BaseException):
            raise outcome
    return np.stack([vectors[key] for key in keys]) if keys else np.zeros((0, 0), dtype=np.float32), found
