"""The pieces in which a document is shown, and the log of the calls about them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tripleaudit.llm.answers import STATUSES
from tripleaudit.llm.conversation import TokenCounter, Turn

ENRICHED, UNTOUCHED = "enriched", "untouched"
Offsets = tuple[int, int]
Counters = Callable[[], TokenCounter]


def run_of(calls: int) -> str:
    """The variant of an extraction with so many follow-up calls, made for the table of iterations."""
    return f"{calls} follow-up calls"


def call_row(turn: Turn, doc: str, stage: str, model: str) -> dict[str, Any]:
    """One row of the call log."""
    return {
        "doc": doc,
        "stage": stage,
        "piece": turn.piece,
        "iteration": turn.iteration,
        "thread": turn.thread,
        "call": turn.answer.key,
        "model": model,
        "status": turn.parsed.status,
        "notes": list(turn.parsed.notes),
        "entities": len(turn.parsed.records),
        "finish_reason": turn.answer.finish_reason,
        "attempts": turn.attempts,
        "prompt_tokens": turn.usage.prompt_tokens,
        "completion_tokens": turn.usage.completion_tokens,
        "cost": sum(answer.cost for answer in turn.answers),
    }


def status_counts(calls: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many calls ended in each status, all statuses listed."""
    counts = dict.fromkeys(STATUSES, 0)
    for call in calls:
        counts[call["status"]] += 1
    return counts


def failed_pieces(calls: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, int]]:
    """Return ``(stage, document, piece)`` of the pieces whose calls all failed: the result is incomplete there."""
    seen: dict[tuple[str, str, int], bool] = {}
    for call in calls:
        key = (call["stage"], call["doc"], call["piece"])
        seen[key] = seen.get(key, True) and call["status"] in ("failed", "refused")
    return [key for key, failed in seen.items() if failed]
