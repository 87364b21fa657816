"""Finding the character spans of entity strings in a sentence.

Most benchmark corpora give entity strings only, in texts that are tokenised with blanks. A raw search would find
"Chin" inside "China" first, so candidates are looked for on three levels, and the first level that has any decides:

``word``       blanks (or the ends of the text) on both sides: the rule for the benchmarks;
``token``      no letter or digit touches the string where the string itself begins or ends with one, so that
               "Paris" is found in "(Paris)." of texts that are not tokenised;
``substring``  anywhere: the only thing that works for scripts without blanks, and for inflected forms.

All spans of the benchmarks in :mod:`tripleaudit.corpora` are found on the level ``word``; how many are found on which
level is part of every corpus report.
"""

from typing import Literal

from tripleaudit.errors import UserError

Level = Literal["word", "token", "substring", "missing"]
OCCURRENCES = ("first", "all", "given")


def check_occurrence(occurrence: str) -> str:
    """Return ``occurrence``.

    Raises:
        UserError: it is none of ``first``, ``all`` and ``given``.
    """
    if occurrence not in OCCURRENCES:
        raise UserError(f"occurrence: {occurrence!r} is unknown, expected one of {', '.join(OCCURRENCES)}")
    return occurrence


def find_spans(text: str, entity: str, *, every: bool = False) -> tuple[list[tuple[int, int]], Level]:
    """Find ``entity`` in ``text``: character spans (end exclusive) in reading order, and the level they are found on.

    Args:
        text: the sentence as it is; nothing is stripped, so offsets never shift.
        entity: the string to look for, exact case.
        every: return every occurrence of the level instead of the first.

    Returns:
        ``([], "missing")`` where the string is empty or does not occur at all.
    """
    if not entity:
        return [], "missing"
    place = text.find(entity)
    if place < 0:
        return [], "missing"
    words: list[tuple[int, int]] = []
    tokens: list[tuple[int, int]] = []
    anywhere: list[tuple[int, int]] = []
    length, size = len(text), len(entity)
    left_matters, right_matters = entity[0].isalnum(), entity[-1].isalnum()
    while place >= 0:
        end = place + size
        before = text[place - 1] if place else " "
        after = text[end] if end < length else " "
        if before.isspace() and after.isspace():
            words.append((place, end))
            if not every:
                break
        elif not (left_matters and before.isalnum()) and not (right_matters and after.isalnum()):
            tokens.append((place, end))
        else:
            anywhere.append((place, end))
        place = text.find(entity, place + 1)
    levels: list[tuple[list[tuple[int, int]], Level]] = [(words, "word"), (tokens, "token"), (anywhere, "substring")]
    for spans, level in levels:
        if spans:
            return (spans if every else spans[:1]), level
    raise AssertionError("unreachable: an occurrence was found")
