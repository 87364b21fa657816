"""``gre-scores``: the five GREScores as small multiples, a row of panels a data set and level
(GenRES, section 3).
"""

from itertools import product

from tripleaudit.tables import labels, panels
from tripleaudit.tables.builders import gre
from tripleaudit.tables.inputs import TableInputs

NAME = "gre-scores"
TITLES = {
    "TS": "Topical similarity",
    "US": "Uniqueness",
    "FS": "Factualness",
    "GS": "Granularity",
    "CS": "Completeness",
}
NAMES = ["measured", "reported in the paper"]


def draw(inputs: TableInputs) -> panels.Spec:
    """Draw every system's scores in percent with their intervals, and next to them what the
    paper prints.
    """
    runs = sorted(gre.runs_of(inputs), key=gre.system_order)
    corpora = labels.ordered((run.corpus for run in runs), tuple(gre.DATASETS))
    mode, drawn = gre.mode_of(inputs, runs), []
    for level, corpus in product(dict.fromkeys(gre.parts(run)[0] for run in runs), corpora):
        mine = [run for run in runs if (run.corpus, gre.parts(run)[0]) == (corpus, level)]
        named = {run: gre.label_of(run) + inputs.scores.mark(run) for run in mine}
        for metric in gre.SCORES:
            points = []
            for run, name in named.items():
                cell, printed = gre.cell_of(inputs, run, metric, mode), gre.printed(run, metric)
                points += [panels.point(name, NAMES[0], cell)] if cell.value is not None else []
                if printed is not None:
                    points.append(
                        {"row": name, "series": NAMES[1], "value": float(printed), "shown": printed}
                    )
            if points:
                names = [name for name in NAMES if any(point["series"] == name for point in points)]
                title = f"{gre.dataset(corpus)}, {level} level: {TITLES[metric.label]}"
                panel = panels.intervals(points, names, (0, 100), "%", list(named.values()))
                drawn.append({"title": panels.clean(title), **panel})
    return panels.plot(drawn, columns=len(TITLES), width=130)
