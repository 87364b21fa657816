"""``augmented``: results on the augmented test sets (rte-generalization, table 5)."""

from tripleaudit.tables import labels
from tripleaudit.tables.builders._type_columns import NOISE_NOTE, reported_in
from tripleaudit.tables.grid import PERCENT, PRF, ScoreColumn, as_columns, as_rows, extractor_rows, notes, score_grid
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Table

NAME = "augmented"


def build(inputs: TableInputs) -> Table:
    """Build from scores: trained on the original split, tested on its augmented test set."""
    rows = extractor_rows(
        inputs,
        ("augmented",),
        labels.RTE_ORDER,
        base=lambda corpus, extractor, noise: RunKey(corpus, "augmented", "nz", "nz", extractor, noise),
    )
    columns = [ScoreColumn(label, metric) for metric, label in PRF]
    shape = {**PERCENT, "digits": inputs.digits(PERCENT["digits"])}
    grid = score_grid(inputs.scores, rows, columns, reported=reported_in(5), **shape)
    noised = any(row.run.noise == "noising" for row in rows)
    return Table(
        NAME,
        inputs.caption("Results (%) on the augmented test sets, trained on the original split."),
        as_columns(columns),
        as_rows(rows, grid),
        row_header="Method",
        group_header="Corpus",
        notes=notes((cell for cells in grid for cell in cells), inputs.matching, NOISE_NOTE if noised else ""),
    )
