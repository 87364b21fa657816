"""``type-f1``: type F1 by stratum with bootstrap intervals, one panel a corpus."""

from typing import Any

from tripleaudit.tables import labels
from tripleaudit.tables.grid import extractor_rows
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs

NAME = "type-f1"


def draw(inputs: TableInputs) -> Any:
    """Draw F1 in percent over entirely seen, partially seen and unseen; whiskers are the 95 % intervals."""
    from tripleaudit.tables.plots import _style

    rows = extractor_rows(
        inputs,
        ("original",),
        labels.RTE_ORDER,
        base=lambda corpus, extractor, noise: RunKey(corpus, "original", "nz", "nz", extractor, noise),
    )
    corpora = list(dict.fromkeys(row.group for row in rows))
    names = list(dict.fromkeys(row.label for row in rows))
    drawn, axes = _style.figure(len(corpora))
    if not rows:
        return _style.nothing(drawn, axes[0])
    for panel, corpus in zip(axes, corpora, strict=True):
        mine = [row for row in rows if row.group == corpus]
        for place, row in enumerate(mine):
            shift = (place - (len(mine) - 1) / 2) * 0.7 / max(len(mine), 2)
            cells = [inputs.scores.cell(row.run, "f1", stratum=s, matching=row.matching) for s in labels.SHORT_TYPES]
            points = [(x + shift, cell) for x, cell in enumerate(cells) if cell.value is not None]
            look = _style.look(names.index(row.label))
            panel.plot(
                [x for x, _ in points],
                [cell.value for _, cell in points],
                linestyle="",
                markersize=5,
                label=_style.plain(row.label),
                **look,
            )
            for x, cell in points:
                if cell.low is not None:
                    panel.vlines(x, cell.low, cell.high, color=look["color"], linewidth=1.2)
        panel.set_title(_style.plain(corpus))
        panel.set_xticks(range(len(labels.SHORT_TYPES)), [labels.TYPES[s] for s in labels.SHORT_TYPES])
        panel.set_xlim(-0.5, len(labels.SHORT_TYPES) - 0.5)
        panel.set_ylim(0, 100)
        panel.set_ylabel("F1 (%)")
        panel.grid(axis="x", visible=False)
    _style.shared_legend(drawn, axes)
    return drawn
