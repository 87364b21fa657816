"""Sentences about a number of things, in the singular and in the plural."""

from typing import Final

SINGULAR: Final = {
    "s": "", "y": "y", "v": "s", "are": "is", "were": "was", "have": "has", "do": "does", "they": "it",
}  # fmt: skip
PLURAL: Final = {
    "s": "s", "y": "ies", "v": "", "are": "are", "were": "were", "have": "have", "do": "do", "they": "they",
}  # fmt: skip


def inflected(count: int, text: str) -> str:
    """Return a text in the singular or plural: ``row has no text``, ``rows have no text``.

    Args:
        count: how many the text is about.
        text: with ``{s}`` and ``{y}`` for the ends of nouns, ``{v}`` for that of a verb, and
            ``{are}``, ``{were}``, ``{have}``, ``{do}`` and ``{they}``.
    """
    return text.format_map(SINGULAR if count == 1 else PLURAL)


def counted(count: int, text: str) -> str:
    """Return a number and its :func:`inflected` text."""
    return f"{count} {inflected(count, text)}"
