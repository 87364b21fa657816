"""Scores of an extraction without a reference (MINEA, section 5.1 and appendix A).

An extraction is read as a summary of the document: one line per entity, type and values without the
keys. All scores lie between 0 and 1 and serve to compare extractions of one document with one
another; none is an absolute quality.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from tripleaudit.needles.entities import Entity, is_filled
from tripleaudit.needles.schema import Schema

WORD = re.compile(r"\w+")
COMPONENTS = 100
THRESHOLDS, NAME_THRESHOLD = (
    (0.2, 0.1),
    0.5,
)  # cosines of redundancy, of whole entities and of names
DENSE_CELLS = 20_000_000  # above this many cells the decomposition runs on the sparse matrix


def words(text: str) -> list[str]:
    """Return the lower-cased word tokens of ``text``."""
    return WORD.findall(text.lower())


def semantic_similarity(
    pieces: Sequence[str], lines: Sequence[str], components: int = COMPONENTS
) -> float:
    """Cosine of document and extraction in a latent semantic space.

    TF-IDF (lower-cased words, English stop words left out, l2) is fitted on the units, which are
    the pieces of the document and the lines of the extraction; ``min(components, rank)`` singular
    vectors span the space, into which the whole document and all lines together are projected.
    Signs of the components do not matter. 0 where either side has no word.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    units = [*pieces, *lines]
    vectorizer = TfidfVectorizer(analyzer=_content_words)
    try:
        matrix = vectorizer.fit_transform(units)
    except ValueError:  # no word in any unit
        return 0.0
    both = vectorizer.transform(["\n".join(pieces), "\n".join(lines)])
    basis = _right_singular_vectors(matrix, components)
    document, extraction = (both @ basis.T) if basis is not None else both.toarray()
    return _cosine(np.asarray(document), np.asarray(extraction))


def relevance(hypothesis: str, reference: str, alpha: float = 0.9) -> float:
    """Return METEOR's F of an extraction against its document, without chunk penalty.

    Matches are one to one: equal lower-cased words first, then equal Porter stems among the rest.
    ``F = P R / (alpha P + (1 - alpha) R)``, which is ``10 P R / (R + 9 P)`` for 0.9, so that recall
    weighs nine times as much as precision. The stages are NLTK's; its ``meteor_score`` multiplies
    by a penalty for order, which an extraction does not keep.
    """
    from nltk.translate.meteor_score import exact_match, stem_match

    left, right = words(hypothesis), words(reference)
    if not left or not right:
        return 0.0
    exact, rest_left, rest_right = exact_match(left, right)
    stems, _, _ = stem_match([w for _, w in rest_left], [w for _, w in rest_right])
    matches = len(exact) + len(stems)
    if matches == 0:
        return 0.0
    precision, recall = matches / len(left), matches / len(right)
    return precision * recall / (alpha * precision + (1 - alpha) * recall)


def spread(values: Sequence[float]) -> float | None:
    """Return standard deviation over mean; 0 for one value, ``None`` without mean.

    The mean is 0, or there is no value.
    """
    if not values or sum(values) == 0:
        return None
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    return math.sqrt(variance) / mean


def redundancy_avoidance(lines: Sequence[str], threshold: float) -> float | None:
    """Return the share of line pairs with cosine up to ``threshold``; 1 for one, None for no line.

    A line without words has the zero vector and is similar to nothing. Memory: the rows of one
    block of 1,000 lines.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    count = len(lines)
    if count < 2:
        return 1.0 if count else None
    try:
        matrix = normalize(CountVectorizer(analyzer=words, dtype=np.float64).fit_transform(lines))
    except ValueError:  # no word in any line
        return 1.0
    similar = 0
    for start in range(0, count, 1000):
        block = (matrix[start : start + 1000] @ matrix.T).tocoo()
        later = block.col > block.row + start
        similar += int(np.count_nonzero(block.data[later] > threshold + 1e-12))
    return 1.0 - similar / (count * (count - 1) / 2)


def supported_entities(entities: Sequence[Entity], document: str) -> float | None:
    """Return bias avoidance J*: share of distinct extracted names that occur in the document.

    ``|A ∩ B| / |B|`` with the entities of the document and those of the extraction (appendix A):
    what is said of an entity in other words makes it no invention. An entity counts as the
    document's when the words of its name occur there in a row; one without a name is left out.
    ``None`` where none has a name.
    """
    return _occurring((entity.name for entity in entities if entity.name), document)


def supported_share(entities: Sequence[Entity], document: str) -> float | None:
    """Supported values: as :func:`supported_entities`, of names and property values alike.

    B holds the distinct normalised values, list items singly, without types and placeholders; a
    value counts as supported when its words occur in the document in a row. ``None`` where B is
    empty.
    """
    return _occurring((value for entity in entities for value in entity.values()), document)


def _occurring(values: Iterable[str], document: str) -> float | None:
    """Return the share of distinct values whose words occur consecutively in the document.

    Placeholders are left out.
    """
    joined = [" ".join(words(value)) for value in values if is_filled(value)]
    distinct = {value for value in joined if value}
    if not distinct:
        return None
    # A document as " a b c " makes word sequences substrings: one search each, no tokens inside
    # tokens.
    text = f" {' '.join(words(document))} "
    return sum(f" {value} " in text for value in distinct) / len(distinct)


def incompleteness(entities: Sequence[Entity], schema: Schema) -> float | None:
    """Share of entities with a property of their type that is absent, null, empty or a placeholder.

    Entities of types outside the schema are judged on the properties they have. ``None`` without
    entities.
    """
    if not entities:
        return None
    return sum(_incomplete(entity, schema) for entity in entities) / len(entities)


def suswir(scores: Mapping[str, float | None]) -> float | None:
    """Return the mean of similarity, relevance, redundancy and bias avoidance.

    None if one is missing.
    """
    keys = ("semantic_similarity", "relevance", "redundancy_avoidance", "bias_avoidance")
    values = [scores.get(key) for key in keys]
    measured = [value for value in values if value is not None]
    if len(measured) < len(keys):
        return None
    return sum(measured) / len(keys)


def all_scores(pieces: Sequence[str], entities: Sequence[Entity], schema: Schema) -> dict[str, Any]:
    """Compute every score of table 2 for one document's extraction.

    Args:
        pieces: the pieces of the document, in order; joined they are the document.

    Returns:
        The scores under the names used in ``reported/minea.csv`` (thresholds as
        ``redundancy_avoidance(0.2)`` and ``redundancy_avoidance(0.5,name)``) with ``None`` where a
        score is undefined, and ``entities``, their number. Of nothing extracted, nothing else is
        measured.
    """
    document = "".join(pieces)
    lines = [entity.line() for entity in entities]
    per_piece = [
        relevance("\n".join(e.line() for e in entities if e.piece == number), piece)
        for number, piece in enumerate(pieces)
    ]
    scores: dict[str, Any] = {
        "semantic_similarity": semantic_similarity(pieces, lines) if lines else None,
        "relevance": relevance("\n".join(lines), document) if lines else None,
        "relevance_spread": spread(per_piece),
    }
    for threshold in THRESHOLDS:
        scores[f"redundancy_avoidance({threshold:g})"] = redundancy_avoidance(lines, threshold)
    names = [entity.name or "" for entity in entities]
    scores[f"redundancy_avoidance({NAME_THRESHOLD:g},name)"] = redundancy_avoidance(
        names, NAME_THRESHOLD
    )
    scores["bias_avoidance"] = supported_entities(entities, document)
    scores["supported_values"] = supported_share(entities, document)
    scores["incompleteness"] = incompleteness(entities, schema)
    scores["suswir"] = suswir(
        scores | {"redundancy_avoidance": redundancy_avoidance(lines, THRESHOLDS[0])}
    )
    scores["entities"] = len(entities)
    return scores


def _incomplete(entity: Entity, schema: Schema) -> bool:
    kind = schema.types.get(entity.type)
    own = {"name": entity.name, **entity.properties, **entity.extra}
    expected = kind.properties if kind else own
    return any(not is_filled(own.get(key)) for key in expected)


def _content_words(text: str) -> list[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [word for word in words(text) if word not in ENGLISH_STOP_WORDS]


def _right_singular_vectors(matrix: sparse.csr_matrix, components: int) -> np.ndarray | None:
    """Return exact right singular vectors ``[k, words]``; ``None`` for a zero matrix.

    ``k = min(components, rank)``.
    """
    least = min(matrix.shape)
    if matrix.shape[0] * matrix.shape[1] > DENSE_CELLS and least > components + 1:
        from scipy.sparse.linalg import svds

        start = np.full(least, 1.0 / math.sqrt(least))
        _, values, right = svds(matrix, k=components, v0=start, solver="arpack")
    else:
        _, values, right = np.linalg.svd(matrix.toarray(), full_matrices=False)
    if not values.size:
        return None
    tolerance = values.max() * max(matrix.shape) * np.finfo(float).eps
    rank = int(np.count_nonzero(values > tolerance))
    order = np.argsort(-values)
    return right[order[: min(components, rank)]] if rank else None


def _cosine(left: np.ndarray, right: np.ndarray) -> float:
    norms = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(np.clip(left @ right / norms, 0.0, 1.0)) if norms > 0 else 0.0
