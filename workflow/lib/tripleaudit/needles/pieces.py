"""The pieces in which a document is shown, and the log of the calls about them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tripleaudit.llm.conversation import Piece, TokenCounter, Turn
from tripleaudit.llm.reading import STATUSES
from tripleaudit.llm.units import Unit, paragraphs, pieces, split_evenly
from tripleaudit.needles.infused import Corpus
from tripleaudit.needles.minea import share_bounds
from tripleaudit.needles.plan import PARTS, Plan

ENRICHED, UNTOUCHED = "enriched", "untouched"  # variants of a document, besides PARTS
REPETITION = "repetition"  # stage in which a part is shown once more
Counters = Callable[[], TokenCounter]


def all_pieces(corpus: Corpus, plan: Plan) -> dict[tuple[str, str], list[Piece]]:
    """Return the pieces to show of every variant of every document, by variant and document."""
    shown: dict[tuple[str, str], list[Piece]] = {}
    for document in corpus.documents:
        enriched = corpus.infusions[document.id].units
        shown[ENRICHED, document.id] = _numbered(pieces(enriched, plan.piece_chars))
        if plan.untouched:
            untouched = [Unit(paragraph) for paragraph in paragraphs(document.text)]
            shown[UNTOUCHED, document.id] = _numbered(pieces(untouched, plan.piece_chars))
        if plan.parts:
            parts = split_evenly(document.text, plan.parts)
            shown[PARTS, document.id] = _numbered([[Unit(part)] for part in parts])
    return shown


def _numbered(runs: Iterable[Sequence[Unit]]) -> list[Piece]:
    return [Piece(index, tuple(run)) for index, run in enumerate(runs)]


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
        "attempts": len(turn.answers),
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


def call_rows(
    statuses: Mapping[str, int],
) -> Iterator[tuple[str, str, str, float, float | None, float | None]]:
    """Yield calls by status, and the share of calls with a readable answer, as scores."""
    total = sum(statuses.values())
    for status, count in statuses.items():
        yield "all", "", f"status:{status}", count, None, None
    if total:
        read = total - statuses["failed"] - statuses["refused"]
        yield "all", "", "coverage", read / total, *share_bounds(read, total)


def failed_pieces(calls: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, int]]:
    """Return ``(stage, document, piece)`` of pieces whose calls all failed.

    The result is incomplete there.
    """
    usable: dict[tuple[str, str, int], bool] = {}
    for call in calls:
        piece = (call["stage"], call["doc"], call["piece"])
        is_read = call["status"] not in ("failed", "refused")
        usable[piece] = usable.get(piece, False) or is_read
    return [piece for piece, is_read in usable.items() if not is_read]
