"""Inputs of tables: cells over seeds with intervals, audits, facts of trainings, options."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.protocols.spec import PROTOCOLS
from tripleaudit.protocols.strata import STRATA
from tripleaudit.protocols.variants import variants_of
from tripleaudit.scoring.bootstrap import METRICS, Interval, intervals, rate_interval, scores_of
from tripleaudit.scoring.counts import SentenceCounts, load_counts
from tripleaudit.scoring.difference import Difference, between, significant_winner
from tripleaudit.scoring.matching import PRIMARY, check_matching
from tripleaudit.scoring.metrics import in_stratum
from tripleaudit.scoring.scores import Score, split_two_step, two_step_name
from tripleaudit.scoring.units import SENTENCE, sum_by_unit
from tripleaudit.tables.cells import Cell, subject
from tripleaudit.tables.system_notes import UNREAD, UNREAD_STATUSES, UnreadAnswers, name_in_paper
from tripleaudit.tables.tidy import CELL_KEYS, RunKey, cell_frame, count_frame, run_of

if TYPE_CHECKING:
    import pandas as pd

UNFINISHED: Final = "†"
"""Trainings that, taken together, still rose when they ended."""
UNEQUAL: Final = "‡"
"""NZ and WZ trainings that saw unequal numbers of sentences with triples."""
UNSETTLED: Final = "§"
"""Trainings with too few evaluations to know whether they still rose."""
MARKS: Final = (UNFINISHED, UNEQUAL, UNSETTLED)  # of trainings
CASES: Final = ("sentences", "texts", "needles")  # metrics that count what the others rest on
SHARES: Final = (*METRICS, "minea", "minea_any", "rate", "coverage")
"""Metrics of which 1 is a perfect score, also where they have no interval."""
NEEDLE_PROTOCOLS: Final = ("needles", "needles-untouched", "iterations", "parts")
OPTIONS: Final = ("matching", "digits", "caption", "style", "by")


class ScoreIndex:
    """The rows of a scores file by run, and the per-sentence counts behind them if available.

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
            run = run_of({name: score.key(name) for name in RunKey._fields})
            studies.add(score.key("study"))
            runs.setdefault(run)
            self._values[run, score.stratum, score.matching, score.metric][score.key("seed")] = (
                score
            )
        if len(studies) > 1:
            raise UserError(
                f"scores of several studies ({', '.join(sorted(studies))}) cannot share a table"
            )
        self.runs: list[RunKey] = list(runs)
        self.count_files = list(counts)
        self.partial: set[str] = set()
        """Systems that were queried about a part of each test set, so that no row can be
        compared with theirs.
        """
        self.marks: dict[RunKey, str] = {}
        """Runs (without their testing setting) of whose trainings there are facts -> their marks
        of :data:`MARKS`.
        """
        self.trainings: dict[RunKey, list[Mapping[str, Any]]] = {}
        """The facts of trainings by run (without its testing setting), one for each seed."""
        self.unread: dict[tuple[str, str, str], UnreadAnswers] = {}
        """``(system, corpus, protocol)`` -> unread answers of a language model."""
        self._intervals: dict[tuple, dict[str, Interval] | None] = {}

    @cached_property
    def counts(self) -> dict[RunKey, dict[str, SentenceCounts]]:
        found: dict[RunKey, dict[str, SentenceCounts]] = defaultdict(dict)
        for path in self.count_files:
            counts = load_counts(path)
            found[run_of(counts.keys)][counts.keys.get("seed", "")] = counts
        return found

    @property
    def has_strata(self) -> bool:
        """Return whether seen and unseen triples are told apart; True without any score.

        This needs a training set.
        """
        return not self._values or any(stratum in STRATA for _, stratum, _, _ in self._values)

    @property
    def rows(self) -> Iterator[Score]:
        """The rows of the scores file, those of one value next to one another."""
        for by_seed in self._values.values():
            yield from by_seed.values()

    def values(self, run: RunKey, stratum: str, matching: str, metric: str) -> dict[str, float]:
        """Return seed -> value, in the order of the seeds."""
        rows = self._values.get((run, stratum, matching, metric), {})
        return {seed: rows[seed].value for seed in sorted(rows, key=_seed_order)}

    def matchings(self, run: RunKey) -> set[str]:
        """Return the matching rules that a run is scored under."""
        return {key[2] for key in self._values if key[0] == run}

    def measured(self, run: RunKey) -> list[tuple[str, str, str]]:
        """Return the ``(stratum, matching, metric)`` of a run's values in the file's order."""
        return [key[1:] for key in self._values if key[0] == run]

    def cell(
        self,
        run: RunKey,
        metric: str,
        *,
        stratum: str = "all",
        matching: str,
        scale: float = 100,
        digits: int = 1,
    ) -> Cell:
        """Return the mean over seeds with deviation and interval; a gap without measurement.

        The interval is the run's own one for one seed. For several seeds it is that of their mean
        over sentences and runs, which needs the per-sentence counts, as does the F1 of several
        strata together (with ``+`` between them).
        """
        rows = self._values.get((run, stratum, matching, metric), {})
        if rows:
            interval = self._interval(run, stratum, matching, metric, rows)
            values = list(self.values(run, stratum, matching, metric).values())
            cases = self.cases(run, stratum, matching, metric)
            found = Cell.mean(values, interval, scale, digits=digits, cases=cases)
            has_maximum = interval is not None or metric in SHARES
            full = scale if has_maximum else None
            return self._of(found, rows, run, stratum, matching, metric, full=full)
        stacked = self.stacked(run, matching, stratum) if "+" in stratum else None
        if stacked is None or not len(stacked):
            return Cell(digits=digits)
        f1 = scores_of(stacked.sum(axis=0))[:, METRICS.index("f1")].tolist()
        by_unit = sum_by_unit(stacked, self.units(run, stratum))
        found = Cell.mean(f1, (intervals(by_unit) or {}).get("f1"), cases=len(stacked))
        return self._of(found, self.counts[run], run, stratum, matching, "f1", full=100)

    def _of(
        self, cell: Cell, seeds: Iterable[str], run: RunKey, *of: str, full: float | None = None
    ) -> Cell:
        """Return a cell that says what it is of."""
        trained = sum(map(bool, seeds))  # what was not trained has an empty seed
        return replace(
            cell, seeds=trained, mark=self.mark(run), of=subject(run._asdict(), *of), full=full
        )

    def false_triples(self, run: RunKey, names: str, digits: int) -> Cell:
        """Return the predicted triples for 100 sentences without any; a gap without such sentences.

        The names of training that they hold (:mod:`tripleaudit.scoring.held_names`) may be of
        several kinds, with ``+`` between them, or empty for all.
        """
        counted = self.counts.get(run, {})
        held = next((one.names for one in counted.values()), ())
        chosen = [
            position
            for position, name in enumerate(held)
            if name and (not names or name in names.split("+"))
        ]
        stacked = self.stacked(run, PRIMARY)
        if stacked is None or not chosen:
            return Cell(digits=digits)
        predicted = stacked[chosen][:, :, 1]
        rate = Cell.mean(
            predicted.mean(axis=0).tolist(),
            rate_interval(predicted),
            digits=digits,
            cases=len(chosen),
        )
        return self._of(rate, counted, run, names or "zero", PRIMARY, "false_triples")

    def cases(self, run: RunKey, stratum: str, matching: str, metric: str = "") -> int | None:
        """Return the number of sentences or texts behind a run's scores; None if it is unknown.

        A GREScore may rest on fewer texts than the others, as it leaves out texts without triples.
        """
        names = (*CASES, f"texts:{metric}")
        counted = [
            self.values(run, stratum, rule, name)
            for name in names
            for rule in dict.fromkeys((matching, ""))
        ]
        found = [value for values in counted for value in values.values()]
        return int(min(found)) if found else None

    def difference(
        self,
        first: RunKey,
        second: RunKey,
        metric: str = "f1",
        *,
        stratum: str = "all",
        matching: str,
        digits: int = 1,
    ) -> Cell:
        """Return the mean over shared seeds of one run minus another, in points, else a gap.

        What is not trained has the empty seed and is the same for every seed. The mark is that of
        either training.
        """
        ours, theirs = (self.values(run, stratum, matching, metric) for run in (first, second))
        both = {
            seed: theirs.get(seed, theirs.get(""))
            for seed in ours
            if seed in theirs or "" in theirs
        }
        if not both:
            return Cell(digits=digits)
        found = Cell.mean([ours[seed] - value for seed, value in both.items()], digits=digits)
        found = self._of(
            replace(found, cases=self.cases(first, stratum, matching)),
            both,
            first,
            stratum,
            matching,
            metric,
        )
        marks = found.mark + self.mark(second)
        if first._replace(testing="") == second._replace(
            testing=""
        ):  # one training on two test sets: one budget
            marks = marks.replace(UNEQUAL, "")
        return replace(found, mark="".join(dict.fromkeys(marks)))

    def mark(self, run: RunKey) -> str:
        """Return the marks of a run's training, or both trainings, and of its unread answers."""
        trained = self._runs_behind(run)
        marks = [mark for mark in MARKS if any(mark in self.marks.get(one, "") for one in trained)]
        unread = self.unread_answers(run._asdict())
        if unread is not None and unread.most:
            marks.append(UNREAD)
        return "".join(marks)

    def unread_answers(self, keys: Mapping[str, str]) -> UnreadAnswers | None:
        """Return how many answers behind the keys of a cell were truncated, refused or unreadable.

        Returns:
            None for what is no language model, or where its answers were not counted.
        """
        run = run_of(keys)
        system = split_two_step(run.extractor)[1]
        protocol = "original" if run.protocol.startswith("gre-") else run.protocol
        if (system, run.corpus, protocol) in self.unread:
            return self.unread[system, run.corpus, protocol]
        if run.protocol.startswith("gre-"):
            return self._unread_texts(run)
        if run.protocol in NEEDLE_PROTOCOLS:
            return self._unread_calls(run._replace(protocol="calls"))
        return None

    def _unread_texts(self, run: RunKey) -> UnreadAnswers | None:
        """Return the unread answers of a system with GREScores, from their share of the texts."""
        for matching in sorted(self.matchings(run)):
            shares = [
                self.values(run, "all", matching, name) for name in ("parse_failures", "refusals")
            ]
            texts = self.cases(run, "all", matching)
            if texts and all(shares):
                return UnreadAnswers(
                    round(texts * sum(fmean(share.values()) for share in shares)), texts
                )
        return None

    def _unread_calls(self, calls: RunKey) -> UnreadAnswers | None:
        """Return the unread answers of a model that extracts needles, over all draws."""
        counts = {
            metric.partition(":")[2]: round(sum(self.values(calls, "all", "", metric).values()))
            for stratum, matching, metric in self.measured(calls)
            if metric.startswith("status:")
        }
        if not sum(counts.values()):
            return None
        return UnreadAnswers(
            sum(counts.get(name, 0) for name in UNREAD_STATUSES), sum(counts.values())
        )

    def trainings_behind(self, keys: Mapping[str, str]) -> list[Mapping[str, Any]]:
        """Return the facts of the trainings that the keys of a cell rest on, of all seeds."""
        return [
            fact
            for run in sorted(self._runs_behind(run_of(keys)))
            for fact in self.trainings.get(run, [])
        ]

    def as_in_paper(self, run: RunKey) -> RunKey:
        """Return a run with the extractor name and noise setting of its training in the papers."""
        classifier, extractor = split_two_step(run.extractor)
        facts = self.trainings_behind(run._replace(extractor=extractor)._asdict())
        if not facts:
            return run
        extractor, noise = name_in_paper(facts[0], extractor, run.noise)
        return run._replace(
            extractor=two_step_name(classifier, extractor) if classifier else extractor, noise=noise
        )

    def _runs_behind(self, run: RunKey) -> set[RunKey]:
        """Return the trainings behind a run, those of both steps for two-step extraction."""
        return {behind for part in _trainings(run) for behind in self._behind(part)}

    def _behind(self, run: RunKey) -> set[RunKey]:
        """The trainings that a run without its testing setting rests on.

        What has no training set of its own (augmented sentences, texts with GREScores) is shown to
        a training on the original split; a data set with GREScores may have another name than its
        corpus.
        """
        if run in self.marks or any(
            spec.train and spec.means(run.protocol) for spec in PROTOCOLS.values()
        ):
            return {run}
        original = run._replace(protocol="original", training=run.training or "nz")
        if original.corpus in {one.corpus for one in self.marks}:
            return {original}
        return {one for one in self.marks if one._replace(corpus=original.corpus) == original}

    def _interval(
        self, run: RunKey, stratum: str, matching: str, metric: str, rows: dict[str, Score]
    ) -> Interval | None:
        bounds = [
            Interval(row.low, row.high)
            for row in rows.values()
            if row.low is not None and row.high is not None
        ]
        if len(bounds) < len(rows):
            return None
        if len(rows) == 1:
            return bounds[0]
        key = (run, stratum, matching)
        if key not in self._intervals:
            stacked = self.stacked(run, matching, stratum, rows)
            by_unit = None if stacked is None else sum_by_unit(stacked, self.units(run, stratum))
            self._intervals[key] = None if by_unit is None else intervals(by_unit)
        return (self._intervals[key] or {}).get(metric)

    def stacked(
        self, run: RunKey, matching: str, stratum: str = "all", seeds: Iterable[str] | None = None
    ) -> np.ndarray | None:
        """Return the counts ``[sentences, seeds, 3]`` of a run; None if they are incomplete.

        Args:
            seeds: all of the run's, if there are none given.
        """
        found = self.counts.get(run, {})
        counts = [
            found.get(seed, found.get(""))
            for seed in sorted(found if seeds is None else seeds, key=_seed_order)
        ]
        known = [one for one in counts if one is not None and matching in one.counts]
        if not known or len(known) < len(counts) or len({tuple(one.ids) for one in known}) > 1:
            return None
        return np.stack([one.of(matching, stratum) for one in known], axis=1)

    def ids(self, run: RunKey, stratum: str = "all") -> list[str]:
        """Return the sentence ids behind :meth:`stacked`."""
        counts = self._first_counts(run)
        if counts is None:
            return []
        return list(compress(counts.ids, in_stratum(counts.strata, stratum)))

    def units(self, run: RunKey, stratum: str = "all") -> list[str]:
        """Return the units of resampling of the sentences behind :meth:`stacked`."""
        counts = self._first_counts(run)
        return counts.units(stratum) if counts else []

    def unit(self, run: RunKey) -> str:
        """Return the unit of resampling of a run, :data:`tripleaudit.scoring.units.UNITS`."""
        counts = self._first_counts(run)
        return counts.unit if counts else SENTENCE

    def _first_counts(self, run: RunKey) -> SentenceCounts | None:
        return next(iter(self.counts.get(run, {}).values()), None)

    def between(self, first: Mapping[str, str], second: Mapping[str, str]) -> Difference | None:
        """Compare the F1 of two cells (:attr:`Cell.of`); None without per-sentence counts.

        Seeds are paired where both sides share them. So are sentences, where both sides read the
        same; where one test set is the other with zero-triple sentences added; and variants of a
        sentence with it. Other sentences, as those of two strata, are resampled each for
        themselves. Its units are those of the side that had fewer before pairing.
        """
        sides = [(run_of(of), of["matching"], of["stratum"]) for of in (first, second)]
        seeds = [set(self.counts.get(run, {})) for run, *_ in sides]
        trained = [each for each in seeds if each != {""}]
        shared = set.intersection(*(trained or seeds))
        chosen = [shared or each for each in seeds]
        counts = [self.stacked(*side, own) for side, own in zip(sides, chosen, strict=True)]
        if any(one is None or not len(one) for one in counts):
            return None
        ids = [self.ids(run, stratum) for run, _, stratum in sides]
        units = [self.units(run, stratum) for run, _, stratum in sides]
        smaller = min(len(set(of_side)) for of_side in units)
        pair = _paired(counts, ids, units) if shared else None
        if pair is not None:
            counts, units = pair
        difference = between(
            *counts,
            paired=pair is not None,
            shared=bool(shared),
            same_models=bool(shared) and model_behind(sides[0][0]) == model_behind(sides[1][0]),
            units=(units[0], units[1]),
        )
        return replace(difference, units=min(smaller, difference.units))

    def winner(
        self, runs: Sequence[RunKey], metric: str, *, stratum: str = "all", matching: str
    ) -> RunKey | None:
        """Return the run that beats all others significantly, ``None`` without one.

        Runs of different seeds have no winner: a mean over other seeds than the test's would be
        marked. Nor have runs of which a training was still rising, or may have been: their order
        may change with more training. Nor have runs on few cases.
        """
        known = [run for run in runs if self._values.get((run, stratum, matching, metric))]
        if len(known) < 2:
            return None
        marks = "".join(map(self.mark, known))
        if UNFINISHED in marks or UNSETTLED in marks:
            return None
        seeds = [frozenset(self.counts.get(run, {})) for run in known]
        shared, *others = {each for each in seeds if each != {""}} or {
            *seeds
        }  # what is not trained fits every seed
        if others or not shared or len({tuple(self.ids(run)) for run in known}) > 1:
            return None
        stacked = [self.stacked(run, matching, stratum, shared) for run in known]
        if any(one is None for one in stacked):
            return None
        units = self.units(known[0], stratum)
        best = significant_winner(stacked, metric=metric, shared=True, units=units)
        return None if best is None else known[best]


Sides = tuple[list[np.ndarray], list[list[str]]]
"""Counts ``[sentences, runs, 3]`` of two sides, and the units of their sentences."""


def _paired(counts: list[np.ndarray], ids: list[list[str]], units: list[list[str]]) -> Sides | None:
    """Return the counts of two sides for the same sentences; None if their sentences differ."""
    first, second = counts
    if ids[0] == ids[1]:
        return counts, units
    positions = {id_: number for number, id_ in enumerate(ids[1])}
    if positions.keys() >= set(ids[0]):
        added = [number for id_, number in positions.items() if id_ not in set(ids[0])]
        if second[added][..., 2].any():
            return None
        extended = np.zeros_like(second)
        extended[[positions[id_] for id_ in ids[0]]] = first
        return [extended, second], [units[1], units[1]]
    return _paired_variants(counts, ids, units)


def _paired_variants(
    counts: list[np.ndarray], ids: list[list[str]], units: list[list[str]]
) -> Sides | None:
    """Return the counts of originals next to those of their variants, or the reverse."""
    first, second = counts
    for originals, variants, is_swapped in ((0, 1, False), (1, 0, True)):
        try:
            groups = variants_of(ids[originals], ids[variants])
        except UserError:
            continue
        if first.shape[1:] != second.shape[1:]:
            return None
        original = np.empty(len(ids[variants]), dtype=np.int64)
        for number, group in enumerate(groups):
            original[group] = number
        repeated = counts[originals][original]
        common_units = [units[originals][number] for number in original]
        sides = [repeated, counts[variants]]
        return (sides[::-1] if is_swapped else sides), [common_units, common_units]
    return None


def model_behind(run: RunKey) -> RunKey:
    """Return the training of a run; test sets without a training set belong to the original one."""
    trains = any(spec.train and spec.means(run.protocol) for spec in PROTOCOLS.values())
    return run._replace(testing="", protocol=run.protocol if trains else "original")


@dataclass
class TableInputs:
    """Everything that a builder may read.

    Attributes:
        scores: the study's scores with per-sentence counts.
        audits: ``(corpus, protocol)`` -> audit (:mod:`tripleaudit.tables.audits`).
        runs: facts of each training: ``keys``, and ``seconds_per_epoch`` or ``seconds``.
        options: of the table, :data:`OPTIONS`.
        files: further files by kind, for tables that need something else.
    """

    scores: ScoreIndex = field(default_factory=ScoreIndex)
    audits: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    files: dict[str, list[Path]] = field(default_factory=dict)

    @cached_property
    def cells(self) -> "pd.DataFrame":
        """Means over seeds with deviation, interval, seeds, cases and marks.

        docs/reference/python.md describes the columns.
        """
        return cell_frame(self.scores)

    @cached_property
    def _means(self) -> dict[tuple[str, ...], float]:
        return self.cells.set_index(list(CELL_KEYS))["mean"].to_dict()

    def mean(
        self, run: RunKey, metric: str, *, stratum: str = "all", matching: str = ""
    ) -> float | None:
        """Return a mean over seeds, a fraction or a count; None where it was not measured."""
        return self._means.get((*run, stratum, matching, metric))

    @cached_property
    def counts(self) -> "pd.DataFrame":
        """Correct, predicted and gold triples of every sentence, by run and matching rule."""
        return count_frame(self.scores.count_files)

    @property
    def systems(self) -> list[dict[str, Any]]:
        """Facts of systems without training, for each test set."""
        return [fact for fact in self.runs if "system" in fact]

    @property
    def untrained(self) -> set[str]:
        """Names of these systems."""
        return {fact["system"] for fact in self.systems}

    @property
    def reasons(self) -> dict[tuple[str, str, str], str]:
        """``(system, corpus, protocol)`` -> external reason why it finds almost nothing."""
        found = {}
        for run, seeds in (
            self.scores.counts if self.untrained else {}
        ).items():  # not read for trained ones
            for one in seeds.values() if run.extractor in self.untrained else ():
                if one.reasons:
                    found.setdefault(
                        (run.extractor, run.corpus, run.protocol), "; ".join(one.reasons)
                    )
        return found

    @property
    def corpora(self) -> set[str]:
        """The corpora on whose original split something was trained or queried."""
        return {run.corpus for run in self.scores.runs if run[1:4] == ("original", "nz", "nz")}

    @property
    def matching(self) -> str:
        """The matching rule of the table."""
        return check_matching(self.options.get("matching", PRIMARY))

    def digits(self, default: int) -> int:
        """The decimals to show."""
        return int(self.options.get("digits", default))


def _trainings(run: RunKey) -> set[RunKey]:
    """The training behind a run; of two-step extraction, both."""
    classifier, extractor = split_two_step(run.extractor)
    found = {run._replace(testing="", extractor=extractor)}
    if classifier:
        found.add(run._replace(testing="", training="wz", extractor=classifier, noise="none"))
    return found


def _seed_order(seed: str) -> tuple[int, str]:
    return (int(seed) if seed.isdecimal() else 0, seed)
