"""``llm-comparison``: MINEA of several models on the same needles (MINEA, table 6)."""

from tripleaudit.tables import reported
from tripleaudit.tables.builders import _minea as shared
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Column, Row, Table

NAME = "llm-comparison"


def build(inputs: TableInputs) -> Table:
    """Build from the overall scores; the paper's models follow those of the study."""
    digits = inputs.digits(3)
    runs = shared.runs_of(inputs, "needles")
    rows = [
        Row(
            shared.label(run, runs),
            (
                shared.cell(inputs, run, "all", "max", "minea", digits),
                shared.cell(inputs, run, "all", "max", "found", 0),
                shared.cell(inputs, run, "all", "", "needles", 0),
                shared.cell(inputs, run._replace(protocol="calls"), "all", "", "coverage", digits),
            ),
            "This study",
        )
        for run in runs
    ]
    for key, value in reported.values("minea").items():
        if key[0] == "6":
            # the printed six digits are exact shares of 187 needles
            found = round(float(value) * 187)
            cells = (Cell(float(value), digits), Cell(found, 0), Cell(187, 0), Cell(text=""))
            rows.append(Row(key[3], cells, "Paper"))
    return Table(
        NAME,
        inputs.caption("Language models compared by MINEA, all needles together."),
        [Column(text) for text in ("MINEA", "Found", "Needles", "Coverage")],
        rows,
        row_header="Model",
        group_header="Source",
        notes=shared.note_list(
            "Found: needles that the best criterion of their type finds. Models of this study extract the same "
            "documents with the same needles, prompts and limits.",
            shared.WILSON,
            shared.coverage_note(inputs, runs),
            shared.PRIVATE,
        ),
    )
