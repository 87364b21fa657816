"""From a model's answer to triples, relation names and values, with a status for each answer; never raises for content.

Statuses of an answer: ``ok``; ``repaired`` (something had to be repaired or left out); ``truncated`` (it stops in the
middle; complete items are kept); ``empty`` (it says that there is nothing); ``failed`` (nothing usable in it);
``refused`` (the model or the endpoint declines).
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tripleaudit.llm.endpoint import Answer
from tripleaudit.llm.lenient import Decoded, decode, strip_wrapping

STATUSES = ("ok", "repaired", "truncated", "empty", "refused", "failed")

_NAMES = {
    "subject": "subject s subj head h source from entity1 entity_1 arg1 head_entity",
    "relation": "relation r rel predicate p relationship relation_type property verb edge",
    "object": "object o obj tail t target to entity2 entity_2 arg2 tail_entity value",
    "subject_type": "subject_type s_type head_type subj_type type1",
    "object_type": "object_type o_type tail_type obj_type type2",
}
_ROLE = {synonym: role for role, synonyms in _NAMES.items() for synonym in synonyms.split()}
_REFUSAL = re.compile(
    r"\W*(i['’]?m sorry|i am sorry|sorry,|i can(no|['’])t (help|assist|comply|do|provide|extract|process|fulfil)|"
    r"i am (unable|not able) to|i['’]?m (unable|not able) to|as an ai\b|i must decline)",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"\W*(none|null|nothing|n/?a|no (relations?|triples?)( (found|stated))?)\W*", re.IGNORECASE)
_YES, _NO = ("true", "yes", "supported", "correct"), ("false", "no", "unsupported", "incorrect")
_FIRST = re.compile(r"\W*(\w+)[\"'*`_)\]]*[^\S\n]*(?:[.,;:!(\n]|[-–—](?!\w)|$)")  # a word that ends its clause
_QUESTION = re.compile(r"[^.!?\n]*\?")
_CERTAIN = re.compile(r"\b(?:no|without|beyond)(?: any| a)? (?:doubt|question)\b")
_NEGATED = re.compile(
    r"\b(?:not|never|isn['’]?t|cannot be)(?: \w+){0,2} (?:true|supported|correct)\b|\bun(?:true|supported)\b"
)
_NAMED = re.compile(r"\b(?:answer|verdict|judge?ment|conclusion|result|claim|statement)\b\W*(?:is|:)?\W*(\w+)")
_DENIED = (  # with the plain name of a label
    r" (?:no|not|never|neither|nor|than|instead of)(?: the| an?| relation)* {0}(?= )|"
    r" {0}(?= (?:relation )?(?:(?:is|are|was|were|does|do|did|can|could|has) ?(?:not|n t)|cannot) )"
)
_LINE = re.compile(r"^\s*(?:[-*•]|\d+[.)])?\s*\(?([^|;\t()]+?)\s*[|;\t]\s*([^|;\t]+?)\s*[|;\t]\s*([^|;\t]+?)\)?\s*$")
_TUPLE = re.compile(r"\(\s*([^(),\n]+?)\s*,\s*([^(),\n]+?)\s*,\s*([^(),\n]+?)\s*\)")


@dataclass(frozen=True, slots=True)
class ParsedTriple:
    """A triple of strings; ``repeats`` says how often the answer holds it, types are there if it gives them."""

    subject: str
    relation: str
    object: str
    repeats: int = 1
    subject_type: str | None = None
    object_type: str | None = None

    @property
    def strings(self) -> tuple[str, str, str]:
        return self.subject, self.relation, self.object

    def to_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {"subject": self.subject, "relation": self.relation, "object": self.object}
        if self.repeats > 1:
            row["repeats"] = self.repeats
        for name in ("subject_type", "object_type"):
            if getattr(self, name):
                row[name] = getattr(self, name)
        return row


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was read in one answer.

    Attributes:
        records: triples, entities or other items, in their order.
        status: one of :data:`STATUSES`.
        notes: the repairs, by name.
        dropped: number of items that are no record.
    """

    records: Sequence[Any]
    status: str
    notes: tuple[str, ...] = ()
    dropped: int = 0


def parse_triples(answer: Answer | str, entity_types: Collection[str] = ()) -> Parsed:
    """Read the triples of an answer.

    Understood are lists of three, objects with the usual names for the three roles, such lists and objects inside
    objects, and, where there is no JSON at all, lines ``a | b | c`` and ``(a, b, c)``. Numbers and booleans become
    text, blanks are collapsed; items with an empty element or another number of elements are dropped and counted.

    Args:
        answer: the client's answer, or its text alone.
        entity_types: names that are cut off as a suffix (``Paris:LOCATION``) and kept as the argument's type.
    """
    text, refused, cut = _unpack(answer)
    if refused:
        return Parsed((), "refused")
    decoded = decode(text)
    found: list[ParsedTriple] = []
    dropped = 0
    values = list(decoded.values)
    if decoded.truncated and values and isinstance(values[-1], list) and not _nested(values[-1]):
        values.pop()  # one triple that was still being written
    for value in values:
        for item in _triples(value):
            triple = None if item is None else _clean(item, entity_types)
            if triple is None:
                dropped += 1
            else:
                found.append(triple)
    notes = list(decoded.notes)
    plain = ()
    if not found:
        plain = _plain_triples(text)
        found = [triple for item in plain if (triple := _clean(item, entity_types)) is not None]
        notes += ["no JSON"] if found else []
    if dropped:
        notes.append("malformed items")
    status = _status(text, decoded, bool(found), bool(plain) or bool(dropped), cut)
    return Parsed(tuple(_merge(found)), status, tuple(notes), dropped)


def parse_label(answer: Answer | str, labels: Sequence[str], none: str = "NONE") -> tuple[str | None, str]:
    """Read one name out of ``labels``: ``(label, status)``.

    Case, quotes, punctuation around it and underscores do not matter; an object with one value counts as that value.
    ``empty`` is the answer ``none``, also as a word of a sentence; ``repaired`` a sentence in which exactly one label
    occurs that is not denied there.
    """
    text, refused, cut = _unpack(answer)
    if refused:
        return None, "refused"
    text = strip_wrapping(text)
    status = "ok"
    values = decode(text).values
    if values and isinstance(values[0], dict) and len(values[0]) == 1:
        (text,) = (str(value) for value in values[0].values())
    elif values and isinstance(values[0], list) and len(values[0]) == 1:
        text = str(values[0][0])
    by_name = {_plain(label): label for label in labels}
    lines = [line for line in text.splitlines() if _plain(line)]
    first = _plain(lines[0]) if lines else ""
    if first in by_name:
        return by_name[first], status if len(lines) == 1 else "repaired"
    if first == _plain(none) or re.search(rf"(?<!not )(?<!than )\b{re.escape(none)}\b", text):
        return None, "empty"
    whole = f" {_plain(text)} "
    if f" answer is {_plain(none)} " in whole:
        return None, "empty"
    for name in sorted(by_name, key=len, reverse=True):
        whole = re.sub(_DENIED.format(re.escape(name)), " ", whole)
    inside = {name for name in by_name if f" {name} " in whole}
    inside = {name for name in inside if not any(name != other and f" {name} " in f" {other} " for other in inside)}
    if len(inside) == 1:
        return by_name[inside.pop()], "repaired"
    if not inside and f" {_plain(none)} " in whole:
        return None, "empty"
    if _REFUSAL.match(text):
        return None, "refused"
    return None, "truncated" if cut else "failed"


def parse_rows(text: str) -> list[dict[str, Any]]:
    """Return all objects of an answer that is a list of objects, possibly wrapped in an object or in prose."""
    rows: list[dict[str, Any]] = []
    for value in decode(text).values:
        if isinstance(value, dict):
            lists = (item for item in value.values() if isinstance(item, list) and item)
            rows += next((rows for rows in lists if all(isinstance(row, dict) for row in rows)), [value])
        else:
            rows += [row for row in value if isinstance(row, dict)]
    return rows


def parse_match(text: str) -> int | None:
    """Return the index that a judge points at, or ``None`` for no match and for an answer that cannot be read."""
    for value in decode(text).values:
        if isinstance(value, dict) and "match" in value:
            match = value["match"]
            if isinstance(match, str) and match.strip().isdigit():
                match = int(match)
            return match if type(match) is int else None
    return None


def parse_yes_no(text: str) -> bool | None:
    """Read whether an answer says yes (true, supported) or no; None if it says neither or both.

    Understood are a first word that ends its clause, an object with one such value, ``Answer: …``, and a sentence in
    which only one of the two occurs; the model's thought and questions are left out.
    """
    text = strip_wrapping(text)
    for value in decode(text).values:
        found = {_polarity(str(item)) for item in value.values()} - {None} if isinstance(value, dict) else set()
        if len(found) == 1:
            return found.pop()
    text = _QUESTION.sub(" ", text)
    first = _FIRST.match(text)
    if first and (verdict := _polarity(first[1])) is not None:
        return verdict
    plain = " ".join(text.casefold().replace("*", "").split())
    plain = _NEGATED.sub(" false ", _CERTAIN.sub(" ", plain))
    named = [verdict for word in _NAMED.findall(plain) if (verdict := _polarity(word)) is not None]
    if named:
        return named[-1]
    found = {_polarity(word) for word in re.findall(r"\w+", plain)} - {None}
    return found.pop() if len(found) == 1 else None


def says_nothing(text: str) -> bool:
    """Whether an answer says in a word that there is nothing."""
    return _NOTHING.fullmatch(strip_wrapping(text)) is not None


def _polarity(word: str) -> bool | None:
    word = re.sub(r"^\W+|\W+$", "", word.casefold())
    return True if word in _YES else False if word in _NO else None


def _unpack(answer: Answer | str) -> tuple[str, bool, bool]:
    """Return (text, refused, cut off)."""
    if isinstance(answer, str):
        return answer, False, False
    return answer.text, answer.status == "refused", answer.status == "truncated"


def _status(text: str, decoded: Decoded, found: bool, repaired: bool, cut: bool) -> str:
    if cut or decoded.truncated:
        return "truncated"
    if found:
        return "repaired" if repaired or decoded.repaired else "ok"
    if _REFUSAL.match(strip_wrapping(text)):
        return "refused"
    if decoded.values and not repaired and not any(_holds_something(value) for value in decoded.values):
        return "empty"
    return "empty" if _NOTHING.fullmatch(strip_wrapping(text)) else "failed"


def _holds_something(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_something(item) for item in value.values())
    if isinstance(value, list):
        return bool(value)
    return value is not None and value != ""


def _triples(value: Any) -> Iterator[dict[str, Any] | None]:
    """Yield the triples inside a JSON value as ``{role: element}``, and None for each item that is none."""
    if isinstance(value, dict):
        roles: dict[str, Any] = {}
        for name, item in value.items():
            role = _ROLE.get(str(name).strip().lower().replace(" ", "_"))
            if role and not isinstance(item, list | dict):
                roles.setdefault(role, item)
        if {"subject", "relation", "object"} <= set(roles):
            yield roles
            return
        inner = [item for item in value.values() if isinstance(item, list | dict)]
        if not inner and value:
            yield None
        for item in inner:
            yield from _triples(item)
    elif isinstance(value, list) and value:
        if not _nested(value):
            yield dict(zip(("subject", "relation", "object"), value, strict=True)) if len(value) == 3 else None
            return
        for item in value:
            if isinstance(item, list | dict):
                yield from _triples(item)
            else:
                yield None


def _nested(value: list[Any]) -> bool:
    return any(isinstance(item, list | dict) for item in value)


def _plain_triples(text: str) -> list[dict[str, Any]]:
    names = ("subject", "relation", "object")
    matches = [match for line in strip_wrapping(text).splitlines() if (match := _LINE.match(line))]
    matches = matches or list(_TUPLE.finditer(text))
    return [dict(zip(names, (part.strip("\"'`“”") for part in match.groups()), strict=True)) for match in matches]


def _clean(item: dict[str, Any], entity_types: Collection[str]) -> ParsedTriple | None:
    strings = {name: _string(value) for name, value in item.items()}
    types = {"subject_type": strings.get("subject_type") or None, "object_type": strings.get("object_type") or None}
    for role in ("subject", "object"):
        name, colon, suffix = strings[role].rpartition(":")
        if colon and suffix.strip().casefold() in {kind.casefold() for kind in entity_types}:
            strings[role], types[f"{role}_type"] = name.strip(), suffix.strip()
    if not (strings["subject"] and strings["relation"] and strings["object"]):
        return None
    return ParsedTriple(strings["subject"], strings["relation"], strings["object"], 1, **types)


def _string(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value)
    # lone surrogates cannot be written to any file
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _merge(triples: list[ParsedTriple]) -> Iterator[ParsedTriple]:
    counts: dict[tuple[str, str, str], int] = {}
    for triple in triples:
        counts[triple.strings] = counts.get(triple.strings, 0) + 1
    for triple in triples:
        if repeats := counts.pop(triple.strings, 0):
            yield replace(triple, repeats=repeats)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w/:]+", " ", text.replace("_", " ")).casefold().split())
