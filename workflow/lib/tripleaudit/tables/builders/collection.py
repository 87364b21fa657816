"""``collection``: triples and throughput of extraction from large text collections."""

from typing import Final

from tripleaudit.core.files import read_json
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Row, Table
from tripleaudit.tables.frame_table import frame_of_rows, of_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

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
    """Build from the manifests: lines, sentences, triples by relation, and cost."""
    found = [read_json(path) for path in inputs.files.get(KIND, [])]
    rows = [
        Row(label, [Cell(one["counts"].get(key, 0), 0) for one in found], group)
        for group, counts in (
            ("Input", LINES),
            ("Sentences", SENTENCES),
            (TRIPLES, {"triples": ALL}),
        )
        for key, label in counts.items()
    ]
    of = {
        name: [each["relations"].get(name, 0) for each in found]
        for one in found
        for name in one["relations"]
    }
    ordered = sorted(of, key=lambda name: -sum(of[name]))
    rows += [Row(name, [Cell(count, 0) for count in of[name]], TRIPLES) for name in ordered]
    costs: dict[str, tuple[list[float], int]] = {
        "Blocks": ([len(one["blocks"]) for one in found], 0),
        "Hours of all processes": (
            [sum(one["seconds"].values()) / 3600 for one in found],
            inputs.digits(2),
        ),
        "Sentences a second of one process": (list(map(_rate, found)), 1),
        "Most memory of a process, MB": ([one["peak_mb"] for one in found], 0),
    }
    rows += [
        Row(label, [Cell(value, digits) for value in of], "Cost")
        for label, (of, digits) in costs.items()
    ]
    frame = frame_of_rows(rows, [one["collection"] for one in found], ("Quantity", "Of"))
    notes = [*map(_made, found), "Hours take in loading the models, sentences a second do not."]
    return of_frame(frame, "Triples extracted from text collections.", notes)


def _made(one: dict) -> str:
    gate = (
        f" after the classifier {one['gate'].upper()}" if one["gate"] else " without a classifier"
    )
    return f"{one['collection']}: {labels.extractor(one['extractor'])}{gate} on {' and '.join(one['device'])}."


def _rate(one: dict) -> float:
    seconds = sum(one["seconds"].values()) - one["seconds"]["start"]
    return one["counts"]["sentences"] / seconds if seconds else 0.0


COLLECTION = TableSpec(
    name="collection",
    order=40,
    build=build,
    needs=KIND,
    possible=lambda study: bool(study.config["collections"]),
    question="What do the text collections hold, and how fast were they read?",
)
