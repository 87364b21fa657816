"""Further scores on request: by overlap, of parts of triples, and by the scores of triples."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from tripleaudit.corpora.model import Sentence
from tripleaudit.scoring.elements import (
    entity_counts,
    mention_counts,
    relation_counts,
    threshold_counts,
)
from tripleaudit.scoring.overlap import overlap_masks
from tripleaudit.scoring.parts import Part, by_cardinality, select

PARTS: Final = ("overlap", "entities", "relations", "mentions", "triples", "ign", "thresholds")
"""Further scores that can be requested."""


def has_mentions(gold: Iterable[Sentence]) -> bool:
    """Return whether gold sentences state which names are of one entity."""
    return any(sentence.names for sentence in gold)


def has_scores(predictions: Iterable[Sentence]) -> bool:
    """Return whether any predicted triple has a score."""
    return any(triple.score is not None for sentence in predictions for triple in sentence.triples)


def break_down(
    gold: Sequence[Sentence],
    predictions: Sequence[Sentence],
    counts: np.ndarray,
    matching: str,
    by: Iterable[str],
) -> dict[str, dict[str, Part]]:
    """Return the requested parts of a test set by kind and name.

    The kinds are ``overlap``, ``cardinality``, ``elements`` (entities, relations and mentions) and
    ``thresholds``. Mentions and thresholds are left out where the sentences do not have them.

    Args:
        gold: sentences.
        predictions: of the same sentences.
        counts: of the sentences, ``[sentences, 3]``.
        matching: rule by which a triple is correct.
        by: of :data:`PARTS`; ``ign`` is computed by
            :func:`~tripleaudit.scoring.elements.ign_scores`.
    """
    everything = range(len(gold))
    requested = set(by)
    parts: dict[str, dict[str, Part]] = {}
    if "overlap" in requested:
        masks = overlap_masks(gold, matching)
        parts["overlap"] = {name: select(counts, mask) for name, mask in masks.items()}
    if "triples" in requested:
        parts["cardinality"] = by_cardinality(counts)
    elements = {}
    if "entities" in requested:
        elements["entities"] = Part(entity_counts(gold, predictions, matching), everything)
    if "relations" in requested:
        elements["relations"] = Part(relation_counts(gold, predictions, matching), everything)
    if "mentions" in requested and has_mentions(gold):
        elements["mentions"] = Part(mention_counts(gold, predictions, matching), everything)
    if elements:
        parts["elements"] = elements
    if "thresholds" in requested and has_scores(predictions):
        by_threshold = threshold_counts(gold, predictions, matching)
        parts["thresholds"] = {
            name: Part(confident, everything) for name, confident in by_threshold.items()
        }
    return parts
