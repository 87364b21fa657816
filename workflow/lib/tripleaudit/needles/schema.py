"""Schemas of entity types with Schema.org properties, read from JSON and put into prompts.

MINEA, section 3.1: the schema is fixed before extraction. Every type has ``name``, ``description``
and ``keywords``, because needles are identified by names and keywords.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.fields import Section
from tripleaudit.core.files import read_json
from tripleaudit.core.rows import row_of
from tripleaudit.core.shipped import DATA

REQUIRED = ("name", "description", "keywords")


class _Property(Section):
    required: bool = False
    list: bool = False
    description: str = ""


class _Type(Section):
    custom: bool = False
    description: str = ""
    properties: dict[str, _Property]


class _File(Section):
    version: Literal[1]
    title: str = ""
    source: str = ""
    types: Annotated[dict[str, _Type], Field(min_length=1)]
    groups: dict[str, list[str]] = {}


@dataclass(frozen=True, slots=True)
class EntityType:
    """One type: ordered properties, which of them hold lists, and whether it is the project's."""

    name: str
    description: str
    properties: tuple[str, ...]
    lists: frozenset[str]
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """Entity types and groups by which results are summed (group name -> type names)."""

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
                raise UserError(f"type {name!r} is not in the schema{hint(name, self.types)}")
            chosen[name] = self.types[name]
        return Schema(chosen, self.groups)

    def prompt(self) -> str:
        """Return the schema as text for a prompt: one line per type, lists marked with ``[]``."""
        lines = []
        for kind in self.types.values():
            names = ", ".join(
                name + "[]" if name in kind.lists else name for name in kind.properties
            )
            lines.append(
                f"- {kind.name}{f' ({kind.description})' if kind.description else ''}: {names}"
            )
        return "\n".join(lines)

    def answer_schema(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON schema of an answer: entities of these types, or of any other type.

        Args:
            frame: JSON schema of ``{"entities": [...]}`` whose items are entities of any type.
        """
        any_type = frame["properties"]["entities"]["items"]
        own_types = [_entity_schema(kind) for kind in self.types.values()]
        entities = {"type": "array", "items": {"anyOf": [*own_types, any_type]}}
        return {**frame, "properties": {"entities": entities}}


def _entity_schema(kind: EntityType) -> dict[str, Any]:
    """Return the JSON schema of an entity of one type; missing values are null."""
    properties: dict[str, Any] = {"type": {"type": "string", "enum": [kind.name]}}
    for name in kind.properties:
        if name in kind.lists:
            properties[name] = {"type": "array", "items": {"type": "string"}}
        else:
            properties[name] = {"type": ["string", "null"]}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def plain_type(name: str) -> EntityType:
    """A type outside every schema, as the needles of the paper's group 5 have."""
    return EntityType(name, "", REQUIRED, frozenset({"keywords"}))


def load_schema(path: str | Path) -> Schema:
    """Read and validate a schema file; bare names refer to shipped schemas.

    Raises:
        UserError: the file is missing or does not follow the format; the message names the file and
            the position.
    """
    path = schema_file(path)
    return schema_from_json(read_json(path), str(path))


def schema_file(path: str | Path) -> Path:
    """Return the file of a schema, given as a path or the name of a shipped one.

    Raises:
        UserError: a bare name stands for none.
    """
    path = Path(path)
    if path.suffix or path.is_file():
        return path
    shipped = shipped_schemas()
    if str(path) not in shipped:
        raise UserError(
            f"schema {str(path)!r} is neither a file nor one of {', '.join(sorted(shipped))}"
        )
    return shipped[str(path)]


def shipped_schemas() -> dict[str, Path]:
    """Return the names and files of the schemas in ``data/schemas``."""
    return {path.stem: path for path in sorted((DATA / "schemas").glob("*.json"))}


def schema_from_json(value: Any, where: str = "schema") -> Schema:
    """Build a valid :class:`Schema` from ``{"version": 1, "types": {...}, "groups": {...}}``.

    Raises:
        UserError: a key or property is unknown or missing, or of the wrong type; ``where`` begins
            the message.
    """
    file = row_of(value, _File, where)
    types = {}
    for name, row in file.types.items():
        for key in REQUIRED:
            if key not in row.properties:
                raise UserError(
                    f"{where}: type {name!r} lacks the property {key!r}, which finding needles depends on"
                )
        lists = {key for key, settings in row.properties.items() if settings.list} | {"keywords"}
        types[name] = EntityType(
            name, row.description, tuple(row.properties), frozenset(lists), row.custom
        )
    return Schema(types, {group: tuple(members) for group, members in file.groups.items()})
