"""Correlations of GREScores and lengths over systems, as GenRES discusses its tables 2 to 4."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tripleaudit.grescores.rank_correlations import (
    MIN_SYSTEMS,
    Correlation,
    mean_ranks,
    mean_spearman,
)
from tripleaudit.scoring.bootstrap import FEWEST
from tripleaudit.scoring.scores import RUN_KEYS, Run, run_id
from tripleaudit.tables import reported
from tripleaudit.tables.builders.gre import (
    DATASETS,
    GROUND_TRUTH,
    MODELS,
    SCORES,
    SIZES,
    VARIANTS,
    Metric,
    dataset,
    mode_of,
    parts,
    runs_of,
)
from tripleaudit.tables.cells import Cell, Row, Table, frame_of_rows, of_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec
from tripleaudit.tables.study_facts import UNREAD

READS = ("data/reported/genres.csv",)

SETTINGS = ("open", "system", "trained")
METRICS = (*SCORES, *SIZES)
BY_LABEL = {metric.label: metric for metric in METRICS}
MEASURED, PRINTED = "Measured", "Printed by GenRES"
ALMOST_SILENT = ("Galactica-30B", "LLaMA-2-7B")  # models that answer few texts
RANKED = 6  # systems of the paper that the note on mean ranks names


@dataclass(frozen=True)
class Scores:
    """Values of systems on data sets.

    Attributes:
        systems, datasets: names.
        values: by metric, ``[systems, data sets]``, nan for a gap.
    """

    systems: Sequence[str]
    datasets: Sequence[str]
    values: dict[Metric, np.ndarray]

    def without(self, systems: Sequence[str]) -> "Scores":
        """Return the values of the other systems."""
        kept = [index for index, system in enumerate(self.systems) if system not in systems]
        values = {metric: array[kept] for metric, array in self.values.items()}
        return Scores([self.systems[index] for index in kept], self.datasets, values)

    @property
    def factualness(self) -> np.ndarray:
        """FS, ``[systems, data sets]``."""
        return self.values[BY_LABEL["FS"]]

    def correlation(self, first: str, second: str) -> Correlation | None:
        """Return the mean Spearman correlation of two columns, by their labels."""
        return mean_spearman(self.values[BY_LABEL[first]], self.values[BY_LABEL[second]])


def build(inputs: TableInputs) -> Table:
    """Build from GREScores, and from the paper's rows where a data set is the paper's."""
    measured = _measured_scores(inputs)
    rows = _rows(measured, MEASURED)
    notes = [_method_note(measured)]
    if any(name in DATASETS for name in measured.datasets):
        printed = printed_scores()
        rows += _rows(printed, PRINTED)
        notes += _paper_notes(printed)
    frame = frame_of_rows(rows, [metric.label for metric in METRICS], ("Score", "Values"))
    return of_frame(frame, "Correlations of GREScores and lengths over systems.", notes)


def printed_scores() -> Scores:
    """Return the rows of open extraction in tables 2 to 4 of GenRES: 14 systems, six data sets."""
    cells: dict[tuple[str, str, str], dict[str, str]] = {}
    for (_, name, setting, model, variant, metric), value in reported.values("genres").items():
        if setting.startswith("open,"):
            cells.setdefault((model, name, metric), {})[variant] = value
    systems = list(dict.fromkeys(model for model, _, _ in cells))
    datasets = list(dict.fromkeys(name for _, name, _ in cells))

    def value_of(model: str, name: str, metric: Metric) -> float:
        variants = cells.get((model, name, metric.paper), {})
        printed = [variants[variant] for variant in VARIANTS if variant in variants]
        return float(printed[0]) if printed else math.nan

    values = {
        metric: np.array(
            [[value_of(model, name, metric) for name in datasets] for model in systems]
        )
        for metric in METRICS
    }
    return Scores(systems, datasets, values)


def _measured_scores(study: TableInputs) -> Scores:
    """Return the study's scores of open extraction; few texts or mostly unread answers are gaps."""
    import pandas as pd

    runs = _runs(study)
    systems = list(dict.fromkeys((run["extractor"], run["training"], run["noise"]) for run in runs))
    datasets = list(dict.fromkeys(run["corpus"] for run in runs))
    cells = study.frames.select_cells(matching=mode_of(study, runs), stratum="all")
    has_texts = cells["cases"].isna() | (cells["cases"] >= FEWEST)
    is_of_runs = pd.MultiIndex.from_frame(cells[list(RUN_KEYS)]).isin(list(map(run_id, runs)))
    is_unread = cells["mark"].str.contains(UNREAD)
    shown = cells[has_texts & ~is_unread & is_of_runs]
    values = {}
    for metric in METRICS:
        of_metric = shown[shown["metric"] == metric.metric]
        by_system = of_metric.groupby(["extractor", "training", "noise", "corpus"])
        table = by_system["mean"].last().unstack()
        table = table.reindex(index=systems, columns=datasets)
        values[metric] = table.to_numpy(dtype=float) * metric.scale
    return Scores([extractor for extractor, _, _ in systems], datasets, values)


def _runs(study: TableInputs) -> list[Run]:
    return [
        run
        for run in runs_of(study)
        if parts(run)[1] in SETTINGS and run["extractor"] != GROUND_TRUTH
    ]


def _rows(scores: Scores, group: str) -> list[Row]:
    cells: dict[frozenset[Metric], Cell] = {}
    rows = []
    for score in SCORES:
        for column in METRICS:
            pair = frozenset((score, column))
            if pair not in cells:
                cells[pair] = _cell(scores, score, column)
        rows.append(
            Row(score.label, [cells[frozenset((score, column))] for column in METRICS], group)
        )
    return rows


def _cell(scores: Scores, row: Metric, column: Metric) -> Cell:
    correlation = scores.correlation(row.label, column.label) if row != column else None
    if correlation is None:
        return Cell(digits=2)
    return Cell(
        correlation.value, 2, low=correlation.low, high=correlation.high, cases=len(scores.systems)
    )


def _method_note(measured: Scores) -> str:
    named = ", ".join(map(dataset, measured.datasets))
    number = len(measured.systems)
    systems = "1 system" if number == 1 else f"{number} systems"
    return (
        "Mean over data sets of Spearman's correlation over systems; "
        f"measured: {systems} of open extraction ({named}); "
        "ground truth is left out. [low, high] is the 95 % interval over systems: each resample draws systems, with "
        f"their values on all data sets. A pair has a gap where a data set has fewer than {MIN_SYSTEMS} systems with "
        f"both scores; scores of fewer than {FEWEST} texts, and of systems with mostly unread answers, take no part."
    )


def _paper_notes(printed: Scores) -> list[str]:
    """Return the paper's observations, computed from its rows."""
    systems, datasets = len(printed.systems), len(printed.datasets)
    audible = printed.without(ALMOST_SILENT)
    silent = " and ".join(ALMOST_SILENT)
    completeness = _shown(audible.correlation("CS", "FS"))
    lengths = _shown(audible.correlation("GS", "#tok"))
    ranks = mean_ranks(np.concatenate([printed.values[score] for score in SCORES], axis=1))
    best = sorted(zip(ranks, printed.systems, strict=True))[:RANKED]
    ranked = ", ".join(f"{system} {rank:.1f}" for rank, system in best)
    return [
        f"{PRINTED}: the {systems * datasets} rows of its tables 2 to 4, {systems} systems on {datasets} data sets. "
        f"Without {silent}, which answer few texts: CS and FS {completeness}; GS and #tok {lengths}.",
        f"Mean rank over the five scores and all data sets, of the paper's rows: {ranked}.",
        f"{MODELS['gpt-4-1106-preview']} minus ground truth, FS as printed: {_against_ground_truth(printed)}.",
    ]


def _shown(correlation: Correlation | None) -> str:
    if correlation is None:
        return "not measured"
    return f"{correlation.value:.2f} [{correlation.low:.2f}, {correlation.high:.2f}]"


def gold_factualness() -> dict[str, float]:
    """Return FS of the gold triples as GenRES prints it, by data set."""
    return {
        name: float(value)
        for (_, name, setting, _, _, metric), value in reported.values("genres").items()
        if setting.startswith("gold triples") and metric == "FS"
    }


def _against_ground_truth(printed: Scores) -> str:
    """Return the differences of FS between GPT-4-Turbo and the gold triples, by data set."""
    gold = gold_factualness()
    scores = printed.factualness[printed.systems.index(MODELS["gpt-4-1106-preview"])]
    by_dataset = zip(printed.datasets, scores, strict=True)
    differences = [
        f"{name} {score - gold[name]:+.1f}" for name, score in by_dataset if name in gold
    ]
    return ", ".join(differences)


SPEC = TableSpec(
    name="gre-correlations",
    order=23.5,
    build=build,
    needs="gre",
    possible=lambda study: bool(study.gre_levels),
    question="Which GREScores go together over systems, and which with lengths?",
)
