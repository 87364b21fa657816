"""Hard matching of extracted and gold triples: precision, recall and F1 on strings.

The default counts over the corpus (micro) on sets of normalised triples. The official numbers are means of per-text
values and leave out texts with an empty prediction, so a system that answers rarely looks better than it is.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from tripleaudit.grescores.aggregate import Score, mean_score, micro_scores
from tripleaudit.grescores.systems import StringTriple, System, clean


def hard_match(system: System, gold: System, official: bool, resamples: int, seed: int) -> dict[str, Score]:
    """Return ``precision``, ``recall`` and ``f1``; official: means over the texts with a prediction and gold triples.

    An empty dictionary if there is no such text.
    """
    if not official:
        return micro_scores(_counts(system, gold), resamples, seed)
    rows = list(_official_rows(system, gold))
    if not rows:
        return {}
    names = ("precision", "recall", "f1")
    return {name: mean_score((row[i] for row in rows), resamples, seed) for i, name in enumerate(names)}


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
