"""Random numbers that depend on what they are for, never on the order in which they are asked for.

A draw is named by a key such as ``(run seed, epoch, sentence id, "noise")``. Workers, resumed runs and other batch
orders therefore all see the same numbers.
"""

import hashlib

import numpy as np


def generator(*key: int | str) -> np.random.Generator:
    """Return an independent NumPy generator for ``key`` (numbers and strings; order matters)."""
    name = "\x1f".join(f"{type(part).__name__}:{part}" for part in key)
    digest = hashlib.blake2b(name.encode("utf-8"), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
