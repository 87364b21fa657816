"""Uniqueness (US) and completeness (CS) by vector similarity (GenRES, sections 3.2, 3.5).

One matrix product per text. The published scores add the vectors of subject, relation and object: a
triple and its reverse are then the same vector, so US counts a reversed triple as a repeat and CS
as a hit.

An *encoder* is a sentence-transformers folder or an embeddings endpoint. :class:`Elements` sends
every distinct string of a whole data set through it once, in batches, and hands out rows by string.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json, sha256
from tripleaudit.grescores.systems import StringTriple, System, clean

# Similarity thresholds phi by encoder, for sums of element vectors; docs/reference/grescores.md says how they
# were calibrated.
PHI = {"minilm": 0.70, "mpnet-base": 0.74, "text-embedding-ada-002": 0.95}

# Encoders that ship under other folder names, by the SHA-256 of their weights.
KNOWN = {"53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db": "all-MiniLM-L6-v2"}


class FolderEncoder:
    """Sentence-transformers model in a folder: safetensors only, no downloads, no remote code.

    Raises:
        UserError: the folder holds no such model.
    """

    def __init__(self, folder: str | Path, batch_size: int = 64, device: str | None = None) -> None:
        folder = Path(folder)
        if not (folder / "config.json").is_file() or not list(folder.glob("*.safetensors")):
            raise UserError(
                f"{folder}: no sentence encoder here; expected config.json and safetensors weights"
            )
        if not (folder / "modules.json").is_file():
            raise UserError(
                f"{folder}: modules.json is missing; expected a sentence-transformers model"
            )
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
    """OpenAI-compatible embeddings endpoint, used through the cached client."""

    def __init__(self, client: Any, name: str) -> None:
        self.name = name
        self._client = client

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return one vector per text, float32 ``[n, d]``."""
        return np.asarray(self._client.embed(list(texts)), dtype=np.float32)


class Elements:
    """Vectors of distinct strings.

    Args:
        encoder: has a ``name`` and ``encode(texts) -> float32 [n, d]``; it is asked once for every
            distinct string, in sorted order, so that results do not depend on who asks first.
    """

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder
        self._row: dict[str, int] = {}
        self._table = np.zeros((0, 0), dtype=np.float32)

    def add(self, texts: Iterable[str]) -> None:
        """Embed the strings that are not known yet."""
        new = sorted(set(texts) - set(self._row))
        if not new:
            return
        vectors = self.encoder.encode(new)
        self._table = np.concatenate([self._table, vectors]) if self._row else vectors
        self._row.update({text: len(self._row) + i for i, text in enumerate(new)})

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
        f"no similarity threshold is known for the embedder {name!r}; set phi "
        "(docs/reference/grescores.md says how to choose it)"
    )


def _identity(folder: Path) -> str:
    """Name a model by its content: its or its folder's name and the start of its SHA-256."""
    weights = sha256(min(folder.glob("*.safetensors")))
    return f"{KNOWN.get(weights, folder.name)}@{weights[:8]}"


PUBLISHED_PHI = 0.95  # of the published similarities (text-embedding-ada-002, sum)

Similarities = Mapping[str, Sequence[Sequence[float]]]


@dataclass(frozen=True)
class Matching:
    """How triple vectors are compared.

    Attributes:
        phi: cosine from which two triples count as the same (US below it, CS at or above it).
        closed: the relation of a gold triple and of its best match must match at ``phi`` too; the
            official rule where entities are given.
    """

    phi: float
    closed: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.phi <= 1:
            raise UserError(f"phi is {self.phi}, expected a cosine above 0 and at most 1")


def triple_vectors(triples: Sequence[StringTriple], elements: Elements) -> np.ndarray:
    """Return unit vectors of triples ``[n, d]``: sums of subject, relation and object vectors."""
    parts = [elements([triple[role] for triple in triples]) for role in range(3)]
    return _unit(parts[0] + parts[1] + parts[2])


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def uniqueness(
    system: System, elements: Elements, matching: Matching, official: bool
) -> dict[str, float]:
    """Return US per text: share of ordered pairs of triples with cosine below phi.

    Pairs are those of different positions, so a repeated triple lowers US.

    A single triple is unique. A text without triples counts 1 officially and is left out by
    default.
    """
    values = {}
    for text, raw in system.texts.items():
        triples, _ = clean(raw)
        count = len(triples)
        if count >= 2:
            vectors = triple_vectors(triples, elements)
            below = vectors @ vectors.T < matching.phi
            np.fill_diagonal(below, False)
            values[text] = float(below.sum() / (count * (count - 1)))
        elif count == 1 or official:
            values[text] = 1.0
    return values


def completeness(
    system: System, gold: System, elements: Elements, matching: Matching, official: bool
) -> dict[str, float]:
    """Return CS per text: the share of distinct gold triples that some predicted triple matches.

    No predictions: 0. Texts without gold are left out by default; officially they count 1 if they
    are in the gold file and something was predicted, 0 if nothing was predicted.
    """
    values = {}
    for text in _texts(system, gold, official):
        predicted, _ = clean(system.texts.get(text, []))
        gold_triples, _ = clean(gold.texts.get(text, []))
        expected = list(dict.fromkeys(gold_triples))
        if predicted and expected:
            values[text] = _recall(expected, predicted, elements, matching)
        else:
            has_answer = bool(system.texts.get(text))
            _add_empty_case(values, text, has_answer, text in gold.texts, bool(expected), official)
    return values


def _texts(system: System, gold: System, official: bool) -> list[str]:
    return list(system.texts) if official else list(dict.fromkeys([*gold.texts, *system.texts]))


def _add_empty_case(
    values: dict[str, float],
    text: str,
    predicted: bool,
    in_gold: bool,
    expected: bool,
    official: bool,
) -> None:
    """Enter the value of a text that has no similarities, if it has one."""
    if official:
        if not predicted:
            values[text] = 0.0
        elif in_gold and not expected:
            values[text] = 1.0
        # texts outside the gold file and texts none of whose triples has a vector are skipped
    elif expected:
        values[text] = 0.0


def _recall(
    expected: list[StringTriple],
    predicted: list[StringTriple],
    elements: Elements,
    matching: Matching,
) -> float:
    similarity = (
        triple_vectors(expected, elements) @ triple_vectors(predicted, elements).T
    )  # [gold, predicted]
    hits = similarity >= matching.phi
    if matching.closed:
        best = np.arange(len(predicted)) == similarity.argmax(axis=1)[:, None]
        relation_similarity = (
            _relation_vectors(expected, elements) @ _relation_vectors(predicted, elements).T
        )
        hits &= best & (relation_similarity >= matching.phi)
    return float(hits.any(axis=1).mean())


def _relation_vectors(triples: Sequence[StringTriple], elements: Elements) -> np.ndarray:
    return _unit(elements([relation for _, relation, _ in triples]))


def read_similarities(path: str | Path) -> dict[str, list[list[float]]]:
    """Read stored similarities ``{text: {gold triple: [cosine with each predicted triple]}}``.

    Raises:
        UserError: the file is missing or has another form.
    """
    value = read_json(path)
    try:
        return {
            text: [list(map(float, row)) for row in rows.values()] for text, rows in value.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise UserError(f"{path}: expected {{text: {{gold triple: [cosines]}}}}") from error


def completeness_from_similarities(
    system: System, gold: System, similarities: Similarities, phi: float, official: bool
) -> dict[str, float]:
    """Return CS per text from stored similarities; empty cases as in :func:`completeness`.

    A text with gold and predictions that the file lacks is skipped.
    """
    values = {}
    for text in _texts(system, gold, official):
        predicted = bool(system.texts.get(text))
        expected = bool(gold.texts.get(text))
        if predicted and expected:
            rows = similarities.get(text)
            if rows:
                values[text] = sum(max(row, default=-1.0) >= phi for row in rows) / len(rows)
        else:
            _add_empty_case(values, text, predicted, text in gold.texts, expected, official)
    return values
