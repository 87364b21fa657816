"""Documents as units, and pieces of them for a model (MINEA, sections 4.1 and 5.2.1).

A unit is a paragraph or a sentence with the blanks behind it, so that the joined units are the
document. An inserted needle is a unit, too: it is never divided, and leaving it out gives back the
document. The method leaves the way of splitting open (section 4.1: "text splitting"); the order
paragraph end, sentence end, blank is this project's choice.
"""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import CLOSED

_NEWLINE = r"(?:\r\n|\n|\r)"
_PARAGRAPH_END = re.compile(rf"{_NEWLINE}(?:[ \t]*{_NEWLINE})+")
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])")
_BLANKS = re.compile(r"\s+")
# A full stop after these does not end a sentence; single capital letters are initials.
_ABBREVIATION = re.compile(
    r"(?:\b(?:al|approx|cf|Co|Corp|Dr|ed|eds|e\.g|Eq|Eqs|etc|Fig|Figs|i\.e|Inc|Jr|Ltd|Mr|Mrs|Ms|No|Nos|Prof|Ref|Refs"
    r"|resp|Sr|St|vs|vol)|\b[A-Z])\.$"
)
_ABBREVIATION_CHARACTERS = 8  # before a full stop, in which an abbreviation is looked for
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
        text: with the blanks behind it.
        needle: identifier of the needle that the unit is, empty for the document's own text.
    """

    __pydantic_config__ = CLOSED

    text: str
    needle: str = ""


def text_of(units: Sequence[Unit]) -> str:
    """Return the joined text of units."""
    return "".join(unit.text for unit in units)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text; code blocks and lists with blank lines are one each."""
    whole: list[str] = []
    open_fence = ""
    for part in _cut(text, [match.end() for match in _PARAGRAPH_END.finditer(text)]):
        continues = bool(open_fence) or (bool(whole) and _continues(whole[-1], part))
        open_fence = _open_fence(part, open_fence)
        if continues:
            whole[-1] += part
        else:
            whole.append(part)
    return whole


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph."""
    return _cut(paragraph, _sentence_ends(paragraph))


def has_open_fence(text: str) -> bool:
    """Return whether a text ends inside of fenced code."""
    return bool(_open_fence(text, ""))


def is_prose(paragraph: str) -> bool:
    """Return whether a paragraph is neither a heading nor holds one, code, a list or a table.

    A short line of its own without a mark at its end is a heading.
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
        if sum(bool(kind.match(line)) for line in lines) > 1:
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
    """Return the marks of the code fence that is open behind a part, empty for none.

    A fence is closed by one of the same mark, at least as long, with nothing behind it.
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
    ends = []
    for match in _SENTENCE_END.finditer(text):
        before = text[max(0, match.start() - _ABBREVIATION_CHARACTERS) : match.start() + 1]
        if not _ABBREVIATION.search(before):
            ends.append(match.end())
    return ends


def _cut(text: str, ends: Sequence[int]) -> list[str]:
    offsets = [0, *(end for end in ends if end < len(text)), len(text)]
    return [
        text[start:end] for start, end in zip(offsets, offsets[1:], strict=False) if end > start
    ]


def pieces(units: Sequence[Unit], limit: int) -> list[list[Unit]]:
    """Return runs of units of at most ``limit`` characters; longer needles stand alone.

    A piece ends behind a unit if it is at least half full there, else within the next unit: at a
    sentence end, at a blank, or anywhere.
    """
    runs: list[list[Unit]] = []
    run: list[Unit] = []
    size = 0
    waiting = deque(units)
    while waiting:
        unit = waiting.popleft()
        room = limit - size
        if len(unit.text) > room and not unit.needle and size < limit / 2:
            head, tail = _divide(unit.text, room, may_cut_words=not run)
            if head:
                waiting.appendleft(Unit(tail))
                unit = Unit(head)
        if len(unit.text) > room and run:
            runs.append(run)
            run = []
            size = 0
            waiting.appendleft(unit)
            continue
        run.append(unit)
        size += len(unit.text)
    return [*runs, run] if run else runs


def _divide(text: str, room: int, may_cut_words: bool) -> tuple[str, str]:
    """Return a text's start of at most ``room`` characters and its rest.

    Without an end of a sentence or word: nothing, and the text.
    """
    sentence_ends = [end for end in _sentence_ends(text) if end <= room]
    blank_ends = [match.end() for match in _BLANKS.finditer(text) if match.end() <= room]
    ends = sentence_ends or blank_ends
    if ends:
        end = ends[-1]
    elif may_cut_words:
        end = room + 1 if text[room - 1 : room + 1] == "\r\n" else room
    else:
        end = 0
    return text[:end], text[end:]


def split_evenly(text: str, count: int) -> list[str]:
    """Return ``count`` parts of similar length.

    A paragraph end within a quarter of a part's length of the even cut wins, then a sentence end,
    then the nearest blank.

    Raises:
        UserError: the text has too few blanks for so many parts.
    """
    width = len(text) / count
    paragraph_ends = [match.end() for match in _PARAGRAPH_END.finditer(text)]
    blank_ends = [match.end() for match in _BLANKS.finditer(text)]
    cuts: list[int] = []
    for number in range(1, count):
        target = number * width
        candidates = [end for end in blank_ends if (cuts[-1] if cuts else 0) < end < len(text)]
        if not candidates:
            raise UserError(
                f"a text of {len(text)} characters cannot be split into {count} parts at blanks"
            )
        for better in (paragraph_ends, _sentence_ends(text)):
            near = [end for end in better if end in candidates and abs(end - target) <= width / 4]
            if near:
                candidates = near
                break
        cuts.append(min(candidates, key=lambda end: abs(end - target)))
    return _cut(text, cuts)
