"""Conditions under which a needle can be used (MINEA, section 5.2.1)."""

from collections.abc import Iterable

from tripleaudit.needles.entities import normalise
from tripleaudit.needles.needle import Needle
from tripleaudit.needles.plan import NeedleSettings


def problem(
    needle: Needle, document: str, others: Iterable[Needle], plan: NeedleSettings
) -> str | None:
    """Return why ``needle`` cannot be used, as one clause, or ``None``.

    Args:
        document: the text that it is meant for; its name must not occur there.
        others: needles accepted before for the same document.
        plan: how many keywords and words it must have, and how many keywords it may share.
    """
    name = normalise(needle.name, casefold=True)
    if not needle.paragraph.strip() or not name:
        return "the paragraph or the name is empty"
    if name not in normalise(needle.paragraph, casefold=True):
        return f"the name {needle.name!r} does not occur in the paragraph"
    if name in normalise(document, casefold=True):
        return f"the name {needle.name!r} occurs in the document"
    for other in others:
        known = normalise(other.name, casefold=True)
        if name in known or known in name:
            return f"the name {needle.name!r} overlaps that of needle {other.id}"
        if normalise(needle.paragraph, casefold=True) == normalise(other.paragraph, casefold=True):
            return f"the paragraph repeats that of needle {other.id}"
    distinct = {normalise(keyword, casefold=True) for keyword in needle.keywords} - {""}
    if len(distinct) != len(needle.keywords) or len(distinct) != plan.keywords:
        return f"it has {len(distinct)} distinct keywords, expected {plan.keywords}"
    for other in others:
        shared = distinct & {normalise(keyword, casefold=True) for keyword in other.keywords}
        if len(shared) >= plan.overlap * plan.keywords:
            return f"it shares {len(shared)} of {plan.keywords} keywords with needle {other.id}"
    count, (least, most) = len(needle.paragraph.split()), plan.words
    if not least <= count <= most:
        return f"the paragraph has {count} words, expected {least} to {most}"
    return None
