"""Conditions under which a needle can be used (MINEA, section 5.2.1)."""

from collections.abc import Iterable

from tripleaudit.needles.entities import normalise
from tripleaudit.needles.needle import Needle
from tripleaudit.needles.plan import NeedleSettings


def problem(
    needle: Needle, document: str, accepted: Iterable[Needle], settings: NeedleSettings
) -> str | None:
    """Return why ``needle`` cannot be used, as one clause, or ``None``.

    Args:
        document: the text that it is meant for; its name must not occur there.
        accepted: the needles of the same document so far.
        settings: how many keywords and words it must have, and how many keywords it may share.
    """
    name = normalise(needle.name, casefold=True)
    paragraph = normalise(needle.paragraph, casefold=True)
    if not paragraph or not name:
        return "the paragraph or the name is empty"
    if name not in paragraph:
        return f"the name {needle.name!r} does not occur in the paragraph"
    if name in normalise(document, casefold=True):
        return f"the name {needle.name!r} occurs in the document"
    for earlier in accepted:
        earlier_name = normalise(earlier.name, casefold=True)
        if name in earlier_name or earlier_name in name:
            return f"the name {needle.name!r} overlaps that of needle {earlier.id}"
        if paragraph == normalise(earlier.paragraph, casefold=True):
            return f"the paragraph repeats that of needle {earlier.id}"
    keywords = _keywords(needle)
    if len(keywords) != len(needle.keywords) or len(keywords) != settings.keywords:
        return (
            f"it has {len(needle.keywords)} keywords, {len(keywords)} of them different; "
            f"expected {settings.keywords} different ones"
        )
    for earlier in accepted:
        shared = len(keywords & _keywords(earlier))
        if shared >= settings.overlap * settings.keywords:
            return f"it shares {shared} of {settings.keywords} keywords with needle {earlier.id}"
    words = len(needle.paragraph.split())
    least, most = settings.words
    if not least <= words <= most:
        return f"the paragraph has {words} words, expected {least} to {most}"
    return None


def _keywords(needle: Needle) -> set[str]:
    """Return the distinct keywords of a needle, casefolded."""
    return {normalise(keyword, casefold=True) for keyword in needle.keywords} - {""}
