"""Fields of a row that hold triples, found by their content.

A program or a user may store predictions next to the gold under any name: ``output``, ``response``,
``triples_gpt4``. A row with two fields that hold different triples does not say which one is the
prediction, whatever the fields are called.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tripleaudit.corpora.triple_forms import (
    TO_ASCII,
    literal,
    name_of,
    triple_of,
    triple_of_object,
)

ROW_ROLES: Final = (
    ("subject", "subj", "sub", "head", "h", "subj_start"),
    ("relation", "predicate"),
    ("object", "obj", "tail", "t", "obj_start"),
)
"""Fields of a row that is one triple itself."""
TEXT_FIELDS: Final = frozenset(
    ("text", "sentence", "sentences", "sents", "senttext", "tokens", "token", "words", "context")
)
"""Names of fields that hold the sentence, whose words may look like a triple."""
OUTPUT_WORDS: Final = frozenset(
    ("output", "outputs", "response", "responses", "answer", "answers", "hyp", "hyps", "hypothesis")
    + ("hypotheses", "extracted", "inferred", "generated", "generation", "completion", "decoded")
    + ("system", "model")
)
"""Words in the names of outputs, which count where their list is empty."""
TRIPLE_WORDS: Final = frozenset(("triple", "triples", "triplet", "triplets"))
MAX_DEPTH: Final = 10
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_JSON = re.compile(r"[\[{].*[\]}]", re.DOTALL)
_GROUP = re.compile(r"[(<]\s*([^(),;<>\n]+)\s*[,;]\s*([^(),;<>\n]+)\s*[,;]\s*([^(),;<>\n]+)\s*[)>]")
_COLUMN = re.compile(r"\s*\|\s*")

Triples = frozenset[tuple[str, ...]]


def fields_with_triples(row: Mapping[str, Any], known: frozenset[str]) -> dict[str, Triples]:
    """Return the fields of a row that hold triples, with the triples.

    Some lists hold triples in forms that only their format can read, such as pairs of spans. They
    count, each item as one string, if their items look like those of a field with a known name.
    Empty lists count under a known name and under the name of an output; but none does if all fields
    that count have known names, such as ``triples`` and an empty ``relations``.

    Args:
        known: names of fields that formats read as triples, in lower case without underscores.
    """
    text = _text_of(row)
    known_forms = [_form(value) for name, value in row.items() if _is_known(name, known)]
    fields = _row_as_triple(row)
    for name, value in row.items():
        if not isinstance(name, str) or name.casefold() in TEXT_FIELDS:
            continue
        if isinstance(value, str) and (not value or text in value):
            continue  # a prompt repeats the sentence
        triples = _triples_in(value)
        form = _form(value)
        if not triples and form is not None and form in known_forms:
            triples = frozenset((json.dumps(item, default=str),) for item in value)
        may_be_empty = _is_known(name, known) or _is_output(name)
        if triples or (may_be_empty and value in ([], "[]")):
            fields[name] = triples
    _, relation_names, _ = ROW_ROLES
    if all(_is_known(name, known) or name in relation_names for name in fields):
        return {name: triples for name, triples in fields.items() if triples}
    return fields


def _row_as_triple(row: Mapping[str, Any]) -> dict[str, Triples]:
    """Return the triple that a row states in its own fields, under the name of its relation."""
    names = [next((name for name in role if name in row), None) for role in ROW_ROLES]
    subject, relation, object_ = names
    if subject is None or relation is None or object_ is None:
        return {}
    parts = [name_of(row[name]) for name in (subject, relation, object_)]
    return {relation: frozenset([_normalise(parts)])}


def _text_of(row: Mapping[str, Any]) -> str:
    """Return the sentence of a row; without one a null character, which no field contains."""
    texts = [value for name, value in row.items() if str(name).casefold() in TEXT_FIELDS]
    strings = [text for text in texts if isinstance(text, str) and text.strip()]
    tokens = [" ".join(map(str, text)) for text in texts if isinstance(text, list) and text]
    return max([*strings, *tokens], key=len, default="\0")


def _is_known(name: Any, known: frozenset[str]) -> bool:
    """Return whether a name is a known one, apart from case and underscores."""
    return isinstance(name, str) and name.replace("_", "").lower() in known


def _is_output(name: str) -> bool:
    """Return whether a word of a name stands for an output or for triples."""
    words = {word.lower() for word in _WORD.findall(name)}
    return not words.isdisjoint(OUTPUT_WORDS | TRIPLE_WORDS)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _form(value: Any) -> Any:
    """Return what the items of a list look like: their keys, or the types of their parts."""
    first = next(iter(_list(value)), None)
    if isinstance(first, dict):
        return frozenset(first) - {"score", "confidence", "probability"}
    if isinstance(first, list) and first:
        return tuple(type(part).__name__ for part in first)
    return None


def _triples_in(value: Any, depth: int = 0) -> Triples:
    """Return the triples of strings in a value, at any depth."""
    if depth > MAX_DEPTH:
        return frozenset()
    if isinstance(value, str):
        return _triples_in_text(value, depth)
    if isinstance(value, dict):
        strings = triple_of_object(value)
        triple = _normalise(strings) if strings else None
        items = [] if triple else list(value.values())
    elif isinstance(value, list | tuple):
        triple = _triple_of_list(value) if depth else None  # a field's own list lists triples
        items = [] if triple else list(value)
    else:
        return frozenset()
    if triple:
        return frozenset([triple])
    triples: set[tuple[str, ...]] = set()
    for item in items:
        strings = triple_of(item) if isinstance(item, str) else None
        if strings:
            triples.add(_normalise(strings))
        elif isinstance(item, list | tuple | dict) or (isinstance(item, str) and depth):
            triples |= _triples_in(item, depth + 1)
    return frozenset(triples)


def _triple_of_list(value: list[Any] | tuple[Any, ...]) -> tuple[str, ...] | None:
    """Return a triple that is a list of three strings that are no numbers."""
    if len(value) != 3 or not all(isinstance(part, str) and part.strip() for part in value):
        return None
    if any(part.strip().isdecimal() for part in value[:2]):
        return None
    return _normalise(value)


def _normalise(parts: Iterable[str]) -> tuple[str, ...]:
    """Return the parts of a triple without differences of case and blanks."""
    return tuple(" ".join(part.split()).casefold() for part in parts)


def _triples_in_text(text: str, depth: int) -> Triples:
    """Return the triples of an answer: JSON, groups in brackets, or rows of a table."""
    in_brackets = _JSON.search(text)
    value = literal(in_brackets[0]) if in_brackets else None
    if value is not None:
        return _triples_in(value, depth + 1)
    triples = []
    for line in text.translate(TO_ASCII).splitlines():
        cells = _COLUMN.split(line.strip().strip("|").strip())
        groups = _GROUP.findall(line)
        if len(cells) == 3:
            triples.append(_triple_of_list(cells))
        elif groups and not _GROUP.sub("", line).strip(" ,;.-*0123456789[]"):
            triples += [_triple_of_list(group) for group in groups]
    return frozenset(triple for triple in triples if triple)
