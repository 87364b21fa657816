"""``cardinality-drop``: how F1 falls from NZ to WZ testing, by extractor; a panel for each corpus and training set."""

from typing import Any

from tripleaudit.tables import labels
from tripleaudit.tables.evidence import TableInputs
from tripleaudit.tables.grid import is_extractor
from tripleaudit.tables.score_index import RunKey

NAME = "cardinality-drop"
OFFSET = 0.14  # between the marks of the two test sets, so that their intervals stay apart


def draw(inputs: TableInputs) -> Any:
    """Draw a line from F1 on WZ to F1 on NZ for each extractor, with bootstrap intervals."""
    from tripleaudit.tables.plots import _style

    runs = [
        run
        for run in inputs.scores.runs
        if run.protocol == "original" and run.noise == "none" and is_extractor(run.extractor)
    ]
    corpora = inputs.names("corpora", [run.corpus for run in runs if run.testing == "wz"], tuple(labels.CORPORA))
    panels = [
        (corpus, training)
        for corpus in corpora
        for training in labels.SETTINGS
        if any(run[:3] == (corpus, "original", training) for run in runs)
    ]
    extractors = inputs.names("extractors", [run.extractor for run in runs], labels.cardinality_order())
    drawn, axes = _style.figure(len(panels), height=1.2 + 0.28 * max(len(extractors), 4), per_row=2)
    if not panels:
        return _style.nothing(drawn, axes[0])
    for panel, (corpus, training) in zip(axes, panels, strict=True):
        shown = [
            name for name in extractors if any(run[:5] == (corpus, "original", training, "wz", name) for run in runs)
        ]
        for place, name in enumerate(reversed(shown)):
            cells = {
                testing: inputs.scores.cell(
                    RunKey(corpus, "original", training, testing, name), "f1", matching=inputs.matching
                )
                for testing in labels.SETTINGS
            }
            values = [cell.value for cell in cells.values() if cell.value is not None]
            if len(values) == 2:
                panel.plot(values, [place + OFFSET, place - OFFSET], color="#999999", linewidth=1, zorder=1)
                panel.annotate(
                    f"{values[0] - values[1]:.1f}",
                    (values[0], place + OFFSET),
                    xytext=(0, 4),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                    color="#555555",
                )
            for number, (testing, cell) in enumerate(cells.items()):
                if cell.value is None:
                    continue
                look = _style.look(number)
                height = place + (OFFSET if testing == "nz" else -OFFSET)
                label = f"tested on {labels.SETTINGS[testing]}" if place == 0 else None
                panel.plot([cell.value], [height], linestyle="", markersize=5, label=label, **look)
                if cell.low is not None:
                    panel.hlines(height, cell.low, cell.high, color=look["color"], linewidth=1.6)
        panel.set_yticks(range(len(shown)), [_style.plain(labels.extractor(name)) for name in reversed(shown)])
        panel.set_ylim(-0.6, len(shown) - 0.3)
        panel.set_xlabel("F1 (%), the drop in points above the marks")
        panel.set_title(_style.plain(f"{labels.corpus(corpus)}, trained on {labels.SETTINGS[training]}"))
        panel.grid(axis="y", visible=False)
    _style.shared_legend(drawn, axes)
    return drawn
