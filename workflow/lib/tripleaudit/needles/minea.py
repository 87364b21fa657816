"""MINEA: from criteria per needle to rates per type, groups and the overall score (section 5.2.2); and redundancy.

``a_c(type)`` is the share of a type's needles that criterion ``c`` finds, ``MINEA(type)`` the greatest of these
rates, and the overall score their mean weighted by the number of needles. It is the maximum of rates, not the rate of
needles found by any criterion; that one, at least as large, is ``minea_any``. Redundancy is that of a repeated
extraction (section 4.2 and table 1).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tripleaudit.errors import UserError
from tripleaudit.needles.entities import Entity, normalise

THRESHOLDS = (0.5, 0.6, 0.7)
CRITERIA = ("n", "ns", "k0.5", "k0.6", "k0.7", "llm")


@dataclass(frozen=True, slots=True)
class TypeScore:
    """Rates of one type: ``found[c]`` of ``needles`` by each criterion, and ``found_any`` by at least one."""

    type: str
    needles: int
    found: Mapping[str, int]
    found_any: int

    @property
    def best(self) -> str:
        """The criterion with the greatest rate, the first one on ties."""
        return max(self.found, key=lambda criterion: self.found[criterion])

    @property
    def minea(self) -> float:
        return self.found[self.best] / self.needles

    def rate(self, criterion: str) -> float:
        return self.found[criterion] / self.needles


def type_scores(rows: Iterable[Mapping], criteria: Sequence[str] = CRITERIA) -> dict[str, TypeScore]:
    """Count what each criterion finds, by type.

    Args:
        rows: one mapping per needle with ``type`` and a truth value for each criterion; ``None`` means that the
            criterion was not asked, and counts as not found.
        criteria: which of them enter the score.

    Raises:
        UserError: a row lacks a criterion, or no criterion is given.
    """
    if not criteria:
        raise UserError("MINEA needs at least one criterion")
    counts: dict[str, list[Mapping]] = {}
    for row in rows:
        for criterion in criteria:
            if criterion not in row:
                raise UserError(f"needle {row.get('id', '?')!r} has no value for criterion {criterion!r}")
        counts.setdefault(row["type"], []).append(row)
    return {
        kind: TypeScore(
            kind,
            len(members),
            {criterion: sum(bool(row[criterion]) for row in members) for criterion in criteria},
            sum(any(bool(row[criterion]) for criterion in criteria) for row in members),
        )
        for kind, members in counts.items()
    }


def overall(scores: Iterable[TypeScore]) -> tuple[float, float, int]:
    """Return ``(sum of found by the best criterion, found by any, needles)`` over types.

    ``found / needles`` is the MINEA of all types together: types weigh as much as they have needles.
    """
    scores = list(scores)
    return (
        sum(score.found[score.best] for score in scores),
        sum(score.found_any for score in scores),
        sum(score.needles for score in scores),
    )


def wilson(found: float, total: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Return the Wilson score interval of ``found / total``; ``(0, 1)`` without observations."""
    if total == 0:
        return 0.0, 1.0
    rate, square = found / total, z * z / total
    middle = (rate + square / 2) / (1 + square)
    half = z * math.sqrt(rate * (1 - rate) / total + square / (4 * total)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def redundancy(new: Sequence[Entity], old: Sequence[Entity], casefold: bool = False) -> float | None:
    """Return the share of the new entities whose name was extracted from the same piece before.

    ``|{e in new : name(e) in names(old)}| / |new|``; ``None`` where nothing new came, and an entity without a
    name repeats nothing.
    """
    if not new:
        return None
    names = {normalise(entity.name, casefold) for entity in old if entity.name}
    return sum(bool(e.name) and normalise(e.name, casefold) in names for e in new) / len(new)


def by_part(old: Sequence[Entity], new: Sequence[Entity], parts: int, casefold: bool = False) -> list[dict]:
    """Return one row per part of a document: its redundancy and the numbers of new and old entities.

    Args:
        old: entities of the finished extraction; ``piece`` is the part.
        new: entities of the branches in which part ``piece`` was shown once more.
        parts: number of parts.
    """
    rows = []
    for part in range(parts):
        before = [entity for entity in old if entity.piece == part]
        after = [entity for entity in new if entity.piece == part]
        rows.append(
            {
                "part": part + 1,
                "redundancy": redundancy(after, before, casefold),
                "new": len(after),
                "old": len(before),
            }
        )
    return rows
