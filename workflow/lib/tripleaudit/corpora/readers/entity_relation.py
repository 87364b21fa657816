"""``entity-relation``: tokens, entities and relations between places in the entity list, as SpERT and PFN use them.

``{"tokens": [...], "entities": [{"type", "start", "end"}], "relations": [{"type", "head", "tail"}], "orig_id"}``, with
token positions and ``end`` exclusive; a JSON list or JSON lines. CoNLL04, SciERC and ADE come in this form.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.readers.common import join_tokens, read_objects, take
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences, tokens joined with blanks; ids are ``orig_id`` or the places in the file from 0."""
    for number, (where, value) in enumerate(read_objects(path)):
        yield sentence_of_tokens(value, where, str(value.get("orig_id", value.get("id", number))))


def sentence_of_tokens(value: dict[str, Any], where: str, name: str) -> RawSentence:
    """Build one sentence from ``tokens``, ``entities`` and ``relations``.

    Raises:
        UserError: a field is missing or of another type, or a position lies outside the tokens or entities.
    """
    tokens = take(value, "tokens", list, where)
    if not all(isinstance(token, str) for token in tokens):
        raise UserError(f"{where}: 'tokens' holds something that is not a string")
    text, starts = join_tokens(tokens)
    spans: list[tuple[str, int, str | None]] = []
    for entity in take(value, "entities", list, where):
        if not isinstance(entity, dict):
            raise UserError(f"{where}: 'entities' holds something that is not an object")
        first, end = take(entity, "start", int, where), take(entity, "end", int, where)
        if not 0 <= first < end <= len(tokens):
            raise UserError(f"{where}: the entity span [{first}, {end}) is outside the text of {len(tokens)} tokens")
        start = starts[first]
        type_ = entity.get("type")
        if not isinstance(type_, str | None):
            raise UserError(f"{where}: an entity's type is {type_!r}, expected a string")
        spans.append((text[start : starts[end - 1] + len(tokens[end - 1])], start, type_))
    triples = []
    for relation in take(value, "relations", list, where):
        if not isinstance(relation, dict):
            raise UserError(f"{where}: 'relations' holds something that is not an object")
        name_of = take(relation, "type", str, where)
        if not name_of.strip():
            raise UserError(f"{where}: a triple has no relation, its 'type' is empty")
        places = []
        for key in ("head", "tail"):
            place = take(relation, key, int, where)
            if not 0 <= place < len(spans):
                raise UserError(f"{where}: {key!r} is {place}, expected the place of one of {len(spans)} entities")
            places.append(spans[place])
        (subject, subject_start, subject_type), (object_, object_start, object_type) = places
        triples.append(RawTriple(subject, name_of, object_, subject_start, object_start, subject_type, object_type))
    return RawSentence(name, text, triples, where, entities=len(spans))


FORMAT = CorpusFormat(
    name="entity-relation",
    order=9,
    read=read,
    keys=("tokens", "entities", "relations"),
    detects=lambda probe: {"tokens", "relations"} <= probe.value.keys(),
)
