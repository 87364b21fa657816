"""Scores from values per text: means with intervals, hard matching, counts and lengths.

Hard matching (precision, recall and F1 on strings) counts by default over the corpus (micro) on
sets of normalised triples. The official numbers are means of per-text values and leave out texts
with an empty prediction, so a system that answers rarely looks better than it is.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tripleaudit.grescores.systems import StringTriple, System, clean
from tripleaudit.grescores.tokens import count_tokens
from tripleaudit.scoring.bootstrap import FEWEST, LEVEL, METRICS, intervals, scores_of


@dataclass(frozen=True)
class Score:
    """A corpus score (a fraction, or a count for #tri and #tok) with the bounds of its interval.

    Attributes:
        texts: number of texts behind it.
    """

    value: float
    low: float | None = None
    high: float | None = None
    texts: int = 0


def mean_score(values: Iterable[float], resamples: int, seed: int) -> Score | None:
    """Return the unweighted mean over texts with 95 % bootstrap interval; None without values."""
    array = np.fromiter(values, dtype=float)
    if not array.size:
        return None
    bounds = _bounds(lambda weights: weights @ array / array.size, array.size, resamples, seed)
    return Score(float(np.mean(array)), *bounds, array.size)


def _bounds(
    statistic: Callable[[np.ndarray], np.ndarray], texts: int, resamples: int, seed: int
) -> tuple[float | None, float | None]:
    """Return the interval of a statistic of ``[resamples, texts]`` counts of texts.

    Fewer than :data:`~tripleaudit.scoring.bootstrap.FEWEST` texts have none.
    """
    if not resamples or texts < FEWEST:
        return None, None
    weights = np.random.default_rng(seed).multinomial(
        texts, np.full(texts, 1 / texts), size=resamples
    )
    low, high = np.nanquantile(statistic(weights), ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(low), float(high)


def micro_scores(
    counts: Iterable[tuple[int, int, int]], resamples: int, seed: int
) -> dict[str, Score]:
    """Return micro precision, recall and F1 of ``(matched, predicted, gold)`` rows of texts.

    A ratio without a denominator is 0.
    """
    table = np.array(list(counts), dtype=np.int64).reshape(-1, 3)
    totals = scores_of(table.sum(axis=0))
    bounds = intervals(table, replicates=resamples, seed=seed) or {}
    scores = {}
    for index, name in enumerate(METRICS):
        low, high = (bounds[name].low, bounds[name].high) if bounds else (None, None)
        scores[name] = Score(float(totals[index]), low, high, len(table))
    return scores


def hard_match(
    system: System, gold: System, official: bool, resamples: int, seed: int
) -> dict[str, Score]:
    """Return ``precision``, ``recall`` and ``f1``.

    The official variant is the mean over texts with a prediction and gold triples.

    An empty dictionary if there is no such text.
    """
    if not official:
        return micro_scores(_counts(system, gold), resamples, seed)
    rows = list(_official_rows(system, gold))
    if not rows:
        return {}
    names = ("precision", "recall", "f1")
    scores = {
        name: mean_score((row[i] for row in rows), resamples, seed) for i, name in enumerate(names)
    }
    return {name: score for name, score in scores.items() if score is not None}


def normalised(triple: StringTriple) -> StringTriple:
    """Return a triple in NFC, case-folded, with underscores and runs of blanks as single blanks."""
    subject, relation, object_ = (_normalised_part(part) for part in triple)
    return subject, relation, object_


def _normalised_part(part: str) -> str:
    text = unicodedata.normalize("NFC", part).casefold().replace("_", " ")
    return re.sub(r"\s+", " ", text).strip()


def _counts(system: System, gold: System) -> Iterator[tuple[int, int, int]]:
    for text in {**gold.texts, **system.texts}:
        predicted = _distinct(system, text)
        expected = _distinct(gold, text)
        yield len(predicted & expected), len(predicted), len(expected)


def _distinct(system: System, text: str) -> set[StringTriple]:
    triples, _ = clean(system.texts.get(text, []))
    return {normalised(triple) for triple in triples}


def _official_rows(system: System, gold: System) -> Iterator[tuple[float, float, float]]:
    for text, triples in system.texts.items():
        predicted = [_official_key(triple) for triple in triples]
        expected = [_official_key(triple) for triple in gold.texts.get(text, [])]
        if not predicted or not expected:
            continue
        precision = sum(key in expected for key in predicted) / len(predicted)
        recall = sum(key in predicted for key in expected) / len(expected)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        yield precision, recall, f1


def _official_key(triple: Any) -> str:
    return str(triple).lower().replace("_", " ")


def mean_tokens(triples: Iterable[Sequence[Any]]) -> float | None:
    """Return mean tokens per triple of a text; 0 if a part is no string, None without triples."""
    counts = [_tokens_of(triple) for triple in triples]
    return sum(counts) / len(counts) if counts else None


def _tokens_of(triple: Sequence[Any]) -> int:
    if not all(isinstance(part, str) for part in triple):
        return 0
    return sum(count_tokens(part) for part in triple)
