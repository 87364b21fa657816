"""``rearranged``: results on the original and the rearranged split (rte-generalization, table 3)."""

from tripleaudit.tables import labels
from tripleaudit.tables.builders._type_columns import NOISE_NOTE, STRATA_NOTE, reported_in, type_columns
from tripleaudit.tables.grid import PERCENT, as_columns, as_rows, extractor_rows, notes, score_grid
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Table

NAME = "rearranged"


def build(inputs: TableInputs) -> Table:
    """Build from scores: each extractor is trained and tested on either split."""
    rows = extractor_rows(
        inputs,
        ("rearranged",),
        labels.RTE_ORDER,
        base=lambda corpus, extractor, noise: RunKey(corpus, "original", "nz", "nz", extractor, noise),
    )
    columns = type_columns("Original") + type_columns("Rearranged", lambda run: run._replace(protocol="rearranged"))
    shape = {**PERCENT, "digits": inputs.digits(PERCENT["digits"])}
    grid = score_grid(inputs.scores, rows, columns, reported=reported_in(3), **shape)
    noised = any(row.run.noise == "noising" for row in rows)
    return Table(
        NAME,
        inputs.caption("Results (%) on the original and the rearranged data sets."),
        as_columns(columns),
        as_rows(rows, grid),
        row_header="Method",
        group_header="Corpus",
        notes=notes(
            (cell for cells in grid for cell in cells), inputs.matching, STRATA_NOTE, NOISE_NOTE if noised else ""
        ),
    )
