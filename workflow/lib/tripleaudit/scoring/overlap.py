"""Sentences by how their triples share entities: Normal, SingleEntityOverlap, EntityPairOverlap.

The classes of CopyRE (Zeng et al., 2018) as the scorer of CasRel (Wei et al., 2020) assigns them.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final

import numpy as np

from tripleaudit.corpora.model import Sentence
from tripleaudit.scoring.matching import PRIMARY, reduced

OVERLAPS: Final = ("Normal", "SEO", "EPO")


def overlap_classes(triples: Iterable[tuple[Hashable, str, Hashable]]) -> set[str]:
    """Return the classes of a sentence; one with zero triples has none.

    Normal: no two triples share an entity. EPO: two triples have the same subject and object. SEO:
    two different pairs share an entity. A sentence may be both EPO and SEO.

    Args:
        triples: subject, relation and object of each; a triple that is listed twice makes a
            sentence EPO, so that sets and lists may differ.
    """
    pairs = [(subject, object_) for subject, _, object_ in triples]
    entities = {entity for pair in pairs for entity in pair}
    if not pairs:
        return set()
    if len(entities) == 2 * len(pairs):
        return {"Normal"}
    different_pairs = set(pairs)
    classes = set()
    if len(different_pairs) < len(pairs):
        classes.add("EPO")
    if len(entities) < 2 * len(different_pairs):
        classes.add("SEO")
    return classes


def overlap_masks(gold: Sequence[Sentence], matching: str = PRIMARY) -> dict[str, np.ndarray]:
    """Return class -> mask ``[sentences]``, of the gold triples as the set that a rule compares."""
    classes = [overlap_classes(reduced(sentence.triples, matching)) for sentence in gold]
    return {name: np.array([name in found for found in classes], dtype=bool) for name in OVERLAPS}
