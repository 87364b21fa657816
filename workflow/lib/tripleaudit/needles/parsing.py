"""Reading the answers to the prompts of this package; bad content never raises, it shows in the status."""

import json
from typing import Any

from tripleaudit.generative.lenient import decode
from tripleaudit.generative.threads import Parsed
from tripleaudit.needles.entities import normalise

NAME_KEYS = ("name", "title", "label", "headline")
WRAPPERS = ("entities", "items", "results", "records")
DEFAULT_TYPE = "Thing"


def parse_entities(text: str, answer_status: str = "ok") -> Parsed:
    """Read the entities of an answer.

    Accepts ``{"entities": [...]}``, a bare list, one object, an object keyed by type, JSON lines and several values in
    a row, each with the repairs of :mod:`tripleaudit.generative.lenient`. Of a truncated answer the complete entities
    are kept.

    Args:
        text: the answer.
        answer_status: ``ok``, ``truncated`` or ``refused``, as the client reports it.

    Returns:
        Records ``{"type", "name", "properties", "extra"}``. Status ``empty`` is a readable answer without entities,
        ``failed`` one that holds no JSON.
    """
    if answer_status == "refused":
        return Parsed([], "refused", ("the model refused to answer",))
    decoded = decode(text)
    notes = list(decoded.notes)
    if not decoded.values and not (decoded.truncated and _opens_list(text)):
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


def parse_rows(text: str) -> list[dict[str, Any]]:
    """Return all objects of an answer that is a list of objects, possibly wrapped in an object or in prose."""
    rows: list[dict[str, Any]] = []
    for value in decode(text).values:
        if isinstance(value, dict):
            inner = next((item for item in value.values() if isinstance(item, list) and _all_objects(item)), None)
            rows += inner if inner else [value]
        else:
            rows += [row for row in value if isinstance(row, dict)]
    return rows


def parse_match(text: str) -> int | None:
    """Return the index that a judge points at, or ``None`` for no match and for an answer that cannot be read."""
    for value in decode(text).values:
        if isinstance(value, dict) and "match" in value:
            match = value["match"]
            if isinstance(match, str) and match.strip().isdigit():
                match = int(match)
            return match if type(match) is int else None
    return None


def identity(record: dict[str, Any]) -> tuple[str, str]:
    """What makes two records the same when a thread asks whether anything new came: type and name, else all of it."""
    name = record["name"] or json.dumps(record["properties"], sort_keys=True, default=str)
    return normalise(record["type"], True), normalise(name, True)


def _opens_list(text: str) -> bool:
    return "[" in text or "{" in text


def _all_objects(items: list) -> bool:
    return bool(items) and all(isinstance(item, dict) for item in items)


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
