"""Sentence embeddings by source: a sentence-transformers folder or an embeddings endpoint, behind one small interface.

An *encoder* is anything with a ``name`` and ``encode(texts) -> float32 [n, d]``. :class:`Elements` sends every distinct
string of a whole data set through it once, in batches, and hands out rows by string.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tripleaudit.errors import UserError
from tripleaudit.files import sha256

# Similarity thresholds phi by encoder, for sums of element vectors; docs/grescores.md says how they were calibrated.
PHI = {"minilm": 0.70, "text-embedding-ada-002": 0.95}

# Encoders that ship under other folder names, by the SHA-256 of their weights.
KNOWN = {"53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db": "all-MiniLM-L6-v2"}


class Encoder(Protocol):
    """Turns strings into vectors."""

    name: str

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return one row per text, float32 ``[n, d]``."""
        ...


class FolderEncoder:
    """A sentence-transformers model in a folder (safetensors weights only, nothing is downloaded, no remote code).

    Raises:
        UserError: the folder holds no such model.
    """

    def __init__(self, folder: str | Path, batch_size: int = 64, device: str | None = None) -> None:
        folder = Path(folder)
        if not (folder / "config.json").is_file() or not list(folder.glob("*.safetensors")):
            raise UserError(f"{folder}: no sentence encoder here; expected config.json and safetensors weights")
        if not (folder / "modules.json").is_file():
            raise UserError(f"{folder}: modules.json is missing; expected a sentence-transformers model")
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()
        self.name = _identity(folder)
        self._batch_size = batch_size
        self._model = SentenceTransformer(
            str(folder),
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit vectors, float32 ``[n, d]``."""
        vectors = self._model.encode(
            list(texts),
            batch_size=self._batch_size,
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return vectors.astype(np.float32)


class EndpointEncoder:
    """An OpenAI-compatible embeddings endpoint, through the cached client of :mod:`tripleaudit.generative`."""

    def __init__(self, client: Any, name: str) -> None:
        self.name = name
        self._client = client

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return one vector per text, float32 ``[n, d]``."""
        return np.asarray(self._client.embed(list(texts)), dtype=np.float32)


class Elements:
    """Vectors of distinct strings.

    Args:
        encoder: asked once for every distinct string, in sorted order, so that results do not depend on who asks first.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._row: dict[str, int] = {}
        self._table: np.ndarray | None = None

    def add(self, texts: Iterable[str]) -> None:
        """Embed the strings that are not known yet."""
        new = sorted(set(texts) - set(self._row))
        if not new:
            return
        vectors = self.encoder.encode(new)
        self._row.update({text: len(self._row) + i for i, text in enumerate(new)})
        self._table = vectors if self._table is None else np.concatenate([self._table, vectors])

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of known strings, ``[len(texts), d]``."""
        return self._table[[self._row[text] for text in texts]]


def default_phi(name: str) -> float:
    """Return the calibrated threshold of an encoder.

    Raises:
        UserError: none is known for it.
    """
    for known, phi in PHI.items():
        if known in name.lower():
            return phi
    raise UserError(
        f"no similarity threshold is known for the embedder {name!r}; set phi (docs/grescores.md says how to choose it)"
    )


def _identity(folder: Path) -> str:
    """Name a model by its content: its own or its folder's name and the first digits of its weights' SHA-256."""
    weights = sha256(sorted(folder.glob("*.safetensors"))[0])
    return f"{KNOWN.get(weights, folder.name)}@{weights[:8]}"
