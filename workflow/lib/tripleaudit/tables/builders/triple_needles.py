"""``triple-needles``: MINEA of triples, trained extractors and language models on one scale (this project's own)."""

from tripleaudit.tables import labels
from tripleaudit.tables.builders import _minea as shared
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Column, Row, Table

NAME = "triple-needles"
CRITERIA = {"exact": "Exact", "partial": "Partial", "verbalised": "As words", "pair": "Pair only"}


def build(inputs: TableInputs) -> Table:
    """Build from the scores of infused triples: overall, by position in the document, and by relation."""
    digits = inputs.digits(3)
    runs = shared.runs_of(inputs, "triple-needles")
    rows = []
    for run in runs:
        found = shared.strata(inputs, run, "", "needles")
        order = [s for kind in ("all", "position:", "relation:") for s in found if s.startswith(kind)]
        for stratum in order:
            cells = [
                shared.cell(inputs, run, stratum, "max", "minea", digits),
                *(shared.cell(inputs, run, stratum, criterion, "rate", digits) for criterion in CRITERIA),
                shared.cell(inputs, run, stratum, "", "needles", 0),
            ]
            rows.append(Row(_name(stratum), tuple(cells), _system(run)))
    spurious = [
        f"{_system(run)} {value.value:.3f}"
        for run in runs
        if (value := shared.cell(inputs, run, "all", "", "spurious", 3)).value is not None
    ]
    return Table(
        NAME,
        inputs.caption("MINEA of triples: share of infused triples that an extractor finds."),
        [Column("MINEA"), *(Column(text, "Criterion") for text in CRITERIA.values()), Column("Needles")],
        rows,
        row_header="Needles",
        group_header="Extractor",
        notes=shared.note_list(
            "A triple counts as found if the predictions for its document hold it. Exact: all three equal; partial: "
            "relation and last words of the entities equal; as words: equal without case, articles and separators; "
            "pair only: both entities, whatever the relation. MINEA: the best of the first three by relation.",
            "Positions divide the documents into equal parts, the first one at the beginning.",
            f"Triples predicted for each record without a needle: {'; '.join(spurious)}." if spurious else "",
            shared.WILSON,
            "This measure is the project's own; no paper reports it.",
        ),
    )


def _system(run: RunKey) -> str:
    setting = f" ({labels.SETTINGS[run.training]})" if run.training in labels.SETTINGS else ""
    return labels.extractor(run.extractor, run.noise) + setting


def _name(stratum: str) -> str:
    kind, _, name = stratum.partition(":")
    return {"all": "All", "position": f"Position {name}", "relation": name}[kind]
