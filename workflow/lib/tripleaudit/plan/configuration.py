"""Validation of a study's configuration: every problem at once, before anything runs."""

import copy
import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from tripleaudit.errors import UserError
from tripleaudit.shipped import DATA
from tripleaudit.yaml_files import LOADER, read_yaml

SCHEMAS = DATA / "config"


def load_schema() -> dict[str, Any]:
    """Return the whole schema: ``study.yaml`` with each other file of the folder as the section of its name."""
    schema = yaml.load((SCHEMAS / "study.yaml").read_text(encoding="utf-8"), LOADER)
    for path in sorted(SCHEMAS.glob("*.yaml")):
        if path.stem != "study":
            section = yaml.load(path.read_text(encoding="utf-8"), LOADER)
            schema["$defs"].update(section.pop("$defs", {}))
            section.pop("$schema", None)
            schema["properties"][path.stem] = section
    return schema


def read_config(path: str | Path) -> dict[str, Any]:
    """Read and validate a study file; the form of :func:`validated`."""
    return validated(read_yaml(path))


def validated(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with its defaults filled in.

    Raises:
        UserError: one line for each problem, with the key and what was expected.
    """
    schema = load_schema()
    found = list(problems(config, schema))
    if found:
        raise UserError("Configuration is not usable:\n" + "\n".join(f"- {problem}" for problem in found))
    return with_defaults(copy.deepcopy(config), schema, schema)


def problems(config: Any, schema: dict[str, Any]) -> Iterator[str]:
    """Yield one sentence for each place where the configuration does not fit the schema."""
    errors = Draft202012Validator(schema).iter_errors(config)
    for error in sorted(errors, key=lambda item: list(map(str, item.absolute_path))):
        yield from _explained(error)


def _explained(error) -> Iterator[str]:
    where = "/".join(map(str, error.absolute_path)) or "(top level)"
    if error.validator == "additionalProperties" and error.schema["additionalProperties"] is False:
        known = error.schema.get("properties", {})
        patterns = error.schema.get("patternProperties", {})
        unknown = [key for key in error.instance if key not in known and not _fits_any(str(key), patterns)]
        for key in sorted(map(str, unknown)):
            close = difflib.get_close_matches(key, known, 1)
            hint = f", did you mean '{close[0]}'?" if close else f"; known are {', '.join(sorted(known)) or 'none'}"
            yield f"{where}: unknown key '{key}'{hint}"
    elif error.validator == "pattern" and where == "study":
        yield (
            f"study: {error.instance!r} cannot name a study; expected letters, digits, '.', '_' and '-', starting with "
            "a letter or digit, because everything is written to results/<study>"
        )
    elif error.validator == "type":
        expected = (
            error.validator_value if isinstance(error.validator_value, str) else " or ".join(error.validator_value)
        )
        yield f"{where}: expected {expected}, got {error.instance!r}"
    else:
        yield f"{where}: {error.message}"


def _fits_any(key: str, patterns: dict[str, Any]) -> bool:
    return any(re.search(pattern, key) for pattern in patterns)


def with_defaults(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """Fill the defaults of ``schema`` into ``value``, at every level that is present, and return it."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        schema = {**root["$defs"][name], **{key: item for key, item in schema.items() if key != "$ref"}}
    if isinstance(value, dict):
        for key, part in schema.get("properties", {}).items():
            if key not in value and "default" in part:
                value[key] = copy.deepcopy(part["default"])
            if key in value:
                value[key] = with_defaults(value[key], part, root)
        for key in value:
            if key not in schema.get("properties", {}):
                for part in _parts_for(key, schema):
                    value[key] = with_defaults(value[key], part, root)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        value = [with_defaults(item, schema["items"], root) for item in value]
    return value


def _parts_for(key: str, schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    matched = False
    for pattern, part in schema.get("patternProperties", {}).items():
        if re.search(pattern, key):
            matched = True
            yield part
    if not matched and isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"]
