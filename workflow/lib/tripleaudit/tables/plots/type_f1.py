"""``type-f1``: type F1 by stratum with bootstrap intervals; one panel a corpus, or three where systems are many."""

from typing import Any

from tripleaudit.tables import labels
from tripleaudit.tables.evidence import TableInputs
from tripleaudit.tables.grid import ScoreRow, extractor_rows
from tripleaudit.tables.score_index import RunKey

NAME = "type-f1"
CROWDED = 6  # more systems than these stand below one another, in a panel for each stratum


def draw(inputs: TableInputs) -> Any:
    """Draw F1 in percent over entirely seen, partially seen and unseen; lines are the 95 % intervals."""
    from tripleaudit.tables.plots import _style

    rows = extractor_rows(
        inputs,
        ("original",),
        labels.rte_order(),
        base=lambda corpus, extractor, noise: RunKey(corpus, "original", "nz", "nz", extractor, noise),
    )
    by_corpus: dict[str, list[ScoreRow]] = {}
    for row in rows:
        by_corpus.setdefault(row.group, []).append(row)
    most = max(map(len, by_corpus.values()), default=0)
    if not rows:
        drawn, axes = _style.figure()
        return _style.nothing(drawn, axes[0])
    if most > CROWDED:
        return _below_one_another(inputs, by_corpus, most)
    names = list(dict.fromkeys(row.label for row in rows))
    drawn, axes = _style.figure(len(by_corpus))
    for panel, (corpus, mine) in zip(axes, by_corpus.items(), strict=True):
        for place, row in enumerate(mine):
            shift = (place - (len(mine) - 1) / 2) * 0.7 / max(len(mine), 2)
            cells = [_cell(inputs, row, stratum) for stratum in labels.SHORT_TYPES]
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


def _below_one_another(inputs: TableInputs, by_corpus: dict[str, list[ScoreRow]], most: int) -> Any:
    """Systems as rows, a panel for each stratum; noised trainings have a colour of their own."""
    from tripleaudit.tables.plots import _style

    strata = tuple(labels.SHORT_TYPES)
    drawn, axes = _style.figure(len(strata) * len(by_corpus), width=3.3, height=0.9 + 0.2 * most)
    for place, (corpus, mine) in enumerate(by_corpus.items()):
        for number, stratum in enumerate(strata):
            panel = axes[place * len(strata) + number]
            for height, row in enumerate(mine):
                cell = _cell(inputs, row, stratum)
                look = _style.look(row.run.noise == "noising")
                if cell.low is not None:
                    panel.hlines(height, cell.low, cell.high, color=look["color"], linewidth=1.4)
                if cell.value is not None:
                    panel.plot([cell.value], [height], linestyle="", markersize=4.5, **look)
            panel.set_xlim(-2, 102)
            panel.set_ylim(len(mine) - 0.4, -0.6)
            names = [_style.plain(row.label) for row in mine] if number == 0 else [""] * len(mine)
            panel.set_yticks(range(len(mine)), names, fontsize=8)
            title = labels.TYPES[stratum]
            panel.set_title(_style.plain(f"{corpus}: {title}" if number == 0 else title), fontsize=9)
            panel.set_xlabel("F1 (%)")
            panel.grid(axis="y", visible=False)
    return drawn


def _cell(inputs: TableInputs, row: ScoreRow, stratum: str) -> Any:
    return inputs.scores.cell(row.run, "f1", stratum=stratum, matching=row.matching)
