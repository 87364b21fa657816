"""Reading of the inputs of tables, and marks of scores from the facts of trainings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.scoring.scores import read_scores
from tripleaudit.tables.inputs import (
    OPTIONS,
    UNEQUAL,
    UNFINISHED,
    UNSETTLED,
    ScoreIndex,
    TableInputs,
)
from tripleaudit.tables.system_notes import UnreadAnswers, count_unread
from tripleaudit.tables.tidy import RunKey, run_of
from tripleaudit.training.convergence import RISING, verdict

MAX_BUDGET_RATIO = 1.1
"""By how much the budgets of an NZ and a WZ training may differ without a mark."""
UNSEEN_COUNTS = ("zero", "dropped_zero", "lost_sentences", "dropped_long")
"""Counts of training sentences that are not seen, or without triples."""
PARTS = {"gre": "gre", "needles": "needles"}
"""What a table needs -> the part of a study whose scores it shows; all others show extraction."""


@dataclass(frozen=True, kw_only=True)
class ResultFiles:
    """Result files of a study by kind, any of which may be missing.

    Attributes:
        scores, gre_scores, needle_scores: scores files of extraction, GREScores and needles.
        counts: per-sentence counts of every run. doubled: those of trainings of twice the epochs.
        audits: one of each corpus and protocol.
        runs, gre_runs: facts of trainings and systems, and of those with GREScores.
        criteria: needles by criterion. collection: counts of text collections.
        curves: of classifiers. history: losses and scores of trainings.
        predictions: of trainings, next to whose folders their benchmark files are found.
    """

    scores: Sequence[str | Path] = ()
    gre_scores: Sequence[str | Path] = ()
    needle_scores: Sequence[str | Path] = ()
    counts: Sequence[str | Path] = ()
    doubled: Sequence[str | Path] = ()
    audits: Sequence[str | Path] = ()
    runs: Sequence[str | Path] = ()
    gre_runs: Sequence[str | Path] = ()
    criteria: Sequence[str | Path] = ()
    collection: Sequence[str | Path] = ()
    curves: Sequence[str | Path] = ()
    history: Sequence[str | Path] = ()
    predictions: Sequence[str | Path] = ()


class ResultReader:
    """Inputs of the tables and plots of one study; every file is read once.

    Args:
        files: of the study.
    """

    def __init__(self, files: ResultFiles) -> None:
        self.files = files
        self._parts: dict[str, TableInputs] = {}

    def inputs(self, needs: str, options: Mapping[str, Any]) -> TableInputs:
        """Return the inputs of a table or plot.

        Args:
            needs: the kind of files that it is made from.
            options: of the table.

        Raises:
            UserError: a file is bad, or an option is unknown.
        """
        check_options(options)
        part = PARTS.get(needs, "extraction")
        if part not in self._parts:
            self._parts[part] = self._read(part)
        return replace(self._parts[part], options=dict(options))

    def _read(self, part: str) -> TableInputs:
        files = self.files
        further: dict[str, Sequence[str | Path]] = {
            "criteria": files.criteria,
            "collection": files.collection,
            "curves": files.curves,
            "doubled": files.doubled,
            "history": files.history,
            "benchmarks": benchmarks_of(files.predictions),
        }
        if part == "gre":
            return load_inputs(scores=files.gre_scores, runs=files.gre_runs, files=further)
        if part == "needles":
            return load_inputs(scores=files.needle_scores, files=further)
        return load_inputs(
            scores=files.scores,
            counts=files.counts,
            audits=files.audits,
            runs=files.runs,
            files=further,
        )


def load_inputs(
    *,
    scores: Sequence[str | Path] = (),
    counts: Sequence[str | Path] = (),
    audits: Sequence[str | Path] = (),
    runs: Sequence[str | Path] = (),
    options: Mapping[str, Any] | None = None,
    files: Mapping[str, Sequence[str | Path]] | None = None,
) -> TableInputs:
    """Read the inputs of tables: files of each kind, any of which may be missing.

    Raises:
        UserError: a file is bad, an option is unknown, or an audit occurs twice.
    """
    check_options(options or {})
    facts = read_facts(runs)
    index = ScoreIndex(read_scores(list(scores)), counts)
    index.partial = {
        fact["system"] for fact in facts if "system" in fact and fact["queried"] < fact["of"]
    }
    index.marks = marks_of(facts)
    index.trainings = trainings_of(facts)
    index.unread = _unread_of(facts)
    return TableInputs(
        scores=index,
        audits=read_audits(audits),
        runs=facts,
        options=dict(options or {}),
        files={kind: [Path(path) for path in paths] for kind, paths in (files or {}).items()},
    )


def benchmarks_of(predictions: Iterable[str | Path]) -> list[Path]:
    """Return the benchmark files next to predictions of a study; some may be lost.

    Raises:
        UserError: a path is not ``<study>/predictions/<run>/test.jsonl``.
    """
    files = []
    for path in map(Path, predictions):
        if len(path.parents) < 7:
            raise UserError(
                f"{path}: expected a study's predictions, <study>/predictions/<run>/test.jsonl"
            )
        study = path.parents[6]
        run = Path(*path.parent.parts[-5:]).with_suffix(".jsonl")
        benchmarks = [study / "benchmarks" / job / run for job in ("train", "predict")]
        files += [benchmark for benchmark in benchmarks if benchmark.exists()]
    return files


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that no table has."""
    for name in options:
        if name not in OPTIONS:
            raise UserError(
                f"options of the table: unknown option {name!r}; expected one of {', '.join(OPTIONS)}"
            )


def read_audits(paths: Iterable[str | Path]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return audits by corpus and protocol."""
    audits: dict[tuple[str, str], dict[str, Any]] = {}
    for path in paths:
        audit = read_json(path)
        keys = audit.get("keys", {}) if isinstance(audit, dict) else {}
        if "corpus" not in keys or "protocol" not in keys:
            raise UserError(f"{path}: not an audit; expected 'keys' with 'corpus' and 'protocol'")
        key = (keys["corpus"], keys["protocol"])
        if key in audits:
            raise UserError(f"{path}: a second audit of corpus {key[0]!r} and protocol {key[1]!r}")
        audits[key] = audit
    return audits


def read_facts(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Return the facts of trainings and systems."""
    facts: list[dict[str, Any]] = []
    for path in paths:
        content = read_json(path)
        rows = content if isinstance(content, list) else [content]
        if not all(map(_is_fact, rows)):
            raise UserError(
                f"{path}: not the facts of trainings and systems that this version writes; make it again"
            )
        facts += rows
    return facts


def _is_fact(row: Any) -> bool:
    return isinstance(row, dict) and ("system" not in row or "queried" in row)


def _unread_of(facts: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], UnreadAnswers]:
    """Return the unread answers of language models by system, corpus and protocol."""
    counts = {}
    for fact in facts:
        unread = count_unread(fact) if "system" in fact else None
        if unread is not None:
            keys = fact["keys"]
            counts[fact["system"], keys["corpus"], keys["protocol"]] = unread
    return counts


def marks_of(facts: Sequence[Mapping[str, Any]]) -> dict[RunKey, str]:
    """Return the marks of trainings by run, without a testing setting."""
    marks = dict.fromkeys(trainings_of(facts), "")
    evaluated = trainings_of(fact for fact in facts if fact.get("convergence"))
    mark_of_verdict = {RISING: UNFINISHED, None: UNSETTLED}
    for run, trainings in evaluated.items():
        marks[run] += mark_of_verdict.get(ended(trainings), "")
    budgets = training_budgets(facts)
    for run, budget in budgets.items():
        other = budgets.get(run._replace(training="wz" if run.training == "nz" else "nz"))
        if other is not None and max(budget, other) > MAX_BUDGET_RATIO * min(budget, other):
            marks[run] = marks.get(run, "") + UNEQUAL
    return marks


def training_budgets(facts: Iterable[Mapping[str, Any]]) -> dict[RunKey, float]:
    """Return how many sentences with triples a training saw, times epochs; means over seeds."""
    budgets: dict[RunKey, list[float]] = {}
    for fact in facts:
        counts, epochs = fact.get("counts") or {}, fact.get("epochs")
        if epochs and "sentences" in counts:
            unseen = sum(counts.get(name, 0) for name in UNSEEN_COUNTS)
            budgets.setdefault(_run(fact), []).append(epochs * (counts["sentences"] - unseen))
    return {run: fmean(seeds) for run, seeds in budgets.items()}


def trainings_of(facts: Iterable[Mapping[str, Any]]) -> dict[RunKey, list[Mapping[str, Any]]]:
    """Return the facts of trainings by run, without a testing setting; seeds together."""
    trainings: dict[RunKey, list[Mapping[str, Any]]] = {}
    for fact in facts:
        if "convergence" in fact:
            trainings.setdefault(_run(fact), []).append(fact)
    return trainings


def ended(facts: Sequence[Mapping[str, Any]]) -> str | None:
    """Return how the trainings of all seeds ended; None for too few evaluations."""
    doubled = [fact["doubled"] for fact in facts if fact.get("doubled")]
    evaluations = [fact["convergence"] or {} for fact in facts]
    return verdict(evaluations, doubled[0] if doubled else None)


def _run(fact: Mapping[str, Any]) -> RunKey:
    return run_of(fact.get("keys", {}))._replace(testing="")
