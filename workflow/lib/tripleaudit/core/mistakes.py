"""Messages about invalid values: the errors of pydantic as sentences with a location.

:func:`mistakes` turns a ``ValidationError`` into sentences such as ``training/epochs: expected a
whole number, got 'x'``. Used for studies, settings of commands, and rows of files.
"""

import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from tripleaudit.core.errors import hint

Location = tuple[str | int, ...]
"""Keys and positions from the validated mapping to a value."""

EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dataclass_type": "a mapping",
    "finite_number": "a finite number",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} of them",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "literal_error": "one of {expected}",
    "string_pattern_mismatch": "letters, digits, '.', '_' and '-', starting with a letter or digit",
}
"""Type of pydantic's error -> valid values; names in braces are from the error's context.

Patterns are used for names only.
"""
UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
KEY_MARK = "[key]"
"""What pydantic appends to the location of a key that is itself invalid."""


class Mistake(NamedTuple):
    """One invalid value.

    Attributes:
        loc: location of the value; of the section that lacks it, for a missing key.
        where: location that the sentence names; for an unknown or missing key, its section.
        text: the sentence.
        kind: pydantic's type of the error.
        key: location of a key that is missing, or that another one requires; else empty.
    """

    loc: Location
    where: Location
    text: str
    kind: str = ""
    key: Location = ()

    def sentence(self, root: str = "") -> str:
        """Return the sentence behind its location; ``root`` is the name of the validated part."""
        parts = [root] if root else []
        parts += map(str, self.where)
        location = "/".join(parts) or "(top level)"
        return f"{location}: {self.text}"


def mistakes(error: ValidationError, model: type[Any]) -> Iterator[Mistake]:
    """Yield each mistake that a validation found.

    Args:
        error: the error.
        model: the model or dataclass that was validated against.
    """
    details = error.errors(include_url=False)
    parents = {detail["loc"][:-1] for detail in details}
    for detail in details:
        # a list is also too short if its invalid items, which have errors of their own, do not count
        if detail["type"] == "too_short" and detail["loc"] in parents:
            continue
        yield _mistake(detail, model)


def _mistake(detail: Any, model: type[Any]) -> Mistake:
    """Return one error of pydantic as a mistake."""
    loc: Location = detail["loc"]
    kind: str = detail["type"]
    context = detail.get("ctx", {})
    if loc and loc[-1] == KEY_MARK:
        *section, key, _ = loc
        problem = "is too long a name" if kind == "string_too_long" else "is no name"
        expected_kind = kind if kind == "string_too_long" else "string_pattern_mismatch"
        expected = EXPECTED[expected_kind].format(**context)
        text = f"{shorten(key)} {problem}; expected {expected}"
        return Mistake((*section, key), tuple(section), text)
    if kind in UNKNOWN_KEY:
        *section, key = loc
        advice = hint(key, keys_at(schema_of(model), section))
        return Mistake(loc, tuple(section), f"unknown key '{key}'{advice}", kind)
    if kind == "missing":
        *section, key = loc
        text = f"the key '{key}' is missing"
        return Mistake(tuple(section), tuple(section), text, kind, key=loc)
    if kind in EXPECTED:
        limits = {
            name: f"{limit:g}" if isinstance(limit, float) else limit
            for name, limit in context.items()
        }
        expected = EXPECTED[kind].format(**limits)
        return Mistake(loc, loc, f"expected {expected}, got {shorten(detail['input'])}")
    # a check of this package; its context names the key that the invalid one requires, if any
    required = context.get("needed")
    return Mistake(loc, loc, detail["msg"], kind, key=(*loc, required) if required else ())


def shorten(value: Any) -> str:
    """Return a value for a message, cut after 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


@functools.cache
def type_adapter(kind: type[Any]) -> TypeAdapter[Any]:
    """Return pydantic's validator of a type."""
    return TypeAdapter(kind)


@functools.cache
def schema_of(model: type[Any]) -> dict[str, Any]:
    """Return the JSON schema of a model or a dataclass."""
    return type_adapter(model).json_schema(by_alias=True)


def keys_at(schema: dict[str, Any], loc: Iterable[str | int]) -> list[str]:
    """Return the keys that a JSON schema allows at a location."""
    part = schema
    for key in loc:
        part = resolved(part, schema)
        entries = [
            part.get("additionalProperties"),
            part.get("items"),
            *part.get("patternProperties", {}).values(),
        ]
        entries = [entry for entry in entries if isinstance(entry, dict)]
        part = part.get("properties", {}).get(key) or (entries[0] if entries else {})
    return sorted(resolved(part, schema).get("properties", {}))


def resolved(part: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a JSON schema without references; null is no alternative.

    Args:
        part: the part, such as that of one key.
        schema: the whole schema, which has the definitions that references name.
    """
    while True:
        forms = [option for option in part.get("anyOf", ()) if option != {"type": "null"}]
        if "$ref" in part:
            name, inner = "$ref", schema["$defs"][part["$ref"].rpartition("/")[2]]
        elif "properties" not in part and forms:
            name, inner = "anyOf", forms[0]
        else:
            return part
        part = {**inner, **{key: value for key, value in part.items() if key != name}}
