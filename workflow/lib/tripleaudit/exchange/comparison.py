"""``compare``: which runs of two sides belong together, and all that is said about each pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.exchange.differences import (
    ChangedSentence,
    Counts,
    Difference,
    by_cardinality,
    changed_sentences,
    differences,
)
from tripleaudit.exchange.scored import ScoredRun
from tripleaudit.protocols.strata import STRATA
from tripleaudit.scoring.metrics import in_stratum
from tripleaudit.scoring.parts import by_relation
from tripleaudit.scoring.scores import CLASSIFICATION, KEYS

OF_SYSTEM: Final = (
    "extractor",
    "noise",
    "training",
)  # in which two sides may differ as a whole, and still be compared
PAIRED_BY: Final = tuple(name for name in KEYS if name not in ("study", "seed"))


@dataclass(frozen=True)
class Compared:
    """Two systems on one test set.

    Attributes:
        keys: what they are; where they differ, ``A → B``.
        seeds: of the runs of each side.
        total: over all sentences; its corrected p-value counts all pairs of the comparison.
        blocks: heading -> differences by stratum, relation, number of triples.
        changed: the sentences that the two read differently; None where only counts are available.
        marks: of each side, of trainings that were still rising or may have been.
    """

    keys: Mapping[str, str]
    seeds: tuple[list[str], list[str]]
    total: Difference
    blocks: Mapping[str, Sequence[Difference]]
    changed: Sequence[ChangedSentence] | None
    marks: tuple[str, str] = ("", "")

    @property
    def name(self) -> str:
        return " ".join(value for value in self.keys.values() if value and value != "none")

    def to_json(self) -> dict[str, Any]:
        return {
            "keys": dict(self.keys),
            "seeds": dict(zip(("first", "second"), self.seeds, strict=True)),
            "marks": dict(zip(("first", "second"), self.marks, strict=True)),
            "all": self.total.to_json(),
            **{
                name: {one.label: one.to_json() for one in block}
                for name, block in self.blocks.items()
            },
            "changed": None if self.changed is None else [one.to_json() for one in self.changed],
        }


@dataclass(frozen=True)
class Comparison:
    """All pairs of two sides under one matching rule.

    Attributes:
        first, second: names of the sides.
        alone: what only one side has, by side; such runs are in no pair.
        unequal: seeds that were left out, because the other side has fewer runs.
    """

    first: str
    second: str
    matching: str
    pairs: Sequence[Compared]
    alone: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    unequal: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "matching": self.matching,
            "pairs": [pair.to_json() for pair in self.pairs],
            "only_first": self.alone[0],
            "only_second": self.alone[1],
            "runs_left_out": list(self.unequal),
        }


def compare(
    first: Sequence[ScoredRun],
    second: Sequence[ScoredRun],
    names: tuple[str, str],
    matching: str,
    how: Mapping[str, Any],
) -> Comparison:
    """Pair equal runs of two sides, and compare each pair of systems over all seeds.

    A side that consists of one extractor (or noise, or training setting) alone is compared with
    another one of it.

    Raises:
        UserError: nothing is on both sides, or a pair was scored on different sentences.
    """
    ignored = [
        name
        for name in OF_SYSTEM
        if all(
            len({run.counts.keys.get(name, "") for run in side}) == 1 for side in (first, second)
        )
    ]
    sides = [_grouped(side, ignored) for side in (first, second)]
    both = [keys for keys in sides[0] if keys in sides[1]]
    if not both:
        raise UserError(
            f"{names[0]} and {names[1]} have no run in common; the first has {_some(sides[0])}, the second "
            f"{_some(sides[1])}"
        )
    left_out: list[str] = []
    chosen = []
    for keys in both:
        runs = [sides[0][keys], sides[1][keys]]
        number = min(map(len, runs))
        shared = {run.seed for run in runs[0]} & {run.seed for run in runs[1]}
        if len(runs[0]) != len(runs[1]):  # the seeds that both have first
            runs = [sorted(side, key=lambda run: run.seed not in shared) for side in runs]
            left_out += [f"{run.name}" for side in runs for run in side[number:]]
        chosen.append((runs[0][:number], runs[1][:number]))
    counted = [_counts(*pair, matching) for pair in chosen]
    same = all(
        [run.seed for run in first] == [run.seed for run in second] for first, second in chosen
    )
    totals = differences(
        {str(number): counts for number, counts in enumerate(counted)}, how, shared=same
    )
    pairs = [
        _compared(*pair, counts, total, matching, how)
        for pair, counts, total in zip(chosen, counted, totals, strict=True)
    ]
    return Comparison(*names, matching, pairs, (_alone(*sides), _alone(*reversed(sides))), left_out)


def _alone(own: Mapping[tuple[str, ...], Any], other: Mapping[tuple[str, ...], Any]) -> list[str]:
    return [" ".join(filter(None, keys)) for keys in own if keys not in other]


def _grouped(
    runs: Sequence[ScoredRun], ignored: Sequence[str]
) -> dict[tuple[str, ...], list[ScoredRun]]:
    found: dict[tuple[str, ...], list[ScoredRun]] = {}
    for run in runs:
        keys = tuple(run.counts.keys.get(name, "") for name in PAIRED_BY if name not in ignored)
        found.setdefault(keys, []).append(run)
    for own in found.values():
        own.sort(key=lambda run: (len(run.seed), run.seed))
    return found


def _some(keys: Mapping[tuple[str, ...], Any]) -> str:
    names = [" ".join(filter(None, key)) or "one run" for key in keys]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _counts(first: Sequence[ScoredRun], second: Sequence[ScoredRun], matching: str) -> Counts:
    """Stack the counts of the runs.

    Raises:
        UserError: the runs were not scored on the same sentences, or not under the matching rule.
    """
    ids = first[0].counts.ids
    gold = None
    for run in [*first, *second]:
        own = run.counts.counts
        if matching not in own and CLASSIFICATION not in own:
            raise UserError(
                f"{run.name}: was not scored under {matching}, only under {', '.join(own)}"
            )
        if run.counts.ids != ids:
            absent = len(set(ids) ^ set(run.counts.ids))
            raise UserError(
                f"{run.name}: was not scored on the sentences of {first[0].name} ({absent} ids are in one of them "
                "only); expected the same test set on both sides"
            )
        numbers = _of(run, matching)[:, 2]
        if gold is not None and not np.array_equal(gold, numbers):
            raise UserError(
                f"{run.name}: was scored against other gold triples than {first[0].name}"
            )
        gold = numbers
    stacked = [np.stack([_of(run, matching) for run in side], axis=1) for side in (first, second)]
    return stacked[0], stacked[1], first[0].counts.units()


def _of(run: ScoredRun, matching: str) -> np.ndarray:
    counts = run.counts.counts
    return counts[CLASSIFICATION] if CLASSIFICATION in counts else counts[matching]


def _compared(
    first: Sequence[ScoredRun],
    second: Sequence[ScoredRun],
    counts: Counts,
    total: Difference,
    matching: str,
    how: Mapping[str, Any],
) -> Compared:
    keys = [
        {name: runs[0].counts.keys.get(name, "") for name in PAIRED_BY} for runs in (first, second)
    ]
    named = {
        name: one if one == keys[1][name] else f"{one} → {keys[1][name]}"
        for name, one in keys[0].items()
    }
    blocks: dict[str, Sequence[Difference]] = {}
    changed = None
    if CLASSIFICATION not in first[0].counts.counts:
        strata = first[0].counts.strata
        masks = {name: in_stratum(strata, name) for name in STRATA}
        units = {name: first[0].counts.units(name) for name in STRATA}
        parts: dict[str, Any] = {
            "strata": {
                name: (counts[0][mask], counts[1][mask], units[name])
                for name, mask in masks.items()
            }
        }
        parts["cardinality"] = by_cardinality(counts)
        sides = [[run.sentences for run in runs] for runs in (first, second)]
        if all(one is not None for side in sides for one in side):
            gold = sides[0][0][0]
            predicted = [[one[1] for one in side] for side in sides]
            size, found = (
                len(first),
                by_relation(gold, [run for side in predicted for run in side], matching),
            )
            every_unit = counts[2]
            parts["relations"] = {
                name: (part.counts[:, :size], part.counts[:, size:], part.units(every_unit))
                for name, part in found.items()
            }
            changed = changed_sentences(gold, predicted, matching)
        same = [run.seed for run in first] == [run.seed for run in second]
        blocks = {name: differences(part, how, shared=same) for name, part in parts.items()}
    seeds = [run.seed for run in first], [run.seed for run in second]
    marks = ["".join(dict.fromkeys("".join(run.mark for run in runs))) for runs in (first, second)]
    return Compared(named, seeds, total, blocks, changed, (marks[0], marks[1]))
