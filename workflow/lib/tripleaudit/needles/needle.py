"""A needle, what makes it usable, and its file format (MINEA, section 5.2.1)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_jsonl, write_jsonl
from tripleaudit.needles.entities import normalise

KEYWORDS = 6  # as many as the paper's toy example has; equal for all needles, so that k(t) means the same
WORDS = (40, 120)  # bounds of a needle's paragraph, in words
OVERLAP = 0.5  # at the least threshold of k(t), one needle's keywords would stand for the other


@dataclass(frozen=True, slots=True)
class Needle:
    """An invented entity: the paragraph that introduces it, and the properties that it is identified by.

    ``generator`` says where it comes from: ``{"model", "prompt_sha256", "seed"}``.
    """

    id: str
    doc: str
    type: str
    paragraph: str
    name: str
    description: str
    keywords: tuple[str, ...]
    generator: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self.__slots__} | {"keywords": list(self.keywords)}


@dataclass(frozen=True, slots=True)
class Demands:
    """What a needle must have.

    Attributes:
        keywords: the required number of distinct keywords.
        words: least and greatest number of words of the paragraph.
        overlap: the share of keywords at which two needles could be taken for one another.
    """

    keywords: int = KEYWORDS
    words: tuple[int, int] = WORDS
    overlap: float = OVERLAP


DEMANDS = Demands()


@dataclass(frozen=True)
class Recipe:
    """How needles of a study are made.

    Attributes:
        per_type: needles of each type for each document.
        demands: what every needle must have.
        refills: how often what is missing is asked for again.
        seed: kept with every needle; it also numbers the requests, so that another seed asks anew.
        excerpt: characters of the document that the prompt shows; a long one would not fit beside the answer.
    """

    per_type: int = 3
    demands: Demands = DEMANDS
    refills: int = 3
    seed: int = 0
    excerpt: int = 4000


def problem(needle: Needle, document: str, others: Iterable[Needle] = (), demands: Demands = DEMANDS) -> str | None:
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
    if len(distinct) != len(needle.keywords) or len(distinct) != demands.keywords:
        return f"it has {len(distinct)} distinct keywords, expected {demands.keywords}"
    for other in others:
        shared = distinct & {normalise(keyword, casefold=True) for keyword in other.keywords}
        if len(shared) >= demands.overlap * demands.keywords:
            return f"it shares {len(shared)} of {demands.keywords} keywords with needle {other.id}"
    count, (least, most) = len(needle.paragraph.split()), demands.words
    if not least <= count <= most:
        return f"the paragraph has {count} words, expected {least} to {most}"
    return None


def one_paragraph(text: str) -> str:
    """Return ``text`` on one line: blank lines inside a needle would make two paragraphs of it."""
    return re.sub(r"\s+", " ", text).strip()


def needle_from_json(row: Any, where: str) -> Needle:
    """Build a :class:`Needle` from its JSON form.

    Raises:
        UserError: a key is missing, unknown or has the wrong type.
    """
    if not isinstance(row, dict):
        raise UserError(f"{where}: expected a needle as an object, got {row!r}")
    unknown = sorted(set(row) - set(Needle.__slots__))
    if unknown:
        raise UserError(f"{where}: unknown key {unknown[0]!r}; a needle has {', '.join(Needle.__slots__)}")
    for key in ("id", "type", "paragraph", "name"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise UserError(f"{where}: a needle needs the string {key!r}")
    keywords = row.get("keywords")
    if not isinstance(keywords, list) or not all(isinstance(item, str) for item in keywords):
        raise UserError(f"{where}: 'keywords' must be a list of strings")
    return Needle(
        row["id"],
        row.get("doc", ""),
        row["type"],
        one_paragraph(row["paragraph"]),
        row["name"],
        row.get("description", ""),
        tuple(keywords),
        row.get("generator", {}),
    )


def load_needles(path: str | Path) -> list[Needle]:
    """Read needles, one JSON object a line.

    Raises:
        UserError: a line is not a needle, or an identifier occurs twice; the message names file and line.
    """
    needles: list[Needle] = []
    seen: set[str] = set()
    for number, row in read_jsonl(path):
        needle = needle_from_json(row, f"{path} line {number}")
        if needle.id in seen:
            raise UserError(f"{path} line {number}: a needle with the id {needle.id!r} stands further up already")
        seen.add(needle.id)
        needles.append(needle)
    return needles


def save_needles(path: str | Path, needles: Sequence[Needle]) -> None:
    """Write needles as JSON lines, atomically."""
    write_jsonl(path, (needle.to_json() for needle in needles))
