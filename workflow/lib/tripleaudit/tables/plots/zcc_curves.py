"""``zcc-curves``: precision over recall of classifiers with their operating points."""

import altair as alt

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.scoring.scores import run_keys
from tripleaudit.tables import labels, panels
from tripleaudit.tables.inputs import TableInputs

NAME = "zcc-curves"


def draw(inputs: TableInputs) -> panels.Spec:
    """Draw the curves in ``files["curves"]``, one panel a corpus.

    Seeds of a classifier share a colour; the mark is the operating point, the legend gives the mean
    average precision (:func:`tripleaudit.scoring.rows.score_classifier`).
    """
    curves: dict[str, dict[str, list[dict]]] = {}
    for path in inputs.files.get("curves", []):
        curve = read_json(path)
        if not isinstance(curve, dict) or "points" not in curve or "keys" not in curve:
            raise UserError(
                f"{path}: not a precision-recall curve; expected an object with 'keys' and 'points'"
            )
        keys = curve["keys"]
        curves.setdefault(keys.get("corpus", ""), {}).setdefault(
            keys.get("extractor", ""), []
        ).append(curve)
    return panels.plot(
        [_panel(inputs, corpus, curves[corpus]) for corpus in labels.corpora(curves)], width=300
    )


def _panel(inputs: TableInputs, corpus: str, classifiers: dict[str, list[dict]]) -> panels.Panel:
    lines, marks, names = [], [], []
    for name in labels.ordered(classifiers, labels.cardinality_order()):
        seeds = classifiers[name]
        average = sum(curve["average_precision"] for curve in seeds) / len(seeds)
        wz = {"protocol": "original", "training": "wz", "testing": "wz"}
        mark = inputs.frames.mark(run_keys(wz, corpus=corpus, extractor=name))
        names.append(f"{labels.extractor(name)}{mark}, AP {average:.3f}")
        for number, curve in enumerate(seeds):
            of = {"series": names[-1], "seed": number}
            points = enumerate(map(_rounded, _corners(curve["points"])))
            lines += [{**of, "position": position, **point} for position, point in points]
            marks.append({**of, **_rounded(curve["operating_point"])})
    x = panels.number(alt.X, "recall", "Recall of “has triples”", (0, 1))
    y = panels.number(alt.Y, "precision", "Precision", (0, 1))
    colour = panels.series(alt.Color, names, columns=1, least=1)
    shape = panels.series(alt.Shape, names, columns=1, least=1)
    curve_lines = alt.Chart(panels.values(lines)).mark_line(
        interpolate="step-before", strokeWidth=1.4, clip=True
    )
    operating_points = alt.Chart(panels.values(marks)).mark_point(filled=True, size=60, opacity=1)
    tips = panels.tips(series="operating point", recall="", precision="")
    layers = (
        curve_lines.encode(x, y, colour, order="position:Q", detail="seed:N"),
        operating_points.encode(x, y, colour, shape, tooltip=tips),
    )
    return alt.layer(*layers).properties(title=panels.clean(labels.corpus(corpus)), height=200)


def _corners(points: list[dict]) -> list[dict]:
    """Return the corners of a step curve: the ends of runs of equal recall or precision."""
    kept = points[:1]
    for position in range(1, len(points) - 1):
        around = points[position - 1 : position + 2]
        if all(len({one[axis] for one in around}) > 1 for axis in ("recall", "precision")):
            kept.append(points[position])
    return kept + points[1:][-1:]


def _rounded(point: dict) -> dict[str, float]:
    return {name: round(point[name], 4) for name in ("recall", "precision")}
