"""``triple-list``: ``{"text", "triple_list": [[subject, relation, object], ...]}``, a JSON list or JSON lines.

The form of WebNLG, NYT24, NYT10-HRL and NYT11-HRL in most public repositories. Texts are kept as they are, leading
blanks included.
"""

from collections.abc import Iterator
from pathlib import Path

from tripleaudit.corpora.corpus import RawSentence
from tripleaudit.corpora.readers.common import read_objects, string_triple, take
from tripleaudit.descriptors import CorpusFormat


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences; an ``id`` of the file is kept, otherwise ids are the places in the file from 0."""
    for number, (where, value) in enumerate(read_objects(path)):
        text = take(value, "text", str, where)
        triples = [string_triple(triple, where) for triple in take(value, "triple_list", list, where)]
        yield RawSentence(str(value.get("id", number)), text, triples, where)


FORMAT = CorpusFormat(
    name="triple-list",
    order=8,
    read=read,
    detects=lambda probe: "triple_list" in probe.value,
)
