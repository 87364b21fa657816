"""A needle, what makes it usable, and its file format (MINEA, section 5.2.1)."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import CLOSED, Text, read_rows
from tripleaudit.needles.entities import normalise

if TYPE_CHECKING:
    from tripleaudit.needles.plan import NeedleSettings

KEYWORDS = (
    6  # as many as the paper's toy example has; equal for all needles, so that k(t) means the same
)
WORDS = (40, 120)  # bounds of a needle's paragraph, in words
OVERLAP = 0.5  # at the least threshold of k(t), one needle's keywords would stand for the other


def one_paragraph(text: str) -> str:
    """Return ``text`` on one line: blank lines inside a needle would make two paragraphs of it."""
    return re.sub(r"\s+", " ", text).strip()


@dataclass(frozen=True, slots=True)
class Needle:
    """An invented entity: the paragraph that introduces it, and the properties that it is
    identified by.

    ``generator`` says where it comes from: ``{"model", "prompt_sha256", "seed"}``.
    """

    __pydantic_config__ = CLOSED

    id: Text
    doc: str
    type: Text
    paragraph: Annotated[Text, AfterValidator(one_paragraph)]
    name: Text
    description: str = ""
    keywords: tuple[str, ...] = ()
    generator: dict[str, Any] = field(default_factory=dict)


def problem(
    needle: Needle, document: str, others: Iterable[Needle], plan: "NeedleSettings"
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


def load_needles(path: str | Path) -> list[Needle]:
    """Read needles, one JSON object a line.

    Raises:
        UserError: a line is not a needle, or an identifier occurs twice; the message names file and
            line.
    """
    needles = read_rows(path, Needle)
    for name, times in Counter(needle.id for needle in needles).items():
        if times > 1:
            raise UserError(
                f"{path}: {times} needles have the id {name!r}; expected an id of its own for each"
            )
    return needles
