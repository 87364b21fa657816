"""Reading JSON as language models write it.

The strict reader goes first. What it cannot read is read again with repairs that add nothing: single and typographic
quotes, Python literals, comments, trailing or missing commas, raw line ends in strings, words without quotes, and
brackets that were never closed. Of an answer that stops in the middle, every complete item is kept and the item that
was being written is dropped, so the items of any beginning of an answer are the beginning of its items.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from tripleaudit.llm.endpoint import THOUGHT_MARKS, split_thought

_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_THOUGHT = re.compile(rf"<{THOUGHT_MARKS}>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?$")
_UNIT = re.compile(r"u[0-9a-fA-F]{4}(?:(?<=u[dD][89abAB]..)\\u[dD][c-fC-F][0-9a-fA-F]{2})?")  # or a pair
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "`": "`", "«": "»"}
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_CLOSING = {"[": "]", "{": "}", "(": ")"}
_MISSING = object()
_DEPTH = 60
_STARTS = 100  # brackets that turn out to begin nothing; more of them are no answer, and would take quadratic time
_LOOK_AHEAD = 200  # characters


@dataclass(frozen=True, slots=True)
class Decoded:
    """JSON values found in a text.

    Attributes:
        values: in order; lists and objects only.
        repaired: a value was not strict JSON.
        truncated: the text ends inside a value.
        surrounded: there is other text around the values (a code fence does not count).
        notes: the repairs, by name.
    """

    values: tuple[Any, ...] = ()
    repaired: bool = False
    truncated: bool = False
    surrounded: bool = False
    notes: tuple[str, ...] = field(default=())


def strip_wrapping(text: str) -> str:
    """Return the text without byte-order mark and reasoning blocks, and only the inside of its first code fence."""
    text = _THOUGHT.sub("", split_thought(text)[1])
    fence = _FENCE.search(text)
    if fence and any(bracket in fence[1] for bracket in "[{"):
        return fence[1].strip()
    return text.strip()


def decode(text: str) -> Decoded:
    """Return all lists and objects of a text, one after the other; never raises for bad content."""
    text = strip_wrapping(text)
    values: list[Any] = []
    notes: dict[str, None] = {}
    repaired = truncated = surrounded = broken_off = False
    position = 0
    strict = json.JSONDecoder()
    starts = 0
    while (start := _next_bracket(text, position)) is not None and starts < _STARTS:
        surrounded |= bool(text[position:start].strip(" \t\r\n,;"))
        try:
            value, position = strict.raw_decode(text, start)
            values.append(value)
            continue
        except (ValueError, RecursionError):
            pass
        reader = _Reader(text, start)
        value = reader.value(0, keep=True)
        if value is _MISSING or reader.gave_up:
            position = start + 1
            starts += 1
            surrounded = True
            broken_off = broken_off or not reader.gave_up
            continue
        position = reader.position
        notes.update(dict.fromkeys(reader.notes))
        truncated |= reader.truncated
        repaired |= bool(reader.notes)
        values.append(value)
    truncated |= broken_off and not values
    surrounded |= bool(text[position:].strip(" \t\r\n,;]}"))
    return Decoded(tuple(values), repaired, truncated, surrounded, tuple(notes))


def _next_bracket(text: str, position: int) -> int | None:
    found = [start for start in (text.find("[", position), text.find("{", position)) if start >= 0]
    return min(found, default=None)


class _Reader:
    """A forgiving reader of one value; ``truncated`` if the text ended first, ``gave_up`` if it is no JSON at all."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.notes: dict[str, None] = {}
        self.truncated = False
        self.gave_up = False

    def note(self, what: str) -> None:
        self.notes[what] = None

    def value(self, depth: int, keep: bool) -> Any:
        """Read one value. An unclosed list or object is returned only if ``keep``, else it is missing."""
        self.skip()
        if self.position >= len(self.text):
            return _MISSING
        character = self.text[self.position]
        if depth > _DEPTH:
            self.gave_up = True
            return _MISSING
        if character == "{":
            return self.object(depth, keep)
        if character in "[(":
            if character == "(":
                self.note("round brackets")
            return self.list(depth, keep)
        if character in _QUOTES:
            return self.string()
        return self.word()

    def list(self, depth: int, keep: bool) -> Any:
        closing = _CLOSING[self.text[self.position]]
        self.position += 1
        items: list[Any] = []
        while True:
            self.skip()
            if self.position >= len(self.text):
                self.truncated = True
                return items if keep else _MISSING
            character = self.text[self.position]
            if character == closing:
                self.position += 1
                return items
            if character in "])}":
                self.note("mismatched bracket")
                if character == "}" and depth == 0:
                    self.position += 1
                    continue
                return items
            if character == ",":
                self.position += 1
                self.skip()
                if self.text[self.position : self.position + 1] == closing:
                    self.note("trailing comma")
                continue
            # a list of lists under construction keeps its complete members; the member itself is all or nothing
            item = self.value(depth + 1, keep=False)
            if item is _MISSING:
                return items if keep else _MISSING
            items.append(item)
            self.comma(closing)

    def object(self, depth: int, keep: bool) -> Any:
        self.position += 1
        members: dict[str, Any] = {}
        while True:
            self.skip()
            if self.position >= len(self.text):
                return self.partial(members, keep)
            character = self.text[self.position]
            if character == "}":
                self.position += 1
                return members
            if character in "])":
                self.note("mismatched bracket")
                return members
            if character == ",":
                self.position += 1
                self.skip()
                if self.text[self.position : self.position + 1] == "}":
                    self.note("trailing comma")
                continue
            name = self.string() if character in _QUOTES else self.word(":")
            if name is _MISSING:
                return self.partial(members, keep)
            self.skip()
            if self.text[self.position : self.position + 1] != ":":
                if self.position >= len(self.text):
                    return self.partial(members, keep)
                self.gave_up = True
                return _MISSING
            self.position += 1
            value = self.value(depth + 1, keep=keep)
            if self.gave_up:
                return _MISSING
            if value is _MISSING:
                return self.partial(members, keep)
            members[str(name)] = value
            self.comma("}")

    def partial(self, members: dict[str, Any], keep: bool) -> Any:
        """Of an object that never ends, keep what holds items of its own."""
        self.truncated = True
        held = {name: value for name, value in members.items() if isinstance(value, list | dict)}
        return held if keep and held else _MISSING

    def comma(self, closing: str) -> None:
        self.skip()
        if self.position < len(self.text) and self.text[self.position] not in ",])}":
            self.note("missing comma")

    def string(self) -> Any:
        opening = self.text[self.position]
        closing = _QUOTES[opening]
        if opening != '"':
            self.note("quotes")
        self.position += 1
        parts: list[str] = []
        while self.position < len(self.text):
            character = self.text[self.position]
            self.position += 1
            if character == "\\":
                parts.append(self.escape())
            elif character == closing or (opening in "“„" and character == '"'):
                if not self.inside_a_word():
                    return "".join(parts)
                self.note("quotes")
                parts.append(character)
            else:
                if character in "\n\r\t":
                    self.note("raw control character")
                parts.append(character)
        self.truncated = True
        return _MISSING

    def inside_a_word(self) -> bool:
        """Whether the quote just read is an apostrophe or a quotation inside the string: no separator follows it."""
        follows = self.text[self.position : self.position + 40].lstrip()[:1]
        return bool(follows) and follows not in ",:]})" and self.closes_later()

    def closes_later(self) -> bool:
        """Whether the string goes on to a quote that does end it, on the same line."""
        rest = self.text[self.position : self.position + _LOOK_AHEAD].partition("\n")[0]
        return re.search(r"[\"'”’“`»]\s*([,:\])}]|$)", rest) is not None

    def escape(self) -> str:
        if match := _UNIT.match(self.text, self.position):
            self.position = match.end()
            return json.loads(f'"\\{match[0]}"').encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        character = self.text[self.position : self.position + 1]
        self.position += 1
        return {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(character, character)

    def word(self, stops: str = "") -> Any:
        """Read a bare word: a literal, a number, or text that lacks its quotes."""
        match = re.compile(rf"[^,\[\]{{}}()\n\"“”{re.escape(stops)}]+").match(self.text, self.position)
        if match is None:
            self.gave_up = True
            return _MISSING
        self.position = match.end()
        word = match[0].strip()
        if self.position >= len(self.text):  # it may have gone on
            self.truncated = True
            return _MISSING
        if _NUMBER.match(word):
            return float(word) if set(word) & set(".eE") else int(word)
        if word.lower() in _WORDS:
            if word not in ("true", "false", "null"):
                self.note("Python literal")
            return _WORDS[word.lower()]
        self.note("missing quotes")
        return word

    def skip(self) -> None:
        """Go over blanks and comments."""
        while self.position < len(self.text):
            if self.text[self.position].isspace():
                self.position += 1
            elif match := _COMMENT.match(self.text, self.position):
                self.note("comment")
                self.position = match.end()
            else:
                return
