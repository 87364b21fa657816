"""Factualness (FS) and granularity (GS) from a judge's answers (GenRES, sections 3.3 and 3.4).

FS is the share of a text's triples that a judge finds supported by the text, GS how atomic triples
are: exp(-n) for n smaller triples that one could be split into. Both are stored in the form of the
published details: judgements as ``{text: {"score": float, "results": [bool, …]}}``, one result for
each triple in order; answers of the splitting prompt as ``{text: {triple as JSON: answer}}``, so
each distinct triple of a text counts once.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.grescores.systems import System, clean, usable
from tripleaudit.llm.reading import count_parts

Verdicts = Mapping[str, Sequence[bool | None]]


def read_verdicts(path: str | Path) -> dict[str, list[bool | None]]:
    """Read stored judgements as ``{text: [bool or None, …]}``; None for an unreadable verdict.

    Raises:
        UserError: the file is missing or has another form.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path}: expected an object that maps each text to {{'score', 'results'}}")
    verdicts = {}
    for text, entry in value.items():
        results = entry.get("results") if isinstance(entry, dict) else None
        if not isinstance(results, list) or not all(
            result is None or isinstance(result, bool) for result in results
        ):
            raise UserError(f"{path}: text {text[:60]!r} has no list 'results' of true and false")
        verdicts[text] = results
    return verdicts


def factualness(system: System, verdicts: Verdicts, official: bool) -> dict[str, float]:
    """Return FS per text.

    Official: every text of the details counts, one without triples as 0, and a verdict that cannot
    be read as not supported. Default: the system's texts with at least one usable triple whose
    verdict could be read; the others are left out (:func:`tripleaudit.grescores.evaluate` reports
    how many texts a score rests on).
    """
    if official:
        return {
            text: sum(map(bool, results)) / len(results) if results else 0.0
            for text, results in verdicts.items()
        }
    values = {}
    for text, triples in system.texts.items():
        readable = [
            result for result in _of_usable(triples, verdicts.get(text, [])) if result is not None
        ]
        usable_triples, _ = clean(triples)
        if readable and usable_triples:
            values[text] = sum(readable) / len(readable)
    return values


def readable_verdicts(system: System, verdicts: Verdicts) -> dict[str, float]:
    """Return per judged text the share of its usable triples whose verdict could be read."""
    shares = {}
    for text, triples in system.texts.items():
        results = _of_usable(triples, verdicts.get(text, []))
        if results:
            readable = [result for result in results if result is not None]
            shares[text] = len(readable) / len(results)
    return shares


def _of_usable(triples: Sequence[Any], results: Sequence[bool | None]) -> Sequence[bool | None]:
    if len(results) != len(triples):
        return results
    return [
        result
        for result, triple in zip(results, triples, strict=True)
        if usable(triple) is not None
    ]


def triple_json(triple: Sequence[Any]) -> str:
    """Return a triple as the JSON key of stored details (ASCII escapes, as published)."""
    return json.dumps(list(triple))


Splits = Mapping[str, Mapping[str, str]]


def read_splits(path: str | Path) -> dict[str, dict[str, str]]:
    """Read stored answers of the splitting prompt.

    Raises:
        UserError: the file is missing or has another form.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path}: expected an object that maps each text to {{triple: answer}}")
    for text, answers in value.items():
        if not isinstance(answers, dict) or not all(
            isinstance(answer, str) for answer in answers.values()
        ):
            raise UserError(f"{path}: text {text[:60]!r} is not mapped to answers by triple")
    return value


def granularity(system: System, splits: Splits, official: bool) -> dict[str, float]:
    """Return GS per text: mean of exp(-n) over distinct triples with a readable answer.

    Official: every text of the details that has at least one answer, brackets counted. Default: the
    system's texts with at least one usable triple that were split, and
    :func:`~tripleaudit.llm.reading.count_parts`.
    """
    count = count_brackets if official else count_parts
    texts = (
        splits
        if official
        else [text for text, triples in system.texts.items() if clean(triples)[0]]
    )
    values = {}
    for text in texts:
        counts = [count(answer) for answer in splits.get(text, {}).values()]
        scores = [math.exp(-parts) for parts in counts if parts is not None]
        if scores:
            values[text] = sum(scores) / len(scores)
    return values


def split_value(answer: str) -> float | None:
    """Return GS of one triple from the answer about it, None where that cannot be read."""
    parts = count_parts(answer)
    return None if parts is None else round(math.exp(-parts), 2)


def count_brackets(answer: str) -> int:
    """Return the official count of parts: pairs of square brackets; a single pair is no split."""
    pairs = min(answer.count("["), answer.count("]"))
    return 0 if pairs == 1 else pairs


def granularity_coverage(system: System, splits: Splits) -> dict[str, float]:
    """Return per split text the share of distinct usable triples with a readable answer."""
    values = {}
    for text, triples in system.texts.items():
        distinct = {triple_json(triple) for triple in clean(triples)[0]}
        if distinct and text in splits:
            values[text] = len(distinct & set(splits[text])) / len(distinct)
    return values
