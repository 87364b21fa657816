"""``triple-needles``: which of the triples that were put into texts a system finds."""

from dataclasses import replace

from tripleaudit.descriptors import Headline, TableSpec
from tripleaudit.files import read_json
from tripleaudit.tables import labels
from tripleaudit.tables.builders.found_needles import (
    MINEA_INTERVAL,
    SMALL_NOTE,
    cell_of,
    rate_of,
    runs_of,
    shares,
    strata_of,
)
from tripleaudit.tables.cells import Cell, Column, Row, Table
from tripleaudit.tables.gates import FEW, doubt_of_training, sentences, several
from tripleaudit.tables.inputs import RunKey, TableInputs, run_of
from tripleaudit.tables.unread_answers import UNREAD

CRITERIA = {"exact": "Exact", "partial": "Partial", "verbalised": "As words", "pair": "Pair only"}


def triple_needles(inputs: TableInputs) -> Table:
    """Build from the scores of infused triples: overall, by position in the document, and by relation."""
    runs, rows = runs_of(inputs, "triple-needles"), []
    for run in runs:
        found = strata_of(inputs, run, "needles")
        for stratum in (one for kind in ("all", "position:", "relation:") for one in found if one.startswith(kind)):
            cells = (
                rate_of(inputs, run, "minea", "max", stratum),
                *(rate_of(inputs, run, "rate", criterion, stratum) for criterion in CRITERIA),
                replace(cell_of(inputs, run, "needles", of=stratum), mark=""),  # the same for every system
            )
            rows.append(Row(_name(stratum), cells, _system(run)))
    extra = [(_system(run), cell_of(inputs, run, "spurious", 3)) for run in runs]
    spurious = [f"{name} {cell.shown}" for name, cell in extra if cell.shown]
    return inputs.table(
        "MINEA of triples: share of infused triples that an extractor finds.",
        ["MINEA", *(Column(text, "Criterion") for text in CRITERIA.values()), "Needles"],
        rows,
        ("Needles", "Extractor"),
        "A triple counts as found if the predictions for its document hold it. Exact: all three equal; partial: "
        "relation and last words of the entities equal; as words: equal without case, articles and separators; "
        "pair only: both entities, whatever the relation. MINEA: the best of the first three by relation.",
        "Positions divide the documents into equal parts, the first one at the beginning.",
        bool(spurious) and f"Triples predicted for each record without a needle: {'; '.join(spurious)}.",
        MINEA_INTERVAL,
        SMALL_NOTE,
        "This measure is the project's own; no paper reports it.",
        *_failed(inputs),
    )


def _failed(inputs: TableInputs) -> list[str]:
    """Name the systems that did not answer (files of the kind ``report``), with the reason."""
    reports = map(read_json, inputs.files.get("report", []))
    return [f"{report['system']} has no scores: {report['failed']}." for report in reports if report["failed"]]


def _system(run: RunKey) -> str:
    setting = f" ({labels.SETTINGS[run.training]})" if run.training in labels.SETTINGS else ""
    return labels.extractor(run.extractor, run.noise) + setting


def _name(stratum: str) -> str:
    kind, _, name = stratum.partition(":")
    return {"all": "All", "position": f"Position {name}", "relation": name}[kind]


def answer_triple_needles(table: Table, inputs: TableInputs) -> str:
    cells = table.find("MINEA", stratum="all")
    stated = shares([(_system(run_of(cell.of)), cell) for cell in cells], "infused triples")
    return sentences(stated, doubt_of_training(cells))


def lead(table: Table, inputs: TableInputs) -> str:
    """Put what language models find next to what the best trained extractor finds; nothing where needles are few."""
    cells = [cell for cell in table.find("MINEA", stratum="all") if cell.cases and cell.cases >= FEW]
    cells = [cell for cell in cells if UNREAD not in cell.mark]
    trained, models = ([cell for cell in cells if bool(cell.of["training"]) is own] for own in (True, False))
    if not trained or not models:
        return ""
    best = max(trained, key=lambda cell: cell.value)
    found = [f"{_system(run_of(cell.of))} finds {_percent(cell)}" for cell in (best, *models)]
    most = ", the best of those trained," * (len(trained) > 1)
    return f"Of {best.cases} triples put into texts, {several(found).replace(' finds', most + ' finds', 1)}."


def _percent(cell: Cell) -> str:
    return f"{100 * cell.value:.1f}{cell.mark} % [{100 * cell.low:.1f}, {100 * cell.high:.1f}]"


TRIPLE_NEEDLES = TableSpec(
    name="triple-needles",
    order=29.5,
    build=triple_needles,
    needs="needles",
    possible=lambda study: bool(study.config["needles"].get("triples")),
    question="How many of the triples that were put into texts are found?",
    answer=answer_triple_needles,
    lead=lead,
    overview=(Headline("MINEA", {"stratum": "all", "metric": "minea"}),),
)
