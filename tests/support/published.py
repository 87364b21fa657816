"""Triples of the published sets of WebNLG and counts of GenRES's judgements, without their texts.

They let the papers' numbers be recomputed where the corpora are absent; see
``tests/data/published/README.md``. ``python tests/support/published.py DATA`` writes the files
again from the corpora in the folder ``DATA``.
"""

import json
import lzma
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "data" / "published"
for folder in () if __package__ else (FOLDER.parents[1], FOLDER.parents[2] / "workflow" / "lib"):
    sys.path.insert(0, str(folder))  # run as a program

from tripleaudit.corpora.model import Sentence, Span, Triple  # noqa: E402
from tripleaudit.grescores.judgements import (  # noqa: E402
    count_brackets,
    read_splits,
    read_verdicts,
)
from tripleaudit.grescores.systems import System, read_system  # noqa: E402
from tripleaudit.protocols.splits import Splits  # noqa: E402
from tripleaudit.protocols.variants import PARTS  # noqa: E402

SPLITS = {"train": "train", "valid": "val", "test": "test"}  # names of splits and of their files

Row = list[list[str]]
"""The triples of one sentence, in the order of the file."""


@dataclass(frozen=True)
class WebNLG:
    """The published sets of WebNLG; the text of a sentence consists of its id and its triples.

    Attributes:
        original: the splits of all authors.
        rearranged: the splits of rte-eval; a sentence has the id that it has in ``original``.
        augmented: test sentences by part, in the order of the original ones.
        augmented_from: the original test sentences in the order of rte-eval's triples.
        pieces: of each original test sentence the word pieces of its entities.
        unchanged: positions of the test sentences that are the same in all parts.
        star_test: triples of the test set of WebNLG*, whose entities are last words.
    """

    original: Splits
    rearranged: Splits
    augmented: dict[str, list[Sentence]]
    augmented_from: list[Sentence]
    pieces: list[dict[str, int]]
    unchanged: list[int]
    star_test: list[Row]


def make_sentence(id_: str, triples: Row) -> Sentence:
    """Build a sentence whose text is its id, followed by its triples."""
    text = id_
    spans: dict[str, Span] = {}
    for triple in triples:
        for part in triple:
            start = len(text) + 1
            text = f"{text} {part}"
            spans.setdefault(part, Span(start, len(text), part))
    named = [
        Triple(spans[subject], relation, spans[object_]) for subject, relation, object_ in triples
    ]
    return Sentence(id_, text, tuple(named))


def make_sentences(prefix: str, rows: Iterable[Row]) -> list[Sentence]:
    """Build a sentence of each row, with the id ``PREFIX_NUMBER``."""
    return [make_sentence(f"{prefix}_{number}", row) for number, row in enumerate(rows)]


@cache
def webnlg() -> WebNLG:
    """Return the published sets of WebNLG from the fixture."""
    stored = read_fixture("webnlg")
    original = {name: make_sentences(name, stored["original"][name]) for name in SPLITS}
    moved = {name: stored["rearranged"][name] for name in ("valid", "test")}
    rearranged = {
        name: [make_sentence(id_, triples) for id_, triples in rows] for name, rows in moved.items()
    }
    left = {row.id for rows in rearranged.values() for row in rows}
    train = [row for rows in original.values() for row in rows if row.id not in left]
    return WebNLG(
        Splits(**original),
        Splits(train, **rearranged),
        {part: make_sentences(part, rows) for part, rows in stored["augmented"].items()},
        make_sentences("test", stored["augmented_from"]),
        stored["pieces"],
        stored["unchanged"],
        stored["star_test"],
    )


@cache
def genres() -> dict[str, dict[str, dict[str, list]]]:
    """Return counts of GenRES by data set and model (:func:`count_genres`)."""
    return read_fixture("genres")


def system_of_counts(counts: Sequence[int]) -> System:
    """Build a system that has so many triples for each text."""
    triple = ["subject", "relation", "object"]
    return System({str(number): [triple] * count for number, count in enumerate(counts)})


def verdicts_of_counts(counts: Sequence[Sequence[int]]) -> dict[str, list[bool]]:
    """Build verdicts of so many supported triples among the judged ones of each text."""
    return {
        str(number): [True] * supported + [False] * (judged - supported)
        for number, (supported, judged) in enumerate(counts)
    }


def splits_of_counts(counts: Sequence[Sequence[int]]) -> dict[str, dict[str, str]]:
    """Build answers of the splitting prompt with so many parts for each triple of each text."""
    splits = {}
    for number, parts in enumerate(counts):
        splits[str(number)] = {str(place): "[] " * count for place, count in enumerate(parts)}
    return splits


# files


def read_fixture(name: str) -> Any:
    """Return the content of a compressed fixture."""
    return json.loads(lzma.decompress((FOLDER / f"{name}.json.xz").read_bytes()))


def write_fixture(name: str, content: Any) -> None:
    """Write a compressed fixture."""
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    compressed = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
    (FOLDER / f"{name}.json.xz").write_bytes(compressed)


def read_rows(path: Path) -> list[dict]:
    """Return the rows of a published JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def collect_webnlg(data: Path) -> dict[str, Any]:
    """Return the content of the fixture from the published files.

    Args:
        data: folder of the corpora.
    """
    files = {name: read_rows(data / f"webnlg/{file}_triples.json") for name, file in SPLITS.items()}
    ids: dict[str, list[tuple[str, Row]]] = {}
    for name, rows in files.items():
        for number, row in enumerate(rows):
            ids.setdefault(row["text"], []).append((f"{name}_{number}", row["triple_list"]))
    published = data / "rte-eval"
    rearranged = {}
    for name in ("valid", "test"):
        rows = read_rows(published / f"rearranged_WebNLG_all/{name}_data.json")
        rearranged[name] = [[take_id(row, ids), row["triple_list"]] for row in rows]
    test = read_rows(published / "WebNLG_all/test_data.json")
    parts = {
        part: read_rows(published / f"augmented_test_WebNLG_all/{part}_test_data.json")
        for part in PARTS
    }
    unchanged = [
        number
        for number, row in enumerate(test)
        if all(rows[number]["text"] == row["text"] for rows in parts.values())
    ]
    return {
        "original": {name: triples_of(rows) for name, rows in files.items()},
        "rearranged": rearranged,
        "augmented": {part: triples_of(rows) for part, rows in parts.items()},
        "augmented_from": triples_of(test),
        "pieces": [count_pieces(row) for row in test],
        "unchanged": unchanged,
        "star_test": triples_of(read_rows(data / "webnlg-star/test_triples.json")),
    }


def triples_of(rows: list[dict]) -> list[Row]:
    """Return the triples of each row."""
    return [row["triple_list"] for row in rows]


def count_pieces(row: dict) -> dict[str, int]:
    """Return the number of word pieces of each entity."""
    spans = {entity["text"]: entity["tok_span"] for entity in row["entity_list"]}
    return {text: end - start for text, (start, end) in spans.items()}


EDITED = "train_2200"  # "Akita , Akita , Akita Prefecture" became "Akita Prefecture"


def take_id(row: dict, ids: dict[str, list[tuple[str, Row]]]) -> str:
    """Return the id of the original sentence of a rearranged one, each id once."""
    candidates = ids.get(row["text"])
    if candidates is None:
        return EDITED
    triples = sorted(row["triple_list"])
    for candidate in candidates:
        distinct = {tuple(triple) for triple in candidate[1]}
        if sorted(distinct) == [tuple(triple) for triple in triples]:
            candidates.remove(candidate)
            return candidate[0]
    return candidates.pop(0)[0]


def count_genres(data: Path) -> dict[str, dict[str, dict[str, list]]]:
    """Return counts of stored outputs and judgements by data set and model, a text an element.

    ``triples``: number of extracted triples. ``verdicts``: supported and judged triples.
    ``parts``: for each triple the brackets in the answer of the splitting prompt.
    """
    folder = data / "genres"
    counts: dict[str, dict[str, dict[str, list]]] = {}
    for path in sorted((folder / "processed_results").glob("*_1.json")):
        dataset, model = split_name(path.stem.removesuffix("_1"))
        system = read_system(path, "sro")
        entry: dict[str, list] = {"triples": [len(rows) for rows in system.texts.values()]}
        verdicts, splits = folder / "factualness" / path.name, folder / "granularity" / path.name
        if verdicts.exists():
            read = read_verdicts(verdicts).values()
            entry["verdicts"] = [[sum(map(bool, results)), len(results)] for results in read]
        if splits.exists():
            answers = read_splits(splits).values()
            entry["parts"] = [[*map(count_brackets, row.values())] for row in answers]
        counts.setdefault(dataset, {})[model] = entry
    return counts


def split_name(stem: str) -> tuple[str, str]:
    """Return data set and model of ``DATASET_rand_SIZE_MODEL``."""
    corpus, _, rest = stem.partition("_rand_")
    size, _, model = rest.partition("_")
    return f"{corpus}_rand_{size}", model


if __name__ == "__main__":
    write_fixture("webnlg", collect_webnlg(Path(sys.argv[1])))
    write_fixture("genres", count_genres(Path(sys.argv[1])))
