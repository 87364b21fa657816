"""``time-memory``: how long each extractor trains and predicts and how much memory it takes, from benchmark files."""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_jsonl
from tripleaudit.tables import labels
from tripleaudit.tables.evidence import TableInputs

NAME = "time-memory"
PANELS = (
    ("train", "s", 60, "Training, minutes"),
    ("predict", "s", 1, "Prediction, seconds"),
    ("train", "max_rss", 1024, "Training, GB of main memory"),
)
"""Job, column of Snakemake's benchmark, unit, title."""


def draw(inputs: TableInputs) -> Any:
    """Draw ``files["benchmarks"]``: ``…/<train|predict>/<corpus>/<training set>/<extractor>/<noise>/<seed>.jsonl``.

    Wall time and the greatest resident memory of a job and its children; a bar is the mean over seeds, a line its
    range. Only trainings on the original splits are compared.
    """
    from tripleaudit.tables.plots import _style

    measured = _measured(inputs.files.get("benchmarks", []))
    corpora = labels.ordered((corpus for corpus, *_ in measured), tuple(labels.CORPORA))
    rows = {
        corpus: sorted(
            {(name, noise) for place, _, name, noise in measured if place == corpus},
            key=lambda row: (_rank(row[0]), row[0], row[1] != "none"),
        )
        for corpus in corpora
    }
    most = max(map(len, rows.values()), default=1)
    drawn, axes = _style.figure(len(PANELS) * len(corpora), width=3.3, height=0.9 + 0.36 * max(most, 2))
    if not corpora:
        return _style.nothing(drawn, axes[0])
    for place, corpus in enumerate(corpora):
        settings = [one for one in labels.SETTINGS if any(key[:2] == (corpus, f"original-{one}") for key in measured)]
        thick = 0.7 / len(settings)
        for number, (panel, (job, column, unit, title)) in enumerate(
            zip(axes[len(PANELS) * place : len(PANELS) * (place + 1)], PANELS, strict=True)
        ):
            widest = 0.0
            for height, (name, noise) in enumerate(rows[corpus]):
                bars = {
                    setting: found
                    for setting in settings
                    if (found := measured.get((corpus, f"original-{setting}", name, noise), {}).get((job, column)))
                }
                for shift, (setting, found) in enumerate(bars.items()):
                    values = [value / unit for value in found]
                    mean, y = statistics.fmean(values), height - (len(bars) / 2 - shift - 0.5) * thick
                    known = list(labels.SETTINGS).index(setting)
                    panel.barh(
                        y,
                        mean,
                        height=thick * 0.9,
                        color=_style.look(known)["color"],
                        label=f"trained on {labels.SETTINGS[setting]}",
                    )
                    if len(values) > 1:
                        panel.hlines(y, min(values), max(values), color="#000000", linewidth=1)
                    panel.annotate(
                        f"{mean:.3g}",
                        (max(values), y),
                        xytext=(3, 0),
                        textcoords="offset points",
                        va="center",
                        fontsize=7,
                    )
                    widest = max(widest, *values)
            panel.set_xlim(0, widest * 1.2 or 1)
            panel.set_ylim(len(rows[corpus]) - 0.4, -0.6)
            names = [_style.plain(labels.extractor(*row)) for row in rows[corpus]] if number == 0 else []
            panel.set_yticks(range(len(rows[corpus])), names or [""] * len(rows[corpus]))
            panel.set_title(_style.plain(f"{labels.corpus(corpus)}: {title}" if number == 0 else title), fontsize=9)
            panel.grid(axis="y", visible=False)
    _style.shared_legend(drawn, axes)
    return drawn


def benchmarks_of(predictions: Sequence[str | Path]) -> list[Path]:
    """Return the benchmark files that a study has beside ``<study>/predictions/<run>/test.jsonl``; some may be lost."""
    found = []
    for path in map(Path, predictions):
        study, run = path.parents[6], Path(*path.parent.parts[-5:])
        for job in ("train", "predict"):
            benchmark = study / "benchmarks" / job / run.with_suffix(".jsonl")
            if benchmark.exists():
                found.append(benchmark)
    return found


def _rank(name: str) -> int:
    order = labels.cardinality_order()
    return order.index(name) if name in order else len(order)


def _measured(paths: list[Path]) -> dict[tuple[str, str, str, str], dict[tuple[str, str], list[float]]]:
    found: dict[tuple, dict[tuple, list[float]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(paths):
        parts = path.with_suffix("").parts
        if len(parts) < 6:
            raise UserError(
                f"{path}: expected …/<train or predict>/<corpus>/<training set>/<extractor>/<noise>/<seed>.jsonl"
            )
        job, corpus, trainset, extractor, noise, _ = parts[-6:]
        if not trainset.startswith("original-"):
            continue
        for number, row in read_jsonl(path):
            if not isinstance(row, dict) or not isinstance(row.get("s"), int | float):
                raise UserError(f"{path} line {number}: not a benchmark; expected an object with 's'")
            for column in ("s", "max_rss"):
                if isinstance(row.get(column), int | float):  # memory of a very short job is not measured
                    found[corpus, trainset, extractor, noise][job, column].append(row[column])
    return found
