"""Factualness (FS) and granularity (GS) from a judge's answers (GenRES, sections 3.3 and 3.4).

FS is the share of a text's triples that a judge finds supported by the text, GS how atomic triples are: exp(-n) for n
smaller triples that one could be split into. Both are stored in the form of the published details: judgements as
``{text: {"score": float, "results": [bool, …]}}``, one result for each triple in order; answers of the splitting prompt
as ``{text: {triple as JSON: answer}}``, so each distinct triple of a text counts once.
"""

import json
import math
import re
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_json
from tripleaudit.grescores.systems import System, clean, usable

Verdicts = Mapping[str, Sequence[bool]]

_YES = ("true", "yes", "supported")
_NO = ("false", "no", "unsupported")


def read_verdicts(path: str | Path) -> dict[str, list[bool]]:
    """Read stored judgements as ``{text: [bool, …]}``.

    Raises:
        UserError: the file is missing or has another form.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path}: expected an object that maps each text to {{'score', 'results'}}")
    verdicts = {}
    for text, entry in value.items():
        results = entry.get("results") if isinstance(entry, dict) else None
        if not isinstance(results, list) or not all(isinstance(result, bool) for result in results):
            raise UserError(f"{path}: text {text[:60]!r} has no list 'results' of true and false")
        verdicts[text] = results
    return verdicts


def factualness(system: System, verdicts: Verdicts, official: bool) -> dict[str, float]:
    """Return FS per text.

    Official: every text of the details counts, one without triples as 0. Default: the system's texts with at least one
    usable triple that were judged; texts that were not judged are left out (:func:`tripleaudit.grescores.evaluate`
    reports how many texts a score rests on).
    """
    if official:
        return {text: sum(results) / len(results) if results else 0.0 for text, results in verdicts.items()}
    values = {}
    for text, triples in system.texts.items():
        results = verdicts.get(text, [])
        if len(results) == len(triples):
            results = [result for result, triple in zip(results, triples, strict=True) if usable(triple) is not None]
        if results and clean(triples)[0]:
            values[text] = sum(results) / len(results)
    return values


def parse_verdict(answer: str, official: bool = False) -> bool | None:
    """Read a judge's answer; None if it is neither yes nor no.

    Official: true if the answer without surrounding blanks is ``true`` in any case, else false. Default: the first
    word, without punctuation, among true/yes/supported and false/no/unsupported.
    """
    if official:
        return answer.strip().lower() == "true"
    words = answer.split()
    word = words[0].strip(string.punctuation + "“”‘’").lower() if words else ""
    return True if word in _YES else False if word in _NO else None


def triple_json(triple: Sequence[Any]) -> str:
    """Return a triple as the JSON text that stored details use as a key (ASCII escapes, as published)."""
    return json.dumps(list(triple))


Splits = Mapping[str, Mapping[str, str]]

MOST_PARTS = 10

_FENCE = re.compile(r"^\s*```[a-zA-Z]*\s*|\s*```\s*$")


def read_splits(path: str | Path) -> dict[str, dict[str, str]]:
    """Read stored answers of the splitting prompt.

    Raises:
        UserError: the file is missing or has another form.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path}: expected an object that maps each text to {{triple: answer}}")
    for text, answers in value.items():
        if not isinstance(answers, dict) or not all(isinstance(answer, str) for answer in answers.values()):
            raise UserError(f"{path}: text {text[:60]!r} is not mapped to answers by triple")
    return value


def granularity(system: System, splits: Splits, official: bool) -> dict[str, float]:
    """Return GS per text: the mean of exp(-n) over the text's distinct triples.

    Official: every text of the details that has at least one answer, brackets counted. Default: the system's texts
    with at least one usable triple that were split, and :func:`count_parts`.
    """
    count = count_brackets if official else count_parts
    texts = splits if official else [text for text, triples in system.texts.items() if clean(triples)[0]]
    values = {}
    for text in texts:
        answers = splits.get(text)
        if answers:
            values[text] = sum(math.exp(-count(answer)) for answer in answers.values()) / len(answers)
    return values


def count_brackets(answer: str) -> int:
    """Return the official count of parts: pairs of square brackets, where a single pair means no split."""
    pairs = min(answer.count("["), answer.count("]"))
    return 0 if pairs == 1 else pairs


def count_parts(answer: str) -> int:
    """Return the number of parts in an answer that is a JSON list of triples, at most :data:`MOST_PARTS`.

    The list may be the only value of an object (``{"parts": […]}``). No or one triple means no split. An answer that
    is not JSON is counted by its brackets.
    """
    try:
        value = json.loads(strip_fence(answer))
    except (ValueError, RecursionError):
        return min(count_brackets(answer), MOST_PARTS)
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    parts = [part for part in value if isinstance(part, list | dict)] if isinstance(value, list) else []
    return min(len(parts), MOST_PARTS) if len(parts) > 1 else 0


def strip_fence(answer: str) -> str:
    """Return an answer without a Markdown code fence around it."""
    return _FENCE.sub("", answer)
