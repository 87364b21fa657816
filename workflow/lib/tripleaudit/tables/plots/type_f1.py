"""``type-f1``: type F1 by stratum with bootstrap intervals, one panel a corpus."""

from tripleaudit.tables import labels, panels
from tripleaudit.tables.grid import extractor_rows, is_extractor
from tripleaudit.tables.inputs import TableInputs

NAME = "type-f1"


def draw(inputs: TableInputs) -> panels.Spec:
    """Draw F1 in percent on entirely seen, partially seen and unseen triples; lines are the 95 %
    intervals.
    """
    rows = extractor_rows(inputs, ("original",))
    points: dict[str, list[dict]] = {}
    for row in rows:
        if is_extractor(row.run.extractor):
            mine = points.setdefault(row.group, [])
            for stratum in labels.SHORT_TYPES:
                cell = inputs.scores.cell(row.run, "f1", stratum=stratum, matching=row.matching)
                if cell.value is not None:
                    mine.append(panels.point(row.label + cell.mark, labels.TYPES[stratum], cell))
    names = [labels.TYPES[stratum] for stratum in labels.SHORT_TYPES]
    return panels.plot(
        [
            {"title": panels.clean(corpus), **panels.intervals(mine, names, (0, 100), "F1 (%)")}
            for corpus, mine in points.items()
        ]
    )
