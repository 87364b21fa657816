"""The result of reading an answer, with its status."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tripleaudit.llm.endpoint import Answer

STATUSES = ("ok", "repaired", "truncated", "empty", "refused", "failed")
"""``ok``; ``repaired`` (something had to be repaired or left out); ``truncated`` (the answer stops in the middle;
complete items are kept); ``empty`` (the answer states that there is nothing); ``refused`` (the model or the endpoint
declines); ``failed`` (nothing usable in it)."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The records of one answer.

    Attributes:
        records: triples, entities or other items, in their order.
        status: one of :data:`STATUSES`.
        notes: the repairs, by name.
        dropped: number of items that are no record.
    """

    records: Sequence[Any]
    status: str
    notes: tuple[str, ...] = ()
    dropped: int = 0


def text_and_status(answer: Answer | str) -> tuple[str, str]:
    """Return the text of an answer and the client's status of it, "ok" for a bare text."""
    if isinstance(answer, str):
        return answer, "ok"
    return answer.text, answer.status
