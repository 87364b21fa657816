"""The number of smaller triples that an answer splits a triple into (granularity)."""

import re
from collections.abc import Sequence
from typing import Any

from tripleaudit.llm.reading.answer_text import (
    MAX_NOTHING_CHARACTERS,
    says_nothing,
    strip_wrapping,
)
from tripleaudit.llm.reading.json_values import decode
from tripleaudit.llm.reading.triple_answers import parse_triples

MAX_PARTS = 10
_PARTS_KEYS = ("parts", "triples", "sub_triples", "subtriples", "facts", "splits", "result")
_COUNT_KEYS = ("granularity", "count", "number", "number_of_parts", "num_parts", "n", "splits")
_ROLE_KEYS = frozenset({"subject", "relation", "predicate", "object", "head", "tail"})
_STATED = re.compile(
    r"\W*(\d{1,9})\W*|.*\bsplit into (\d{1,9}) (?:\w+ )?(?:triples|facts|parts|statements)\W*",
    re.IGNORECASE,
)
_NO_SPLIT = re.compile(
    r"(?:.*\b(?:cannot|can['’]t|can not|could not|no need to|not|n['’]t need to)(?: \w+){0,2} "
    r"(?:split|broken|divided|decomposed|separated)\b.*"
    r"|\W*no (?:\w+ )?(?:split|splitting|parts?)\b.*"
    r"|.*\b(?:single fact|one fact|already (?:atomic|specific))\b.*)",
    re.IGNORECASE,
)


def count_parts(answer: str) -> int | None:
    """Return the number of listed or stated triples, at most :data:`MAX_PARTS`; None if unreadable.

    The list may stand in prose or in a code fence, be the value of an object (``{"parts":
    [...]}``), or be written as one triple after the other. No or one triple means no split, as does
    an answer that says so ("N/A (The triple is already specific ...)"). An answer that stops inside
    its list counts with the parts that are complete, or with two where it stops inside the second
    one; one that began fewer is unreadable.
    """
    decoded = decode(answer)
    stated = _STATED.fullmatch(strip_wrapping(answer))
    if stated:
        count = int(stated[1] or stated[2])
        return min(count, MAX_PARTS) if count > 1 else 0
    if decoded.values or decoded.truncated:
        parts = _count_in_values(decoded.values)
        if decoded.truncated and parts < 2:
            parts = _count_in_values(decode(answer, keep_unfinished=True).values)
    else:
        parts = sum(triple.repeats for triple in parse_triples(answer).records)
        if not parts and not _says_no_split(strip_wrapping(answer)):
            return None
    if parts < 2:
        return None if decoded.truncated else 0
    return min(parts, MAX_PARTS)


def _says_no_split(text: str) -> bool:
    """Return whether a short text states that a triple is not split."""
    if says_nothing(text):
        return True
    return len(text) <= MAX_NOTHING_CHARACTERS and _NO_SPLIT.fullmatch(text) is not None


def _count_in_values(values: Sequence[Any]) -> int:
    """Count parts of the answer's values: objects, else lists of lists, else single lists."""
    objects = [value for value in values if isinstance(value, dict)]
    nested_lists = [value for value in values if isinstance(value, list) and _containers(value)]
    single_lists = [value for value in values if isinstance(value, list) and not _containers(value)]
    if objects:
        return sum(_count_in_object(value) for value in objects)
    if nested_lists:
        return sum(len(_containers(value)) for value in nested_lists)
    return sum(bool(value) for value in single_lists)


def _count_in_object(value: dict[str, Any]) -> int:
    if _ROLE_KEYS & {name.lower() for name in value}:
        return 1
    for key in _PARTS_KEYS:
        if isinstance(value.get(key), list | dict):
            return _count_in_list(value[key])
    for key in (*_COUNT_KEYS, *_PARTS_KEYS):
        count = str(value.get(key))
        if re.fullmatch(r"\d{1,9}", count):
            return int(count)
    return sum(_count_in_list(item) for item in value.values() if isinstance(item, list))


def _count_in_list(value: Any) -> int:
    """Count the parts in a list, or in an object that numbers its parts or is one itself."""
    if isinstance(value, dict):
        is_one_part = bool(_ROLE_KEYS & {name.lower() for name in value})
        value = [value] if is_one_part else list(value.values())
    if not isinstance(value, list):
        return 0
    containers = [item for item in _containers(value) if item]
    if containers:
        return len(containers)
    statements = [item for item in value if isinstance(item, str) and " " in item.strip()]
    is_one_triple = len(value) == 3
    if len(statements) == len(value) and not is_one_triple:
        return len(statements)
    return 1 if value else 0


def _containers(value: Sequence[Any]) -> list[Any]:
    return [item for item in value if isinstance(item, list | dict)]
