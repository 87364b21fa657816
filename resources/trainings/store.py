"""Store what is left of a training: predictions as ids and triples, history and provenance.

    python resources/trainings/store.py MODEL PREDICTIONS OUT

``MODEL`` is the folder of a finished training (``results/STUDY/models/...``), ``PREDICTIONS`` its
predictions for a test set. Texts and confidences are left out.
"""

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tripleaudit.core.files import read_json, read_jsonl, sha256, write_json

PREDICTIONS = "predictions.jsonl.gz"
HISTORY = "history.jsonl.gz"


def store_training(model: Path, predictions: Path, out: Path) -> None:
    """Write the three files of a stored training."""
    provenance = read_json(model / "provenance.json")
    history = [row for _, row in read_jsonl(model / "history.jsonl")]
    out.mkdir(parents=True, exist_ok=True)
    write_rows(out / PREDICTIONS, stored_rows(predictions))
    write_rows(out / HISTORY, history)
    digests = {name: sha256(out / name) for name in (PREDICTIONS, HISTORY)}
    write_json(out / "provenance.json", {**provenance, "stored": digests})


def stored_rows(predictions: Path) -> Iterator[dict[str, Any]]:
    """Yield id and triples of each sentence."""
    for _, row in read_jsonl(predictions):
        triples = [stored_triple(triple, row["text"]) for triple in row["triples"]]
        yield {"id": row["id"], "triples": triples}


def stored_triple(triple: dict[str, Any], text: str) -> Any:
    """Return a triple as three strings, with offsets where a string occurs earlier in the text."""
    entities = (triple["subject"], triple["object"])
    if all(text.find(entity["text"]) == entity["start"] for entity in entities):
        return [triple["subject"]["text"], triple["relation"], triple["object"]["text"]]
    return {name: triple[name] for name in ("subject", "relation", "object")}


def write_rows(path: Path, rows: Iterable[Any]) -> None:
    """Write compressed JSON Lines whose bytes depend on the rows alone."""
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows]
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("predictions", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    store_training(arguments.model, arguments.predictions, arguments.out)


if __name__ == "__main__":
    main()
