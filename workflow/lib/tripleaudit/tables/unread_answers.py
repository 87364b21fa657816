"""Truncated and unreadable answers of language models, by system."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from tripleaudit.tables.cells import Cell

UNREAD: Final = "¶"
"""Mark of a language model of which more than half of the answers were truncated or could not be
read.
"""
UNREAD_STATUSES: Final = ("truncated", "refused", "failed")


class UnreadAnswers(NamedTuple):
    """How many answers of one system about one test set were truncated, refused or unreadable.

    Attributes:
        unread: these answers.
        answers: all answers.
    """

    unread: int
    answers: int

    @property
    def most(self) -> bool:
        """Whether more than half of the answers are unread, so that the row cannot be ranked."""
        return 2 * self.unread > self.answers


def count_unread(fact: Mapping[str, Any]) -> UnreadAnswers | None:
    """Return the unread answers of a system by its facts; None for other systems."""
    if not fact.get("answers"):
        return None
    return UnreadAnswers(fact.get("unreadable", 0) + fact.get("truncated", 0), fact["answers"])


def unread_notes(scores: Any, cells: Iterable[Cell]) -> list[str]:
    """Return the note with the number of unread answers of every system in a table, if any.

    Args:
        scores: the :class:`~tripleaudit.tables.inputs.ScoreIndex` of the table.
        cells: all cells of the table.
    """
    counts: dict[str, None] = {}
    for cell in cells:
        found = scores.unread_answers(cell.of) if cell.of and cell.value is not None else None
        if found is not None and found.unread:
            counts[f"{cell.of['extractor']} {found.unread} of {found.answers}"] = None
    if not counts:
        return []
    return [
        f"Answers that were truncated, refused or could not be read: {', '.join(counts)}. Complete triples or entities "
        "of a truncated answer count; other unread answers count as empty."
    ]
