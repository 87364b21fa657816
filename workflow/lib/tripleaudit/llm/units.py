"""Documents as units, and pieces of them for a model (MINEA, sections 4.1 and 5.2.1).

A unit is a paragraph or a sentence with the white space after it, so the joined units are the
document. An inserted needle is also a unit: it is never divided, and the document without it is the
original. The paper does not specify how to split (section 4.1: "text splitting"); this project
prefers paragraph ends, then sentence ends, then white space.
"""

import itertools
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from tripleaudit.core.errors import UserError
from tripleaudit.core.rows import CLOSED

_NEWLINE = r"(?:\r\n|\n|\r)"
_PARAGRAPH_END = re.compile(rf"{_NEWLINE}(?:[ \t]*{_NEWLINE})+")
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])")
_BLANKS = re.compile(r"\s+")
# A full stop after these does not end a sentence; single capital letters are initials.
_ABBREVIATION = re.compile(
    r"(?:\b(?:al|approx|cf|Co|Corp|Dr|ed|eds|e\.g|Eq|Eqs|etc|Fig|Figs|i\.e|Inc|Jr|Ltd|Mr|Mrs|Ms|No|Nos|Prof|Ref|Refs"
    r"|resp|Sr|St|vs|vol)|\b[A-Z])\.$"
)
_ABBREVIATION_CHARACTERS = 8  # searched for an abbreviation before a full stop
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_LIST_LINE = re.compile(r"[ \t]*(?:[-*+•‣·]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+\S")
_TABLE_LINE = re.compile(r"[^\t|]*(?:\||\t)[^\t|]*(?:\||\t)")
_CODE_LINE = re.compile(r"(?: {4}|\t)[ \t]*\S")
_MARKED_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_UNDERLINE = re.compile(r" {0,3}(?:={3,}|-{3,})[ \t]*")
MAX_HEADING_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a document.

    Attributes:
        text: includes the white space after it.
        needle: identifier if the unit is a needle; empty for text of the document.
    """

    __pydantic_config__ = CLOSED

    text: str
    needle: str = ""


def text_of(units: Sequence[Unit]) -> str:
    """Return the joined text of units."""
    return "".join(unit.text for unit in units)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text; code blocks and lists with blank lines are one each."""
    ends = [match.end() for match in _PARAGRAPH_END.finditer(text)]
    joined: list[str] = []
    open_fence = ""
    for part in _cut(text, ends):
        continues = bool(open_fence) or (bool(joined) and _continues(joined[-1], part))
        open_fence = _open_fence(part, open_fence)
        if continues:
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph."""
    return _cut(paragraph, _sentence_ends(paragraph))


def has_open_fence(text: str) -> bool:
    """Return whether a text ends inside of fenced code."""
    return bool(_open_fence(text, ""))


def is_prose(paragraph: str) -> bool:
    """Return whether a paragraph is prose: no heading, code, list or table, and contains none.

    A single short line without punctuation at its end counts as a heading. One line that looks like
    a list or table line among others is still prose, as lines of prose may begin with "1. " or "- ".
    """
    lines = paragraph.strip("\r\n").splitlines()
    if any(
        _FENCE.fullmatch(line) or _MARKED_HEADING.match(line) or _UNDERLINE.fullmatch(line)
        for line in lines
    ):
        return False
    if any(_CODE_LINE.match(line) for line in lines[:1]):
        return False
    for kind in (_LIST_LINE, _TABLE_LINE):
        marked = sum(bool(kind.match(line)) for line in lines)
        if marked > 1 or 0 < marked == len(lines):
            return False
    line = lines[0].strip() if len(lines) == 1 else ""
    is_heading = 0 < len(line) <= MAX_HEADING_CHARACTERS and line[-1].isalnum()
    return not is_heading


def _continues(paragraph: str, part: str) -> bool:
    """Return whether a part continues the list or indented code that ends a paragraph."""
    last_line = paragraph.rstrip().splitlines()[-1] if paragraph.strip() else ""
    first_line = part.splitlines()[0]
    return any(
        kind.match(last_line) and kind.match(first_line) for kind in (_LIST_LINE, _CODE_LINE)
    )


def _open_fence(part: str, fence: str) -> str:
    """Return the marks of the code fence that is still open after a part, empty for none.

    Args:
        fence: marks of the fence that is open before the part. A fence of the same character, at
            least as long and alone on its line, closes it.
    """
    for line in part.splitlines():
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        marks, rest = match.groups()
        if not fence:
            is_inline_code = "`" in marks and "`" in rest
            fence = "" if is_inline_code else marks
        elif marks.startswith(fence) and not rest.strip():
            fence = ""
    return fence


def _sentence_ends(text: str) -> list[int]:
    """Return the offsets after each sentence and its white space."""
    ends = []
    for match in _SENTENCE_END.finditer(text):
        before = text[max(0, match.start() - _ABBREVIATION_CHARACTERS) : match.start() + 1]
        if not _ABBREVIATION.search(before):
            ends.append(match.end())
    return ends


def _cut(text: str, ends: Sequence[int]) -> list[str]:
    """Return the non-empty parts of a text that end at increasing offsets."""
    inner_ends = [end for end in ends if end < len(text)]
    bounds = [0, *inner_ends, len(text)]
    parts = [text[start:end] for start, end in itertools.pairwise(bounds)]
    return [part for part in parts if part]


def pieces(units: Sequence[Unit], limit: int) -> list[list[Unit]]:
    """Return consecutive units in pieces of at most ``limit`` characters.

    A piece ends after a unit if it is at least half full there. Otherwise the next unit is divided:
    at a sentence end, else at white space, else (in an empty piece) anywhere. Needles are never
    divided; a needle longer than ``limit`` is a piece of its own.
    """
    full_pieces: list[list[Unit]] = []
    piece: list[Unit] = []
    size = 0  # characters in the current piece
    waiting = deque(units)
    while waiting:
        unit = waiting.popleft()
        room = limit - size
        if len(unit.text) > room and not unit.needle and size < limit / 2:
            head, tail = _divide(unit.text, room, may_cut_words=not piece)
            if head:
                waiting.appendleft(Unit(tail))
                unit = Unit(head)
        if len(unit.text) > room and piece:
            full_pieces.append(piece)
            piece = []
            size = 0
            waiting.appendleft(unit)
            continue
        piece.append(unit)
        size += len(unit.text)
    return [*full_pieces, piece] if piece else full_pieces


def _divide(text: str, room: int, may_cut_words: bool) -> tuple[str, str]:
    """Divide a text into a head of at most ``room`` characters and the rest.

    The head is empty if no sentence or word ends within ``room`` and words may not be cut.
    """
    sentence_ends = [end for end in _sentence_ends(text) if end <= room]
    blank_ends = [match.end() for match in _BLANKS.finditer(text) if match.end() <= room]
    ends = sentence_ends or blank_ends
    if ends:
        end = ends[-1]
    elif may_cut_words:
        cuts_newline = text[room - 1 : room + 1] == "\r\n"
        end = room + 1 if cuts_newline else room
    else:
        end = 0
    return text[:end], text[end:]


def split_evenly(text: str, count: int) -> list[str]:
    """Split a text into ``count`` parts of similar length.

    Each cut is the paragraph end nearest to the even cut, if it is within a quarter of a part's
    length; else such a sentence end; else the nearest white space.

    Raises:
        UserError: the text has too little white space for so many parts.
    """
    width = len(text) / count
    paragraph_ends = [match.end() for match in _PARAGRAPH_END.finditer(text)]
    blank_ends = [match.end() for match in _BLANKS.finditer(text)]
    cuts: list[int] = []
    for number in range(1, count):
        target = number * width
        previous_cut = cuts[-1] if cuts else 0
        candidates = [end for end in blank_ends if previous_cut < end < len(text)]
        if not candidates:
            raise UserError(
                f"a text of {len(text)} characters cannot be split into {count} parts at blanks"
            )
        for preferred in (paragraph_ends, _sentence_ends(text)):
            near = [
                end for end in preferred if end in candidates and abs(end - target) <= width / 4
            ]
            if near:
                candidates = near
                break
        cuts.append(min(candidates, key=lambda end: abs(end - target)))
    return _cut(text, cuts)
