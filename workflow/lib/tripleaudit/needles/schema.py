"""Schemas: entity types with properties in the style of Schema.org, read from JSON and put into prompts.

MINEA, section 3.1: the schema is fixed before extraction. Every type has ``name``, ``description`` and ``keywords``,
because needles are identified by names and keywords.
"""

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_json
from tripleaudit.shipped import DATA

REQUIRED = ("name", "description", "keywords")
SCHEMA_KEYS = ("version", "title", "source", "types", "groups")
TYPE_KEYS = ("custom", "description", "properties")
PROPERTY_KEYS = ("required", "list", "description")


@dataclass(frozen=True, slots=True)
class EntityType:
    """One type: its properties in order, which of them hold lists, and whether it is the project's own."""

    name: str
    description: str
    properties: tuple[str, ...]
    lists: frozenset[str]
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """A set of entity types and the groups that results are summed up by (group name -> type names)."""

    types: Mapping[str, EntityType]
    groups: Mapping[str, tuple[str, ...]]

    def subset(self, names: Iterable[str]) -> "Schema":
        """Return the schema with only the named types, in the order of the names.

        Raises:
            UserError: a name is not a type of the schema.
        """
        chosen = {}
        for name in names:
            if name not in self.types:
                hint = difflib.get_close_matches(name, self.types, 1)
                raise UserError(
                    f"type {name!r} is not in the schema"
                    + (f", did you mean {hint[0]!r}?" if hint else "")
                    + f"; it has {', '.join(self.types)}"
                )
            chosen[name] = self.types[name]
        return Schema(chosen, self.groups)

    def prompt(self) -> str:
        """Return the schema as text for a prompt: one line per type, lists marked with ``[]``."""
        lines = []
        for kind in self.types.values():
            names = ", ".join(name + "[]" if name in kind.lists else name for name in kind.properties)
            lines.append(f"- {kind.name}{f' ({kind.description})' if kind.description else ''}: {names}")
        return "\n".join(lines)

    def answer_schema(self) -> dict[str, Any]:
        """Return the JSON schema of an extraction answer, as strict structured outputs take it.

        Strict mode allows no property that is not listed, so what else is known of an entity comes as pairs; types
        stay open, because entities outside the schema are allowed.
        """
        text, texts = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
        maybe = {"type": ["string", "null"]}
        return _closed(
            entities={
                "type": "array",
                "items": _closed(
                    type=text,
                    name=maybe,
                    description=maybe,
                    keywords=texts,
                    properties={"type": "array", "items": _closed(name=text, value=text)},
                ),
            }
        )


def load_schema(path: str | Path) -> Schema:
    """Read and check a schema file; a bare name is looked up among the schemas that ship with the project.

    Raises:
        UserError: the file is missing or does not follow the format; the message names the file and the place.
    """
    path = schema_file(path)
    return schema_from_json(read_json(path), str(path))


def schema_file(path: str | Path) -> Path:
    """Return the file of a schema, given as a path or by the name of one that ships with the project.

    Raises:
        UserError: a bare name stands for none.
    """
    path = Path(path)
    if path.suffix or path.exists():
        return path
    shipped = shipped_schemas()
    if path.name not in shipped:
        raise UserError(f"schema {str(path)!r} is neither a file nor one of {', '.join(sorted(shipped))}")
    return shipped[path.name]


def shipped_schemas() -> dict[str, Path]:
    """Return the names and files of the schemas in ``data/schemas``."""
    return {path.stem: path for path in sorted((DATA / "schemas").glob("*.json"))}


def schema_from_json(value: Any, where: str = "schema") -> Schema:
    """Build a :class:`Schema` from ``{"version": 1, "types": {...}, "groups": {...}}`` and check it.

    Raises:
        UserError: an unknown key, a missing property or a group member that is no string; ``where`` starts the message.
    """
    _known(value, SCHEMA_KEYS, where)
    if value.get("version") != 1:
        raise UserError(f"{where}: 'version' is {value.get('version')!r}, expected 1")
    if not isinstance(value.get("types"), dict) or not value["types"]:
        raise UserError(f"{where}: 'types' must be an object with at least one entity type")
    types = {name: _type(name, row, f"{where}: type {name!r}") for name, row in value["types"].items()}
    groups = value.get("groups", {})
    if not isinstance(groups, dict):
        raise UserError(f"{where}: 'groups' must be an object from group names to lists of type names")
    for group, members in groups.items():
        if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
            raise UserError(f"{where}: group {group!r} must be a list of type names")
    return Schema(types, {group: tuple(members) for group, members in groups.items()})


def _closed(**properties: Any) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these properties."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _type(name: str, row: Any, where: str) -> EntityType:
    _known(row, TYPE_KEYS, where)
    properties = row.get("properties")
    if not isinstance(properties, dict):
        raise UserError(f"{where}: 'properties' must be an object from property names to their settings")
    for key in REQUIRED:
        if key not in properties:
            raise UserError(f"{where} lacks the property {key!r}, which finding needles depends on")
    for key, settings in properties.items():
        _known(settings, PROPERTY_KEYS, f"{where}, property {key!r}")
    lists = {key for key, settings in properties.items() if settings.get("list")} | {"keywords"}
    description = row.get("description", "")
    if not isinstance(description, str):
        raise UserError(f"{where}: 'description' must be a string, got {json.dumps(description)}")
    return EntityType(name, description, tuple(properties), frozenset(lists), bool(row.get("custom", False)))


def _known(value: Any, keys: tuple[str, ...], where: str) -> None:
    if not isinstance(value, dict):
        raise UserError(f"{where}: expected an object, got {json.dumps(value)[:80]}")
    for key in value:
        if key not in keys:
            hint = difflib.get_close_matches(key, keys, 1)
            raise UserError(
                f"{where}: unknown key {key!r}"
                + (f", did you mean {hint[0]!r}?" if hint else "")
                + f"; known keys are {', '.join(keys)}"
            )
