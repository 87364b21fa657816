"""``collection``: what an extractor found in large text collections, and how fast (this project's own)."""

from typing import Final

from tripleaudit.descriptors import TableSpec
from tripleaudit.files import read_json
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Column, Row, Table
from tripleaudit.tables.gates import NOT_MEASURED, several
from tripleaudit.tables.inputs import TableInputs

KIND: Final = "collection"  # of the input files: the manifest of each collection
ALL, TRIPLES = "All", "Triples"
LINES = {
    "lines": "Lines",
    "empty": "Empty",
    "broken": "Broken, left out",
    "too_long": "Too long, left out",
    "sentences": "Sentences",
}
SENTENCES = {
    "let_through": "Let through to the extractor",
    "cut": "Cut to what the encoder takes",
    "with_triples": "With triples",
}


def build(inputs: TableInputs) -> Table:
    """Build from the manifests: one column a collection; lines, sentences, triples by relation, and cost."""
    found = [read_json(path) for path in inputs.files.get(KIND, [])]
    rows = [
        Row(label, tuple(Cell(one["counts"].get(key, 0), 0) for one in found), "Input") for key, label in LINES.items()
    ]
    rows += [
        Row(label, tuple(Cell(one["counts"].get(key, 0), 0) for one in found), "Sentences")
        for key, label in SENTENCES.items()
    ]
    rows.append(Row(ALL, tuple(Cell(one["counts"]["triples"], 0) for one in found), TRIPLES))
    relations = dict.fromkeys(relation for one in found for relation in one["relations"])
    for relation in sorted(relations, key=lambda name: -sum(one["relations"].get(name, 0) for one in found)):
        rows.append(Row(relation, tuple(Cell(one["relations"].get(relation, 0), 0) for one in found), TRIPLES))
    rows += [
        Row("Blocks", tuple(Cell(len(one["blocks"]), 0) for one in found), "Cost"),
        Row("Hours of all processes", tuple(Cell(_hours(one), inputs.digits(2)) for one in found), "Cost"),
        Row("Sentences a second of one process", tuple(Cell(_rate(one), 1) for one in found), "Cost"),
        Row("Most memory of a process, MB", tuple(Cell(one["peak_mb"], 0) for one in found), "Cost"),
    ]
    return Table(
        "collection",
        inputs.caption("Triples extracted from text collections."),
        [Column(one["collection"]) for one in found],
        rows,
        row_header="Quantity",
        group_header="Of",
        notes=tuple(_made(one) for one in found) + ("Hours take in loading the models, sentences a second do not.",),
    )


def _made(one: dict) -> str:
    gate = f" after the classifier {one['gate'].upper()}" if one["gate"] else " without a classifier"
    return f"{one['collection']}: {labels.extractor(one['extractor'])}{gate} on {' and '.join(one['device'])}."


def _hours(one: dict) -> float:
    return sum(one["seconds"].values()) / 3600


def _rate(one: dict) -> float:
    seconds = sum(one["seconds"].values()) - one["seconds"]["start"]
    return one["counts"]["sentences"] / seconds if seconds else 0.0


def answer_collection(table: Table, inputs: TableInputs) -> str:
    found = [
        f"{column.label}: {table.cell(ALL, column.label, TRIPLES).value:,} triples in "
        f"{table.cell(SENTENCES['with_triples'], column.label).value:,} of "
        f"{table.cell(LINES['sentences'], column.label).value:,} sentences"
        for column in table.columns
    ]
    return f"The extractor found — {several(found)}." if found else NOT_MEASURED


COLLECTION = TableSpec(
    name="collection",
    order=40,
    build=build,
    needs=KIND,
    possible=lambda study: bool(study.config["collections"]),
    question="What do the text collections hold, and how fast were they read?",
    answer=answer_collection,
)
