"""``jsonl``: the project's own JSON lines (:mod:`tripleaudit.corpora.store`); spans are taken as given."""

from collections.abc import Iterator
from pathlib import Path

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.model import sentence_from_json
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.files import is_sharded, read_jsonl


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences; a span without a position is looked for in the text, like any string."""
    for number, value in read_jsonl(path):
        where = f"{path} line {number}"
        sentence = sentence_from_json(value, where)
        name = str(value.get("id", number - 1))
        triples = [
            RawTriple(t.subject.text, t.relation, t.object.text, t.subject.start, t.object.start)
            for t in sentence.triples
        ]
        yield RawSentence(name, sentence.text, triples, where)


FORMAT = CorpusFormat(
    name="jsonl",
    order=12,
    read=read,
    detects=lambda probe: is_sharded(probe.path) or {"triples", "text"} <= probe.value.keys(),
)
