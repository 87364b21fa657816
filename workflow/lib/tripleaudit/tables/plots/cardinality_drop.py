"""``cardinality-drop``: how F1 falls from NZ to WZ testing, by extractor; a panel for each
corpus and training set.
"""

from tripleaudit.tables import labels, panels
from tripleaudit.tables.grid import is_extractor
from tripleaudit.tables.inputs import RunKey, TableInputs

NAME = "cardinality-drop"
NAMES = {testing: f"tested on {label}" for testing, label in labels.SETTINGS.items()}


def draw(inputs: TableInputs) -> panels.Spec:
    """Draw F1 on NZ and on WZ for each extractor, with bootstrap intervals and the drop between
    them.
    """
    runs = [
        run
        for run in inputs.scores.runs
        if run.protocol == "original" and run.noise == "none" and is_extractor(run.extractor)
    ]
    corpora = labels.corpora(run.corpus for run in runs if run.testing == "wz")
    drawn = []
    for corpus in corpora:
        for training in labels.SETTINGS:
            names = {
                run.extractor for run in runs if (run.corpus, run.training) == (corpus, training)
            }
            if names:
                shown = labels.ordered(names, labels.cardinality_order())
                drawn.append(_panel(inputs, corpus, training, shown))
    return panels.plot(drawn, columns=2)


def _panel(inputs: TableInputs, corpus: str, training: str, extractors: list[str]) -> panels.Spec:
    points, drops = [], []
    for name in extractors:
        runs = [RunKey(corpus, "original", training, testing, name) for testing in labels.SETTINGS]
        cells = [inputs.scores.cell(run, "f1", matching=inputs.matching) for run in runs]
        row = labels.extractor(name) + inputs.scores.mark(runs[0])
        known = [cell.value for cell in cells if cell.value is not None]
        points += [
            panels.point(row, testing, cell)
            for testing, cell in zip(NAMES.values(), cells, strict=True)
            if cell.value is not None
        ]
        if len(known) == 2:
            mark = inputs.scores.difference(runs[0], runs[1], matching=inputs.matching).mark
            shown = f"{known[0] - known[1]:.1f}{mark}"
            drop = {
                "row": row,
                "series": NAMES["nz"],
                "from": known[0],
                "to": known[1],
                "shown": shown,
            }
            drops.append(drop | {"high": max(cell.high or 0 for cell in cells)})
    panel = panels.intervals(
        points, list(NAMES.values()), (0, 100), "F1 (%), behind the marks the drop in points"
    )
    x = panels.number("from", panel["layer"][1]["encoding"]["x"]["axis"]["title"], (0, 100))
    faint = {"color": {"value": panels.FAINT}}
    dropped = {"data": panels.values(drops)}
    lines: panels.Spec = {
        "mark": {"type": "rule", "strokeWidth": 1},
        "encoding": {"x": x, "x2": {"field": "to"}},
    }
    texts: panels.Spec = {
        "mark": {"type": "text", "align": "left", "dx": 8, "fontSize": 9},
        "encoding": {"x": {**x, "field": "high"}, "text": {"field": "shown"}},
    }
    for layer in (lines, texts):
        layer["encoding"] |= {"yOffset": None, **faint}
    panel["layer"] = [dropped | lines, *panel["layer"], dropped | texts]
    title = f"{labels.corpus(corpus)}, trained on {labels.SETTINGS[training]}"
    return {"title": panels.clean(title), **panel}
