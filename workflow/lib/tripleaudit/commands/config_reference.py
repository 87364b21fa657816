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
    parts = {
        key: list(_rows({**schema, "properties": {key: each}}, schema, ""))
        for key, each in schema["properties"].items()
    }
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
    from tripleaudit.core.fields import resolved

    required = part.get("required", ())
    entries = [(key, each, key in required) for key, each in part.get("properties", {}).items()]
    for pattern, each in part.get("patternProperties", {}).items():
        entries.append((f"<{pattern}>" if part.get("properties") else "<name>", each, False))
    if isinstance(part.get("additionalProperties"), dict):
        entries.append(("<name>", part["additionalProperties"], False))
    for key, each, needed in entries:
        name, whole = f"{prefix}{key}", resolved(each, root)
        meaning = " ".join(
            whole.get("description", "One entry, under its own name." * (key == "<name>")).split()
        )
        cells = [f"`{name}`", _type(each, root), _default(each, needed), meaning]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
        parts = {one.get("$ref") for one in (each, *each.get("anyOf", ()))} & EXPLAINED.keys()
        if all(EXPLAINED[part] == name for part in parts):
            yield from _rows(whole, root, f"{name}/")


def _type(part: dict[str, Any], root: dict[str, Any]) -> str:
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


def _default(part: dict[str, Any], needed: bool) -> str:
    if needed:
        return "required"
    value = part.get("default", {})
    if isinstance(value, dict):
        return ""
    return (
        "null" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"
    )
