"""``type-f1``: F1 and type F1 on the original split, with and without Entity Noising (rte-generalization, table 2)."""

from tripleaudit.tables import labels
from tripleaudit.tables.builders._type_columns import NOISE_NOTE, STRATA_NOTE, reported_in, type_columns
from tripleaudit.tables.grid import PERCENT, as_columns, as_rows, extractor_rows, notes, score_grid
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Table

NAME = "type-f1"


def build(inputs: TableInputs) -> Table:
    """Build from scores. The paper's baseline rows of table 2 recur in table 3, which has those with noising too."""
    rows = extractor_rows(
        inputs,
        ("original",),
        labels.RTE_ORDER,
        base=lambda corpus, extractor, noise: RunKey(corpus, "original", "nz", "nz", extractor, noise),
    )
    columns = type_columns(full=False)
    shape = {**PERCENT, "digits": inputs.digits(PERCENT["digits"])}
    grid = score_grid(inputs.scores, rows, columns, reported=reported_in(3), **shape)
    noised = any(row.run.noise == "noising" for row in rows)
    return Table(
        NAME,
        inputs.caption("F1 and type F1 (%) on the original test sets."),
        as_columns(columns),
        as_rows(rows, grid),
        row_header="Method",
        group_header="Corpus",
        notes=notes(
            (cell for cells in grid for cell in cells), inputs.matching, STRATA_NOTE, NOISE_NOTE if noised else ""
        ),
    )
