"""Extracted entities with provenance: read from answers, as a raw list, as a deduplicated view, and as plain text.

Bad content of an answer never raises, it shows in the status.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tripleaudit.fields import CLOSED
from tripleaudit.llm.answers import Parsed
from tripleaudit.llm.lenient import decode

SEPARATOR = "\x1f"  # unit separator: stands between values where names are searched, and occurs in no name
PLACEHOLDERS = ("", "unknown", "n/a", "na", "none", "null", "not specified", "not given", "not available", "-", "–")


@dataclass(frozen=True, slots=True)
class Entity:
    """One extracted entity.

    ``piece``, ``iteration`` and ``thread`` count from 0; ``index`` is its position in the raw result of the document,
    in its variant; ``variant`` is ``enriched``, ``untouched``, ``parts``, or that of a run of its own for the table of
    iterations; ``call`` is the hash of the request that returned it.
    """

    __pydantic_config__ = CLOSED

    doc: str
    variant: str
    piece: int
    iteration: int
    thread: int
    index: int
    type: str
    name: str | None
    properties: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    call: str = ""

    def values(self) -> Iterator[str]:
        """Yield the name and every property value as a string, list items singly, nulls left out."""
        if self.name is not None:
            yield self.name
        for value in (*self.properties.values(), *self.extra.values()):
            yield from _strings(value)

    def keywords(self) -> list[str]:
        """The entity's keywords; a single string counts as one keyword."""
        return list(_strings(self.properties.get("keywords")))

    def line(self) -> str:
        """Type and values in one line, keys left out: shared property names do not make entities similar."""
        return " ".join([self.type, *self.values()])


def normalise(text: str, casefold: bool = False) -> str:
    """Return ``text`` in NFC, trimmed, inner whitespace collapsed, and casefolded on request."""
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return text.casefold() if casefold else text


def is_filled(value: Any) -> bool:
    """Whether a property value says something: not null, not empty, not a placeholder such as ``unknown``."""
    if isinstance(value, list):
        return any(map(is_filled, value))
    if isinstance(value, dict):
        return any(map(is_filled, value.values()))
    return value is not None and normalise(str(value), casefold=True) not in PLACEHOLDERS


def deduplicated(entities: Sequence[Entity]) -> list[dict[str, Any]]:
    """Return the view in which entities of one document with the same type and name are one.

    Names are compared casefolded; an entity without a name stays alone. The first non-empty value of a property
    wins, lists are united, other values of a property are kept under ``conflicts``, and ``indices`` names the
    entities that were merged. Scores use the raw list unless they say otherwise.
    """
    merged: dict[tuple, dict[str, Any]] = {}
    for entity in entities:
        name = normalise(entity.name, casefold=True) if entity.name else None
        key = (entity.doc, entity.variant, normalise(entity.type, casefold=True), name or ("", entity.index))
        row = {name: getattr(entity, name) for name in ("doc", "variant", "type", "name")}
        row = merged.setdefault(key, {**row, "properties": {}, "conflicts": {}, "indices": []})
        row["indices"].append(entity.index)
        for prop, value in (*entity.properties.items(), *entity.extra.items()):
            _merge(row, prop, value)
    return list(merged.values())


def _merge(row: dict[str, Any], prop: str, value: Any) -> None:
    if not is_filled(value):
        row["properties"].setdefault(prop, value)
        return
    known = row["properties"].get(prop)
    if not is_filled(known):
        row["properties"][prop] = value
    elif isinstance(known, list):
        items = value if isinstance(value, list) else [value]
        row["properties"][prop] = known + [item for item in items if item not in known]
    elif value != known:
        others = row["conflicts"].setdefault(prop, [])
        if value not in others:
            others.append(value)


def _strings(value: Any) -> Iterator[str]:
    if value is None:
        return
    if isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    else:
        yield str(value)


NAME_KEYS = ("name", "title", "label", "headline")
WRAPPERS = ("entities", "items", "results", "records")
DEFAULT_TYPE = "Thing"


def parse_entities(text: str, answer_status: str = "ok") -> Parsed:
    """Read the entities of an answer.

    Accepts ``{"entities": [...]}``, a bare list, one object, an object keyed by type, JSON lines and several values in
    a row, each with the repairs of :mod:`tripleaudit.llm.lenient`. Of a truncated answer the complete entities
    are kept.

    Args:
        answer_status: ``ok``, ``truncated`` or ``refused``, as the client reports it.

    Returns:
        Records ``{"type", "name", "properties", "extra"}``. Status ``empty`` is a readable answer without entities,
        ``failed`` one that holds no JSON.
    """
    if answer_status == "refused":
        return Parsed([], "refused", ("the model refused to answer",))
    decoded = decode(text)
    notes = list(decoded.notes)
    if not decoded.values and not (decoded.truncated and ("[" in text or "{" in text)):
        return Parsed([], "failed", ("the answer holds no JSON object or list",))
    rows = [row for value in decoded.values for row in _rows(value)]
    records = []
    for row in rows:
        record, remarks = _record(row)
        if record is not None:
            records.append(record)
        notes += [remark for remark in remarks if remark not in notes]
    if decoded.truncated or answer_status == "truncated":
        return Parsed(records, "truncated", tuple(notes))
    if rows and not records:
        return Parsed([], "failed", (*notes, "the answer holds no entity with a type, a name or properties"))
    if not records:
        return Parsed([], "empty", tuple(notes))
    return Parsed(records, "repaired" if decoded.repaired or decoded.surrounded or notes else "ok", tuple(notes))


def _rows(value: Any) -> list[Any]:
    """Unwrap what holds entities; a row may still be anything."""
    if isinstance(value, list):
        return value
    for key in WRAPPERS:
        if isinstance(value.get(key), list):
            return value[key]
    if "type" in value or "@type" in value or any(key in value for key in NAME_KEYS):
        return [value]
    by_type = []
    for kind, items in value.items():
        items = [items] if isinstance(items, dict) else items
        if isinstance(items, list):
            by_type += [{"type": kind, **item} for item in items if isinstance(item, dict)]
    if by_type or all(value[key] == [] for key in value):
        return by_type
    return [value]


def _record(row: Any) -> tuple[dict[str, Any] | None, list[str]]:
    if not isinstance(row, dict) or not row:
        return None, ["an item that is no object was left out"]
    row = dict(row)
    notes = []
    kind = row.pop("@type", None)
    kind = row.pop("type", kind)
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    nested = row.pop("properties", None)
    if isinstance(nested, dict):
        row = {**nested, **row}
    name = None
    for key in NAME_KEYS:
        if isinstance(row.get(key), str | int | float) and name is None:
            name = str(row.pop(key))
            if key != "name":
                notes.append(f"'{key}' was read as the name")
    row.pop("name", None)
    if kind is None and name is None and not any(value not in (None, "", []) for value in row.values()):
        return None, ["an empty item was left out"]
    if (name or row) and not _says(name) and not _says(row):
        return None, ["an item that only repeats the form of the answer was left out"]
    if kind is None:
        kind = DEFAULT_TYPE
        notes.append("an entity without a type")
    if not _says(name):
        name = None
        notes.append("an entity without a name")
    properties = {str(key): _value(str(key), value) for key, value in row.items()}
    return {"type": str(kind).strip(), "name": name.strip() if name else None, "properties": properties}, notes


def _says(value: Any) -> bool:
    """Whether a letter or a digit is in it; "..." copied from the prompt's example says nothing."""
    if isinstance(value, dict | list):
        return any(map(_says, value.values() if isinstance(value, dict) else value))
    return value is not None and any(character.isalnum() for character in str(value))


def _value(key: str, value: Any) -> Any:
    if key == "keywords" and isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return [_value("", item) for item in value if item is not None]
    if isinstance(value, dict):
        return {str(inner): _value("", item) for inner, item in value.items()}
    return value
