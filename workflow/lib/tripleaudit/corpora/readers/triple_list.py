"""``triple-list``: ``{"text", "triple_list": [[subject, relation, object], ...]}``, without spans and with.

The form of WebNLG, NYT24, NYT10-HRL and NYT11-HRL in most public repositories. Texts are kept as they are, leading
blanks included.

``triple-list-spans`` adds ``relation_list`` with the character spans of every pair of mentions. The form of the corpora
released with "Does it Really Generalize Well on Unseen Data?" (and of TPLinker's data). Its ``relation_list`` repeats a
triple for each pair of mentions; with occurrence ``all`` or ``given`` these spans are taken, with ``first`` they are
not, so that such a file and its ``triple-list`` twin give equal sentences.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.readers.common import read_objects, string_triple, take
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError


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
    keys=("text", "triple_list"),
    detects=lambda probe: "triple_list" in probe.value,
)


def read_with_spans(path: str | Path, occurrence: str = "first") -> Iterator[RawSentence]:
    """Yield the sentences; a triple of ``triple_list`` without a span in ``relation_list`` keeps its strings."""
    for number, (where, value) in enumerate(read_objects(path)):
        text = take(value, "text", str, where)
        listed = [string_triple(triple, where) for triple in take(value, "triple_list", list, where)]
        spans = [_span_triple(item, where, text) for item in take(value, "relation_list", list, where)]
        notes = {"relation_list": len(spans)}
        if occurrence == "first":
            yield RawSentence(str(value.get("id", number)), text, listed, where, notes=notes)
            continue
        located = {triple[:3] for triple in spans}
        triples = spans + [triple for triple in listed if triple[:3] not in located]
        yield RawSentence(str(value.get("id", number)), text, triples, where, listed=len(listed), notes=notes)


def _span_triple(item: Any, where: str, text: str) -> RawTriple:
    if not isinstance(item, dict):
        raise UserError(f"{where}: 'relation_list' holds something that is not an object")
    subject, object_ = take(item, "subject", str, where), take(item, "object", str, where)
    relation = take(item, "predicate", str, where)
    starts = []
    for key, string in (("subj_char_span", subject), ("obj_char_span", object_)):
        span = take(item, key, list, where)
        if len(span) != 2 or not all(type(edge) is int for edge in span):
            raise UserError(f"{where}: {key!r} is {span!r}, expected [start, end]")
        if not 0 <= span[0] < span[1] <= len(text):
            raise UserError(f"{where}: the span {span} is outside the text of {len(text)} characters")
        if text[span[0] : span[1]] != string:
            raise UserError(f"{where}: the span {span} reads {text[span[0] : span[1]]!r}, expected {string!r}")
        starts.append(span[0])
    return RawTriple(subject, relation, object_, *starts)


WITH_SPANS = CorpusFormat(
    name="triple-list-spans",
    order=7,
    read=read_with_spans,
    keys=("text", "triple_list", "relation_list"),
    options=("occurrence",),
    detects=lambda probe: {"relation_list", "text"} <= probe.value.keys(),
)
