"""``needle-example``: the criteria of single needles as 0 and 1 (MINEA, table 4)."""

from tripleaudit.files import read_jsonl
from tripleaudit.tables.builders import _minea as shared
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell, Column, Row, Table

NAME = "needle-example"
SHOWN = 12


def build(inputs: TableInputs) -> Table:
    """Build from the criteria of each needle (files of the kind ``criteria``), most telling needles first.

    A needle tells most where its criteria disagree; of each file, the first :data:`SHOWN` needles are shown.
    """
    criteria = ("n", "ns", "k0.5", "k0.6", "k0.7", "llm")
    rows: list[Row] = []
    total = 0
    for path in inputs.files.get("criteria", []):
        found = [row for _, row in read_jsonl(path)]
        total += len(found)
        found.sort(key=lambda row: -len({bool(row.get(criterion)) for criterion in criteria}))
        group = path.parent.name if len(inputs.files["criteria"]) > 1 else ""
        for row in found[:SHOWN]:
            cells = tuple(_cell(row.get(criterion)) for criterion in criteria)
            rows.append(Row(f"{row['type']}: {row['name']}", cells, group))
    return Table(
        NAME,
        inputs.caption("Criteria of single needles: 1 where the needle counts as found."),
        [Column(shared.criterion_label(criterion), "Criterion") for criterion in criteria],
        rows,
        row_header="Needle",
        group_header="Model",
        notes=shared.note_list(
            shared.CRITERIA_NOTE,
            f"{len(rows)} of {total} needles, those whose criteria disagree first." if total > len(rows) else "",
            "–: not asked." if any(cell.text == "–" for row in rows for cell in row.cells) else "",
        ),
    )


def _cell(value: bool | None) -> Cell:
    return Cell(text="–") if value is None else Cell(float(bool(value)), 0)
