"""Comparison of two systems: differences with intervals and tests, and changed sentences.

All differences are the second system minus the first. Where systems have several runs (seeds),
values are means over runs, and intervals and tests account for the variation between runs
(:mod:`tripleaudit.scoring.bootstrap` and ``significance``).
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True)
class PairedCounts:
    """Counts of two systems on the same sentences.

    Attributes:
        first, second: correct, predicted and gold triples ``[sentences, runs, 3]``.
        units: units of resampling of the sentences (:mod:`tripleaudit.scoring.units`).
        same_seeds: whether the runs of both systems, one by one, share a seed.
    """

    first: np.ndarray
    second: np.ndarray
    units: Sequence[str]
    same_seeds: bool = False

    def select(self, mask: np.ndarray) -> "PairedCounts":
        """Return the counts of the sentences that a mask ``[sentences]`` marks."""
        units = list(compress(self.units, mask))
        return replace(self, first=self.first[mask], second=self.second[mask], units=units)


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
    blocks: Mapping[str, PairedCounts], resampling: Mapping[str, Any]
) -> list[Difference]:
    """Test groups of differences with corrected p-values; blocks without sentences are left out.

    Args:
        blocks: label -> counts.
        resampling: ``replicates``, ``shuffles`` and ``seed``
            (:func:`~tripleaudit.scoring.difference.between`).
    """
    filled = {label: counts for label, counts in blocks.items() if len(counts.first)}
    tested = [
        difference.between(
            counts.first,
            counts.second,
            shared=counts.same_seeds,
            units=(counts.units, counts.units),
            **resampling,
        )
        for counts in filled.values()
    ]
    p_values = [result.p if result.p is not None else 1.0 for result in tested]
    rows = []
    for label, result, p, corrected in zip(filled, tested, p_values, holm(p_values), strict=True):
        fields = {**vars(result), "p": p}
        rows.append(Difference(**fields, label=label, corrected=corrected))
    return rows


def by_cardinality(counts: PairedCounts) -> dict[str, PairedCounts]:
    """Divide sentences by their number of gold triples.

    Where that is 0, F1 is 0 for every system; the share of sentences that are left empty is
    compared instead.
    """
    gold = counts.first[:, 0, 2]
    without_triples = counts.select(gold == 0)
    parts = {
        EMPTY: replace(
            without_triples,
            first=_count_left_empty(without_triples.first),
            second=_count_left_empty(without_triples.second),
        )
    }
    for number in range(1, MOST):
        parts[str(number)] = counts.select(gold == number)
    parts[f"{MOST}+"] = counts.select(gold >= MOST)
    return parts


def _count_left_empty(counts: np.ndarray) -> np.ndarray:
    """Return counts whose F1 is the share of sentences without predicted triples."""
    is_empty = (counts[..., 1:2] == 0).astype(np.int64)
    every_sentence = np.ones_like(is_empty)
    return np.concatenate([is_empty, every_sentence, every_sentence], axis=-1)


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
        """Additional correct minus additional wrong triples of the second system, over all runs."""
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
    changed = []
    for number, sentence in enumerate(gold):
        gold_keys = reduced(sentence.triples, rule)
        strings: dict[Hashable, tuple[str, str, str]] = {}
        runs_with: list[Counter[Hashable]] = []
        for side in sides:
            predicted = [_strings_by_key(run[number], rule) for run in side]
            runs_with.append(Counter(key for by_key in predicted for key in by_key))
            for by_key in predicted:
                for key, of_triple in by_key.items():
                    strings.setdefault(key, of_triple)
        first, second = runs_with
        triples = tuple(
            ChangedTriple(strings[key], key in gold_keys, first[key], second[key])
            for key in sorted(strings, key=lambda key: (key not in gold_keys, strings[key]))
            if first[key] != second[key]
        )
        if triples:
            changed.append(ChangedSentence(sentence, triples))
    return sorted(changed, key=lambda sentence: -abs(sentence.gain))


def _strings_by_key(sentence: Sentence, rule: str) -> dict[Hashable, tuple[str, str, str]]:
    """Return what a matching rule compares of each triple -> the strings of the triple."""
    strings: dict[Hashable, tuple[str, str, str]] = {}
    for triple in sentence.triples:
        for key in reduced([triple], rule):
            strings.setdefault(key, triple.strings)
    return strings
