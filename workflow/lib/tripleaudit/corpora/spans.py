"""Finding the character spans of entity strings in a sentence.

Most benchmark corpora give entity strings only, in texts that are tokenised with blanks. A raw
search would find "Chin" inside "China" first, so candidates are looked for on three levels, and the
first level that has any decides:

``word``       blanks (or the ends of the text) on both sides: the rule for the benchmarks;
``token``      the string neither begins nor ends inside a word (:mod:`tripleaudit.corpora.words`), so that "Paris" is
               found in "(Paris)." of texts that are not tokenised, and a name in scripts without blanks;
``substring``  anywhere, as for inflected forms.

All spans of the benchmarks in :mod:`tripleaudit.corpora` are found on the level ``word``; how many
are found on which level is part of every corpus report.
"""

from typing import Literal

from tripleaudit.corpora.words import cuts_word

Level = Literal["word", "token", "substring", "missing"]
OCCURRENCES = ("first", "all", "given")


def find_spans(
    text: str, entity: str, *, every: bool = False
) -> tuple[list[tuple[int, int]], Level]:
    """Find ``entity`` in ``text``.

    Returns character spans (end exclusive) in reading order, and the level on which they are found.

    Args:
        text: the sentence as it is; nothing is stripped, so offsets never shift.
        entity: the string to look for, exact case.
        every: return every occurrence of the level instead of the first.

    Returns:
        ``([], "missing")`` where the string is empty or does not occur at all.
    """
    found: dict[Level, list[tuple[int, int]]] = {"word": [], "token": [], "substring": []}
    level: Level
    position, size = text.find(entity) if entity else -1, len(entity)
    while position >= 0 and (every or not found["word"]):
        end = position + size
        before, after = (
            text[position - 1] if position else " ",
            text[end] if end < len(text) else " ",
        )
        if before.isspace() and after.isspace():
            level = "word"
        elif not cuts_word(text, position, end):
            level = "token"
        else:
            level = "substring"
        found[level].append((position, end))
        position = text.find(entity, position + 1)
    for level, spans in found.items():
        if spans:
            return (spans if every else spans[:1]), level
    return [], "missing"
