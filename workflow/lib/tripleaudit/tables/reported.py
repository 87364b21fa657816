"""Numbers that the papers print, looked up by the project's own names.

The files in ``data/reported`` keep every value as printed; their README says how they were checked
and corrected.
"""

import csv
import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from tripleaudit.core.files import open_text
from tripleaudit.core.shipped import DATA
from tripleaudit.extractors.spec import EXTRACTORS

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
def values(paper: str) -> dict[tuple[str, ...], str]:
    """Return all values of one file (``rte_eval``, ``minea``, …) by :data:`KEY`, as printed."""
    with open_text(FOLDER / f"{paper}.csv") as stream:
        return {tuple(row[name] for name in KEY): row["value"] for row in csv.DictReader(stream)}


def rte(
    table: int, corpus: str, setting: str, metric: str, *, model: str = "", variant: str = ""
) -> str | None:
    """Return a value of rte-generalization, percent or a count; ``None`` where the paper has none.

    The table is one of 1 to 7, the setting a protocol; corpus and model are the project's names,
    metric and variant the file's, such as ``entity noising``.
    """
    return _printed("rte_eval", RTE_DATASETS.get(corpus), table, setting, model, variant, metric)


def in_rte(table: int) -> Callable[[Mapping[str, Any]], str | None]:
    """Return the look-up of a cell in one of the tables 3 to 5 of rte-generalization.

    These tables use exact matching only.
    """

    def look_up(keys: Mapping[str, Any]) -> str | None:
        if keys["matching"] != "exact-string" or keys["noise"] not in EN_VARIANTS:
            return None
        stratum = keys["stratum"]
        metric = METRICS.get(keys["metric"] if stratum == "all" else stratum, "")
        variant = EN_VARIANTS[keys["noise"]]
        return rte(
            table,
            keys["corpus"],
            keys["protocol"],
            metric,
            model=keys["extractor"],
            variant=variant,
        )

    return look_up


def cardinality(
    table: int, corpus: str, setting: str, metric: str, *, model: str = "", variant: str = ""
) -> str | None:
    """Return a value of zero-cardinality; arguments as :func:`rte`.

    It is a fraction, points, minutes or a count.
    """
    return _printed(
        "zero_cardinality", CARDINALITY_DATASETS.get(corpus), table, setting, model, variant, metric
    )


def _printed(
    paper: str, dataset: str | None, table: int, setting: str, model: str, *further: str
) -> str | None:
    name = EXTRACTORS[model].reported if model in EXTRACTORS else ""
    if dataset is None or (model and not name):
        return None
    return values(paper).get((str(table), dataset, setting, name, *further))
