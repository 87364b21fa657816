"""The results of a study as data frames: scores, runs, counts and cells, computed when needed.

A run is what was scored, without the seed; its keys are :data:`~tripleaudit.scoring.scores.RUN_KEYS`.
A cell is a score of a run over seeds; its keys are :data:`CELL_KEYS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.protocols.strata import STRATA
from tripleaudit.scoring.bootstrap import METRICS, Interval, intervals
from tripleaudit.scoring.counts import COLUMNS as COUNT_COLUMNS
from tripleaudit.scoring.counts import SentenceCounts, load_counts, stack_counts
from tripleaudit.scoring.scores import COLUMNS as SCORE_COLUMNS
from tripleaudit.scoring.scores import KEYS, RUN_KEYS, Score, run_id, run_keys, split_two_step
from tripleaudit.scoring.units import SENTENCE, sum_by_unit
from tripleaudit.tables.cells import Cell, subject
from tripleaudit.tables.study_facts import (
    UNEQUAL,
    UNREAD,
    UNREAD_STATUSES,
    StudyFacts,
    UnreadAnswers,
)

if TYPE_CHECKING:
    import pandas as pd

CELL_KEYS: Final = (*RUN_KEYS, "stratum", "matching", "metric")
"""Keys of a cell: what was scored, and how."""
CELL_NUMBERS: Final = ("mean", "sd", "low", "high", "seeds", "cases", "mark")
COUNT_FRAME_COLUMNS: Final = (*KEYS, "matching", "id", "unit", "stratum", *COUNT_COLUMNS)
CASES: Final = ("sentences", "texts", "needles")
"""Metrics that count what the others rest on."""
SHARES: Final = (*METRICS, "minea", "minea_any", "rate", "coverage")
"""Metrics of which 1 is a perfect score, also where they have no interval."""
NEEDLE_PROTOCOLS: Final = ("needles", "needles-untouched", "iterations", "parts")

Keys = Mapping[str, Any]
RunId = tuple[str, ...]
"""The values of :data:`~tripleaudit.scoring.scores.RUN_KEYS`."""


class ResultFrames:
    """The scores of a study, the per-sentence counts behind them, and the facts of its systems.

    Args:
        scores: a frame of :func:`score_frame`.
        count_files: files of per-sentence counts; read when an interval or a test needs them.
        facts: of trainings and systems.

    Attributes:
        scores: rows of one cell are next to one another.

    Raises:
        UserError: the scores belong to several studies, which must not be averaged.
    """

    def __init__(
        self,
        scores: pd.DataFrame | None = None,
        count_files: Sequence[str | Path] = (),
        facts: StudyFacts | None = None,
    ) -> None:
        rows = score_frame() if scores is None else scores
        studies = sorted(rows["study"].unique())
        if len(studies) > 1:
            raise UserError(
                f"scores of several studies ({', '.join(studies)}) cannot share a table"
            )
        keys = rows[list(CELL_KEYS)]
        numbers = keys.groupby(list(CELL_KEYS), sort=False).ngroup()
        order = np.argsort(numbers.to_numpy(), kind="stable")
        self.scores = rows.iloc[order].reset_index(drop=True)
        self._keys = keys.iloc[order]
        self.count_files = list(count_files)
        self.facts = facts or StudyFacts()
        self._intervals: dict[tuple[str, ...], dict[str, Interval] | None] = {}

    @cached_property
    def _rows_of_cell(self) -> dict[tuple[str, ...], slice]:
        """The rows of each cell in the frame of scores."""
        cells = list(self._keys.itertuples(index=False, name=None))
        slices: dict[tuple[str, ...], slice] = {}
        start = 0
        for stop in range(1, len(cells) + 1):
            if stop == len(cells) or cells[stop] != cells[start]:
                slices[cells[start]] = slice(start, stop)
                start = stop
        return slices

    @cached_property
    def _numbers(self) -> dict[str, list[Any]]:
        """The columns of the frame of scores that differ within a cell."""
        return {name: self.scores[name].tolist() for name in ("seed", "value", "low", "high")}

    @cached_property
    def runs(self) -> pd.DataFrame:
        """The runs with scores, in the order of the scores file."""
        return self._keys[list(RUN_KEYS)].drop_duplicates().reset_index(drop=True)

    @cached_property
    def measured(self) -> dict[RunId, list[tuple[str, str, str]]]:
        """``(stratum, matching, metric)`` of the scores of each run, in the file's order."""
        measured: dict[RunId, list[tuple[str, str, str]]] = {}
        for *run, stratum, matching, metric in self._rows_of_cell:
            measured.setdefault(tuple(run), []).append((stratum, matching, metric))
        return measured

    @cached_property
    def counts(self) -> dict[RunId, dict[str, SentenceCounts]]:
        """Per-sentence counts of each run by seed."""
        counts: dict[RunId, dict[str, SentenceCounts]] = {}
        for path in self.count_files:
            run = load_counts(path)
            counts.setdefault(run_id(run.keys), {})[run.keys.get("seed", "")] = run
        return counts

    @property
    def has_strata(self) -> bool:
        """Whether seen and unseen triples are told apart, which needs a training set.

        True without any score.
        """
        return self.scores.empty or bool(self.scores["stratum"].isin(STRATA).any())

    def matchings(self, run: Keys) -> set[str]:
        """Return the matching rules that a run is scored under."""
        return {matching for _, matching, _ in self.measured.get(run_id(run), [])}

    def values(self, keys: Keys) -> dict[str, float]:
        """Return seed -> value of a cell."""
        rows = self._rows_of_cell.get(cell_id(keys), slice(0))
        return dict(zip(self._numbers["seed"][rows], self._numbers["value"][rows], strict=True))

    def mean(
        self, run: Keys, metric: str, *, stratum: str = "all", matching: str = ""
    ) -> float | None:
        """Return a mean over seeds, a fraction or a count; None where it was not measured."""
        values = self.values(subject(run_keys(run), stratum, matching, metric))
        return fmean(values.values()) if values else None

    def select_cells(self, **conditions: str) -> pd.DataFrame:
        """Return the cells with given keys, such as ``matching="exact-string", stratum="all"``.

        Intervals are computed for these cells only, and once.
        """
        import pandas as pd

        keys = [(*run, *measured) for run, cells in self.measured.items() for measured in cells]
        frame = pd.DataFrame(keys, columns=list(CELL_KEYS))
        for name, value in conditions.items():
            frame = frame[frame[name] == value]
        frame = frame.reset_index(drop=True)
        frame = pd.concat([frame, self.cells_at(frame)], axis=1)
        return frame.astype({"seeds": int, "cases": "Int64"})

    def cells_at(self, keys: pd.DataFrame) -> pd.DataFrame:
        """Return mean, deviation, interval, seeds, cases and mark for each row, as fractions.

        The interval is the run's own one for one seed. For several seeds it is that of their mean
        over sentences and runs, which needs the per-sentence counts. What was not measured has no
        mean and no mark.

        Args:
            keys: a frame with :data:`CELL_KEYS`.
        """
        import pandas as pd

        cells = list(keys[list(CELL_KEYS)].itertuples(index=False, name=None))
        runs = dict.fromkeys(cell[: len(RUN_KEYS)] for cell in cells)
        marks = {run: self.mark(dict(zip(RUN_KEYS, run, strict=True))) for run in runs}
        rows = [self._cell_numbers(cell, marks[cell[: len(RUN_KEYS)]]) for cell in cells]
        frame = pd.DataFrame(rows, columns=list(CELL_NUMBERS), index=keys.index)
        return frame.astype(dict.fromkeys(("mean", "sd", "low", "high", "seeds", "cases"), float))

    def _cell_numbers(self, cell: tuple[str, ...], mark: str) -> tuple[Any, ...]:
        """Return the :data:`CELL_NUMBERS` of one cell."""
        rows = self._rows_of_cell.get(cell)
        if rows is None:
            return None, None, None, None, 0, None, ""
        values = self._numbers["value"][rows]
        interval = self._interval(cell, rows)
        return (
            fmean(values),
            stdev(values) if len(values) > 1 else None,
            interval.low if interval else None,
            interval.high if interval else None,
            sum(map(bool, self._numbers["seed"][rows])),  # what was not trained has an empty seed
            self.cases(dict(zip(CELL_KEYS, cell, strict=True))),
            mark,
        )

    def _interval(self, cell: tuple[str, ...], rows: slice) -> Interval | None:
        bounds = list(zip(self._numbers["low"][rows], self._numbers["high"][rows], strict=True))
        if any(low != low or high != high for low, high in bounds):
            return None
        if len(bounds) == 1:
            return Interval(*bounds[0])
        *part, metric = cell
        if tuple(part) not in self._intervals:
            *run, stratum, matching = part
            seeds = self._numbers["seed"][rows]
            stacked = stack_counts(self.counts.get(tuple(run), {}), matching, stratum, seeds)
            units = self.units(dict(zip(RUN_KEYS, run, strict=True)), stratum)
            self._intervals[tuple(part)] = (
                None if stacked is None else intervals(sum_by_unit(stacked, units))
            )
        return (self._intervals[tuple(part)] or {}).get(metric)

    def cases(self, keys: Keys) -> int | None:
        """Return the number of sentences or texts behind a cell; None if it is unknown.

        A GREScore may rest on fewer texts than the others, as it leaves out texts without triples.
        """
        counts: list[float] = []
        for metric in (*CASES, f"texts:{keys['metric']}"):
            for matching in dict.fromkeys((keys["matching"], "")):
                counts += self.values({**keys, "matching": matching, "metric": metric}).values()
        return int(min(counts)) if counts else None

    def differences(self, first: pd.DataFrame, second: pd.DataFrame, digits: int = 1) -> list[Cell]:
        """Return the means over shared seeds of one cell minus another, in points, else gaps.

        What is not trained has the empty seed and is the same for every seed. The mark is that of
        either training.

        Args:
            first, second: frames with :data:`CELL_KEYS`, row by row.
            digits: decimals shown.
        """
        pairs = zip(first.to_dict("records"), second.to_dict("records"), strict=True)
        return [self.difference(minuend, subtrahend, digits) for minuend, subtrahend in pairs]

    def difference(self, first: Keys, second: Keys, digits: int = 1) -> Cell:
        """Return one difference; see :meth:`differences`."""
        ours, theirs = self.values(first), self.values(second)
        pairs = {seed: (value, theirs.get(seed, theirs.get(""))) for seed, value in ours.items()}
        changes = {
            seed: value - other for seed, (value, other) in pairs.items() if other is not None
        }
        if not changes:
            return Cell(digits=digits)
        marks = dict.fromkeys(self.mark(first) + self.mark(second))
        if run_id({**first, "testing": ""}) == run_id({**second, "testing": ""}):
            marks.pop(UNEQUAL, None)  # one training on two test sets has one budget
        return Cell.mean(
            list(changes.values()),
            digits=digits,
            cases=self.cases({**first, "metric": ""}),
            seeds=sum(map(bool, changes)),
            mark="".join(marks),
            of={name: first[name] for name in CELL_KEYS},
        )

    def mark(self, run: Keys) -> str:
        """Return the marks of a run's training, or both trainings, and of its unread answers."""
        unread = self.unread_answers(run)
        mark = UNREAD if unread is not None and unread.most else ""
        return self.facts.training_mark(run) + mark

    def unread_answers(self, keys: Keys) -> UnreadAnswers | None:
        """Return how many answers behind a run were truncated, refused or unreadable.

        Returns:
            None for what is no language model, or where its answers were not counted.
        """
        run = run_keys(keys)
        protocol = run["protocol"]
        has_gre = protocol.startswith("gre-")
        test_set = run["corpus"], "original" if has_gre else protocol
        unread = self.facts.unread.get((split_two_step(run["extractor"])[1], *test_set))
        if unread is not None:
            return unread
        if has_gre:
            return self._unread_texts(run)
        if protocol in NEEDLE_PROTOCOLS:
            return self._unread_calls({**run, "protocol": "calls"})
        return None

    def _unread_texts(self, run: Keys) -> UnreadAnswers | None:
        """Return the unread answers of a system with GREScores, from their share of the texts."""
        for matching in sorted(self.matchings(run)):
            failures = self.mean(run, "parse_failures", matching=matching)
            refusals = self.mean(run, "refusals", matching=matching)
            texts = self.cases(subject(run_keys(run), matching=matching))
            if texts and failures is not None and refusals is not None:
                return UnreadAnswers(round(texts * (failures + refusals)), texts)
        return None

    def _unread_calls(self, calls: Keys) -> UnreadAnswers | None:
        """Return the unread answers of a model that extracts needles, over all draws."""
        counts = {}
        for _, _, metric in self.measured.get(run_id(calls), []):
            kind, _, status = metric.partition(":")
            if kind == "status":
                values = self.values(subject(run_keys(calls), metric=metric))
                counts[status] = round(sum(values.values()))
        if not sum(counts.values()):
            return None
        unread = sum(counts.get(status, 0) for status in UNREAD_STATUSES)
        return UnreadAnswers(unread, sum(counts.values()))

    def sentence_ids(self, run: Keys, stratum: str = "all") -> list[str]:
        """Return the ids of the sentences that a run was scored on, in the order of its counts."""
        counts = self._first_counts(run)
        return counts.ids_of(stratum) if counts else []

    def units(self, run: Keys, stratum: str = "all") -> list[str]:
        """Return the units of resampling of these sentences."""
        counts = self._first_counts(run)
        return counts.units(stratum) if counts else []

    def unit(self, run: Keys) -> str:
        """Return the unit of resampling of a run, :data:`tripleaudit.scoring.units.UNITS`."""
        counts = self._first_counts(run)
        return counts.unit if counts else SENTENCE

    def _first_counts(self, run: Keys) -> SentenceCounts | None:
        return next(iter(self.counts.get(run_id(run), {}).values()), None)


def cell_id(keys: Keys) -> tuple[str, ...]:
    """Return the values of :data:`CELL_KEYS`."""
    return (*run_id(keys), keys["stratum"], keys["matching"], keys["metric"])


def score_frame(scores: Iterable[Score] = ()) -> pd.DataFrame:
    """Return the rows of a scores file as a frame; what is not trained has the noise ``none``."""
    import pandas as pd

    rows = [
        (*row.keys, row.stratum, row.matching, row.metric, row.value, row.low, row.high)
        for row in scores
    ]
    frame = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    frame["noise"] = frame["noise"].replace("", "none")
    return frame.astype({"value": float, "low": float, "high": float})


def count_frame(files: Sequence[str | Path]) -> pd.DataFrame:
    """Return a row for each sentence, run and matching rule."""
    import pandas as pd

    parts = []
    for path in files:
        run = load_counts(path)
        for matching, counts in run.counts.items():
            part = pd.DataFrame(
                {"id": run.ids, "unit": run.units(), "stratum": [name or "" for name in run.strata]}
            )
            part[list(COUNT_COLUMNS)] = counts
            part["matching"] = matching
            for key in KEYS:
                part[key] = run.keys.get(key, "none" if key == "noise" else "")
            parts.append(part)
    columns = list(COUNT_FRAME_COLUMNS)
    if not parts:
        return pd.DataFrame(columns=columns)
    frame = pd.concat(parts, ignore_index=True)[columns]
    texts = [name for name in columns if name not in COUNT_COLUMNS]
    return frame.astype(dict.fromkeys(texts, "category") | dict.fromkeys(COUNT_COLUMNS, np.int64))
