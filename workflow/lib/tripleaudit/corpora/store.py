"""The project's own JSON-lines form of a corpus, which every stage reads and writes, and as Hugging Face data sets."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tripleaudit.corpora.model import Sentence, sentence_from_json
from tripleaudit.files import read_jsonl, write_jsonl


def load_sentences(path: str | Path) -> list[Sentence]:
    """Read all sentences of a JSON-lines file.

    Raises:
        UserError: the file is missing, a line is not JSON, or a sentence is not well formed (file and line named).
    """
    return list(iterate_sentences(path))


def iterate_sentences(path: str | Path) -> Iterator[Sentence]:
    """Yield the sentences of a JSON-lines file one by one, in constant memory; errors as :func:`load_sentences`."""
    for number, value in read_jsonl(path):
        yield sentence_from_json(value, f"{path} line {number}")


def save_sentences(path: str | Path, sentences: Iterable[Sentence]) -> None:
    """Write sentences (or predictions) as JSON lines, atomically."""
    write_jsonl(path, (sentence.to_json() for sentence in sentences))


if TYPE_CHECKING:
    from datasets import DatasetDict


def to_dataset_dict(splits: Mapping[str, Iterable[Sentence]]) -> "DatasetDict":
    """Return one data set a split with the columns ``id``, ``text`` and ``triples``.

    A triple is ``{"subject": {"start", "end", "text"}, "relation", "object": {...}}`` with character offsets, end
    exclusive, None for an entity that is not in the text; with ``type``, where the corpus has types of entities.
    :func:`tripleaudit.corpora.read_corpus` reads the saved folder back to equal sentences.
    """
    from datasets import Dataset, DatasetDict, Features, List, Value

    splits = {name: list(sentences) for name, sentences in splits.items()}
    span = {"start": Value("int32"), "end": Value("int32"), "text": Value("string")}
    if any(triple.typed for sentences in splits.values() for sentence in sentences for triple in sentence.triples):
        span["type"] = Value("string")
    features = Features(
        {
            "id": Value("string"),
            "text": Value("string"),
            "triples": List({"subject": span, "relation": Value("string"), "object": span}),
        }
    )

    def row(sentence: Sentence) -> dict:
        value = sentence.to_json()
        for triple in value["triples"]:
            triple.pop("score", None)
            for side in ("subject", "object"):
                triple[side] = {name: triple[side].get(name) for name in span}
        return value

    return DatasetDict(
        {name: Dataset.from_list([row(s) for s in sentences], features=features) for name, sentences in splits.items()}
    )
