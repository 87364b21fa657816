"""Entities in the answer of a language model, as records with type, name and properties.

MINEA (:mod:`tripleaudit.needles`) asks for entities as JSON; models answer in many forms of it.
:func:`parse_entities` reads them in two steps: :func:`_rows` finds the items that may be entities
(add another way of nesting there), and :func:`_record` takes type, name and properties of each (add
another name of a key to ``NAME_KEYS`` or ``TYPE_KEYS``).
"""

import re
from collections.abc import Mapping
from typing import Any

from tripleaudit.llm.reading.answer_text import says_nothing, strip_wrapping
from tripleaudit.llm.reading.json_values import decode
from tripleaudit.llm.reading.parsed import Parsed

NAME_KEYS = (
    "name",
    "title",
    "entity",
    "entity_name",
    "label",
    "headline",
    "mention",
    "text",
    "value",
    "名称",
    "姓名",
    "实体",
)
TYPE_KEYS = ("type", "@type", "entity_type", "class", "category", "类型", "类别", "实体类型")
LABEL = "label"
"""A name, or next to another name the type, as in ``{"entity": "Ann", "label": "Person"}``."""
WRAPPER_KEYS = (
    "entities",
    "items",
    "results",
    "records",
    "@graph",
    "data",
    "response",
    "实体",
    "结果",
)
DEFAULT_TYPE = "Thing"
COMMON_TYPES = frozenset(
    ("person", "people", "organization", "organisation", "company", "place", "location", "city")
    + ("country", "event", "date", "product", "creativework", "work", "thing", "number", "other")
    + ("misc", "per", "org", "loc", "gpe", "人物", "组织", "机构", "公司", "地点", "事件", "日期")
)
"""Types by which ``{"Ann": "Person"}`` and ``{"Person": "Ann"}`` are told apart, in lower case."""
_TYPE_NAME = re.compile(r"(?:schema:)?[A-Z][A-Za-z]*")
_STANDARD_KEYS = {
    "name",
    "title",
    "label",
    "headline",
    "type",
    "description",
    "keywords",
    "entities",
    "properties",
}
_SCHEMA_PREFIX = re.compile(r"(?:schema:|https?://schema\.org/)")


def parse_entities(text: str, answer_status: str = "ok") -> Parsed:
    """Read the entities of an answer.

    Accepts ``{"entities": [...]}``, a bare list, one object, an object keyed by type, a graph of
    JSON-LD, JSON lines and several values in a row. Of a truncated answer the complete entities are
    kept.

    Args:
        answer_status: ``ok``, ``truncated`` or ``refused``, as the client reports it.

    Returns:
        Records ``{"type", "name", "properties"}``. Status ``empty`` is an answer that states that
        there are no entities, ``failed`` one that holds no JSON.
    """
    if answer_status == "refused":
        return Parsed([], "refused", ("the model refused to answer",))
    decoded = decode(text)
    if not decoded.values and not decoded.truncated:
        if says_nothing(strip_wrapping(text)):
            return Parsed([], "empty")
        return Parsed([], "failed", ("the answer holds no JSON object or list",))
    rows = [row for value in decoded.values for row in _rows(value)]
    records = []
    notes = dict.fromkeys(decoded.notes)
    for row in rows:
        record, remarks = _record(row)
        if record is not None:
            records.append(record)
        notes.update(dict.fromkeys(remarks))
    if decoded.truncated or answer_status == "truncated":
        return Parsed(records, "truncated", tuple(notes))
    if rows and not records:
        return Parsed(
            [], "failed", (*notes, "the answer holds no entity with a type, a name or properties")
        )
    if not records:
        return Parsed([], "empty", tuple(notes))
    return Parsed(records, "repaired" if decoded.surrounded or notes else "ok", tuple(notes))


def _rows(value: Any) -> list[Any]:
    """Return the items of a JSON value that may be entities.

    The forms are, in the order in which they are tried: a list; an object with a list under one of
    ``WRAPPER_KEYS``; one entity; names and types only (``{"Ann": "Person"}``); entities by type
    (``{"Person": [...]}``) or by number (``{"1": [...]}``).
    """
    if isinstance(value, list):
        return [_unwrap_type(item) for item in value]
    members = _with_standard_keys(value)
    for key in WRAPPER_KEYS:
        if isinstance(members.get(key), list | dict):
            return _rows(members[key])
        if key in members and members[key] is None:
            return []
    if any(key in members for key in (*TYPE_KEYS[:3], *NAME_KEYS)):
        return [value]
    if value and all(isinstance(item, str) for item in value.values()):
        return _rows_of_names(value)
    by_type: list[Any] = []
    for kind, items in value.items():
        if isinstance(items, dict):
            items = [items]
        if isinstance(items, list) and kind.isdecimal():  # entities by their numbers
            by_type += [{"name": item} if isinstance(item, str) else item for item in items]
        elif isinstance(items, list):
            by_type += [_typed(kind, item) for item in items if isinstance(item, dict | str)]
    if by_type or all(items == [] for items in value.values()):
        return by_type
    return [value]


def _rows_of_names(value: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the entities of ``{"Ann": "Person"}`` or ``{"Person": "Ann"}``.

    Properties of one entity, which have other names, stay one object.
    """
    if all(name.isdecimal() for name in value):
        return [{"name": name} for name in value.values()]
    if all(kind.casefold() in COMMON_TYPES for kind in value):
        return [{"type": kind, "name": name} for kind, name in value.items()]
    are_names = all(not name[:1].islower() for name in value)
    if are_names and all(_TYPE_NAME.fullmatch(kind) for kind in value.values()):
        return [{"type": kind, "name": name} for name, kind in value.items()]
    return [dict(value)]


def _typed(kind: str, item: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return the entity of an item that was found under the name of a type."""
    if isinstance(item, str):
        return {"type": kind, "name": item}
    return {"type": kind, **_with_standard_keys(item)}


def _unwrap_type(item: Any) -> Any:
    """Return ``{"type": "Person", ...}`` for ``{"Person": {...}}``, other items as they are."""
    if isinstance(item, dict) and len(item) == 1:
        ((kind, inner),) = item.items()
        if isinstance(inner, dict) and kind.lower() not in _STANDARD_KEYS:
            return _typed(kind, inner)
        if isinstance(inner, str) and kind.lower() not in (*NAME_KEYS, *TYPE_KEYS):
            return _rows_of_names(item)[0]
    return item


def _with_standard_keys(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row with lower-case names of standard members, such as "Name" and "Keywords"."""
    return {
        str(key).lower() if str(key).lower() in _STANDARD_KEYS else str(key): item
        for key, item in row.items()
    }


def _record(row: Any) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the record of an item (None if it is none), and remarks about deviations."""
    if not isinstance(row, dict) or not row:
        return None, ["an item that is no object was left out"]
    members = _with_standard_keys(row)
    remarks: list[str] = []
    kind = _take_type(members)
    nested = members.pop("properties", None)
    if isinstance(nested, dict):
        members = {**nested, **members}
    name = _take_name(members, remarks)
    has_values = any(value not in (None, "", []) for value in members.values())
    if kind is None and name is None and not has_values:
        return None, ["an empty item was left out"]
    if (name or members) and not _has_content(name) and not _has_content(members):
        return None, ["an item that only repeats the form of the answer was left out"]
    if kind is None:
        kind = DEFAULT_TYPE
        remarks.append("an entity without a type")
    if not _has_content(name):
        name = None
        remarks.append("an entity without a name")
    properties = {key: _value(key, value) for key, value in members.items()}
    return {"type": kind, "name": name.strip() if name else None, "properties": properties}, remarks


def _take_type(members: dict[str, Any]) -> str | None:
    """Remove the member that names the type, and return the type."""
    has_name = any(key in members for key in NAME_KEYS if key != LABEL)
    for key in (*TYPE_KEYS, LABEL) if has_name else TYPE_KEYS:
        kind = members.get(key)
        if isinstance(kind, list):
            kind = kind[0] if kind else None
        if kind is not None and not isinstance(kind, dict):
            del members[key]
            for unused in ("type", "@type"):
                members.pop(unused, None)
            return _SCHEMA_PREFIX.sub("", str(kind).strip(), count=1)
    members.pop("type", None)
    members.pop("@type", None)
    return None


def _take_name(members: dict[str, Any], remarks: list[str]) -> str | None:
    """Remove the member that names the entity, and return the name."""
    name = None
    for key in NAME_KEYS:
        if isinstance(members.get(key), str | int | float):
            name = str(members.pop(key))
            if key != "name":
                remarks.append(f"'{key}' was read as the name")
            break
    members.pop("name", None)
    return name


def _has_content(value: Any) -> bool:
    """Return whether a value has a letter or digit; "..." of a prompt's example has none."""
    if isinstance(value, dict):
        return any(map(_has_content, value.values()))
    if isinstance(value, list):
        return any(map(_has_content, value))
    return value is not None and any(character.isalnum() for character in str(value))


def _value(key: str, value: Any) -> Any:
    """Return a property's value with scalars as text; keywords in one string become a list."""
    if key == "keywords" and isinstance(value, str):
        return [part.strip() for part in re.split(r"[,;]", value) if part.strip()]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return [_value("", item) for item in value if item is not None]
    if isinstance(value, dict):
        return {str(inner): _value("", item) for inner, item in value.items()}
    return value
