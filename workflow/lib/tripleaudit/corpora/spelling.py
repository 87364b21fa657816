"""A name without what spellings of it differ in."""

import unicodedata


def bare(text: str) -> str:
    """Return a text without case, form of Unicode, punctuation, underscores and blanks; itself if nothing is left.

    ``Work_For``, ``WORK FOR`` and ``work-for`` are one; accents, marks of vowels and symbols such as ``+`` stay.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in folded if unicodedata.category(char)[0] not in "PZC") or text
