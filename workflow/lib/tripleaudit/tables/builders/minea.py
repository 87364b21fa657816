"""``minea``: MINEA by entity type and overall (MINEA, table 3)."""

from dataclasses import replace

from tripleaudit.tables.builders import _minea as shared
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Column, Row, Table

NAME = "minea"
FALSE_POSITIVES = "needles-untouched"


def build(inputs: TableInputs) -> Table:
    """Build from the scores of the criteria; one group of rows for each model and group of types."""
    digits = inputs.digits(3)
    runs = shared.runs_of(inputs, "needles")
    columns = [Column(text) for text in ("MINEA", "Needles", "Any criterion", "False positives", "Paper MINEA")]
    rows: list[Row] = []
    for run in runs:
        found = shared.strata(inputs, run, "", "needles")
        for stratum in found:
            rows.append(_row(inputs, run, stratum, digits, shared.label(run, runs) if len(runs) > 1 else ""))
    displaced = [
        f"{run.extractor} {100 * share.value:.1f} %"
        for run in runs
        if (share := shared.cell(inputs, run, "all", "n", "displaced", 3)).value is not None
    ]
    return Table(
        NAME,
        inputs.caption("MINEA: share of infused needles that the best criterion finds, by entity type and overall."),
        columns,
        rows,
        row_header="Entity type",
        group_header="Model",
        notes=shared.note_list(
            "MINEA of a type is the greatest rate of its criteria; groups and the overall score weigh types by their "
            "needles. “Any criterion” counts needles that at least one criterion finds.",
            "False positives: the best criterion without llm, on the same documents without needles."
            if any(row.cells[3].value is not None for row in rows)
            else "",
            f"Names found in the untouched documents that the needles displaced: {'; '.join(displaced)}."
            if displaced
            else "",
            _origins(inputs, runs[0]) if runs else "",
            shared.WILSON,
            shared.coverage_note(inputs, runs),
            shared.PRIVATE,
        ),
    )


def _origins(inputs: TableInputs, run) -> str:
    """Say where the needles came from; they are the same for all models."""

    def count(metric: str) -> int | None:
        value = shared.cell(inputs, run._replace(protocol="origins"), "all", "", metric, 0).value
        return None if value is None else round(value)

    infused = count("infused")
    if infused is None:
        return ""
    if (given := count("given")) is not None:
        return f"Needles: {given} from a file, {infused} infused."
    types = count("discovered_types")
    return (
        f"Needles: {count('wanted')} wanted, {count('generated')} invented by the generating model, "
        f"{count('from_templates')} from templates, {infused} infused."
        + ("" if types is None else f" Types that it named as fitting the documents: {types}.")
    )


def _row(inputs: TableInputs, run, stratum: str, digits: int, group: str) -> Row:
    cells = [
        shared.cell(inputs, run, stratum, "max", "minea", digits),
        shared.cell(inputs, run, stratum, "", "needles", 0),
        shared.cell(inputs, run, stratum, "any", "minea_any", digits),
        shared.cell(inputs, run._replace(protocol=FALSE_POSITIVES), stratum, "max", "minea", digits),
    ]
    cells[2] = replace(cells[2], low=None, high=None)
    cells[3] = replace(cells[3], low=None, high=None)
    paper = shared.printed(3, "overall" if stratum == "all" else stratum, "MINEA")
    needles = shared.printed(3, "overall" if stratum == "all" else stratum, "needles")
    cells.append(Cell(text=f"{paper} of {needles}" if paper else ""))
    name = "Overall" if stratum == "all" else stratum.replace("group:", "Group ")
    return Row(name, tuple(cells), group)
