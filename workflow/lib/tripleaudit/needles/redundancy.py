"""Redundancy of a repeated extraction (MINEA, section 4.2 and table 1)."""

from collections.abc import Sequence

from tripleaudit.needles.entities import Entity, normalise


def redundancy(new: Sequence[Entity], old: Sequence[Entity], casefold: bool = False) -> float:
    """Return the share of the new entities whose name was extracted from the same piece before.

    ``|{e in new : name(e) in names(old)}| / |new|``; nothing new gives 0 (the paper does not say), and an entity
    without a name repeats nothing.
    """
    if not new:
        return 0.0
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
