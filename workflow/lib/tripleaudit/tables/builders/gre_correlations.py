"""How GREScores and lengths go together over systems, as GenRES discusses its tables 2 to 4."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tripleaudit.descriptors import TableSpec
from tripleaudit.scoring.bootstrap import FEWEST
from tripleaudit.tables.builders.gre import (
    GROUND_TRUTH,
    SCORES,
    SIZES,
    Metric,
    cell_of,
    dataset,
    mode_of,
    parts,
    runs_of,
)
from tripleaudit.tables.cells import Cell, Row, Table
from tripleaudit.tables.gates import FEW, NOT_MEASURED, counted
from tripleaudit.tables.inputs import RunKey, TableInputs

LEAST = 5  # systems behind a correlation, beyond one a data set
SETTINGS = ("open", "system", "trained")


def build(inputs: TableInputs) -> Table:
    """Build from GREScores: Pearson's correlation of each two columns over systems, levels of data sets aside."""
    runs, mode, shown = *_runs(inputs), (*SCORES, *SIZES)
    values = {metric: [_value(inputs, run, metric, mode) for run in runs] for metric in shown}
    sets = [run.corpus for run in runs]
    rows = [
        Row(one.label, [_cell(values[one], values[other], sets) if one != other else Cell() for other in shown])
        for one in SCORES
    ]
    named = ", ".join(dataset(name) for name in dict.fromkeys(sets))
    return inputs.table(
        "Correlations of GREScores and lengths over systems.",
        [metric.label for metric in shown],
        rows,
        ("Score", ""),
        f"Pearson's correlation over {len(runs)} rows of open extraction ({named}), ground truth aside; each value "
        "is its distance from the mean of its data set, whose levels differ. [low, high] is the 95 % interval by "
        f"Fisher's transformation, with a degree of freedom less for each data set. A pair with fewer than {LEAST} "
        "such degrees has a gap; a system without a score, or with one of fewer than "
        f"{FEWEST} texts, is left out where it is needed.",
        "The rows of one system on several data sets are no independent systems, so that the intervals are too "
        "narrow rather than too wide.",
    )


def _runs(inputs: TableInputs) -> tuple[list[RunKey], str]:
    """Return the runs of open extraction but ground truth, and the mode that they are scored in."""
    runs = [run for run in runs_of(inputs) if parts(run)[1] in SETTINGS and run.extractor != GROUND_TRUTH]
    return runs, mode_of(inputs, runs)


def _value(inputs: TableInputs, run: RunKey, metric: Metric, mode: str) -> float | None:
    """Return a score, None where it rests on too few texts to take part in a correlation."""
    cell = cell_of(inputs, run, metric, mode)
    return None if cell.cases is not None and cell.cases < FEWEST else cell.value


def _cell(one: Sequence[float | None], other: Sequence[float | None], sets: Sequence[str]) -> Cell:
    pairs = [(name, x, y) for name, x, y in zip(sets, one, other, strict=True) if x is not None and y is not None]
    sizes = Counter(name for name, *_ in pairs)
    pairs = [pair for pair in pairs if sizes[pair[0]] > 1]  # one system alone has no distance
    several = {name for name, *_ in pairs}
    free, columns = len(pairs) - len(several), np.array([[x, y] for _, x, y in pairs])
    if free < LEAST:
        return Cell(digits=2)
    for name in several:
        rows = np.array([name == each for each, *_ in pairs])
        columns[rows] -= columns[rows].mean(axis=0)
    spread = np.sqrt((columns**2).sum(axis=0))
    if not spread.all():
        return Cell(digits=2)
    value = float((columns[:, 0] @ columns[:, 1]) / spread.prod())
    middle, width = math.atanh(min(max(value, -0.999999), 0.999999)), 1.959964 / math.sqrt(free - 2)
    return Cell(value, 2, low=math.tanh(middle - width), high=math.tanh(middle + width), cases=len(pairs))


def answer(table: Table, inputs: TableInputs) -> str:
    """Say which scores go with which, where the interval leaves zero out."""
    stated = {}
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell.value is not None and cell.low * cell.high > 0:
                stated.setdefault(
                    frozenset((row.label, column.label)), f"{row.label} and {column.label} ({cell.value:.2f})"
                )
    if not any(cell.value is not None for cell in table.cells):
        return NOT_MEASURED
    runs, mode = _runs(inputs)
    texts = min((size for run in runs if (size := inputs.scores.cases(run, "all", mode)) is not None), default=FEW)
    if texts < FEW:
        return f"Too few cases to say what goes together: scores rest on {counted(texts, 'text')}, and it takes {FEW}."
    together = ", ".join(stated.values())
    return f"What goes together over systems: {together}." if together else "No two of them go together."


SPEC = TableSpec(
    name="gre-correlations",
    order=23.5,
    build=build,
    needs="gre",
    possible=lambda study: bool(study.gre_levels),
    question="Which GREScores go together over systems, and which with lengths?",
    answer=answer,
)
