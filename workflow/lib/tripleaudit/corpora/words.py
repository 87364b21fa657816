"""The definition of a word, for all scripts.

A word is a run of letters and digits with their combining marks. Scripts that put no blanks between
words (Han, kana, Thai, Lao, Myanmar, Khmer) do not show where a word ends, so each of their
characters is a word. Everything else, underscores included, is a mark between words.

Spans of entity strings, the findings of ``check``, the search for copies, the lookup baseline,
Entity Noising and the augmented test set use these functions, so that they agree in every language.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Final

UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Myanmar, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # iteration mark and zero, kana
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Characters of scripts without blanks between words, for a character class."""
_is_unspaced = re.compile(f"[{UNSPACED}]").match
_is_hangul = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]").match
_ASCII_WORD = re.compile("[a-zA-Z0-9]+")
_NO_BLANKS = re.compile(r"\S+")


def words(text: str) -> list[str]:
    """Return the words of a text, without the marks between them."""
    return _word_pattern(text).findall(text)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of every word of a text."""
    return [match.span() for match in _word_pattern(text).finditer(text)]


def is_inside_word(text: str, offset: int) -> bool:
    """Return whether an offset falls between two characters of one word."""
    if not 0 < offset < len(text):
        return False
    before, after = text[offset - 1], text[offset]
    if before.isascii() and after.isascii():
        return before.isalnum() and after.isalnum()
    base = offset - 1
    while base > 0 and _is_combining(text[base]):
        base -= 1
    before = text[base]
    if not before.isalnum():
        return False
    if _is_combining(after):
        return True
    return after.isalnum() and not _is_unspaced(before) and not _is_unspaced(after)


def cuts_word(text: str, start: int, end: int) -> bool:
    """Return whether a span begins or ends inside a word.

    A Korean name may end inside its word, because particles are written behind it without a blank.
    """
    if is_inside_word(text, start):
        return True
    return is_inside_word(text, end) and not _is_hangul(text[end])


def segment_spans(text: str) -> list[tuple[int, int]]:
    """Return spans between blanks; in scripts without blanks, of each word and each mark."""
    return list(_segments(text))


def segments(text: str) -> list[str]:
    """Return the texts of :func:`segment_spans`; with blanks between words, ``text.split()``."""
    return (
        [text[start:end] for start, end in _segments(text)] if has_unspaced(text) else text.split()
    )


def word_and_mark_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of every word and of every mark, in order; blanks belong to none."""
    return [span for piece in _NO_BLANKS.finditer(text) for span in _words_and_marks(piece)]


def has_unspaced(text: str) -> bool:
    """Return whether a text has a character of a script without blanks between words."""
    return not text.isascii() and any(map(_is_unspaced, text))


def _segments(text: str) -> Iterator[tuple[int, int]]:
    for piece in _NO_BLANKS.finditer(text):
        if has_unspaced(piece[0]):
            yield from _words_and_marks(piece)
        else:
            yield piece.span()


def _words_and_marks(piece: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words and marks of a piece without blanks, as offsets in its text."""
    start, end = piece.span()
    for first, last in word_spans(piece[0]):
        yield from ((mark, mark + 1) for mark in range(start, piece.start() + first))
        yield piece.start() + first, piece.start() + last
        start = piece.start() + last
    yield from ((mark, mark + 1) for mark in range(start, end))


def _is_combining(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def _word_pattern(text: str) -> re.Pattern[str]:
    return _ASCII_WORD if text.isascii() else _unicode_word()


@cache
def _unicode_word() -> re.Pattern[str]:
    """Return the pattern of a word, with all combining marks of the basic plane."""
    combining = "".join(chr(code) for code in range(0x300, 0xFFFF) if _is_combining(chr(code)))
    letter = rf"[^\W_{UNSPACED}]"
    return re.compile(rf"(?:{letter}[{combining}]*)+|(?=[^\W_])[{UNSPACED}][{combining}]*")
