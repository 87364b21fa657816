"""`tripleaudit config-reference`: Markdown of all keys of a study's configuration."""

import argparse
from collections.abc import Iterator
from typing import Any

HELP = "print all configuration keys as Markdown, or their JSON schema"
# what is explained once, under these keys
EXPLAINED = {"#/$defs/Training": "training", "#/$defs/Columns": "corpora/<name>/columns"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json-schema", action="store_true", help="print the JSON schema, for editors"
    )


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.study.config.study import load_schema

    print(
        json.dumps(load_schema(), indent=2, ensure_ascii=False)
        if args.json_schema
        else "\n".join(reference())
    )
    return 0


TYPES = {
    "array": "list",
    "object": "mapping",
    "boolean": "true or false",
    "integer": "whole number",
}
"""Names in YAML of the types of a JSON schema."""


def reference() -> Iterator[str]:
    """Yield Markdown: links to the sections, then a table of the keys of each."""
    from tripleaudit.study.config.study import load_schema

    schema = load_schema()
    parts = {}
    for key, value in schema["properties"].items():
        parts[key] = list(_rows({**schema, "properties": {key: value}}, schema, ""))
    sections = {key: rows for key, rows in parts.items() if len(rows) > 1}
    yield f"Sections: {', '.join(f'[`{key}`](#{key})' for key in sections)}."
    yield from _table(
        "The study itself",
        [row for key, rows in parts.items() if key not in sections for row in rows],
    )
    for key, rows in sections.items():
        yield from _table(key, rows)


def _table(title: str, rows: list[str]) -> Iterator[str]:
    yield from (
        "",
        f"### {title}",
        "",
        "| key | type | default | meaning |",
        "|---|---|---|---|",
        *rows,
    )


def _rows(part: dict[str, Any], root: dict[str, Any], prefix: str) -> Iterator[str]:
    """Yield a row of the table for each key of a part of the schema, and for the keys below it."""
    from tripleaudit.core.mistakes import resolved

    required = part.get("required", ())
    for key, value in _entries(part):
        name, section = f"{prefix}{key}", resolved(value, root)
        default_meaning = "One entry, under its own name." if key == "<name>" else ""
        meaning = " ".join(section.get("description", default_meaning).split())
        cells = [f"`{name}`", _type(value, root), _default(value, key in required), meaning]
        escaped = [cell.replace("|", "\\|") for cell in cells]
        yield f"| {' | '.join(escaped)} |"
        references = {option.get("$ref") for option in (value, *value.get("anyOf", ()))}
        explained = [EXPLAINED[reference] for reference in references & EXPLAINED.keys()]
        if all(first_name == name for first_name in explained):
            yield from _rows(section, root, f"{name}/")


def _entries(part: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the keys of a part of the schema with their schemas; ``<name>`` for any name."""
    yield from part.get("properties", {}).items()
    for pattern, value in part.get("patternProperties", {}).items():
        yield (f"<{pattern}>" if part.get("properties") else "<name>"), value
    if isinstance(part.get("additionalProperties"), dict):
        yield "<name>", part["additionalProperties"]


def _type(part: dict[str, Any], root: dict[str, Any]) -> str:
    """Return the type of a value in words, such as ``list or null``."""
    if "$ref" in part:
        return _type(root["$defs"][part["$ref"].rpartition("/")[2]], root)
    if "const" in part:
        return f"`{part['const']}`"
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if "anyOf" in part:
        return " or ".join(dict.fromkeys(_type(option, root) for option in part["anyOf"]))
    kinds = part.get("type", [])
    names = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(TYPES.get(name, name) for name in names)


def _default(part: dict[str, Any], required: bool) -> str:
    """Return the default of a value as YAML; empty for mappings."""
    if required:
        return "required"
    value = part.get("default", {})
    if isinstance(value, dict):
        return ""
    if value is None:
        return "null"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"
