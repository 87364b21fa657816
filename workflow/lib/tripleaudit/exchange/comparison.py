"""``compare``: the runs of two sides that belong together, and the differences of each pair."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence
from tripleaudit.exchange.differences import (
    ChangedSentence,
    Difference,
    PairedCounts,
    by_cardinality,
    changed_sentences,
    differences,
)
from tripleaudit.exchange.scored import ScoredRun
from tripleaudit.protocols.strata import STRATA
from tripleaudit.scoring.matching import reduced
from tripleaudit.scoring.metrics import in_stratum
from tripleaudit.scoring.parts import by_relation
from tripleaudit.scoring.scores import CLASSIFICATION, KEYS

OF_SYSTEM: Final = ("extractor", "noise", "training")
"""Keys that two sides may differ in as a whole and still be compared."""
PAIRED_BY: Final = tuple(name for name in KEYS if name not in ("study", "seed"))


@dataclass(frozen=True)
class Compared:
    """Two systems on one test set.

    Attributes:
        keys: what they are; where they differ, ``A → B``.
        seeds: of the runs of each side.
        total: over all sentences; its corrected p-value counts all pairs of the comparison.
        blocks: heading -> differences by stratum, relation, number of triples.
        changed: the sentences whose predicted triples differ; None where only counts are available.
        marks: of each side, of trainings that were still rising or may have been.
        notes: what was left out of the comparison, and why.
    """

    keys: Mapping[str, str]
    seeds: tuple[list[str], list[str]]
    total: Difference
    blocks: Mapping[str, Sequence[Difference]]
    changed: Sequence[ChangedSentence] | None
    marks: tuple[str, str] = ("", "")
    notes: Sequence[str] = ()

    @property
    def name(self) -> str:
        return " ".join(value for value in self.keys.values() if value and value != "none")

    @property
    def runs(self) -> int:
        """Number of runs of each side."""
        return len(self.seeds[0])

    def to_json(self) -> dict[str, Any]:
        return {
            "keys": dict(self.keys),
            "seeds": dict(zip(("first", "second"), self.seeds, strict=True)),
            "marks": dict(zip(("first", "second"), self.marks, strict=True)),
            "all": self.total.to_json(),
            **{
                name: {difference.label: difference.to_json() for difference in block}
                for name, block in self.blocks.items()
            },
            "changed": None
            if self.changed is None
            else [sentence.to_json() for sentence in self.changed],
            "notes": list(self.notes),
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


@dataclass(frozen=True)
class _Pair:
    """Runs of two systems on one test set, the same number of each."""

    first: Sequence[ScoredRun]
    second: Sequence[ScoredRun]

    @property
    def seeds(self) -> tuple[list[str], list[str]]:
        return [run.seed for run in self.first], [run.seed for run in self.second]

    @property
    def keys(self) -> dict[str, str]:
        """What the systems and their test set are; where they differ, ``A → B``."""
        keys = {}
        for name in PAIRED_BY:
            first, second = (
                side[0].counts.keys.get(name, "") for side in (self.first, self.second)
            )
            keys[name] = first if first == second else f"{first} → {second}"
        return keys

    @property
    def marks(self) -> tuple[str, str]:
        """Each mark of the trainings of a side, once."""
        first, second = (
            "".join(dict.fromkeys("".join(run.mark for run in side)))
            for side in (self.first, self.second)
        )
        return first, second


def compare(
    first: Sequence[ScoredRun],
    second: Sequence[ScoredRun],
    names: tuple[str, str],
    matching: str,
    resampling: Mapping[str, Any],
) -> Comparison:
    """Pair equal runs of two sides, and compare each pair of systems over all seeds.

    A side that consists of one extractor (or noise, or training setting) alone is compared with
    another one of it.

    Args:
        first, second: the runs of each side.
        names: of the sides.
        matching: the rule by which a triple is correct.
        resampling: see :func:`~tripleaudit.exchange.differences.differences`.

    Raises:
        UserError: nothing is on both sides, or a pair was scored on different sentences.
    """
    ignored = _keys_to_ignore(first, second)
    first_groups = _group_runs(first, ignored)
    second_groups = _group_runs(second, ignored)
    shared_keys = [keys for keys in first_groups if keys in second_groups]
    if not shared_keys:
        raise UserError(
            f"{names[0]} and {names[1]} have no run in common; the first has "
            f"{_list_some(first_groups)}, the second {_list_some(second_groups)}"
        )
    pairs: list[_Pair] = []
    left_out: list[str] = []
    for keys in shared_keys:
        pair, names_left_out = _select_runs(first_groups[keys], second_groups[keys])
        pairs.append(pair)
        left_out += names_left_out
    counts = [_stack_counts(pair, matching) for pair in pairs]
    totals = differences({str(number): part for number, part in enumerate(counts)}, resampling)
    compared = [
        _compare_pair(pair, pair_counts, total, matching, resampling)
        for pair, pair_counts, total in zip(pairs, counts, totals, strict=True)
    ]
    only_first = _names_of(keys for keys in first_groups if keys not in second_groups)
    only_second = _names_of(keys for keys in second_groups if keys not in first_groups)
    return Comparison(*names, matching, compared, (only_first, only_second), left_out)


def _keys_to_ignore(first: Sequence[ScoredRun], second: Sequence[ScoredRun]) -> list[str]:
    """Return the keys of a system that have one value on each side."""
    ignored = []
    for name in OF_SYSTEM:
        first_values = {run.counts.keys.get(name, "") for run in first}
        second_values = {run.counts.keys.get(name, "") for run in second}
        if len(first_values) == len(second_values) == 1:
            ignored.append(name)
    return ignored


def _group_runs(
    runs: Sequence[ScoredRun], ignored: Sequence[str]
) -> dict[tuple[str, ...], list[ScoredRun]]:
    """Return the keys of systems on test sets -> their runs in the order of seeds."""
    groups: dict[tuple[str, ...], list[ScoredRun]] = {}
    for run in runs:
        keys = tuple(run.counts.keys.get(name, "") for name in PAIRED_BY if name not in ignored)
        groups.setdefault(keys, []).append(run)
    for group in groups.values():
        group.sort(key=lambda run: (len(run.seed), run.seed))
    return groups


def _select_runs(
    first: Sequence[ScoredRun], second: Sequence[ScoredRun]
) -> tuple[_Pair, list[str]]:
    """Return as many runs of each side as the other has, and the names of those left out.

    If one side has more runs, those with seeds of both sides are preferred.
    """
    if len(first) == len(second):
        return _Pair(first, second), []
    number = min(len(first), len(second))
    shared = {run.seed for run in first} & {run.seed for run in second}
    first, second = (
        sorted(side, key=lambda run: run.seed not in shared) for side in (first, second)
    )
    left_out = [run.name for run in [*first[number:], *second[number:]]]
    return _Pair(first[:number], second[:number]), left_out


def _names_of(groups: Iterable[tuple[str, ...]]) -> list[str]:
    return [" ".join(filter(None, keys)) for keys in groups]


def _list_some(groups: Iterable[tuple[str, ...]]) -> str:
    """Return the names of three groups, and the number of the others."""
    names = [name or "one run" for name in _names_of(groups)]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _stack_counts(pair: _Pair, matching: str) -> PairedCounts:
    """Stack the counts of the runs.

    Raises:
        UserError: the runs were not scored on the same sentences, or not under the matching rule.
    """
    reference = pair.first[0]
    for run in [*pair.first, *pair.second]:
        rules = run.counts.counts
        if matching not in rules and CLASSIFICATION not in rules:
            raise UserError(
                f"{run.name}: was not scored under {matching}, only under {', '.join(rules)}"
            )
        if run.counts.ids != reference.counts.ids:
            absent = len(set(reference.counts.ids) ^ set(run.counts.ids))
            raise UserError(
                f"{run.name}: was not scored on the sentences of {reference.name} ({absent} ids "
                "are in one of them only); expected the same test set on both sides"
            )
        gold_numbers = _counts_of(run, matching)[:, 2]
        if not np.array_equal(gold_numbers, _counts_of(reference, matching)[:, 2]):
            raise _other_gold(run, reference)
    first, second = (
        np.stack([_counts_of(run, matching) for run in side], axis=1)
        for side in (pair.first, pair.second)
    )
    first_seeds, second_seeds = pair.seeds
    return PairedCounts(first, second, reference.counts.units(), first_seeds == second_seeds)


def _counts_of(run: ScoredRun, matching: str) -> np.ndarray:
    counts = run.counts.counts
    return counts[CLASSIFICATION] if CLASSIFICATION in counts else counts[matching]


def _other_gold(run: ScoredRun, reference: ScoredRun) -> UserError:
    return UserError(f"{run.name}: was scored against other gold triples than {reference.name}")


def _compare_pair(
    pair: _Pair,
    counts: PairedCounts,
    total: Difference,
    matching: str,
    resampling: Mapping[str, Any],
) -> Compared:
    """Compare two systems by stratum, number of triples, relation and sentence.

    Raises:
        UserError: the runs were scored against different gold triples.
    """
    reference = pair.first[0]
    parts: dict[str, Mapping[str, PairedCounts]] = {}
    changed = None
    notes = []
    if CLASSIFICATION not in reference.counts.counts:
        runs = [*pair.first, *pair.second]
        if all(_strata_of(run) == _strata_of(reference) for run in runs):
            parts["strata"] = _by_stratum(counts, reference)
        else:
            notes.append(
                "Strata are not compared, because A and B were trained on different triples."
            )
        parts["cardinality"] = by_cardinality(counts)
        if all(run.sentences is not None for run in runs):
            gold = _gold_of(reference)
            _check_gold(runs, matching)
            predicted = [[_predicted_of(run) for run in side] for side in (pair.first, pair.second)]
            parts["relations"] = _by_relation(counts, gold, predicted, matching)
            changed = changed_sentences(gold, predicted, matching)
    blocks = {name: differences(part, resampling) for name, part in parts.items()}
    return Compared(pair.keys, pair.seeds, total, blocks, changed, pair.marks, notes)


def _gold_of(run: ScoredRun) -> Sequence[Sentence]:
    assert run.sentences is not None
    return run.sentences[0]


def _predicted_of(run: ScoredRun) -> Sequence[Sentence]:
    assert run.sentences is not None
    return run.sentences[1]


def _check_gold(runs: Sequence[ScoredRun], matching: str) -> None:
    """Refuse runs whose gold triples differ under the matching rule."""
    reference, *others = runs
    expected = [reduced(sentence.triples, matching) for sentence in _gold_of(reference)]
    for run in others:
        if _gold_of(run) is _gold_of(reference):
            continue
        if [reduced(sentence.triples, matching) for sentence in _gold_of(run)] != expected:
            raise _other_gold(run, reference)


def _strata_of(run: ScoredRun) -> list[str | None]:
    return list(run.counts.strata)


def _by_stratum(counts: PairedCounts, run: ScoredRun) -> dict[str, PairedCounts]:
    """Divide sentences by stratum; the units of some strata are others than those of all."""
    parts = {}
    for name in STRATA:
        part = counts.select(in_stratum(run.counts.strata, name))
        parts[name] = replace(part, units=run.counts.units(name))
    return parts


def _by_relation(
    counts: PairedCounts,
    gold: Sequence[Sentence],
    predicted: Sequence[Sequence[Sequence[Sentence]]],
    matching: str,
) -> dict[str, PairedCounts]:
    """Count the triples of each relation."""
    first, second = predicted
    parts = {}
    for name, part in by_relation(gold, [*first, *second], matching).items():
        parts[name] = replace(
            counts,
            first=part.counts[:, : len(first)],
            second=part.counts[:, len(first) :],
            units=part.units(counts.units),
        )
    return parts
