"""``collection``: triples and throughput of extraction from large text collections."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tripleaudit.core.files import read_json
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Table, of_frame
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


def build(study: TableInputs) -> Table:
    """Build from the manifests: lines, sentences, triples by relation, and cost."""
    import pandas as pd

    manifests = [read_json(path) for path in study.files.get(KIND, [])]
    counts = pd.DataFrame([manifest["counts"] for manifest in manifests])
    counts = counts.reindex(columns=[*LINES, *SENTENCES, "triples"]).fillna(0)
    relations = pd.DataFrame([manifest["relations"] for manifest in manifests]).fillna(0)
    by_frequency = relations.sum().sort_values(ascending=False, kind="stable")
    rows: list[tuple[tuple[str, str], list[Cell]]] = []
    for group, names in (("Input", LINES), ("Sentences", SENTENCES), (TRIPLES, {"triples": ALL})):
        for key, label in names.items():
            rows.append(((group, label), _count_cells(counts[key])))
    rows += [((TRIPLES, name), _count_cells(relations[name])) for name in by_frequency.index]
    rows += _cost_rows(manifests, study.digits(2)).items()
    frame = pd.DataFrame(
        [cells for _, cells in rows],
        index=pd.MultiIndex.from_tuples([label for label, _ in rows], names=["Of", "Quantity"]),
        columns=[manifest["collection"] for manifest in manifests],
        dtype=object,
    )
    notes = [_extractor_note(manifest) for manifest in manifests]
    notes.append("Hours take in loading the models, sentences a second do not.")
    return of_frame(frame, "Triples extracted from text collections.", notes)


def _count_cells(counts: Iterable[float]) -> list[Cell]:
    return [Cell(int(count), 0) for count in counts]


def _cost_rows(
    manifests: Sequence[Mapping[str, Any]], digits: int
) -> dict[tuple[str, str], list[Cell]]:
    """Return the rows on blocks, time and memory.

    Args:
        manifests: of the collections.
        digits: of hours.
    """
    blocks = [len(manifest["blocks"]) for manifest in manifests]
    hours = [sum(manifest["seconds"].values()) / 3600 for manifest in manifests]
    rates = [_sentences_per_second(manifest) for manifest in manifests]
    return {
        ("Cost", "Blocks"): [Cell(count, 0) for count in blocks],
        ("Cost", "Hours of all processes"): [Cell(value, digits) for value in hours],
        ("Cost", "Sentences a second of one process"): [Cell(rate, 1) for rate in rates],
        ("Cost", "Most memory of a process, MB"): [
            Cell(manifest["peak_mb"], 0) for manifest in manifests
        ],
    }


def _extractor_note(manifest: Mapping[str, Any]) -> str:
    """Return a note on what extracted the triples of a collection."""
    gate = " without a classifier"
    if manifest["gate"]:
        gate = f" after the classifier {manifest['gate'].upper()}"
    extractor = labels.extractor(manifest["extractor"])
    devices = " and ".join(manifest["device"])
    return f"{manifest['collection']}: {extractor}{gate} on {devices}."


def _sentences_per_second(manifest: Mapping[str, Any]) -> float:
    """Return the throughput of a process without the time of loading its models."""
    seconds = sum(manifest["seconds"].values()) - manifest["seconds"]["start"]
    return manifest["counts"]["sentences"] / seconds if seconds else 0.0


COLLECTION = TableSpec(
    name="collection",
    order=40,
    build=build,
    needs=KIND,
    possible=lambda study: bool(study.config["collections"]),
    question="What do the text collections hold, and how fast were they read?",
)
