"""Numbers that the papers print, looked up by the project's own names.

The files in ``data/reported`` keep every value as printed; their README says how they were checked and corrected.
"""

import csv
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tripleaudit.descriptors import EXTRACTORS
from tripleaudit.errors import UserError
from tripleaudit.files import open_text
from tripleaudit.shipped import DATA

if TYPE_CHECKING:
    from tripleaudit.tables.grid import ScoreColumn, ScoreRow

FOLDER: Final = DATA / "reported"
KEY: Final = ("table", "dataset", "setting", "model", "variant", "metric")

RTE_DATASETS: Final = {"webnlg": "WebNLG", "nyt24": "NYT"}
"""Corpus -> data set of rte-generalization."""
CARDINALITY_DATASETS: Final = {"nyt24star": "NYT24*", "nyt29star": "NYT29*"}
"""Corpus -> data set of zero-cardinality."""
METRICS: Final = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "entirely_seen": "F1_entirely_seen",
    "partially_seen": "F1_partially_seen",
    "unseen": "F1_unseen",
}
"""Metric, or stratum of a type F1 -> the papers' metric."""
EN_VARIANTS: Final = {"none": "baseline", "noising": "entity noising"}


@functools.cache
def values(paper: str, folder: Path = FOLDER) -> dict[tuple[str, ...], str]:
    """Return all values of one file (``rte_eval``, ``zero_cardinality``, ``minea``, …) by :data:`KEY`, as printed.

    Raises:
        UserError: the file is missing or a key occurs twice.
    """
    path = folder / f"{paper}.csv"
    found: dict[tuple[str, ...], str] = {}
    with open_text(path) as stream:
        for number, row in enumerate(csv.DictReader(stream), 2):
            key = tuple(row[name] for name in KEY)
            if key in found:
                raise UserError(f"{path} line {number}: the value of {key} is given twice")
            found[key] = row["value"]
    return found


def rte(table: int, corpus: str, setting: str, metric: str, *, model: str = "", variant: str = "") -> str | None:
    """Return a value of rte-generalization, percent or a count; ``None`` where the paper has none.

    Args:
        table: number of the table, 1 to 7.
        corpus: the project's corpus name.
        setting: the protocol, or ``original``.
        metric: the paper's metric name.
        model: the project's extractor name.
        variant: the file's variant, such as ``entity noising``.
    """
    return _printed("rte_eval", RTE_DATASETS.get(corpus), table, setting, model, variant, metric)


def in_rte(table: int) -> "Callable[[ScoreRow, ScoreColumn], str | None]":
    """Return the look-up of a cell in one of the tables 3 to 5 of rte-generalization (exact matching only)."""

    def look_up(row: "ScoreRow", column: "ScoreColumn") -> str | None:
        run = column.of(row.run)
        if row.matching != "exact-string" or run.noise not in EN_VARIANTS:
            return None
        metric = METRICS.get(column.metric if column.stratum == "all" else column.stratum, "")
        return rte(table, run.corpus, run.protocol, metric, model=run.extractor, variant=EN_VARIANTS[run.noise])

    return look_up


def cardinality(
    table: int, corpus: str, setting: str, metric: str, *, model: str = "", variant: str = ""
) -> str | None:
    """Return a value of zero-cardinality: a fraction, points, minutes or a count; arguments as :func:`rte`."""
    return _printed("zero_cardinality", CARDINALITY_DATASETS.get(corpus), table, setting, model, variant, metric)


def _printed(paper: str, dataset: str | None, table: int, setting: str, model: str, *further: str) -> str | None:
    name = EXTRACTORS[model].reported if model in EXTRACTORS else ""
    if dataset is None or (model and not name):
        return None
    return values(paper).get((str(table), dataset, setting, name, *further))
