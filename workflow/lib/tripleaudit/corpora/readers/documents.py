"""Documents as lists of tokens: DocRED and DyGIE++; and REBEL's linearisation.

``docred`` (Re-DocRED too): ``{"title", "sents", "vertexSet", "labels"}``. A document is one sentence here, because its
triples hold between entities of the whole document. An entity's place is its first mention; with occurrence ``all``,
every pair of mentions is a place of the triple.

``dygie``: ``{"doc_key", "sentences", "ner", "relations"}`` with token positions in the document, ends inclusive; a
sentence of the document is one sentence. SciERC, ACE05 and GENIA are spread in this form.

``rebel``: ``{"context" or "text", "triplets": "<triplet> subject <subj> object <obj> relation …"}``, also as a model
decodes it, with ``<s>`` and ``<pad>``, under ``generated_text`` or ``prediction``.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import LeftOut, RawSentence, RawTriple
from tripleaudit.corpora.readers.common import Probe, items, join_tokens, read_objects, shown, take
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError


class _Tokens:
    """The text of a list of tokens, and the strings of spans of them."""

    def __init__(self, tokens: Any, where: str) -> None:
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise UserError(f"{where}: the tokens are {shown(tokens)}, expected a list of strings")
        self.tokens, self.where = tokens, where
        self.text, self.starts = join_tokens(tokens)

    def span(self, first: Any, end: Any) -> tuple[str, int]:
        """Return string and first character of the tokens from ``first`` to before ``end``."""
        whole = type(first) is int and type(end) is int
        if not whole or not 0 <= first < end <= len(self.tokens):
            edges = f"[{shown(first)}, {shown(end)})"
            raise UserError(f"{self.where}: the span {edges} is outside the text of {len(self.tokens)} tokens")
        return self.text[self.starts[first] : self.starts[end - 1] + len(self.tokens[end - 1])], self.starts[first]


def read_docred(path: str | Path, occurrence: str = "first") -> Iterator[RawSentence | LeftOut]:
    """Yield the documents; ids are their titles. One without ``labels``, as in the blind test set, is left out."""
    for where, value in read_objects(path):
        if value.get("labels") is None:
            yield LeftOut("without_labels", where)
            continue
        parts = items(value, "sents", list, where)
        begins = [sum(map(len, parts[:number])) for number in range(len(parts))]
        tokens = _Tokens([token for part in parts for token in part], where)
        entities = []
        for mentions in items(value, "vertexSet", list, where):
            places = []
            for mention in items({"vertexSet": mentions}, "vertexSet", dict, where):
                sentence, edges = take(mention, "sent_id", int, where), items(mention, "pos", int, where)
                if len(edges) != 2:
                    raise UserError(f"{where}: the position of a mention is {shown(edges)}, expected [start, end]")
                first, end = edges
                if not 0 <= sentence < len(parts):
                    raise UserError(f"{where}: a mention is in sentence {sentence}, expected one of {len(parts)}")
                type_ = mention.get("type")
                places.append((*tokens.span(begins[sentence] + first, begins[sentence] + end), type_))
            entities.append(sorted(places, key=lambda place: place[1]))
        labels = items(value, "labels", dict, where)
        triples = []
        for label in labels:
            head, tail = (take(label, key, int, where) for key in ("h", "t"))
            if not max(head, tail) < len(entities) or min(head, tail) < 0:
                raise UserError(f"{where}: a label points to entity {max(head, tail)}, expected one of {len(entities)}")
            relation = take(label, "r", str, where)
            pairs = [(subject, object_) for subject in entities[head] for object_ in entities[tail]]
            for subject, object_ in pairs if occurrence == "all" else pairs[:1]:
                triples.append(
                    RawTriple(subject[0], relation, object_[0], subject[1], object_[1], subject[2], object_[2])
                )
        name = take(value, "title", str, where)
        notes = {"mentions": sum(map(len, entities))}
        yield RawSentence(name, tokens.text, triples, where, entities=len(entities), listed=len(labels), notes=notes)


def read_dygie(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences; ids are the document's key and the sentence's place in it."""
    for where, value in read_objects(path):
        name, begin = take(value, "doc_key", str, where), 0
        relations, ner = (items(value, key, list, where) if value.get(key) else [] for key in ("relations", "ner"))
        parts = take(value, "sentences", list, where)
        for key, found in (("relations", relations), ("ner", ner)):
            if found and len(found) != len(parts):
                raise UserError(
                    f"{where}: {len(found)} lists of {key!r} for {len(parts)} sentences; expected one for each"
                )
        for number, part in enumerate(parts):
            here = f"{where} sentence {number}"
            tokens, triples = _Tokens(part, here), []
            types = {}
            for entity in ner[number] if ner else []:
                if not isinstance(entity, list) or len(entity) < 3 or not isinstance(entity[2], str):
                    raise UserError(f"{here}: an entity is {shown(entity)}, expected [start, end, type]")
                types[str(entity[:2])] = entity[2]
            for relation in relations[number] if relations else []:
                if not isinstance(relation, list) or len(relation) < 5 or not isinstance(relation[4], str):
                    raise UserError(f"{here}: a relation is {shown(relation)}, expected [start, end, start, end, type]")
                first, last, begins, ends = (edge - begin if type(edge) is int else None for edge in relation[:4])
                subject, start = tokens.span(first, None if last is None else last + 1)
                object_, object_start = tokens.span(begins, None if ends is None else ends + 1)
                kinds = types.get(str(relation[:2])), types.get(str(relation[2:4]))
                triples.append(RawTriple(subject, relation[4], object_, start, object_start, *kinds))
            marked = len(ner[number]) if ner else None
            yield RawSentence(f"{name}-{number}", tokens.text, triples, here, entities=marked)
            begin += len(tokens.tokens)


REBEL_TEXTS = ("context", "text", "sentence", "input")
REBEL_SAID = ("triplets", "generated_text", "prediction", "output")
_SPECIAL = re.compile(r"</?s>|<pad>")  # what a tokenizer leaves of a decoded output


def _is_rebel(probe: Probe) -> bool:
    return any("<triplet>" in str(probe.value.get(key, "")) for key in REBEL_SAID)


def read_rebel(path: str | Path) -> Iterator[RawSentence]:
    """Yield the texts with the triples of their linearisation; ids are ``id`` or places in the file from 0."""
    for number, (where, value) in enumerate(read_objects(path)):
        text = take(value, next((key for key in REBEL_TEXTS if key in value), "text"), str, where)
        triples = []
        said = take(value, next((key for key in REBEL_SAID if key in value), "triplets"), str, where)
        for group in _SPECIAL.sub(" ", said).split("<triplet>")[1:]:
            subject, *rest = group.split("<subj>")
            if not rest and subject.strip():
                raise UserError(f"{where}: {shown(group)} has no '<subj> object <obj> relation' after its subject")
            for part in rest:
                object_, mark, relation = part.partition("<obj>")
                if not mark or not relation.strip():
                    raise UserError(f"{where}: {shown(group)} has no '<obj> relation' after its '<subj> object'")
                triples.append(RawTriple(subject.strip(), relation.strip(), object_.strip()))
        yield RawSentence(str(value.get("id", number)), text.strip("\r\n"), triples, where)


def _has(*keys: str) -> Any:
    return lambda probe: set(keys) <= probe.value.keys()


FORMATS = (
    CorpusFormat(
        name="docred", order=5.1, read=read_docred, options=("occurrence",), keys=("sents", "vertexSet"),
        detects=_has("sents", "vertexSet"),
    ),
    CorpusFormat(
        name="dygie", order=5.2, read=read_dygie, keys=("doc_key", "sentences", "relations"),
        detects=_has("doc_key", "sentences"),
    ),
    CorpusFormat(
        name="rebel", order=5.5, read=read_rebel, keys=("context", "triplets"),
        detects=_is_rebel,
    ),
)  # fmt: skip
