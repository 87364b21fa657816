"""JSON lists and objects in answers: strict first, then as language models write them.

A value that is not strict JSON is rewritten token by token (quotes, Python literals, comments,
trailing, surplus and missing commas, raw line ends, invalid escapes, words without quotes,
brackets of the wrong kind) and then read by pydantic's parser. No content is added. If an answer is
truncated, its complete items are kept and the unfinished last item is dropped, so a truncated
answer yields the first items of the whole answer and no others. A truncated list of strings alone
counts as one unfinished item and is dropped.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from tripleaudit.llm.reading.answer_text import strip_wrapping

MAX_DEPTH = 60  # brackets inside each other
MAX_FAILED_STARTS = (
    100  # brackets that begin no value; a text with more of them would take quadratic time
)
LOOK_AHEAD = 200  # characters that are searched for the closing quote of a string

_OPENING = re.compile(r"[\[{]")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[^,，\[\]{}()\n\"“”]+")
_KEY = re.compile(r"[^,，\[\]{}()\n\"“”:：]+")
_ELLIPSIS = re.compile(r"\.{3,}|…")
_CLOSING_QUOTE = {'"': '"', "'": "'", "“": '”"', "‘": "’", "„": '“"', "`": "`", "«": "»"}
_QUOTE_BEFORE_SEPARATOR = re.compile(r"[\"'”’“`»]\s*(?:[,，:：\])}]|$)")
_ESCAPE = re.compile(r"((?:\\u[0-9a-fA-F]{4})+)|\\(.)", re.DOTALL)
_INVALID_ESCAPE = re.compile(r"""\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})""")  # of strict JSON
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_OPENED_BY = {"]": "[", "}": "{", ")": "["}
_CLOSED_BY = {"[": "]", "{": "}"}

# What the next token of an open list or object can be.
_ITEM, _KEY_NAME, _COLON, _VALUE, _SEPARATOR = "item", "key", "colon", "value", "separator"


@dataclass(frozen=True, slots=True)
class Decoded:
    """Values in a text.

    Attributes:
        values: lists and objects, in order.
        notes: the repairs, by name; empty for strict JSON.
        truncated: the text ends inside a value.
        surrounded: there is other text around the values (a code fence does not count).
    """

    values: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()
    truncated: bool = False
    surrounded: bool = False

    @property
    def repaired(self) -> bool:
        """Whether a value was not strict JSON."""
        return bool(self.notes)


def decode(text: str, keep_unfinished: bool = False) -> Decoded:
    """Return all lists and objects of a text; never raises for bad content.

    Words in brackets without any quotes count as a list only where the text holds no other value,
    because prose has brackets, too.

    Args:
        keep_unfinished: keep the unfinished last item of a truncated text.
    """
    text = strip_wrapping(text)
    values: list[Any] = []
    bare_values: list[Any] = []
    notes: dict[str, None] = {}
    position = failed_starts = 0
    truncated = surrounded = False
    while failed_starts < MAX_FAILED_STARTS and (bracket := _OPENING.search(text, position)):
        surrounded |= _has_text(text[position : bracket.start()])
        try:
            value, end = json.JSONDecoder().raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            value, end = None, bracket.start()
        if value is not None and not _is_too_deep(value):
            values.append(value)
            position = end
            continue
        rewriter = _Rewriter(text, bracket.start())
        try:
            value = rewriter.rewrite(keep_unfinished)
        except _NotJsonError:
            position = bracket.end()
            failed_starts += 1
            surrounded = True
            continue
        position = rewriter.position
        truncated |= rewriter.truncated
        if rewriter.truncated and not keep_unfinished and not _has_containers(value):
            break
        if rewriter.has_quotes or not isinstance(value, list):
            values.append(value)
            notes.update(rewriter.notes)
        else:
            bare_values.append(value)
    if bare_values and not values:
        values = bare_values
        notes["missing quotes"] = None
    surrounded |= _has_text(text[position:].strip("]}")) or bool(
        bare_values and values is not bare_values
    )
    return Decoded(tuple(values), tuple(notes), truncated, surrounded)


def _is_too_deep(value: Any) -> bool:
    """Return whether a value has more than MAX_DEPTH lists and objects inside each other."""
    level = [value]
    for _ in range(MAX_DEPTH):
        members: list[Any] = []
        for container in level:
            members += container.values() if isinstance(container, dict) else container
        level = [member for member in members if isinstance(member, list | dict)]
        if not level:
            return False
    return True


def _has_containers(value: Any) -> bool:
    """Return whether a value contains lists or objects; a value without them is a single item."""
    members = value.values() if isinstance(value, dict) else value
    return any(isinstance(member, list | dict) for member in members)


def _has_text(text: str) -> bool:
    return bool(text.strip(" \t\r\n,;]}"))


class _NotJsonError(Exception):
    """The text at a bracket is no JSON value."""


class _Rewriter:
    """Rewrites the value at a bracket as strict JSON; ``position`` is then its end."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.notes: dict[str, None] = {}
        self.truncated = False
        self.has_quotes = False
        self._written: list[str] = []
        self._open: list[str] = []
        self._expected = _ITEM

    def rewrite(self, keep_unfinished: bool) -> Any:
        """Return the value.

        Raises:
            _NotJsonError: the brackets hold no JSON.
        """
        while True:
            self._skip_blanks()
            if self.position >= len(self.text):
                self.truncated = True
                break
            character = self.text[self.position]
            if character in "[{(":
                self._open_bracket(character)
            elif character in "]})":
                self._close_bracket(character)
                if not self._open:
                    break
            elif character in ",，":
                self._comma(character)
            elif character in ":：":
                self._colon(character)
            elif not self._scalar(character):
                self.truncated = True
                break
        value = self._parse()
        if self.truncated and not keep_unfinished:
            return _complete_items(value, self._open)
        return value

    def _parse(self) -> Any:
        try:
            return from_json("".join(self._written), allow_partial=True)
        except ValueError as error:
            raise _NotJsonError from error

    def _note(self, repair: str) -> None:
        self.notes[repair] = None

    def _skip_blanks(self) -> None:
        while self.position < len(self.text):
            comment = _COMMENT.match(self.text, self.position)
            if comment:
                self._note("comment")
                self.position = comment.end()
            elif self.text[self.position].isspace():
                self.position += 1
            else:
                return

    def _open_bracket(self, character: str) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise _NotJsonError
        self._begin_value(is_key=False)
        if character == "(":
            self._note("round brackets")
        bracket = "{" if character == "{" else "["
        self._written.append(bracket)
        self._open.append(bracket)
        self._expected = _KEY_NAME if bracket == "{" else _ITEM
        self.position += 1

    def _close_bracket(self, character: str) -> None:
        """Close the innermost bracket of this kind and those inside; without one, skip it."""
        self.position += 1
        opening = _OPENED_BY[character]
        if self._open[-1] != opening:
            self._note("mismatched bracket")
        if opening not in self._open:
            return
        while True:
            self._end_members()
            bracket = self._open.pop()
            self._written.append(_CLOSED_BY[bracket])
            self._expected = _SEPARATOR
            if bracket == opening:
                return

    def _end_members(self) -> None:
        if self._expected == _COLON:
            raise _NotJsonError
        if self._expected == _VALUE:
            self._note("missing value")
            self._written.append("null")
        if self._written[-1] == ",":
            self._note("trailing comma")
            self._written.pop()

    def _comma(self, character: str) -> None:
        self.position += 1
        if character == "，":
            self._note("full-width punctuation")
        if self._expected == _SEPARATOR:
            self._written.append(",")
            self._expected = self._next_member()
        elif self._expected in (_COLON, _VALUE):
            raise _NotJsonError
        else:
            self._note("surplus comma")

    def _colon(self, character: str) -> None:
        if character == "：":
            self._note("full-width punctuation")
        if self._expected != _COLON:
            raise _NotJsonError
        self.position += 1
        self._written.append(":")
        self._expected = _VALUE

    def _scalar(self, character: str) -> bool:
        """Write a string, a number or a word; return False where the text ends inside it."""
        is_quoted = character in _CLOSING_QUOTE
        is_key = self._expected == _KEY_NAME or (
            self._expected == _SEPARATOR and self._open[-1] == "{"
        )
        token = self._string() if is_quoted else self._word(is_key)
        if token is None:
            return False
        if token:
            self._begin_value(is_key)
            self._written.append(token)
            self._expected = _COLON if is_key else _SEPARATOR
        return True

    def _begin_value(self, is_key: bool) -> None:
        """Check that a value or a key can follow; write the comma that is missing before it."""
        if self._expected == _SEPARATOR:
            self._note("missing comma")
            self._written.append(",")
            self._expected = self._next_member()
        expected = (_KEY_NAME,) if is_key else (_ITEM, _VALUE)
        if self._expected not in expected:
            raise _NotJsonError

    def _next_member(self) -> str:
        return _KEY_NAME if self._open[-1] == "{" else _ITEM

    def _string(self) -> str | None:
        opening = self.text[self.position]
        start = self.position + 1
        end = self._end_of_string(opening, start)
        if end is None:
            self.position = len(self.text)
            return None
        self.has_quotes = True
        self.position = end + 1
        content = self.text[start:end]
        if opening != '"':
            self._note("quotes")
        if re.search(r"[\n\r\t]", content):
            self._note("raw control character")
        if _INVALID_ESCAPE.search(content.replace("\\\\", "")):
            self._note("invalid escape")
        return json.dumps(_unescape(content))

    def _end_of_string(self, opening: str, start: int) -> int | None:
        closing = re.compile(rf"\\.|[{_CLOSING_QUOTE[opening]}]", re.DOTALL)
        for match in closing.finditer(self.text, start):
            if match[0][0] == "\\":
                continue
            if not self._is_inside_string(match.end()):
                return match.start()
            self._note("quotes")
        return None

    def _is_inside_string(self, position: int) -> bool:
        """Return whether the quote before ``position`` is an apostrophe or quotation in a string.

        No separator follows such a quote, and a quote that ends the string comes later on the same
        line.
        """
        following = self.text[position : position + 40].lstrip()[:1]
        if not following or following in ",，:：]})":
            return False
        rest_of_line = self.text[position : position + LOOK_AHEAD].partition("\n")[0]
        return _QUOTE_BEFORE_SEPARATOR.search(rest_of_line) is not None

    def _word(self, is_key: bool) -> str | None:
        """Return a literal, number or unquoted text as JSON; an ellipsis is an empty string."""
        match = (_KEY if is_key else _WORD).match(self.text, self.position)
        if match is None:
            raise _NotJsonError
        self.position = match.end()
        word = match[0].strip()
        if self.position >= len(self.text):  # the word may go on
            return None
        if _ELLIPSIS.fullmatch(word):
            self._note("ellipsis")
            return ""
        if not is_key and _NUMBER.fullmatch(word):
            return word
        if not is_key and word.lower() in _LITERALS:
            literal = _LITERALS[word.lower()]
            if word != literal:
                self._note("Python literal")
            return literal
        self._note("missing quotes")
        return json.dumps(word)


def _unescape(content: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[1]:
            units = json.loads(f'"{match[1]}"')
            return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return _ESCAPED.get(match[2], match[2])

    return _ESCAPE.sub(replace, content)


def _complete_items(value: Any, open_brackets: Sequence[str]) -> Any:
    """Return the complete items of a truncated value.

    A list keeps the items before its unfinished one. An object keeps only its lists and objects:
    it may lack members, and would otherwise be read as a complete item.

    Args:
        open_brackets: brackets that are not closed, the outermost first.
    """
    if not open_brackets or not value:
        return value
    if isinstance(value, list):
        return value if len(open_brackets) == 1 else value[:-1]
    if len(open_brackets) > 1:
        last = next(reversed(value))
        value = {**value, last: _complete_items(value[last], open_brackets[1:])}
    return {name: item for name, item in value.items() if isinstance(item, list | dict)}
