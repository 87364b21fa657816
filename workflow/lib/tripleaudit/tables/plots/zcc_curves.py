"""``zcc-curves``: precision over recall of the zero-cardinality classifiers with their operating points."""

from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_json
from tripleaudit.tables import labels
from tripleaudit.tables.evidence import TableInputs

NAME = "zcc-curves"


def draw(inputs: TableInputs) -> Any:
    """Draw the curves in ``files["curves"]`` (:func:`tripleaudit.scoring.rows.score_classifier`), one panel a corpus.

    Seeds of a classifier share a colour; the mark is the operating point, the legend gives the mean average precision.
    """
    from tripleaudit.tables.plots import _style

    curves: dict[str, dict[str, list[dict]]] = {}
    for path in inputs.files.get("curves", []):
        curve = read_json(path)
        if not isinstance(curve, dict) or "points" not in curve or "keys" not in curve:
            raise UserError(f"{path}: not a precision-recall curve; expected an object with 'keys' and 'points'")
        keys = curve["keys"]
        curves.setdefault(keys.get("corpus", ""), {}).setdefault(keys.get("extractor", ""), []).append(curve)
    corpora = labels.ordered(curves, tuple(labels.CORPORA))
    drawn, axes = _style.figure(len(corpora))
    if not corpora:
        return _style.nothing(drawn, axes[0])
    for panel, corpus in zip(axes, corpora, strict=True):
        for number, name in enumerate(labels.ordered(curves[corpus], labels.cardinality_order())):
            look = _style.look(number)
            seeds = curves[corpus][name]
            average = sum(curve["average_precision"] for curve in seeds) / len(seeds)
            for place, curve in enumerate(seeds):
                panel.plot(
                    [point["recall"] for point in curve["points"]],
                    [point["precision"] for point in curve["points"]],
                    color=look["color"],
                    linewidth=1.2,
                    alpha=1 / len(seeds) ** 0.5,
                    drawstyle="steps-pre",
                    label=_style.plain(f"{labels.extractor(name)}, AP {average:.3f}") if place == 0 else None,
                )
                point = curve["operating_point"]
                panel.plot([point["recall"]], [point["precision"]], linestyle="", markersize=6, **look)
        panel.set_title(_style.plain(labels.corpus(corpus)))
        panel.set_xlabel("Recall of “has triples”")
        panel.set_ylabel("Precision")
        panel.set_xlim(0, 1.02)
        panel.set_ylim(0, 1.02)
        panel.legend(fontsize=7, loc="lower left")
    return drawn
