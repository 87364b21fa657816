"""``jsonl``: the project's own JSON lines (:mod:`tripleaudit.corpora.store`); spans are taken as given.

Triples of strings are read, too: ``{"subject", "relation", "object"}``, ``{"head", "type", "tail"}``, or lists.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.model import sentence_from_json
from tripleaudit.corpora.readers.common import first_character, read_objects, unique_keys
from tripleaudit.corpora.readers.records import Mapped
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.files import is_collection, read_jsonl


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences; a span without a position is looked for in the text, like any string."""
    mapped = Mapped()
    for number, where, value in _objects(path):
        yield raw_sentence(value, where, number, mapped)


def raw_sentence(value: Any, where: str, number: int, mapped: Mapped) -> RawSentence:
    """Return one object of the format; ``number`` is the id of a sentence that has none.

    Raises:
        UserError: it is no sentence with triples.
    """
    if _has_strings(value):
        return mapped.sentence(value, where, number)
    sentence = sentence_from_json(value, where)
    name = str(value.get("id", number))
    triples = [
        RawTriple(
            t.subject.text,
            t.relation,
            t.object.text,
            t.subject.start,
            t.object.start,
            t.subject.type,
            t.object.type,
        )
        for t in sentence.triples
    ]
    return RawSentence(name, sentence.text, triples, where)


def _objects(path: str | Path) -> Iterator[tuple[int, str, Any]]:
    if is_collection(path) or first_character(path) != "[":
        yield from (
            (number - 1, f"{path} line {number}", value) for number, value in read_jsonl(path, unique_keys(path))
        )
    else:
        yield from ((number, where, value) for number, (where, value) in enumerate(read_objects(path)))


def _has_strings(value: Any) -> bool:
    """Whether a triple of an object is in another form than with two spans."""
    triples = value.get("triples") if isinstance(value, dict) else None
    return isinstance(triples, list) and any(
        not isinstance(triple, dict) or not isinstance(triple.get("subject"), dict) for triple in triples
    )


FORMAT = CorpusFormat(
    name="jsonl",
    order=12,
    read=read,
    keys=("text", "triples"),
    detects=lambda probe: is_collection(probe.path) or {"triples", "text"} <= probe.value.keys(),
)
