"""``pairs``: one line an entity pair with its sentence, as the raw NYT10 corpus (Riedel et al. 2010) is spread.

Three forms. JSON lines ``{"text", "relation", "h": {"name"}, "t": {"name"}}`` (OpenNRE), a JSON list of
``{"sentence", "relation", "head": {"word"}, "tail": {"word"}}`` (its first version), and lines of tab-separated
``subject id, object id, subject, object, relation, sentence ###END###`` (NRE), whose entities are joined with ``_``.

A sentence has as many lines as pairs. Here it is one sentence with the triples of all its lines; a pair labelled
``NA`` or ``None`` gives no triple and is counted in the report's notes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.readers.common import first_character, read_objects, take
from tripleaudit.corpora.readers.nyt_raw import NO_RELATION
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError
from tripleaudit.files import open_text

END = "###END###"
TABS = 5


class _Pair(NamedTuple):
    """One line of the file."""

    text: str
    triple: RawTriple
    where: str


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield each different text once, in the order of their first lines; ids are their numbers from 0."""
    pairs = _from_json(path) if first_character(path) in ("{", "[") else _from_lines(path)
    sentences: dict[str, RawSentence] = {}
    for pair in pairs:
        sentence = sentences.get(pair.text)
        if sentence is None:
            notes = {"pairs_without_relation": 0}
            sentence = RawSentence(str(len(sentences)), pair.text, [], pair.where, notes=notes)
            sentences[pair.text] = sentence
        if pair.triple.relation in NO_RELATION:
            sentence.notes["pairs_without_relation"] += 1
        else:
            sentence.triples.append(pair.triple)
    yield from sentences.values()


def _from_json(path: str | Path) -> Iterator[_Pair]:
    for where, value in read_objects(path):
        if "sentence" in value:
            text, head, tail, name = "sentence", "head", "tail", "word"
        else:
            text, head, tail, name = "text", "h", "t", "name"
        subject, object_ = (take(take(value, key, dict, where), name, str, where) for key in (head, tail))
        triple = RawTriple(subject, _relation(take(value, "relation", str, where), where), object_)
        yield _Pair(take(value, text, str, where).rstrip("\r\n"), triple, where)


def _from_lines(path: str | Path) -> Iterator[_Pair]:
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            where = f"{path} line {number}"
            fields = line.rstrip("\r\n").split("\t")
            if len(fields) < TABS + 1:
                raise UserError(f"{where}: {len(fields)} fields between tabs, expected {TABS + 1}")
            subject, object_, relation, text = (field.strip() for field in fields[2 : TABS + 1])
            text = text.removesuffix(END).strip()
            triple = RawTriple(_words(subject), _relation(relation, where), _words(object_))
            yield _Pair(_words(text), triple, where)


def _words(text: str) -> str:
    """Undo the joining of an entity's words."""
    return text.replace("_", " ")


def _relation(relation: str, where: str) -> str:
    if not relation.strip():
        raise UserError(f"{where}: the pair has no relation, expected one, or NA")
    return relation


FORMAT = CorpusFormat(
    name="pairs",
    order=11,
    read=read,
    keys=("text", "relation", "h", "t"),
    detects=lambda probe: (
        (probe.line.count("\t") >= TABS and probe.line.rstrip().endswith(END))
        or (
            "relation" in probe.value
            and ({"h", "t", "text"} <= probe.value.keys() or {"head", "tail", "sentence"} <= probe.value.keys())
        )
    ),
)
