"""``training-curves``: loss and validation F1 over epochs, one row of panels a corpus."""

from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_jsonl
from tripleaudit.tables import labels
from tripleaudit.tables.evidence import TableInputs

NAME = "training-curves"


def draw(inputs: TableInputs) -> Any:
    """Draw ``files["history"]``: ``…/<corpus>/<training set>/<extractor>/<noise>/<seed>/history.jsonl``.

    A history is JSON lines with ``epoch`` and ``loss`` (training) or ``f1`` (validation); extractors share a colour.
    """
    from matplotlib.ticker import LogLocator

    from tripleaudit.tables.plots import _style

    histories = [(_named(path), *_read(path)) for path in inputs.files.get("history", [])]
    histories.sort(key=lambda history: (history[0][3] != "none", history[0][1] != "original-nz"))  # for the legend
    corpora = labels.ordered((name[0] for name, _, _ in histories), tuple(labels.CORPORA))
    drawn, axes = _style.figure(2 * len(corpora), per_row=2)
    if not corpora:
        return _style.nothing(drawn, axes[0])
    for place, corpus in enumerate(corpora):
        mine = [history for history in histories if history[0][0] == corpus]
        names = labels.ordered((name[2] for name, _, _ in mine), labels.rte_order())
        panels = axes[2 * place : 2 * place + 2]
        labelled = set()
        for (_, trainset, extractor, noise, _), losses, scores in mine:
            colour = _style.look(names.index(extractor))["color"]
            style = {
                "color": colour,
                "linewidth": 1,
                "linestyle": "--" if noise == "noising" else "-",
                "alpha": 0.9 if trainset == "original-nz" else 0.45,
            }
            for number, (panel, points) in enumerate(zip(panels, (losses, scores), strict=True)):
                label = labels.extractor(extractor) if (number, extractor) not in labelled and points else None
                if label:
                    labelled.add((number, extractor))
                marks = {"marker": "o", "markersize": 3.5} if number else {}  # few epochs may have a validation
                panel.plot(
                    *zip(*points, strict=True) if points else ([], []),
                    label=label and _style.plain(label),
                    **style,
                    **marks,
                )
        for panel, title in zip(panels, ("training loss", "validation F1"), strict=True):
            panel.set_title(_style.plain(f"{labels.corpus(corpus)}: {title}"))
            panel.set_xlabel("epoch")
        panels[0].set_yscale("log")
        heights = [loss for _, losses, _ in mine for _, loss in losses] or [1]
        wide = max(heights) > 100 * min(heights)  # sums over a sentence's cells beside means over them
        panels[0].yaxis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
        panels[0].yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        panels[0].yaxis.set_minor_formatter(lambda value, _: "")
        panels[1].set_ylim(0, 1)
    _style.shared_legend(drawn, axes, title="dashed: with Entity Noising; pale: other training sets", title_fontsize=8)
    return drawn


def _named(path: Path) -> tuple[str, str, str, str, str]:
    parts = path.parent.parts
    if len(parts) < 5:
        raise UserError(f"{path}: expected …/<corpus>/<training set>/<extractor>/<noise>/<seed>/{path.name}")
    corpus, trainset, extractor, noise, seed = parts[-5:]
    return corpus, trainset, extractor, noise, seed


def _read(path: Path) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    losses, scores = [], []
    for number, row in read_jsonl(path):
        if not isinstance(row, dict) or not isinstance(row.get("epoch"), int | float):
            raise UserError(f"{path} line {number}: expected an object with 'epoch' and 'loss' or 'f1'")
        if isinstance(row.get("loss"), int | float) and row["loss"] > 0:
            losses.append((row["epoch"], row["loss"]))
        if isinstance(row.get("f1"), int | float):
            scores.append((row["epoch"], row["f1"]))
    return losses, scores
