"""``gre-scores``: the five GREScores as small multiples, a row of panels a data set and level (GenRES, section 3)."""

from typing import Any

from tripleaudit.tables.builders import gre
from tripleaudit.tables.evidence import TableInputs

NAME = "gre-scores"
TITLES = {
    "TS": "Topical similarity",
    "US": "Uniqueness",
    "FS": "Factualness",
    "GS": "Granularity",
    "CS": "Completeness",
}


def draw(inputs: TableInputs) -> Any:
    """Draw every system's scores in percent with their intervals; a diamond is the value that the paper prints."""
    from tripleaudit.tables.plots import _style

    runs = sorted(gre.runs_of(inputs), key=gre.system_order)
    corpora = inputs.names("corpora", [run.corpus for run in runs], tuple(gre.DATASETS))
    rows = [
        (corpus, level)
        for level in dict.fromkeys(gre.parts(run)[0] for run in runs)
        for corpus in corpora
        if any((run.corpus, gre.parts(run)[0]) == (corpus, level) for run in runs)
    ]
    count = max((sum((run.corpus, gre.parts(run)[0]) == row for run in runs) for row in rows), default=1)
    drawn, axes = _style.figure(len(rows) * 5, width=2.1, height=0.9 + 0.2 * max(count, 3), per_row=5)
    if not rows:
        return _style.nothing(drawn, axes[0])
    mode = gre.mode_of(inputs, runs)
    scores = [metric for metric in gre.scores() if metric.label in TITLES]
    for place, (corpus, level) in enumerate(rows):
        mine = [run for run in reversed(runs) if (run.corpus, gre.parts(run)[0]) == (corpus, level)]
        names = [_style.plain(gre.label_of(run)) for run in mine]
        for metric, panel in zip(scores, axes[5 * place : 5 * place + 5], strict=True):
            for height, run in enumerate(mine):
                cell = gre.cell_of(inputs, run, metric, mode)
                look = _style.look(1 if run.extractor == gre.GROUND_TRUTH else 0)
                if cell.low is not None:
                    panel.hlines(height, cell.low, cell.high, color=look["color"], linewidth=1.6)
                if cell.value is not None:
                    panel.plot([cell.value], [height], linestyle="", markersize=4.5, **look)
                printed = gre.reported_value(run, metric)
                if printed is not None:
                    panel.plot(
                        [float(printed)],
                        [height],
                        linestyle="",
                        marker="D",
                        markersize=5,
                        markerfacecolor="none",
                        markeredgecolor="#555555",
                        label="reported in the paper",
                    )
            panel.set_xlim(-3, 103)
            panel.set_xticks((0, 50, 100))
            panel.set_ylim(-0.6, len(mine) - 0.4)
            panel.set_yticks(range(len(mine)), names if metric is scores[0] else [""] * len(mine), fontsize=8)
            panel.set_title(TITLES[metric.label], fontsize=9)
            panel.grid(axis="y", visible=False)
            if metric is scores[2]:
                panel.set_xlabel(_style.plain(f"{gre.dataset(corpus)}, {level} level: scores in %"))
    _style.shared_legend(drawn, axes)
    return drawn
