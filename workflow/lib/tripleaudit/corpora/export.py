"""Prepared corpora as Hugging Face data sets."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tripleaudit.corpora.model import Sentence

if TYPE_CHECKING:
    from datasets import DatasetDict


def to_dataset_dict(splits: Mapping[str, Iterable[Sentence]]) -> "DatasetDict":
    """Return one data set a split with the columns ``id``, ``text`` and ``triples``.

    A triple is ``{"subject": {"start", "end", "text"}, "relation", "object": {...}}`` with character offsets, end
    exclusive, None for an entity that is not in the text. :func:`tripleaudit.corpora.read_corpus` reads the saved
    folder back to equal sentences.
    """
    from datasets import Dataset, DatasetDict, Features, List, Value

    span = {"start": Value("int32"), "end": Value("int32"), "text": Value("string")}
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
        return value

    return DatasetDict(
        {name: Dataset.from_list([row(s) for s in sentences], features=features) for name, sentences in splits.items()}
    )
