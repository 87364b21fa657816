"""``time-memory``: time and memory of training and prediction from benchmark files."""

import statistics
from collections import defaultdict
from pathlib import Path

import altair as alt

from tripleaudit.core.files import read_jsonl
from tripleaudit.tables import labels, panels
from tripleaudit.tables.inputs import TableInputs

NAME = "time-memory"
PANELS = (
    ("train", "s", 60, "Training, minutes"),
    ("predict", "s", 1, "Prediction, seconds"),
    ("train", "max_rss", 1024, "Training, GB of main memory"),
)
"""Job, column of Snakemake's benchmark, unit, title."""


def draw(inputs: TableInputs) -> panels.Spec:
    """Draw ``files["benchmarks"]``.

    A path ends in ``<train|predict>/<corpus>/<training set>/<extractor>/<noise>/<seed>.jsonl``.
    Wall time and the greatest resident memory of a job and its children; a bar is the mean over
    seeds, a line its range. Only trainings on the original splits are compared.
    """
    measured = _measured(inputs.files.get("benchmarks", []))
    corpora = labels.corpora(corpus for corpus, *_ in measured)
    names = labels.ordered((name for _, _, name, _ in measured), labels.cardinality_order())
    settings = [f"original-{setting}" for setting in labels.SETTINGS]
    order = sorted(
        measured, key=lambda key: (names.index(key[2]), key[3] != "none", settings.index(key[1]))
    )
    rows: dict[tuple[str, str], list[dict]] = {
        (corpus, title): [] for corpus in corpora for *_, title in PANELS
    }
    for corpus, trainset, name, noise in order:
        for job, column, unit, title in PANELS:
            if seeds := [
                value / unit
                for value in measured[corpus, trainset, name, noise].get((job, column), ())
            ]:
                mean = statistics.fmean(seeds)
                row = {
                    "row": labels.extractor(name, noise),
                    "series": _trained_on(trainset),
                    "value": mean,
                }
                row |= {"shown": f"{mean:.3g}", "low": min(seeds), "high": max(seeds)}
                rows[corpus, title].append(row)
    widest = {
        title: max((bar["high"] for one in corpora for bar in rows[one, title]), default=1)
        for *_, title in PANELS
    }
    drawn = [
        _panel(f"{labels.corpus(corpus)}: {title}", bars, widest[title])
        for (corpus, title), bars in rows.items()
        if bars
    ]
    return panels.plot(drawn, columns=len(PANELS))


def _panel(title: str, bars: list[dict], widest: float) -> panels.Panel:
    names = [_trained_on(f"original-{setting}") for setting in labels.SETTINGS]
    names = [name for name in names if any(bar["series"] == name for bar in bars)]
    domain = (0, 1.15 * widest)
    base = alt.Chart(panels.values(bars)).encode(
        alt.Y("row:N", sort=None, axis=alt.Axis(title=None, labelLimit=190)),
        alt.YOffset("series:N", sort=names),
        tooltip=panels.tips(row="", series="", shown="mean", low="", high=""),
    )
    mean = panels.number(alt.X, "value", None, domain)
    bounds = panels.number(alt.X, "low", None, domain), alt.X2("high")
    number = base.mark_text(align="left", dx=3, fontSize=9, color=panels.FAINT)
    layers = (
        base.mark_bar().encode(mean, panels.series(alt.Color, names)),
        base.mark_rule(color=panels.FAINT).encode(*bounds),
        number.encode(panels.number(alt.X, "high", None, domain), text="shown:N"),
    )
    height = panels.ROW_HEIGHT * (len(names) + 1) * len({bar["row"] for bar in bars})
    return alt.layer(*layers).properties(title=panels.clean(title), height=height)


def _trained_on(trainset: str) -> str:
    return f"trained on {labels.SETTINGS[trainset.removeprefix('original-')]}"


def _measured(
    paths: list[Path],
) -> dict[tuple[str, str, str, str], dict[tuple[str, str], list[float]]]:
    found: dict[tuple, dict[tuple, list[float]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(paths):
        job, corpus, trainset, extractor, noise, _ = path.with_suffix("").parts[-6:]
        for _, row in read_jsonl(path) if trainset.startswith("original-") else ():
            for column in ("s", "max_rss"):
                if isinstance(
                    row.get(column), int | float
                ):  # memory of a very short job is not measured
                    found[corpus, trainset, extractor, noise][job, column].append(row[column])
    return found
