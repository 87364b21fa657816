"""``needle-criteria``: the rate of every criterion by entity type, the best one marked (MINEA, table 5)."""

from dataclasses import replace

from tripleaudit.tables.builders import _minea as shared
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Column, Row, Table

NAME = "needle-criteria"


def build(inputs: TableInputs) -> Table:
    """Build from the scores of the criteria; types of the paper stand beside its values."""
    digits = inputs.digits(3)
    runs = shared.runs_of(inputs, "needles")
    criteria = list(
        dict.fromkeys(
            matching for run in runs for _, matching, metric in inputs.scores.measured(run) if metric == "rate"
        )
    )
    rows = []
    for run in runs:
        for stratum in shared.strata(inputs, run, "", "needles"):
            if stratum.startswith("group:"):
                continue
            cells = [shared.cell(inputs, run, stratum, criterion, "rate", digits) for criterion in criteria]
            best = max((cell.value for cell in cells if cell.value is not None), default=None)
            cells = [
                replace(
                    cell,
                    bold=cell.value is not None and cell.value == best and best > 0 and stratum != "all",
                    reported=shared.printed(5, stratum, f"criterion_{criterion}"),
                )
                for cell, criterion in zip(cells, criteria, strict=True)
            ]
            cells.append(shared.cell(inputs, run, stratum, "", "needles", 0))
            name = "All needles" if stratum == "all" else stratum
            rows.append(Row(name, tuple(cells), shared.label(run, runs) if len(runs) > 1 else ""))
    shown: list[Cell] = [cell for row in rows for cell in row.cells]
    return Table(
        NAME,
        inputs.caption("Criteria by which needles are found: share of the needles of each entity type."),
        [*(Column(shared.criterion_label(criterion), "Criterion") for criterion in criteria), Column("Needles")],
        rows,
        row_header="Entity type",
        group_header="Model",
        notes=shared.note_list(
            shared.CRITERIA_NOTE,
            "Bold: the type's best criterion, whose rate is its MINEA.",
            shared.WILSON,
            shared.coverage_note(inputs, runs),
            "“reported” is the value that the paper prints; Δ is measured minus reported. " + shared.PRIVATE
            if any(cell.reported is not None for cell in shown)
            else "",
        ),
    )
