"""``lost-in-the-middle``: redundancy when each part of a document is extracted once more (MINEA, table 1)."""

from tripleaudit.tables.builders import _minea as shared
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Column, Row, Table

NAME = "lost-in-the-middle"
PAPER_PARTS = 15


def build(inputs: TableInputs) -> Table:
    """Build from the redundancy by part; the paper's fifteen parts are a row of their own."""
    digits = inputs.digits(3)
    runs = shared.runs_of(inputs, "parts")
    measured = {run: [s for s in shared.strata(inputs, run, "", "redundancy") if s.isdigit()] for run in runs}
    parts = max([PAPER_PARTS, *(len(found) for found in measured.values())])
    rows, remarks = [], []
    for run in runs:
        cells = [
            shared.cell(inputs, run, str(part), "", "redundancy", digits)
            if str(part) in measured[run]
            else Cell(text="")
            for part in range(1, parts + 1)
        ]
        rows.append(Row(shared.label(run, runs), tuple(cells), "This study"))
        empty = sum(shared.cell(inputs, run, part, "", "empty", 0).value or 0 for part in measured[run])
        restarted = shared.cell(inputs, run, "all", "", "restarted", 0).value or 0
        documents = shared.cell(inputs, run, "all", "", "documents", 0).value or 0
        repeated = int(documents * len(measured[run]))
        remarks.append(
            f"{run.extractor}: {int(documents)} documents in {len(measured[run])} parts; of {repeated} repetitions "
            f"{int(empty)} brought no entity (counted as 0) and {int(restarted)} did not fit into the context, so that "
            "a new thread without history answered them."
        )
    printed = [shared.printed(1, "key='name'", "redundancy", f"part {n} of {PAPER_PARTS}") for n in range(1, parts + 1)]
    cells = tuple(Cell(float(value), digits) if value else Cell(text="") for value in printed)
    rows.append(Row("gpt-4-1106-preview", cells, "Paper"))
    return Table(
        NAME,
        inputs.caption(
            "Lost in the middle? Share of entities that a repeated extraction of each part returns although they were "
            "extracted from it before."
        ),
        [Column(str(part), "Part") for part in range(1, parts + 1)],
        rows,
        row_header="Model",
        group_header="Source",
        notes=shared.note_list(
            "Redundancy compares names. After a whole document is extracted, each part is shown once more, every time "
            "from the same state of the thread; a model that uses its history returns little that is old.",
            *remarks,
            shared.coverage_note(inputs, runs),
            shared.PRIVATE,
        ),
    )
