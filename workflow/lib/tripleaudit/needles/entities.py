"""Extracted entities with provenance: as a raw list, as a deduplicated view, and as plain text."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tripleaudit.core.rows import CLOSED

# Unit separator: joins values when names are searched in them; no name contains it.
SEPARATOR = "\x1f"
PLACEHOLDERS = (
    "",
    "unknown",
    "n/a",
    "na",
    "none",
    "null",
    "not specified",
    "not given",
    "not available",
    "-",
    "–",
)


@dataclass(frozen=True, slots=True)
class Entity:
    """One extracted entity.

    ``piece``, ``iteration`` and ``thread`` count from 0; ``index`` is its position in the raw
    result of the document, in its variant; ``variant`` is ``enriched``, ``untouched`` or ``parts``;
    ``call`` is the hash of the request that returned it.
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
        """Yield the name and all property values as strings; skip nulls and flatten lists."""
        if self.name is not None:
            yield self.name
        for value in (*self.properties.values(), *self.extra.values()):
            yield from _strings(value)

    def keywords(self) -> list[str]:
        """The entity's keywords; a single string counts as one keyword."""
        return list(_strings(self.properties.get("keywords")))

    def line(self) -> str:
        """Return type and values in one line.

        Keys are left out: shared property names do not make entities similar.
        """
        return " ".join([self.type, *self.values()])


def normalise(text: str, casefold: bool = False) -> str:
    """Return ``text`` in NFC, trimmed, inner whitespace collapsed, and casefolded on request."""
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return text.casefold() if casefold else text


def is_filled(value: Any) -> bool:
    """Return whether a property has content: not null, empty or a placeholder (``unknown``)."""
    if isinstance(value, list):
        return any(map(is_filled, value))
    if isinstance(value, dict):
        return any(map(is_filled, value.values()))
    return value is not None and normalise(str(value), casefold=True) not in PLACEHOLDERS


def deduplicated(entities: Sequence[Entity]) -> list[dict[str, Any]]:
    """Merge the entities of a document and variant that have the same type and name.

    Names and types are compared casefolded; an entity without a name is never merged. The first
    non-empty value of a property is kept, lists are united, and other values go to ``conflicts``.
    ``indices`` lists the positions of the merged entities. Most scores use the raw list instead.
    """
    merged: dict[tuple, dict[str, Any]] = {}
    for entity in entities:
        row = merged.setdefault(_merge_key(entity), _empty_row(entity))
        row["indices"].append(entity.index)
        for prop, value in (*entity.properties.items(), *entity.extra.items()):
            _merge(row, prop, value)
    return list(merged.values())


def _merge_key(entity: Entity) -> tuple:
    """Return the key of equal entities; the key of an entity without a name is unique."""
    entity_type = normalise(entity.type, casefold=True)
    name = normalise(entity.name or "", casefold=True)
    unnamed = ("", entity.index)
    return entity.doc, entity.variant, entity_type, name or unnamed


def _empty_row(entity: Entity) -> dict[str, Any]:
    return {
        "doc": entity.doc,
        "variant": entity.variant,
        "type": entity.type,
        "name": entity.name,
        "properties": {},
        "conflicts": {},
        "indices": [],
    }


def _merge(row: dict[str, Any], prop: str, value: Any) -> None:
    """Add the value of a property to the row of a merged entity."""
    if not is_filled(value):
        row["properties"].setdefault(prop, value)
        return
    first = row["properties"].get(prop)
    if not is_filled(first):
        row["properties"][prop] = value
    elif isinstance(first, list):
        items = value if isinstance(value, list) else [value]
        row["properties"][prop] = first + [item for item in items if item not in first]
    elif value != first:
        conflicts = row["conflicts"].setdefault(prop, [])
        if value not in conflicts:
            conflicts.append(value)


def _strings(value: Any) -> Iterator[str]:
    """Yield the values of nested lists and dictionaries as strings, without nulls."""
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
