"""Natural units of a document, and splitting it into pieces that give the document back when joined.

Everything here works with character offsets into the unchanged text: a unit or piece is ``(start, end)``, end
exclusive, and consecutive ones touch. Line ends may be ``\\n``, ``\\r\\n`` or ``\\r``. The method leaves the way of
splitting open (MINEA, section 4.1: "text splitting"); the order paragraph end, sentence end, whitespace is this
project's choice.
"""

import bisect
import re
from collections.abc import Sequence

from tripleaudit.errors import UserError

NEWLINE = r"(?:\r\n|\n|\r)"
PARAGRAPH_END = re.compile(rf"{NEWLINE}(?:[ \t]*{NEWLINE})+")
SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])")
WHITESPACE_END = re.compile(r"\s+")
# A full stop after these does not end a sentence; single capital letters are initials.
ABBREVIATION = re.compile(
    r"(?:\b(?:al|approx|cf|Co|Corp|Dr|ed|eds|e\.g|Eq|Eqs|etc|Fig|Figs|i\.e|Inc|Jr|Ltd|Mr|Mrs|Ms|No|Nos|Prof|Ref|Refs"
    r"|resp|Sr|St|vs|vol)|\b[A-Z])\.$"
)
CODE_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
LIST_LINE = re.compile(r"[ \t]*(?:[-*+•‣·]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+\S")
TABLE_LINE = re.compile(r"[^\t|\r\n]*(?:\||\t)[^\t|\r\n]*(?:\||\t)")

MARKED_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
UNDERLINE = re.compile(r" {0,3}(?:={3,}|-{3,})[ \t]*")
CODE_INDENT = re.compile(r"(?: {4}|\t)[ \t]*\S")

Span = tuple[int, int]


def paragraphs(text: str) -> list[Span]:
    """Return the paragraphs of ``text``, each with the blank lines that follow it; ``[]`` for an empty text."""
    return _spans(text, [match.end() for match in PARAGRAPH_END.finditer(text)])


def sentences(text: str) -> list[Span]:
    """Return the sentences of ``text``, each with the whitespace that follows it; a paragraph end ends a sentence."""
    ends = {match.end() for match in PARAGRAPH_END.finditer(text)}
    ends.update(_sentence_ends(text))
    return _spans(text, sorted(ends))


def blocks(text: str) -> list[Span]:
    """Return the offsets that must stay whole: code (fenced or indented), lists and tables of two or more lines.

    List items may be separated by blank lines. A block starts at its first line and ends with the last character
    of its last line; a fence that nothing closes goes on past the text, so its block ends one character after it.
    """
    found = [*_fenced(text), *_indented(text)]
    for pattern in (LIST_LINE, TABLE_LINE):
        run: list[Span] = []
        for start, end in _lines(text):
            line = text[start:end]
            if pattern.match(line):
                run.append((start, end))
            elif line.strip() or pattern is TABLE_LINE:
                if len(run) > 1:
                    found.append((run[0][0], run[-1][1]))
                run = []
        if len(run) > 1:
            found.append((run[0][0], run[-1][1]))
    return sorted(found)


def headings(text: str) -> list[Span]:
    """Return the headings: lines marked by ``#``, underlined lines with the line below, short lines that stand alone.

    A line stands alone between blank lines; as a heading it has at most 80 characters and no mark at its end.
    """
    lines = [(start, end, text[start:end]) for start, end in _lines(text)]
    around = [(0, 0, ""), *lines, (0, 0, "")]
    found = []
    for (_, _, before), (start, end, line), (_, below, after) in zip(around, lines, around[2:], strict=False):
        alone = not before.strip() and not after.strip() and line.strip() and len(line.strip()) <= 80
        short = alone and line.strip()[-1].isalnum() and not line[0].isspace()
        if line.strip() and UNDERLINE.fullmatch(after):
            found.append((start, below))
        elif MARKED_HEADING.match(line) or short:
            found.append((start, end))
    return found


def split(text: str, limit: int, protected: Sequence[Span] = ()) -> list[Span]:
    """Split ``text`` into pieces of at most ``limit`` characters, at the best boundary in the second half of each.

    A boundary is a paragraph end, else a sentence end, else whitespace, else any offset. No boundary falls inside a
    protected span: a piece that holds one which is longer than ``limit`` is longer than ``limit`` too.

    Returns:
        Pieces that touch and cover the text; ``[]`` for an empty text.
    """
    levels = _levels(text, protected)
    starts = [0]
    while len(text) - starts[-1] > limit:
        start = starts[-1]
        offset = _best(levels, start + limit // 2, start + limit)
        if offset is None or offset <= start:
            offset = _hard_cut(text, start, limit, protected)
        starts.append(offset)
    return _spans(text, starts[1:])


def split_evenly(text: str, count: int, protected: Sequence[Span] = ()) -> list[Span]:
    """Split ``text`` into ``count`` pieces of similar length, at the natural boundary nearest to each even cut.

    A paragraph end within a quarter of a piece's length of the even cut wins, then a sentence end, then whitespace.

    Raises:
        UserError: the text has too few boundaries for ``count`` pieces.
    """
    if not text:
        return []
    width = len(text) / count
    levels = [[p for p in level if p < len(text)] for level in _levels(text, protected)]
    cuts: list[int] = []
    for number in range(1, count):
        target, lower = round(number * width), cuts[-1] if cuts else 0
        for level in levels:
            near = [p for p in level if p > lower and abs(p - target) <= width / 4]
            if near:
                cuts.append(min(near, key=lambda offset: abs(offset - target)))
                break
        else:
            rest = [offset for offset in levels[-1] if offset > lower]
            if not rest:
                raise UserError(f"a text of {len(text)} characters cannot be split into {count} pieces at whitespace")
            cuts.append(min(rest, key=lambda offset: abs(offset - target)))
    return _spans(text, cuts)


def piece_of(position: int, pieces: Sequence[Span]) -> int:
    """Return the index of the piece that holds the character at ``position``."""
    return max(bisect.bisect_right([start for start, _ in pieces], position) - 1, 0)


def _levels(text: str, protected: Sequence[Span]) -> list[list[int]]:
    """Return the boundaries outside of protected spans, from the best kind to the least."""
    ends, blanks = ([match.end() for match in kind.finditer(text)] for kind in (PARAGRAPH_END, WHITESPACE_END))
    levels = (ends, _sentence_ends(text), blanks)
    return [[offset for offset in level if not _inside(offset, protected)] for level in levels]


def _spans(text: str, ends: Sequence[int]) -> list[Span]:
    offsets = [0, *(end for end in ends if end < len(text)), len(text)]
    return [(start, end) for start, end in zip(offsets, offsets[1:], strict=False) if end > start]


def _sentence_ends(text: str) -> list[int]:
    ends = []
    for match in SENTENCE_END.finditer(text):
        head = text[max(0, match.start() - 8) : match.start() + 1]
        if not ABBREVIATION.search(head):
            ends.append(match.end())
    return ends


def _lines(text: str) -> list[Span]:
    spans, start = [], 0
    for match in re.finditer(NEWLINE, text):
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    return spans


def _fenced(text: str) -> list[Span]:
    """Return fenced code: a fence is closed by one of the same mark, at least as long, with nothing behind it."""
    found: list[Span] = []
    opening: tuple[int, str] | None = None
    for start, end in _lines(text):
        fence = CODE_FENCE.fullmatch(text, start, end)
        if fence is None:
            continue
        if opening is None:
            opening = None if "`" in fence[1] and "`" in fence[2] else (start, fence[1])  # code within a line
        elif fence[1].startswith(opening[1]) and not fence[2].strip():
            found.append((opening[0], end))
            opening = None
    return found if opening is None else [*found, (opening[0], len(text) + 1)]


def _indented(text: str) -> list[Span]:
    """Return the runs of lines indented as code, after a blank line or at the start, with blank lines inside them."""
    found: list[Span] = []
    run: Span | None = None
    blank = True
    for start, end in _lines(text):
        line = text[start:end]
        if CODE_INDENT.match(line) and (run or blank):
            run = (run[0] if run else start, end)
        elif line.strip() and run:
            found.append(run)
            run = None
        blank = not line.strip()
    return [*found, run] if run else found


def _inside(offset: int, spans: Sequence[Span]) -> bool:
    return any(start < offset < end for start, end in spans)


def _best(levels: Sequence[Sequence[int]], low: int, high: int) -> int | None:
    for level in levels:
        index = bisect.bisect_right(level, high) - 1
        if index >= 0 and level[index] >= low:
            return level[index]
    index = bisect.bisect_right(levels[-1], high) - 1
    return levels[-1][index] if index >= 0 else None


def _hard_cut(text: str, start: int, limit: int, protected: Sequence[Span]) -> int:
    """Cut where nothing natural is in reach; a carriage return stays with its line feed, a protected span whole."""
    offset = start + limit
    if text[offset - 1 : offset + 1] == "\r\n":
        offset += -1 if offset - 1 > start else 1
    for low, high in protected:
        if low < offset < high:
            return low if low > start else high
    return offset
