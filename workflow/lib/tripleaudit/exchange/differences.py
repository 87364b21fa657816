"""Comparison of two systems: differences with intervals and tests, and changed sentences.

All differences are the second system minus the first. Where systems have several runs (seeds),
values are means over runs, and intervals and tests know the luck of the runs
(:mod:`tripleaudit.scoring.bootstrap` and ``significance``).
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import numpy as np

from tripleaudit.corpora.model import Sentence
from tripleaudit.scoring import difference
from tripleaudit.scoring.bootstrap import METRICS
from tripleaudit.scoring.matching import reduced
from tripleaudit.scoring.parts import MOST
from tripleaudit.scoring.significance import holm, is_significant

EMPTY: Final = "0 (share left empty)"

Counts = tuple[np.ndarray, np.ndarray, Sequence[str]]
"""Counts ``[sentences, runs, 3]`` of the first and of the second system on the same sentences, and the units of
resampling of these sentences (:mod:`tripleaudit.scoring.units`)."""


@dataclass(frozen=True, kw_only=True)
class Difference(difference.Difference):
    """Scores of two systems on some of their sentences, as fractions.

    Attributes:
        label: what the sentences or triples have in common.
        corrected: the p-value by Holm among the differences of one block.
    """

    label: str
    p: float
    corrected: float

    @property
    def clear(self) -> bool:
        """Whether it is significant, with the p-value that is corrected within its block."""
        return is_significant(self.interval, self.corrected, self.units)

    def to_json(self) -> dict[str, Any]:
        value: dict[str, Any] = {"sentences": self.sentences}
        for position, metric in enumerate(METRICS):
            bound = (self.bounds or {}).get(metric)
            interval = [bound.low, bound.high] if bound else None
            value[metric] = {
                "first": self.first[position],
                "second": self.second[position],
                "difference": self.change(metric),
                "interval": interval,
            }
        return {**value, "p": self.p, "p_holm": self.corrected}


def differences(
    blocks: Mapping[str, Counts], how: Mapping[str, Any], *, shared: bool = False
) -> list[Difference]:
    """Test groups of differences with corrected p-values; blocks without sentences are left out.

    Args:
        how: ``replicates``, ``shuffles`` and ``seed``
            (:func:`~tripleaudit.scoring.difference.between`).
        shared: whether the runs of both systems, one by one, share a seed.
    """
    blocks = {label: counts for label, counts in blocks.items() if len(counts[0])}
    found = [
        vars(difference.between(first, second, **how, shared=shared, units=(units, units)))
        for first, second, units in blocks.values()
    ]
    adjusted = holm([one["p"] for one in found])
    return [
        Difference(**{**one, "label": label, "corrected": corrected})
        for label, one, corrected in zip(blocks, found, adjusted, strict=True)
    ]


def by_cardinality(counts: Counts) -> dict[str, Counts]:
    """Divide sentences by their number of gold triples.

    Where that is 0, F1 is 0 for everybody; what is compared instead is the share of sentences that
    are left empty.
    """
    first, second, units = counts
    gold = first[:, 0, 2]
    empty = [(side[gold == 0][..., 1:2] == 0).astype(np.int64) for side in (first, second)]
    as_counts = [
        np.concatenate([each, np.ones_like(each), np.ones_like(each)], axis=-1) for each in empty
    ]
    found: dict[str, Counts] = {
        EMPTY: (as_counts[0], as_counts[1], list(compress(units, gold == 0)))
    }
    for number in range(1, MOST + 1):
        chosen = gold >= number if number == MOST else gold == number
        label = f"{number}+" if number == MOST else str(number)
        found[label] = (first[chosen], second[chosen], list(compress(units, chosen)))
    return found


@dataclass(frozen=True)
class ChangedTriple:
    """A triple that one system finds more often than the other: in how many of their runs."""

    strings: tuple[str, str, str]
    correct: bool
    first: int
    second: int

    def to_json(self) -> dict[str, Any]:
        return {
            "triple": self.strings,
            "correct": self.correct,
            "first": self.first,
            "second": self.second,
        }


@dataclass(frozen=True)
class ChangedSentence:
    """A sentence that the two systems read differently."""

    sentence: Sentence
    triples: tuple[ChangedTriple, ...]

    @property
    def gain(self) -> int:
        """Additional triples (or rightly empty sentences) of the second system, over all runs."""
        return sum((one.second - one.first) * (1 if one.correct else -1) for one in self.triples)

    def to_json(self) -> dict[str, Any]:
        gold = list(dict.fromkeys(triple.strings for triple in self.sentence.triples))
        triples = [one.to_json() for one in self.triples]
        return {
            "id": self.sentence.id,
            "text": self.sentence.text,
            "gold": gold,
            "changed": triples,
            "gain": self.gain,
        }


def changed_sentences(
    gold: Sequence[Sentence], sides: Sequence[Sequence[Sequence[Sentence]]], rule: str
) -> list[ChangedSentence]:
    """Return the sentences whose triples are not the same on both sides, the largest changes first.

    Args:
        gold: sentences.
        sides: of both systems, of each run, the predicted sentences.
        rule: of matching.
    """
    found = []
    for number, sentence in enumerate(gold):
        right = reduced(sentence.triples, rule)
        strings: dict[Hashable, tuple[str, str, str]] = {}
        runs: list[Counter[Hashable]] = []
        for side in sides:
            said = [reversed(run[number].triples) for run in side]
            own = [
                {key: one.strings for one in triples for key in reduced([one], rule)}
                for triples in said
            ]
            runs.append(Counter(key for each in own for key in each))
            for each in own:
                strings |= {key: value for key, value in each.items() if key not in strings}
        triples = tuple(
            ChangedTriple(strings[key], key in right, runs[0][key], runs[1][key])
            for key in sorted(strings, key=lambda key: (key not in right, strings[key]))
            if runs[0][key] != runs[1][key]
        )
        if triples:
            found.append(ChangedSentence(sentence, triples))
    return sorted(found, key=lambda one: -abs(one.gain))
