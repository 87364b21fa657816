"""`tripleaudit config-reference`: every key of a study's configuration, from the schema, as Markdown."""

import argparse
from collections.abc import Iterator
from typing import Any

HELP = "print the reference of all configuration keys as Markdown"


def configure(parser: argparse.ArgumentParser) -> None:
    """The command has no options."""


def run(args: argparse.Namespace) -> int:
    print("\n".join(reference()))
    return 0


def reference() -> Iterator[str]:
    """Yield the lines of a Markdown table with one row for each key: name, type, default, meaning."""
    from tripleaudit.plan.configuration import load_schema

    schema = load_schema()
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    yield from _rows(schema, schema, "", set(schema.get("required", ())))


def _rows(schema: dict[str, Any], root: dict[str, Any], prefix: str, required: set[str]) -> Iterator[str]:
    parts = [(key, part, key in required) for key, part in schema.get("properties", {}).items()]
    parts += [(f"<{pattern}>", part, False) for pattern, part in schema.get("patternProperties", {}).items()]
    if isinstance(schema.get("additionalProperties"), dict):
        parts.append(("<name>", schema["additionalProperties"], False))
    for key, part, needed in parts:
        name = f"{prefix}{key}"
        shared = part.get("$ref", "").removeprefix("#/$defs/")
        whole = {**root["$defs"].get(shared, {}), **{k: v for k, v in part.items() if k != "$ref"}}
        meaning = whole.get("description") or ("One entry, under its own name." if key == "<name>" else "")
        cells = [f"`{name}`", _type(whole), _default(whole, needed), meaning]
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
        # the settings of a training are the same everywhere: spelt out once, under `training`
        if shared != "training" or name == "training":
            yield from _rows(whole, root, f"{name}/", set(whole.get("required", ())))
            if isinstance(whole.get("items"), dict):
                yield from _rows(whole["items"], root, f"{name}[]/", set(whole["items"].get("required", ())))


def _type(part: dict[str, Any]) -> str:
    if "const" in part:
        return f"`{part['const']}`"
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    kind = part.get("type", "")
    if isinstance(kind, list):
        return " or ".join(kind)
    if "oneOf" in part:
        return " or ".join(option.get("type", "") for option in part["oneOf"])
    return kind


def _default(part: dict[str, Any], needed: bool) -> str:
    if needed:
        return "required"
    if "default" not in part:
        return ""
    value = part["default"]
    return "null" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"
