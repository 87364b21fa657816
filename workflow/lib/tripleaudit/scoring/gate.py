"""Zero-cardinality classifiers at scoring: own scores, and gate (zero-cardinality 3).

A decision file is JSON lines ``{"id", "score"}`` with the score in [0, 1] that the sentence has
triples, and perhaps ``clue``, the word that it depends on most. A sentence passes if its score is
greater than the threshold; a rejected one keeps none of its predicted triples.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from pydantic import Field

from tripleaudit.core.errors import UserError
from tripleaudit.core.rows import read_rows
from tripleaudit.corpora.model import Sentence

PUNCTUATION: Final = ".,;:!?()[]\"'“”‘’`"
THRESHOLD: Final = 0.5  # a sentence passes above it, strictly


@dataclass(frozen=True)
class Decision:
    """A line of a decision file."""

    id: str
    score: Annotated[float, Field(ge=0, le=1)]
    clue: str = ""


def load_decisions(path: str | Path) -> dict[str, Decision]:
    """Read the classifier's decision about each sentence, by id.

    Raises:
        UserError: the file is missing, a line has no id or no score in [0, 1], or an id repeats.
    """
    decisions: dict[str, Decision] = {}
    for row in read_rows(path, Decision):
        if decisions.setdefault(row.id, row) is not row:
            raise UserError(f"{path}: the id {row.id!r} occurs twice")
    return decisions


def clue_words(
    gold: Sequence[Sentence], decisions: Mapping[str, Decision], threshold: float = THRESHOLD
) -> dict[str, dict[str, list[int]]]:
    """Count clue words, in lower case, of the sentences that pass and of those that do not.

    Returns:
        ``passed`` and ``rejected``: word -> how many sentences it decided, how many of these have
        triples, and in how many it is part of a gold entity's name; the most frequent first.
    """
    found: dict[str, dict[str, np.ndarray]] = {"passed": {}, "rejected": {}}
    for sentence in gold:
        decision = decisions[sentence.id]
        if word := decision.clue.lower():
            names = [
                part
                for t in sentence.triples
                for s in (t.subject, t.object)
                for part in s.text.split()
            ]
            named = word in {part.strip(PUNCTUATION).lower() for part in names}
            side = found["passed" if decision.score > threshold else "rejected"]
            side[word] = side.get(word, 0) + np.array([1, bool(sentence.triples), named])
    return {
        side: {
            word: counts.tolist()
            for word, counts in sorted(words.items(), key=lambda item: (-item[1][0], item[0]))
        }
        for side, words in found.items()
    }


def scores_for(sentences: Sequence[Sentence], decisions: Mapping[str, Decision]) -> np.ndarray:
    """Return the classifier's scores ``[sentences]`` in the sentences' order.

    Raises:
        UserError: a sentence has no decision.
    """
    missing = [sentence.id for sentence in sentences if sentence.id not in decisions]
    if missing:
        raise UserError(
            f"{len(missing)} of {len(sentences)} sentences have no decision of the classifier (first: id "
            f"{missing[0]!r}); expected decisions for the same test set"
        )
    return np.array([decisions[sentence.id].score for sentence in sentences], dtype=np.float64)


def passed(predictions: Sequence[Sentence], accepted: np.ndarray) -> list[Sentence]:
    """Return predictions of two-step extraction: empty for rejected sentences."""
    return [
        each if yes else replace(each, triples=())
        for each, yes in zip(predictions, accepted, strict=True)
    ]


def classification_counts(
    gold: Sequence[Sentence], scores: np.ndarray, threshold: float = THRESHOLD
) -> np.ndarray:
    """Return 0/1 of the class "has triples" ``[sentences, 3]``: correct, accepted, gold.

    Micro scores of these are P, R and F1 of the positive class.
    """
    has = np.array([bool(sentence.triples) for sentence in gold], dtype=bool)
    accepted = scores > threshold
    return np.stack([has & accepted, accepted, has], axis=1).astype(np.int64)


def precision_recall_curve(
    gold: Sequence[Sentence], scores: np.ndarray, points: int = 400
) -> dict[str, Any]:
    """Trace precision and recall of "has triples" over thresholds, at most ``points``.

    Returns:
        ``average_precision`` (area as the sum of precision times recall gained, 0 without
        positives), ``positives``, ``sentences``, and ``points``: ``{"score", "precision",
        "recall"}`` of accepting every sentence with at least this score, from the strictest to the
        loosest; the first and last are always there.
    """
    has = np.array([bool(sentence.triples) for sentence in gold], dtype=np.int64)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = (
        np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        if len(ranked)
        else np.array([], dtype=int)
    )
    right = np.cumsum(has[order])[last]
    positives = int(has.sum())
    precision = right / (last + 1)
    recall = right / max(positives, 1)
    average = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    chosen = np.arange(len(last))
    if len(last) > points:
        chosen = np.unique([*chosen[:: math.ceil(len(last) / points)], len(last) - 1])
    columns = np.stack([ranked[last], precision, recall], axis=1)[chosen].tolist()
    return {
        "average_precision": average,
        "positives": positives,
        "sentences": len(has),
        "points": [
            dict(zip(("score", "precision", "recall"), (round(v, 6) for v in row), strict=True))
            for row in columns
        ],
    }
