"""From values per text to scores: means with intervals, hard matching, numbers and lengths of
triples.

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
    """Return the unweighted mean over texts with a 95 % percentile bootstrap interval; None
    without values.
    """
    array = np.fromiter(values, dtype=float)
    if not array.size:
        return None
    bounds = _bounds(lambda weights: weights @ array / array.size, array.size, resamples, seed)
    return Score(float(np.mean(array)), *bounds, array.size)


def _bounds(
    statistic: Callable[[np.ndarray], np.ndarray], texts: int, resamples: int, seed: int
) -> tuple[float | None, float | None]:
    """Return the interval of a statistic of ``[resamples, texts]``: how often each resample takes
    each text.

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
    """Return micro precision, recall and F1 of ``(matched, predicted, gold)`` counts, one row per
    text.

    A ratio without a denominator is 0.
    """
    table = np.array(list(counts), dtype=np.int64).reshape(-1, 3)
    whole = scores_of(table.sum(axis=0))
    bounds = intervals(table, replicates=resamples, seed=seed) or {}
    scores = {}
    for index, name in enumerate(METRICS):
        low, high = (bounds[name].low, bounds[name].high) if bounds else (None, None)
        scores[name] = Score(float(whole[index]), low, high, len(table))
    return scores


def hard_match(
    system: System, gold: System, official: bool, resamples: int, seed: int
) -> dict[str, Score]:
    """Return ``precision``, ``recall`` and ``f1``; official: means over the texts with a prediction
    and gold triples.

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
    parts = [unicodedata.normalize("NFC", part).casefold().replace("_", " ") for part in triple]
    subject, relation, object_ = (re.sub(r"\s+", " ", part).strip() for part in parts)
    return subject, relation, object_


def _counts(system: System, gold: System) -> Iterator[tuple[int, int, int]]:
    for text in {**gold.texts, **system.texts}:
        found = {normalised(triple) for triple in clean(system.texts.get(text, []))[0]}
        wanted = {normalised(triple) for triple in clean(gold.texts.get(text, []))[0]}
        yield len(found & wanted), len(found), len(wanted)


def _official_rows(system: System, gold: System) -> Iterator[tuple[float, float, float]]:
    for text, triples in system.texts.items():
        found = [_official_key(triple) for triple in triples]
        wanted = [_official_key(triple) for triple in gold.texts.get(text, [])]
        if not found or not wanted:
            continue
        precision = sum(key in wanted for key in found) / len(found)
        recall = sum(key in found for key in wanted) / len(wanted)
        both = precision + recall
        yield precision, recall, 2 * precision * recall / both if both else 0.0


def _official_key(triple: Any) -> str:
    return str(triple).lower().replace("_", " ")


def mean_tokens(triples: Iterable[Sequence[Any]]) -> float | None:
    """Return the mean tokens per triple of one text, 0 for one with a part that is no string;
    None without triples.
    """
    counts = [
        sum(map(count_tokens, row)) if all(isinstance(part, str) for part in row) else 0
        for row in triples
    ]
    return sum(counts) / len(counts) if counts else None
