"""Units of resampling: dependent sentences that are drawn or exchanged together.

The variants of one sentence (augmented test sets) always form one unit. With the unit
``shared-triple``, sentences that share a gold triple, directly or through other sentences, form one
as well.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final

import numpy as np

from tripleaudit.corpora.model import Sentence

SENTENCE: Final = "sentence"
SHARED_TRIPLE: Final = "shared-triple"
UNITS: Final = (SENTENCE, SHARED_TRIPLE)


def connected_groups(keys: Sequence[Iterable[Hashable]]) -> list[int]:
    """Group items that share a key, directly or through other items.

    Args:
        keys: the keys of each item.

    Returns:
        For each item the position of the first item of its group.
    """
    parents = list(range(len(keys)))

    def root(item: int) -> int:
        while parents[item] != item:
            parents[item] = parents[parents[item]]
            item = parents[item]
        return item

    first_with: dict[Hashable, int] = {}
    for item, item_keys in enumerate(keys):
        for key in item_keys:
            other = root(first_with.setdefault(key, item))
            own = root(item)
            parents[max(own, other)] = min(own, other)
    return [root(item) for item in range(len(keys))]


def triple_groups(sentences: Sequence[Sentence], originals: Sequence[str]) -> list[str]:
    """Return for each sentence the first sentence of its group that shares gold triples.

    Args:
        sentences: of a test set.
        originals: the id of each sentence; of a variant, that of its original. Variants of one are
            in one group.
    """
    keys: list[list[Hashable]] = []
    for sentence, original in zip(sentences, originals, strict=True):
        keys.append([original, *(triple.strings for triple in sentence.triples)])
    return [sentences[first].id for first in connected_groups(keys)]


def sum_by_unit(counts: np.ndarray, units: Sequence[str]) -> np.ndarray:
    """Sum counts ``[sentences, ...]`` by unit, ``[units, ...]`` in order of appearance."""
    positions = {unit: position for position, unit in enumerate(dict.fromkeys(units))}
    if len(positions) == len(counts):
        return counts
    totals = np.zeros((len(positions), *counts.shape[1:]), dtype=counts.dtype)
    np.add.at(totals, [positions[unit] for unit in units], counts)
    return totals


def design_effect(counts: np.ndarray, units: Sequence[str]) -> float | None:
    """Return F1's variance over units divided by its variance over single sentences.

    Both are variances of the linearised score. 1 means that the sentences of a unit are as
    different as others.

    Args:
        counts: ``[sentences, 3]`` (correct, predicted, gold).
        units: of the sentences.

    Returns:
        None where F1 does not vary over sentences.
    """
    correct, predicted, gold = (counts[:, column].astype(np.float64) for column in range(3))
    total = predicted.sum() + gold.sum()
    if not total:
        return None
    f1 = 2 * correct.sum() / total
    influence = 2 * correct - f1 * (predicted + gold)
    variance = float((influence**2).sum())
    if not variance:
        return None
    by_unit = sum_by_unit(influence, units)
    return float((by_unit**2).sum()) / variance
