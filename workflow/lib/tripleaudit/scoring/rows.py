"""Scoring of one run: rows of the scores file and counts per sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tripleaudit.core.files import read_json, write_json
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences, load_set
from tripleaudit.protocols.strata import STRATA, stratify
from tripleaudit.protocols.types import SeenTriples
from tripleaudit.scoring import gate
from tripleaudit.scoring.bootstrap import METRICS, REPLICATES, intervals
from tripleaudit.scoring.counts import SentenceCounts
from tripleaudit.scoring.held_names import kinds_of
from tripleaudit.scoring.matching import applicable, sentence_counts
from tripleaudit.scoring.metrics import micro
from tripleaudit.scoring.scores import (
    CLASSIFICATION,
    Score,
    keys_of,
    provenance_of,
    sidecar_of,
    write_scores,
)
from tripleaudit.scoring.sides import align
from tripleaudit.scoring.units import SENTENCE, triple_groups
from tripleaudit.scoring.why import reasons

INPUTS = ("gold", "predictions", "decisions", "train", "report")
TOTALS = ("correct", "predicted", "gold", "sentences")


def count_run(
    gold: Sequence[Sentence],
    predictions: Sequence[Sentence],
    keys: Mapping[str, Any],
    train: Sequence[Sentence] | None = None,
    unit: str = SENTENCE,
) -> SentenceCounts:
    """Count each sentence under each matching rule that applies; with ``train``, find its stratum.

    Args:
        unit: of resampling, one of :data:`~tripleaudit.scoring.units.UNITS`.
    """
    strata: Sequence[str | None] = (
        stratify(gold, SeenTriples(train)) if train is not None else [None] * len(gold)
    )
    counts = {
        matching: sentence_counts(gold, predictions, matching)
        for matching in applicable(gold, predictions)
    }
    names = kinds_of(gold, train) if train is not None else []
    ids = [sentence.id for sentence in gold]
    counted = SentenceCounts(_named(keys), ids, strata, counts, names=names, unit=unit)
    counted.groups = triple_groups(gold, counted.originals)
    return counted


def score_rows(
    counts: SentenceCounts, *, replicates: int = REPLICATES, seed: int = 0
) -> list[Score]:
    """Turn counts into rows: precision, recall and F1 with intervals, and the counts behind them.

    A stratum without sentences has only the row ``sentences`` = 0: its scores do not exist, they
    are not 0.
    """
    keys = keys_of(counts.keys)
    rows = []
    for matching in counts.counts:
        for stratum in ("all", *(STRATA if any(counts.strata) else ())):
            total = micro(counts.of(matching, stratum))
            bounds = (
                intervals(counts.by_unit(matching, stratum), replicates=replicates, seed=seed) or {}
            )
            for name in (*METRICS, *TOTALS) if total.sentences else ("sentences",):
                ends = (bounds[name].low, bounds[name].high) if name in bounds else ()
                rows.append(Score(keys, stratum, matching, name, getattr(total, name), *ends))
    return rows


@dataclass(frozen=True, kw_only=True)
class RunFiles:
    """Files of the scoring of one extractor or one classifier.

    Attributes:
        gold: gold sentences, project JSONL.
        out_scores: the tidy CSV; its provenance is written next to it (``.provenance.json``).
        out_counts: the per-sentence counts.
        predictions: of an extractor, for the same sentences, or for more: those of a WZ test set
            serve its NZ part too.
        train: the training sentences that decide triple types; without them there are no strata.
        decisions: the classifier's decisions (:mod:`tripleaudit.scoring.gate`), for two-step
            extraction or by itself.
        report: on the predictions of a system; where it states that the system failed, there is
            nothing to score.
        out_curve: of a classifier, the precision-recall curve with the run's keys and its operating
            point.
    """

    gold: str | Path
    out_scores: str | Path
    out_counts: str | Path
    predictions: str | Path = ""
    train: str | Path = ""
    decisions: str | Path = ""
    report: str | Path = ""
    out_curve: str | Path = ""

    def write(
        self,
        counts: SentenceCounts,
        resampling: Mapping[str, int],
        settings: Mapping[str, Any],
        more: Mapping[str, float],
        of: str = "",
        inputs: Sequence[str] = INPUTS,
    ) -> list[Score]:
        """Write scores, counts and provenance; ``more`` are values under the matching ``of``."""
        rows = score_rows(counts, **resampling)
        rows += [
            Score(keys_of(counts.keys), "all", of, name, value) for name, value in more.items()
        ]
        counts.save(self.out_counts)
        given = {name: path for name in inputs if (path := getattr(self, name))}
        stated = {"keys": counts.keys, **settings, "bootstrap": resampling}
        write_json(sidecar_of(self.out_scores), provenance_of(given, stated))
        write_scores(self.out_scores, rows)
        return rows


def score_run(
    files: RunFiles,
    keys: Mapping[str, Any],
    replicates: int = REPLICATES,
    seed: int = 0,
    threshold: float = gate.THRESHOLD,
    only_with_triples: bool = False,
    unit: str = SENTENCE,
) -> list[Score]:
    """Score one extractor's prediction file and write scores, counts and provenance.

    Args:
        keys: what the run is, :data:`tripleaudit.scoring.scores.KEYS`. replicates, seed: resamples
        of the bootstrap of the intervals, 0 for no intervals, and its seed. only_with_triples:
        leave out sentences without gold triples. unit: of resampling, one of
        :data:`~tripleaudit.scoring.units.UNITS`.

    Raises:
        UserError: a file is bad, or the files do not belong together.
    """
    report, resampling = (
        read_json(files.report) if files.report else {},
        {"replicates": replicates, "seed": seed},
    )
    if report.get("failed"):
        return files.write(
            SentenceCounts(_named(keys), [], []), resampling, {}, {}, inputs=["report"]
        )
    right, guess = load_set(files.gold), load_sentences(files.predictions)
    relations = {triple.relation for sentence in right for triple in sentence.triples}
    if report and report["queried"] < report["of"]:
        queried = {sentence.id for sentence in guess}
        right = [sentence for sentence in right if sentence.id in queried]
    right, guess = paired(right, guess, str(files.gold), str(files.predictions), only_with_triples)
    settings: dict[str, Any] = {"only_with_triples": only_with_triples, "unit": unit}
    passed: dict[str, float] = {}
    if files.decisions:
        decisions = gate.load_decisions(files.decisions)
        accepted = gate.scores_for(guess, decisions) > threshold
        passed["let_through"] = float(accepted.sum())
        if money_of := report.get("money_of"):
            costs = np.array([money_of.get(sentence.id, 0.0) for sentence in guess])
            passed |= {"money": sum(costs[accepted].tolist()), "money_ungated": sum(costs.tolist())}
        guess = gate.passed(guess, accepted)
        settings["threshold"] = threshold
    counts = count_run(
        right, guess, keys, load_sentences(files.train) if files.train else None, unit
    )
    if files.report and not files.decisions:
        counts.reasons = reasons(right, guess, relations)
    return files.write(counts, resampling, settings, passed)


def score_classifier(
    files: RunFiles,
    keys: Mapping[str, Any],
    replicates: int = REPLICATES,
    seed: int = 0,
    threshold: float = gate.THRESHOLD,
) -> list[Score]:
    """Score a classifier on the class "has triples"; write scores, counts and provenance.

    Besides precision, recall and F1, the rows hold ``average_precision`` and the ``threshold``.
    """
    right, decisions = load_set(files.gold), gate.load_decisions(files.decisions)
    scores = gate.scores_for(right, decisions)
    table = gate.classification_counts(right, scores, threshold)
    ids = [sentence.id for sentence in right]
    counts = SentenceCounts(_named(keys), ids, [None] * len(right), {CLASSIFICATION: table})
    curve = gate.precision_recall_curve(right, scores)
    if files.out_curve:
        total = micro(table)
        point = {
            "threshold": threshold,
            "precision": total.precision,
            "recall": total.recall,
            "f1": total.f1,
        }
        words = gate.clue_words(right, decisions, threshold)
        write_json(
            files.out_curve,
            {"keys": counts.keys, "operating_point": point, "clues": words, **curve},
        )
    more = {"average_precision": curve["average_precision"], "threshold": threshold}
    resampling = {"replicates": replicates, "seed": seed}
    return files.write(counts, resampling, {"threshold": threshold}, more, CLASSIFICATION)


def paired(
    gold: list[Sentence],
    predictions: list[Sentence],
    gold_name: str,
    predictions_name: str,
    only_with_triples: bool,
) -> tuple[list[Sentence], list[Sentence]]:
    """Drop zero-triple gold if required, and predictions without gold sentences."""
    if only_with_triples:
        gold = [sentence for sentence in gold if sentence.triples]
    wanted = {sentence.id for sentence in gold}
    if len(wanted) == len(gold) < len(predictions) and wanted <= {
        sentence.id for sentence in predictions
    }:
        predictions = [sentence for sentence in predictions if sentence.id in wanted]
    return gold, align(gold, predictions, gold_name, predictions_name)


def _named(keys: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in keys.items() if value is not None}
