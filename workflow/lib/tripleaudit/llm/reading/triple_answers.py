"""Parser of the triples in an answer.

:func:`parse_triples` decodes the JSON values of the answer, collects *items* from them (mappings
``{role: element}``, or None for an item that is no triple) and cleans these into triples. An answer
without JSON is read line by line (:func:`_plain_items`).
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from tripleaudit.corpora.triple_forms import NAME_KEYS, ROLE_OF, ROLES, role_name
from tripleaudit.llm.endpoint import Answer
from tripleaudit.llm.reading.answer_text import is_refusal, says_nothing, strip_wrapping
from tripleaudit.llm.reading.json_values import Decoded, decode
from tripleaudit.llm.reading.parsed import Parsed, text_and_status

_TYPE_NAMES = {
    "subject_type": ("subject_type", "s_type", "head_type", "subj_type", "type1"),
    "object_type": ("object_type", "o_type", "tail_type", "obj_type", "type2"),
}
_ROLE_OF = {**ROLE_OF, **{name: role for role, names in _TYPE_NAMES.items() for name in names}}
_LIST_KEYS = frozenset(
    ("triples", "triple", "triplets", "relations", "relationships", "facts", "results", "result")
    + ("output", "answer", "items", "data", "三元组", "关系", "结果")
)
"""Names under which answers list their triples."""

_LIST_MARK = re.compile(r"\s*(?:[-*•]|\d+[.)、])?\s*")
_COLUMN = re.compile(r"\s*(?:\||｜|\t|->|→)\s*")
_RULE_CELL = re.compile(r":?-+:?")
_ELEMENT = r"\"[^\"\n]*\"|'[^'\n]*'|[^(),;<>（），；【】\"\n]+(?:\([^()\n]*\)|（[^（）\n]*）)?"
_SEPARATOR = r"\s*[,;，；]\s*"
_TRIPLE_GROUP = (
    rf"[(<（【]\s*({_ELEMENT}){_SEPARATOR}({_ELEMENT}){_SEPARATOR}({_ELEMENT})\s*[)>）】]"
)
_OTHER_GROUP = r"[(<（【]((?:[^()<>（）【】\n]|\([^()\n]*\)|（[^（）\n]*）)*)[)>）】]"
_GROUP = re.compile(f"{_TRIPLE_GROUP}|{_OTHER_GROUP}")
_IDENTIFIER = re.compile(r"[a-z]+(?:_[a-z]+)+")
_BETWEEN_GROUPS = re.compile(
    r"\W*(?:(?:here|the|one|two|three|\d+|extracted|following|final|are|is|triples?|relations?|facts?|answer|result|output|and|以下是|如下|三元组|答案|结果)\b\W*)*",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"[\s*_]*(subject|relation|object|主语|头实体|关系|谓语|宾语|尾实体)[\s*_]*[:：][\s*_]*(\S.*)",
    re.IGNORECASE,
)
_OPENS_JSON = re.compile(r"\s*[\[{]")
_PLACEHOLDER = ".… "
_EMPHASIS = "*_`\"'“” "


@dataclass(frozen=True, slots=True)
class ParsedTriple:
    """A triple of strings.

    Attributes:
        repeats: how often the answer holds the triple.
        subject_type, object_type: types of the arguments, None where the answer does not give them.
    """

    subject: str
    relation: str
    object: str
    repeats: int = 1
    subject_type: str | None = None
    object_type: str | None = None

    @property
    def strings(self) -> tuple[str, str, str]:
        """Subject, relation and object."""
        return self.subject, self.relation, self.object

    def to_json(self) -> dict[str, Any]:
        """Return the row of a predictions file; members without content are left out."""
        row: dict[str, Any] = {
            "subject": self.subject,
            "relation": self.relation,
            "object": self.object,
        }
        if self.repeats > 1:
            row["repeats"] = self.repeats
        if self.subject_type:
            row["subject_type"] = self.subject_type
        if self.object_type:
            row["object_type"] = self.object_type
        return row


def parse_triples(answer: Answer | str, entity_types: Collection[str] = ()) -> Parsed:
    """Read the triples of an answer.

    Accepts lists of three, objects with the usual names of the three roles, and such lists and
    objects inside other ones. Only in an answer without any JSON, rows of a table (``a | b | c``)
    and groups in brackets (``(a, b, c)``) count, the groups where their line holds no sentence.
    Numbers and booleans become text and blanks are collapsed. Items with an empty element or
    another number of elements are dropped and counted. A group with more commas is read if only one
    of its inner parts can be the relation.

    Values of three kinds are told apart: objects, lists of lists, and single lists. An answer with
    several kinds contains quotations or reasoning: only the first kind with triples is read, and
    the values of the others count as dropped.

    Args:
        answer: the client's answer, or its text alone.
        entity_types: names that are cut off as a suffix (``Paris:LOCATION``) and kept as the
            argument's type.
    """
    text, status = text_and_status(answer)
    if status == "refused":
        return Parsed((), "refused")
    decoded = decode(text)
    triples, dropped = _triples_of_values(decoded.values, entity_types)
    notes = list(decoded.notes)
    is_plain = False
    if not triples and not decoded.values and not decoded.truncated:
        items = list(_plain_items(strip_wrapping(text)))
        plain_items = [_clean(item, entity_types) for item in items if item is not None]
        triples = [triple for triple in plain_items if triple is not None]
        is_plain = bool(triples)
        dropped = items.count(None) if is_plain else 0
    has_null_triples = any(_is_null_triple(triple) for triple in triples)
    triples = [triple for triple in triples if not _is_null_triple(triple)]
    if is_plain:
        notes.append("no JSON")
    if dropped:
        notes.append("malformed items")
    if status == "truncated" or decoded.truncated:
        status = "truncated"
    elif triples:
        status = "repaired" if is_plain or dropped or decoded.repaired else "ok"
    elif has_null_triples:
        status = "empty"
    else:
        status = _status_without_triples(text, decoded, dropped)
    return Parsed(tuple(_merge(triples)), status, tuple(notes), dropped)


def _is_null_triple(triple: ParsedTriple) -> bool:
    """Return whether all elements are words such as "none", as in ``None | None | None``."""
    return all(says_nothing(element) for element in triple.strings)


def _status_without_triples(text: str, decoded: Decoded, dropped: int) -> str:
    if (
        decoded.values
        and not dropped
        and any(_states_no_triples(value) for value in decoded.values)
    ):
        return "empty"
    if says_nothing(strip_wrapping(text)):
        return "empty"
    return "refused" if is_refusal(text) else "failed"


def _states_no_triples(value: Any) -> bool:
    """Return whether a value states, at any depth, that there are no triples.

    It does so by an empty list or object, by null, or by a word such as "none".
    """
    if isinstance(value, dict):
        if _is_empty(value) or any(_states_no_triples(item) for item in value.values()):
            return True
        return any(_is_empty_triple_list(name, value) for name in value)
    return isinstance(value, list) and all(_is_empty(item) for item in value)


def _is_empty_triple_list(name: str, value: Mapping[str, Any]) -> bool:
    """Return whether a member is an empty list of triples, as in ``{"triples": null}``."""
    is_list_name = len(value) == 1 or name.strip().lower() in _LIST_KEYS
    return is_list_name and _is_empty(value[name])


def _is_empty(value: Any) -> bool:
    """Return whether a value is null, empty, a word such as "none", or contains only these."""
    if isinstance(value, dict):
        return all(_is_empty(item) for item in value.values())
    if isinstance(value, list):
        return all(_is_empty(item) for item in value)
    return value is None or (isinstance(value, str) and (not value.strip() or says_nothing(value)))


def _triples_of_values(
    values: Sequence[Any], entity_types: Collection[str]
) -> tuple[list[ParsedTriple], int]:
    """Return the triples of an answer's values and the number of items that were dropped.

    The groups are objects, lists of lists, and single lists. The first one that has triples, or
    states that there are none, is the answer; the values of later groups are dropped.
    """
    objects = [value for value in values if isinstance(value, dict)]
    nested_lists = [
        value for value in values if isinstance(value, list) and (_is_nested(value) or not value)
    ]
    single_lists = [
        value for value in values if isinstance(value, list) and value and not _is_nested(value)
    ]
    triples: list[ParsedTriple] = []
    dropped = 0
    is_answered = False
    for group in (objects, nested_lists, single_lists):
        if is_answered:
            dropped += sum(bool(value) for value in group)
            continue
        items = [item for value in group for item in _items(value, {})]
        cleaned = [None if item is None else _clean(item, entity_types) for item in items]
        triples = [triple for triple in cleaned if triple is not None]
        dropped += len(cleaned) - len(triples)
        states_none = not items and any(_states_no_triples(value) for value in group)
        is_answered = bool(triples) or states_none
    if is_answered and not triples:
        return [], 0  # an empty list is the answer, and other values are quotations
    return triples, dropped


def _items(value: Any, roles: Mapping[str, Any]) -> Iterator[dict[str, Any] | None]:
    """Yield triples in a JSON value as ``{role: element}``, and None for each other item.

    Args:
        roles: elements that the object right around the value gives for all its triples.
    """
    if _is_empty(value):
        return
    if isinstance(value, dict):
        yield from _items_of_object(value, roles)
    elif isinstance(value, list) and _has_several_objects(value):
        yield from _expand(dict(zip(ROLES, value, strict=True)))
    elif isinstance(value, list) and _is_nested(value):
        for item in value:
            yield from _items(item, roles)
    elif isinstance(value, list) and value:
        yield from _items_of_strings(value)
    elif isinstance(value, str):
        yield from _items_of_string(value)
    elif not isinstance(value, list):
        yield None


def _has_several_objects(value: list[Any]) -> bool:
    """Return whether a list is a triple with a list of objects: ``["a", "r", ["b", "c"]]``."""
    if len(value) != len(ROLES) or not isinstance(value[2], list) or _is_nested(value[2]):
        return False
    return not _is_nested(value[:2])


def _items_of_object(
    value: Mapping[str, Any], outer_roles: Mapping[str, Any]
) -> Iterator[dict[str, Any] | None]:
    """Yield the triple of an object with all three roles, otherwise the items of its members."""
    members = {role_name(name): item for name, item in value.items()}
    by_role: dict[str, Any] = {}
    inner = []
    for name, item in members.items():
        role = _ROLE_OF.get(name)
        if role and _is_element(item):
            if name == role:
                by_role[role] = item
            else:
                by_role.setdefault(role, item)
        elif isinstance(item, list | dict) or (isinstance(item, str) and _OPENS_JSON.match(item)):
            inner.append(item)
    if (
        "relation" not in by_role
        and {"subject", "object"} <= set(by_role)
        and isinstance(members.get("type"), str)
    ):
        by_role["relation"] = members["type"]
    roles = {**outer_roles, **by_role}
    if set(ROLES) <= set(roles):
        yield from _expand(roles)
        return
    has_empty_list = any(_is_empty_triple_list(name, value) for name in value)
    if value and not inner and (by_role or not has_empty_list):
        yield None
    for item in inner:
        if isinstance(item, str):
            for decoded in decode(item).values:
                yield from _items(decoded, {})
        else:
            yield from _items(item, by_role)


def _is_element(item: Any) -> bool:
    """Return whether a value can be an element: a scalar, a named object, or a list of them."""
    if isinstance(item, dict):
        return _name_of(item) is not None
    if isinstance(item, list):
        return bool(item) and all(not isinstance(part, list) and _is_element(part) for part in item)
    return True


def _name_of(item: Mapping[str, Any]) -> Any:
    names = (item[key] for key in NAME_KEYS if isinstance(item.get(key), str | int | float))
    return next(names, None)


def _expand(roles: Mapping[str, Any]) -> Iterator[dict[str, Any] | None]:
    """Yield one item per subject and object; lists of both are ambiguous and no item."""
    subjects = roles["subject"] if isinstance(roles["subject"], list) else [roles["subject"]]
    objects = roles["object"] if isinstance(roles["object"], list) else [roles["object"]]
    if len(subjects) > 1 and len(objects) > 1:
        yield None
        return
    for subject in subjects:
        for object_ in objects:
            item = {**roles, "subject": subject, "object": object_}
            for role in ROLES:
                if isinstance(item[role], dict):
                    kind = item[role].get("type")
                    if isinstance(kind, str):
                        item.setdefault(f"{role}_type", kind)
                    item[role] = _name_of(item[role])
            yield item


def _items_of_strings(value: list[Any]) -> Iterator[dict[str, Any] | None]:
    """Yield the triple that a list of scalars is, or the triples that its strings are."""
    in_strings = _triples_in_strings(value)
    if in_strings:
        yield from in_strings
    elif len(value) == len(ROLES):
        yield dict(zip(ROLES, value, strict=True))
    elif len(value) == len(ROLES) + 1 and isinstance(value[-1], float):  # with its confidence
        yield dict(zip(ROLES, value[:-1], strict=True))
    else:
        yield None


def _triples_in_strings(value: list[Any]) -> list[dict[str, Any]]:
    """Return the triples that the strings of a list are; none if an item is no triple."""
    triples = []
    for item in value:
        triple = next(_plain_items(item), None) if isinstance(item, str) else None
        if triple is None:
            return []
        triples.append(triple)
    return triples


def _items_of_string(value: str) -> Iterator[dict[str, Any] | None]:
    plain = list(_plain_items(value))
    if plain:
        yield from plain
    else:
        yield None


def _is_nested(value: Iterable[Any]) -> bool:
    return any(isinstance(item, list | dict) for item in value)


def _plain_items(text: str) -> Iterator[dict[str, Any] | None]:
    """Yield triples of rows and bracketed groups by line; a table's header names its columns.

    A group of several parts that is no triple is None.
    """
    relations = {group[2].strip(_EMPHASIS) for group in _GROUP.finditer(text) if group[2]}
    columns: Sequence[str | None] = ROLES
    labelled: dict[str, Any] = {}
    for line in text.splitlines():
        row = _LIST_MARK.sub("", line, count=1)
        cells = [cell.strip(_EMPHASIS) for cell in _COLUMN.split(row.strip().strip("|"))]
        role_line = _LABELLED.fullmatch(row)
        if role_line:  # "Subject: Ann", one role a line
            labelled[_ROLE_OF[role_line[1].lower()]] = role_line[2].strip(_EMPHASIS)
            if len(labelled) == len(ROLES):
                yield labelled
                labelled = {}
            continue
        header = [_ROLE_OF.get(role_name(cell)) for cell in cells]
        if set(ROLES) <= set(header):
            columns = header
        elif len(cells) == len(columns) and not any(_RULE_CELL.fullmatch(cell) for cell in cells):
            yield {role: cell for role, cell in zip(columns, cells, strict=True) if role}
        elif _BETWEEN_GROUPS.fullmatch(_GROUP.sub(" ", row)):
            for group in _GROUP.finditer(row):
                yield from _items_of_group(group, relations)


def _items_of_group(
    group: re.Match[str], relations: Collection[str]
) -> Iterator[dict[str, Any] | None]:
    """Yield the triple of a bracketed group, None for another list, nothing for other words.

    Args:
        group: a match of ``_GROUP``.
        relations: of the other groups of the answer.
    """
    *elements, content = group.groups()
    if content is not None:
        separators = list(re.finditer(_SEPARATOR, content))
        if not separators:
            return
        elements = _split_group(content, separators, relations)
    if not elements:
        yield None
        return
    names = [element.strip(_EMPHASIS) for element in elements]
    yield dict(zip(ROLES, names, strict=True))


def _split_group(
    content: str, separators: Sequence[re.Match[str]], relations: Collection[str]
) -> list[str]:
    """Return subject, relation and object of a group; an empty list if they are ambiguous.

    Entities may contain separators. The relation is then the only inner part that is a relation of
    another group or an identifier such as ``works_for``.
    """
    if len(separators) == 2:
        choices = [tuple(separators)]
    else:
        choices = [
            (before, after)
            for before, after in pairwise(separators)
            if _may_be_relation(content[before.end() : after.start()], relations)
        ]
    if len(choices) != 1:
        return []
    before, after = choices[0]
    return [
        content[: before.start()],
        content[before.end() : after.start()],
        content[after.end() :],
    ]


def _may_be_relation(part: str, relations: Collection[str]) -> bool:
    name = part.strip(_EMPHASIS)
    return name in relations or bool(_IDENTIFIER.fullmatch(name))


def _clean(item: Mapping[str, Any], entity_types: Collection[str]) -> ParsedTriple | None:
    """Return an item's triple; None if an element is empty or copied from the answer's form."""
    elements = {role: _string(item[role]) for role in ROLES}
    types = {
        f"{role}_type": _string(item.get(f"{role}_type")) or None for role in ("subject", "object")
    }
    type_names = {name.casefold() for name in entity_types}
    for role in ("subject", "object"):
        name, _, suffix = elements[role].rpartition(":")
        if suffix.strip().casefold() in type_names:
            elements[role] = name.strip()
            types[f"{role}_type"] = suffix.strip()
    strings = (elements["subject"], elements["relation"], elements["object"])
    is_form = all(string.casefold() == role for role, string in zip(ROLES, strings, strict=True))
    if is_form or not all(string.strip(_PLACEHOLDER) for string in strings):
        return None
    return ParsedTriple(
        *strings, subject_type=types["subject_type"], object_type=types["object_type"]
    )


def _string(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value)
    encodable = text.encode(
        "utf-8", "replace"
    ).decode()  # lone surrogates cannot be written to any file
    return " ".join(encodable.split())


def _merge(triples: Sequence[ParsedTriple]) -> Iterator[ParsedTriple]:
    counts: dict[tuple[str, str, str], int] = {}
    for triple in triples:
        counts[triple.strings] = counts.get(triple.strings, 0) + 1
    for triple in triples:
        repeats = counts.pop(triple.strings, 0)
        if repeats == 1:
            yield triple
        elif repeats:
            yield replace(triple, repeats=repeats)
