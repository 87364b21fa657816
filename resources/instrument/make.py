"""Make the files of the study: three documents, gold triples, and the triple sets of five
systems.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from instrument import triple_sets

FOLDER = Path(__file__).parent
DEMO = FOLDER.parent / "demo"
DOCUMENTS = 3
DOCUMENT_CHARACTERS = 16_000
SENTENCES_PER_PARAGRAPH = 6
TEXTS, GOLD_TRIPLES = 60, 4


def sentences_of(*parts: str) -> list[dict]:
    """Return the rows of parts of the demo corpus."""
    lines = (
        line
        for part in parts
        for line in (DEMO / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
    )
    return [json.loads(line) for line in lines]


def documents() -> Iterator[str]:
    """Yield documents of sentences without triples."""
    texts = iter([row["text"] for row in sentences_of("train_zero", "valid_zero", "test_zero")])
    for _ in range(DOCUMENTS):
        paragraphs: list[str] = []
        while sum(map(len, paragraphs)) < DOCUMENT_CHARACTERS:
            paragraphs.append(" ".join(next(texts) for _ in range(SENTENCES_PER_PARAGRAPH)))
        yield "\n\n".join(paragraphs) + "\n"


def gold() -> dict[str, list[list[str]]]:
    """Return texts of demo sentences with four gold triples each."""
    texts: dict[str, list[list[str]]] = {}
    parts: list[str] = []
    triples: list[list[str]] = []
    for row in sentences_of("test"):
        parts.append(row["text"])
        for triple in row["triples"]:
            triples.append(
                [triple["subject"]["text"], triple["relation"], triple["object"]["text"]]
            )
        if len(triples) >= GOLD_TRIPLES:
            texts[" ".join(parts)] = triples[:GOLD_TRIPLES]
            parts, triples = [], []
        if len(texts) == TEXTS:
            break
    return texts


def main() -> None:
    (FOLDER / "documents").mkdir(exist_ok=True)
    for number, text in enumerate(documents(), 1):
        (FOLDER / "documents" / f"report{number}.txt").write_text(text, encoding="utf-8")
    triples = gold()
    for name, texts in {"gold": triples, **triple_sets(triples)}.items():
        (FOLDER / f"{name}.json").write_text(
            json.dumps(texts, indent=0, ensure_ascii=False) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
