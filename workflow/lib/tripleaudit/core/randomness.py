"""Random numbers that depend on what they are for, never on the order in which they are asked for.

A draw is named by a key such as ``(run seed, epoch, sentence id, "noise")``. Workers, resumed runs
and other batch orders therefore all see the same numbers.
"""

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np


def generator(*key: int | str) -> np.random.Generator:
    """Return an independent NumPy generator for ``key`` (numbers and strings; order matters)."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(_digest(key), "little")))


def generators(keys: Iterable[tuple[int | str, ...]]) -> Iterator[np.random.Generator]:
    """Yield :func:`generator` for each key, three times as fast; each is valid until the next."""
    numbers = np.random.Philox(key=0)
    start, reused = numbers.state, np.random.Generator(numbers)
    for key in keys:
        start["state"]["key"][:] = np.frombuffer(_digest(key), dtype="<u8")
        numbers.state = start
        yield reused


def _digest(key: tuple[int | str, ...]) -> bytes:
    name = "\x1f".join([f"{type(part).__name__}:{part}" for part in key])
    return hashlib.blake2b(name.encode("utf-8"), digest_size=16).digest()
