"""Scores as tables need them: cells over seeds with intervals, and the winner of a column."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tripleaudit.errors import UserError
from tripleaudit.scoring.bootstrap import Interval, intervals
from tripleaudit.scoring.counts import SentenceCounts, load_counts
from tripleaudit.scoring.scores import Score
from tripleaudit.scoring.significance import significant_winner
from tripleaudit.tables.cells import Cell


class RunKey(NamedTuple):
    """What is scored, without the seed."""

    corpus: str
    protocol: str
    training: str
    testing: str
    extractor: str
    noise: str = "none"


class ScoreIndex:
    """The rows of a scores file by run, and the per-sentence counts behind them where they are at hand.

    Args:
        scores: rows of one study.
        counts: files of per-sentence counts; read when a cell or a test needs them.

    Raises:
        UserError: the rows belong to several studies, which must not be averaged.
    """

    def __init__(self, scores: Iterable[Score] = (), counts: Sequence[str | Path] = ()) -> None:
        self._values: dict[tuple, dict[str, Score]] = defaultdict(dict)
        runs: dict[RunKey, None] = {}
        studies = set()
        for score in scores:
            run = _run_of(dict(zip(("study", *RunKey._fields), _pick(score), strict=True)))
            studies.add(score.key("study"))
            runs.setdefault(run)
            self._values[run, score.stratum, score.matching, score.metric][score.key("seed")] = score
        if len(studies) > 1:
            raise UserError(f"scores of several studies ({', '.join(sorted(studies))}) cannot share a table")
        self.runs: list[RunKey] = list(runs)
        self._count_files = list(counts)
        self._intervals: dict[tuple, dict[str, Interval] | None] = {}

    @cached_property
    def _counts(self) -> dict[RunKey, dict[str, SentenceCounts]]:
        found: dict[RunKey, dict[str, SentenceCounts]] = defaultdict(dict)
        for path in self._count_files:
            counts = load_counts(path)
            found[_run_of(counts.keys)][counts.keys.get("seed", "")] = counts
        return found

    def values(self, run: RunKey, stratum: str, matching: str, metric: str) -> dict[str, float]:
        """Return seed -> value, in the order of the seeds."""
        rows = self._values.get((run, stratum, matching, metric), {})
        return {seed: rows[seed].value for seed in sorted(rows, key=_seed_order)}

    def matchings(self, run: RunKey) -> set[str]:
        """Return the matching rules that a run is scored under."""
        return {key[2] for key in self._values if key[0] == run}

    def measured(self, run: RunKey) -> list[tuple[str, str, str]]:
        """Return what a run has values for, as ``(stratum, matching, metric)`` in the order of the scores file."""
        return [key[1:] for key in self._values if key[0] == run]

    def cell(
        self, run: RunKey, metric: str, *, stratum: str = "all", matching: str, scale: float = 100, digits: int = 1
    ) -> Cell:
        """Return the mean over seeds with its deviation and interval; a gap where nothing was measured.

        The interval is the run's bootstrap interval for one seed. For several seeds it is the interval of their mean
        (one resample of sentences for all of them) where the per-sentence counts are at hand, else the mean of the
        seeds' bounds.
        """
        rows = self._values.get((run, stratum, matching, metric), {})
        if not rows:
            return Cell(digits=digits)
        values = [rows[seed].value for seed in sorted(rows, key=_seed_order)]
        low, high = self._bounds(run, stratum, matching, metric, rows)
        return Cell(
            value=statistics.fmean(values) * scale,
            digits=digits,
            sd=statistics.stdev(values) * scale if len(values) > 1 else None,
            low=None if low is None else low * scale,
            high=None if high is None else high * scale,
            seeds=len(values),
        )

    def _bounds(
        self, run: RunKey, stratum: str, matching: str, metric: str, rows: dict[str, Score]
    ) -> tuple[float | None, float | None]:
        bounds = [(row.low, row.high) for row in rows.values() if row.low is not None and row.high is not None]
        if len(bounds) < len(rows):
            return None, None
        if len(rows) > 1:
            key = (run, stratum, matching)
            if key not in self._intervals:
                stacked = self._stacked(run, stratum, matching, tuple(rows))
                self._intervals[key] = None if stacked is None else intervals(stacked)
            joint = self._intervals[key]
            if joint is not None and metric in joint:
                return joint[metric].low, joint[metric].high
        low, high = zip(*bounds, strict=True)
        return statistics.fmean(low), statistics.fmean(high)

    def _stacked(self, run: RunKey, stratum: str, matching: str, seeds: Sequence[str]) -> np.ndarray | None:
        """Counts ``[sentences, seeds, 3]`` of a run, ``None`` where some are missing or do not fit together."""
        counts = [self._counts.get(run, {}).get(seed) for seed in sorted(seeds, key=_seed_order)]
        if not counts or any(one is None or matching not in one.counts for one in counts):
            return None
        if len({tuple(one.ids) for one in counts}) > 1:
            return None
        return np.stack([one.of(matching, stratum) for one in counts], axis=1)

    def winner(self, runs: Sequence[RunKey], metric: str, *, stratum: str = "all", matching: str) -> RunKey | None:
        """Return the run that beats all others significantly on the seeds that they share, ``None`` without one."""
        known = [run for run in runs if self._values.get((run, stratum, matching, metric))]
        if len(known) < 2:
            return None
        shared = set.intersection(*(set(self._counts.get(run, {})) for run in known))
        if not shared or len({tuple(self._counts[run][min(shared)].ids) for run in known}) > 1:
            return None
        stacked = [self._stacked(run, stratum, matching, tuple(shared)) for run in known]
        if any(one is None for one in stacked):
            return None
        best = significant_winner(stacked, metric=metric)
        return None if best is None else known[best]


def mean_difference(first: dict[str, float], second: dict[str, float], *, scale: float = 100, digits: int = 1) -> Cell:
    """Return the mean over shared seeds of ``first - second``, with its deviation; a gap without shared seeds."""
    differences = [first[seed] - second[seed] for seed in first if seed in second]
    if not differences:
        return Cell(digits=digits)
    return Cell(
        value=statistics.fmean(differences) * scale,
        digits=digits,
        sd=statistics.stdev(differences) * scale if len(differences) > 1 else None,
        seeds=len(differences),
    )


def _pick(score: Score) -> list[str]:
    return [score.key(name) for name in ("study", *RunKey._fields)]


def _run_of(keys: dict[str, Any]) -> RunKey:
    return RunKey(*(str(keys.get(name) or ("none" if name == "noise" else "")) for name in RunKey._fields))


def _seed_order(seed: str) -> tuple[int, str]:
    return (int(seed) if seed.isdecimal() else 0, seed)
