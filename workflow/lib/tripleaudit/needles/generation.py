"""Needles made by a language model, and types that fit a document (MINEA, appendix B).

Two calls for each document and type: paragraphs about invented entities, then their names,
descriptions and keywords. What does not pass :func:`~tripleaudit.needles.needle_check.problem` is
asked for again with two further calls, at most ``refills`` times. Like the extraction, everything
here is a generator of requests (:class:`tripleaudit.llm.conversation.Ask`).
"""

import re
from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

from tripleaudit.llm.endpoint import Answer, Request, Sampling
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.reading import parse_rows
from tripleaudit.needles.entities import normalise
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.needle import Needle, one_paragraph
from tripleaudit.needles.needle_check import problem
from tripleaudit.needles.plan import NeedleSettings
from tripleaudit.needles.schema import EntityType, plain_type

READS = (
    "data/prompts/minea-needles.yaml",
    "data/prompts/minea-properties.yaml",
    "data/prompts/minea-discover.yaml",
)


@dataclass
class Made:
    """Needles of one document and type, and what became of the others (reason -> number)."""

    needles: list[Needle] = field(default_factory=list)
    rejected: Counter = field(default_factory=Counter)
    calls: int = 0


def make_needles(
    document: Document, kind: EntityType, plan: NeedleSettings, model: str, taken: list[Needle]
) -> Generator[Request, Answer, Made]:
    """Ask for needles of one type for one document.

    Args:
        taken: accepted needles of the document, of all types; new ones are checked against this
            list and added to it.
    """
    write, describe = load_prompt("minea-needles"), load_prompt("minea-properties")
    origin = {
        "model": model,
        "prompt_sha256": f"{write.sha256} {describe.sha256}",
        "seed": plan.seed,
    }
    made = Made()
    for attempt in range(plan.refills + 1):
        missing = plan.per_type - len(made.needles)
        if missing <= 0:
            break
        names = [needle.name for needle in taken]
        sample = (
            1000 * plan.seed + attempt
        )  # equal texts would bring the same answer from the cache
        answer = yield write.request(
            sampling=Sampling(max_tokens=plan.needle_tokens),
            sample=sample,
            count=missing,
            type=kind.name,
            meaning=f" ({kind.description})" if kind.description else "",
            avoid=f" Do not write about {', '.join(names)}." if names else "",
            text=document.text[: plan.excerpt],
        )
        made.calls += 1
        paragraphs = [
            one_paragraph(row["paragraph"])
            for row in parse_rows(answer.text)
            if isinstance(row.get("paragraph"), str)
        ][:missing]
        if not paragraphs:
            made.rejected[f"no paragraph in the answer ({answer.status})"] += missing
            continue
        answer = yield describe.request(
            sampling=Sampling(max_tokens=plan.needle_tokens),
            sample=sample,
            type=kind.name,
            keywords=plan.keywords,
            paragraphs="\n\n".join(
                f"{number}. {text}" for number, text in enumerate(paragraphs, 1)
            ),
        )
        made.calls += 1
        rows = parse_rows(answer.text)
        if len(rows) != len(paragraphs):
            made.rejected["the properties do not fit the paragraphs in number"] += len(paragraphs)
            continue
        for paragraph, row in zip(paragraphs, rows, strict=True):
            needle = _needle(document.id, kind.name, len(made.needles), paragraph, row, origin)
            reason = problem(needle, document.text, taken, plan)
            if reason is None:
                made.needles.append(needle)
                taken.append(needle)
            else:
                made.rejected[_kind_of(reason)] += 1
    return made


def discover_types(
    document: Document, max_tokens: int, excerpt: int = 12_000
) -> Generator[Request, Answer, list[dict[str, Any]]]:
    """Ask which Schema.org types fit a document.

    Returns:
        Rows ``{"type", "relevance", "reason"}``, most relevant first; a row without a type or with
        a relevance outside [0, 1] is left out, of equal types the first stays.
    """
    answer = yield load_prompt("minea-discover").request(
        sampling=Sampling(max_tokens=max_tokens), text=document.text[:excerpt]
    )
    rows: dict[str, dict[str, Any]] = {}
    for row in parse_rows(answer.text):
        kind = row.get("type")
        relevance = _number(row.get("relevance"))
        is_rated = relevance is not None and 0 <= relevance <= 1
        if is_rated and isinstance(kind, str) and kind.strip():
            name = kind.strip().rpartition("/")[2].removeprefix("schema:")
            rows.setdefault(
                name, {"type": name, "relevance": relevance, "reason": str(row.get("reason") or "")}
            )
    return _by_relevance(rows.values())


def joined_types(found: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the types of documents by greatest relevance, most relevant first."""
    best: dict[str, dict[str, Any]] = {}
    for rows in found:
        for row in rows:
            known = best.get(row["type"])
            if known is None or row["relevance"] > known["relevance"]:
                best[row["type"]] = row
    return _by_relevance(best.values())


def _by_relevance(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: -row["relevance"])


def fitting_types(
    rows: list[dict[str, Any]], threshold: float, top: int | None = None
) -> list[str]:
    """Return the types to use: the ``top`` first ones, or all at or above ``threshold``.

    Args:
        rows: most relevant first.
    """
    if top:
        return [row["type"] for row in rows[:top]]
    return [row["type"] for row in rows if row["relevance"] >= threshold]


def discovered_schema(types: list[str], shipped: dict[str, EntityType]) -> dict[str, Any]:
    """Return a schema of discovered types: shipped ones unchanged, others with three basics."""
    kinds = [shipped.get(name) or plain_type(name) for name in types]
    rows = {
        kind.name: {
            "custom": kind.custom,
            "description": kind.description,
            "properties": {
                key: {"list": True} if key in kind.lists else {} for key in kind.properties
            },
        }
        for kind in kinds
    }
    return {"version": 1, "title": "discovered", "types": rows, "groups": {}}


def _needle(
    doc: str, kind: str, number: int, paragraph: str, row: dict, origin: dict[str, Any]
) -> Needle:
    keywords = row.get("keywords")
    if isinstance(keywords, str):
        keywords = keywords.split(",")
    keywords = (
        [normalise(str(keyword)) for keyword in keywords] if isinstance(keywords, list) else []
    )
    return Needle(
        f"{doc}:{kind}:{number:02d}",
        doc,
        kind,
        paragraph,
        normalise(str(row.get("name") or "")),
        one_paragraph(str(row.get("description") or "")),
        tuple(keywords),
        origin,
    )


def _kind_of(reason: str) -> str:
    """Return the reason without names, needles and numbers, to count equal reasons together."""
    without_name = re.sub(r"""(["']).*\1""", "…", reason)
    without_needle = re.sub(r"needle \S+$", "another needle", without_name)
    return re.sub(r"\d+", "…", without_needle)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
