"""Rows of objects, and the record that a judge points at."""

import re
from typing import Any

from tripleaudit.llm.reading.answer_text import EXCEPTION, says_nothing, strip_wrapping
from tripleaudit.llm.reading.json_values import decode

_MATCH_KEYS = ("match", "record", "index", "number", "answer", "匹配", "答案")
_NUMBERED = re.compile(
    r"[^\d{]{0,40}?((?<!\w)-)?(\d{1,9})\W*"
)  # "2", "Match: 2", "Record-2."; "-1" and "Match:-1" are no match
_RECORD = r"(?:records?|entr(?:y|ies)|candidates?|items?|options?|ones?)"
# a sentence such as "none of the records matches"
_NO_MATCH = re.compile(
    rf"\b(?:none(?: of (?:the |these |those )?(?:\w+ )?(?:{_RECORD}|them|these|those))?"
    rf"|no(?: \w+)? {_RECORD}) (?:\w+ ){{0,2}}?(?:match|fit|correspond|is a match|are match)"
    r"|\bno (?:\w+ )?match|(?:\bnot|n['’]t) (?:match|correspond to|fit) any\b"
    r"|\bnot (?:in|among) (?:the|any|these)\b",
    re.IGNORECASE,
)
# a sentence such as "record 2 is the match"
_MATCHING = re.compile(
    rf"\b{_RECORD} (?:no\.? ?|number |#)?(\d{{1,9}}) (?:is (?:the|a) (?:\w+ )?match|matches|fits|corresponds)"
    rf"|\bmatch(?:es|ing)?(?: is)?:? (?:the )?{_RECORD} (?:no\.? ?|number |#)?(\d{{1,9}})",
    re.IGNORECASE,
)
_NEITHER = re.compile(r"\bneither\b", re.IGNORECASE)
_NOR = re.compile(r"\bnor\b", re.IGNORECASE)
# the start of a value, such as "no record"
_NO_RECORD = re.compile(r"\W*(?:none|no|null)\b", re.IGNORECASE)
# a whole answer, such as "Match: none"
_NONE = re.compile(
    r"\W*(?:(?:match|record|answer|result)\W+)?(?:none|null|no)\b[^\d]*", re.IGNORECASE
)


def parse_rows(text: str) -> list[dict[str, Any]]:
    """Return all objects of an answer that is a list, possibly in an object or in prose.

    An object may number its rows: ``{"0": {...}, "1": {...}}``.
    """
    rows: list[dict[str, Any]] = []
    for value in decode(text).values:
        if isinstance(value, dict) and all(name.isdecimal() for name in value):
            for item in value.values():
                members = item if isinstance(item, list) else [item]
                rows += [row for row in members if isinstance(row, dict)]
        elif isinstance(value, dict):
            rows += _first_list_of_objects(value) or [value]
        else:
            rows += [row for row in value if isinstance(row, dict)]
    return rows


def _first_list_of_objects(value: dict[str, Any]) -> list[dict[str, Any]]:
    for item in value.values():
        if isinstance(item, list) and item and all(isinstance(row, dict) for row in item):
            return item
    return []


def parse_match(text: str) -> int | None:
    """Return the record number that a judge names, 0 for no match, None if unreadable."""
    objects_first = sorted(decode(text).values, key=lambda value: isinstance(value, list))
    for value in objects_first:
        numbers = [number for part in _parts(value) if (number := _number(part)) is not None]
        if numbers:
            return numbers[0]
    plain = strip_wrapping(text)
    numbered = _NUMBERED.fullmatch(plain)
    if numbered and not _NONE.match(plain):
        return _record_number(numbered)
    if _NONE.fullmatch(plain) or says_nothing(plain):
        return 0
    return _match_in_prose(plain)


def _parts(value: dict[str, Any] | list[Any]) -> list[Any]:
    """Return the parts of an answer that may name the record: ``{"match": 2}``, ``[2]``, ``[]``."""
    if isinstance(value, dict):
        return [value[key] for key in _MATCH_KEYS if key in value]
    if not value:
        return [None]  # an empty list of matching records
    if len(value) > 1:
        return []
    return _parts(value[0]) if isinstance(value[0], dict) else value


def _match_in_prose(plain: str) -> int | None:
    """Return the only record that sentences call a match, 0 where they say that none is."""
    if any(map(_says_neither_nor, plain.split("\n"))):
        return 0
    numbers = {int(first or second) for first, second in _MATCHING.findall(plain)}
    if _NO_MATCH.search(plain):
        return None if numbers or EXCEPTION.search(plain) else 0
    return numbers.pop() if len(numbers) == 1 else None


def _says_neither_nor(line: str) -> bool:
    _, *rest = _NEITHER.split(line, maxsplit=1)
    return bool(rest) and _NOR.search(rest[0]) is not None


def _number(value: Any) -> int | None:
    """Return the number in a value, 0 for null, false or negations, None without a number."""
    if value is None or value is False:
        return 0
    if isinstance(value, list):
        if not value:
            return 0
        return _number(value[0]) if len(value) == 1 else None
    if isinstance(value, str):
        if _NO_RECORD.match(value):
            return None if EXCEPTION.search(value) else 0
        numbered = _NUMBERED.fullmatch(value)
        if numbered:
            return _record_number(numbered)
        return 0 if says_nothing(value) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return max(value, 0) if type(value) is int else None


def _record_number(numbered: re.Match[str]) -> int:
    """Return the number that was matched, 0 for a negative one."""
    minus, digits = numbered.groups()
    return 0 if minus else int(digits)
