"""A needle, what makes it usable, and its file format (MINEA, section 5.2.1)."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from tripleaudit.errors import UserError
from tripleaudit.fields import CLOSED, Text, read_rows
from tripleaudit.needles.entities import normalise

KEYWORDS = 6  # as many as the paper's toy example has; equal for all needles, so that k(t) means the same
WORDS = (40, 120)  # bounds of a needle's paragraph, in words
OVERLAP = 0.5  # at the least threshold of k(t), one needle's keywords would stand for the other


def one_paragraph(text: str) -> str:
    """Return ``text`` on one line: blank lines inside a needle would make two paragraphs of it."""
    return re.sub(r"\s+", " ", text).strip()


@dataclass(frozen=True, slots=True)
class Needle:
    """An invented entity: the paragraph that introduces it, and the properties that it is identified by.

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


@dataclass(frozen=True)
class Recipe:
    """How needles of a study are made, and what makes one usable.

    Attributes:
        per_type: needles of each type for each document.
        keywords: the required number of distinct keywords.
        words: least and greatest number of words of the paragraph.
        overlap: the share of keywords at which two needles could be taken for one another.
        refills: how often what is missing is asked for again.
        seed: kept with every needle; it also numbers the requests, so that another seed asks again.
        excerpt: characters of the document that the prompt shows; a long one would not fit beside the answer.
    """

    per_type: int = 3
    keywords: int = KEYWORDS
    words: tuple[int, int] = WORDS
    overlap: float = OVERLAP
    refills: int = 3
    seed: int = 0
    excerpt: int = 4000


def problem(needle: Needle, document: str, others: Iterable[Needle] = (), recipe: Recipe = Recipe()) -> str | None:
    """Return why ``needle`` cannot be used, as one clause, or ``None``.

    Args:
        needle: the candidate.
        document: the text that it is meant for; its name must not occur there.
        others: needles accepted before for the same document.
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
    if len(distinct) != len(needle.keywords) or len(distinct) != recipe.keywords:
        return f"it has {len(distinct)} distinct keywords, expected {recipe.keywords}"
    for other in others:
        shared = distinct & {normalise(keyword, casefold=True) for keyword in other.keywords}
        if len(shared) >= recipe.overlap * recipe.keywords:
            return f"it shares {len(shared)} of {recipe.keywords} keywords with needle {other.id}"
    count, (least, most) = len(needle.paragraph.split()), recipe.words
    if not least <= count <= most:
        return f"the paragraph has {count} words, expected {least} to {most}"
    return None


def load_needles(path: str | Path) -> list[Needle]:
    """Read needles, one JSON object a line.

    Raises:
        UserError: a line is not a needle, or an identifier occurs twice; the message names file and line.
    """
    needles = read_rows(path, Needle)
    for name, times in Counter(needle.id for needle in needles).items():
        if times > 1:
            raise UserError(f"{path}: {times} needles have the id {name!r}; expected an id of its own for each")
    return needles
