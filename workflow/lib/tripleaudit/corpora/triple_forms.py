"""Triples as programs, people and language models write them.

The names of the three roles are those of common formats and of answers, in English and Chinese.
"""

import ast
import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

ROLES: Final = ("subject", "relation", "object")
Strings = tuple[str, str, str]
"""Subject, relation and object of a triple."""
_NAMES = {
    "subject": "subject s sub subj head h source from entity1 entity_1 e1 arg1 head_entity em1text"
    " 主语 主体 主实体 头实体 头",
    "relation": "relation r rel predicate pred p relationship relation_type relation_name property"
    " verb edge 关系 关系类型 谓语 谓词",
    "object": "object o obj tail t target to entity2 entity_2 e2 arg2 tail_entity value em2text"
    " 宾语 客体 客实体 尾实体 尾",
}
ROLE_OF: Final = MappingProxyType({name: role for role in ROLES for name in _NAMES[role].split()})
"""Name of a field in lower case, blanks as underscores -> its role in a triple."""
RELATION_AS_TYPE: Final = ("type", "label")
"""Names of a relation next to a subject and an object."""
NAME_KEYS: Final = ("name", "text", "entity", "mention", "label", "value", "@value", "名称")
"""Fields that hold the name of an argument that is an object."""
TO_ASCII: Final = str.maketrans("（）【】，；：｜。！？", "()[],;:|.!?")
"""Full-width brackets and punctuation -> those of ASCII."""

_LIST_MARK = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+")
_IN_BRACKETS = re.compile(r"[(<\[（【]\s*(.*?)\s*[)>\]）】][.,;，；。]?", re.DOTALL)
_BETWEEN_TRIPLES = re.compile(r"\n|(?<=[)>\]）】])\s*[,;，；、]?\s*(?=[(<\[（【])")
_NOT_QUOTED = r'(?=(?:[^"]*"[^"]*")*[^"]*$)'
_COLUMNS = [re.compile(mark + _NOT_QUOTED) for mark in (r"\t", r"[|｜]", r"-+>|=>|→")]
"""Separators of a triple, with brackets around it or without."""
_SEPARATORS = [*_COLUMNS, re.compile("[;；]" + _NOT_QUOTED), re.compile("[,，]" + _NOT_QUOTED)]
"""Separators of a triple in brackets."""


def role_name(name: object) -> str:
    """Return the name of a field as :data:`ROLE_OF` has it."""
    return str(name).strip().lower().replace(" ", "_")


def triple_of(item: Any) -> Strings | None:
    """Return the triple that an item of a list states in any usual form; None if it states none.

    The forms are a list of three strings, with a confidence as a fourth part or without, an object
    with the names of the three roles, a string such as ``(a; r; b)`` or ``a | r | b``, JSON in a
    string, and one of these in a list or an object of its own.
    """
    if isinstance(item, str):
        return _triple_of_string(item)
    if isinstance(item, dict):
        triple = triple_of_object(item)
        if triple is not None or len(item) != 1:
            return triple
        (item,) = item.values()
        return None if isinstance(item, str) else triple_of(item)
    if not isinstance(item, list | tuple):
        return None
    if len(item) == 1 and not isinstance(item[0], str):
        return triple_of(item[0])
    if len(item) == len(ROLES) + 1 and type(item[-1]) in (int, float):
        item = item[:-1]
    return _complete([name_of(part) for part in item])


def split_triples(text: str) -> list[str]:
    """Return the lines of a text, divided where one group in brackets follows another."""
    return [line for line in _BETWEEN_TRIPLES.split(text) if line.strip()]


def _triple_of_string(text: str) -> Strings | None:
    text = _LIST_MARK.sub("", text, count=1).strip()
    if text[:1] in ("[", "{"):
        value = literal(text)
        if value is not None:
            return triple_of(value)
    in_brackets = _IN_BRACKETS.fullmatch(text)
    for separator in _SEPARATORS if in_brackets else _COLUMNS:
        parts = separator.split(in_brackets[1] if in_brackets else text)
        if len(parts) == len(ROLES):
            return _complete([part.strip(" \"'“”") for part in parts])
    return None


def literal(text: str) -> Any:
    """Return a list or an object in a text, as JSON or Python writes it; None if it holds none."""
    for decode in (json.loads, ast.literal_eval):
        try:
            value = decode(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list | tuple | dict):
            return value
    return None


def triple_of_object(item: Mapping[Any, Any]) -> Strings | None:
    """Return the triple of an object with a subject, a relation and an object, or None."""
    parts = dict.fromkeys(ROLES, "")
    for name, value in item.items():
        role = ROLE_OF.get(role_name(name))
        if role is not None:
            parts[role] = parts[role] or name_of(value)
    members = {role_name(name): value for name, value in item.items()}
    for name in RELATION_AS_TYPE:
        parts["relation"] = parts["relation"] or name_of(members.get(name))
    return _complete([parts[role] for role in ROLES])


def name_of(value: Any) -> str:
    """Return an argument that is a string, or the name of one that is an object; else no text."""
    if isinstance(value, dict):
        value = next((value[key] for key in NAME_KEYS if key in value), None)
    return value if isinstance(value, str) else ""


def _complete(parts: list[str]) -> Strings | None:
    """Return a triple of which no part is empty."""
    if len(parts) != len(ROLES) or not all(part.strip() for part in parts):
        return None
    subject, relation, object_ = parts
    return subject, relation, object_
