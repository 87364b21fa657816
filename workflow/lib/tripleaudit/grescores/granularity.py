"""Granularity (GS): how atomic triples are, exp(-n) for n smaller triples that one could be split into (section 3.4).

A splitting prompt lists the smaller triples; its answers are stored as ``{text: {triple as JSON: answer}}``, the form
of the published details, so each distinct triple of a text counts once.
"""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

from tripleaudit.errors import UserError
from tripleaudit.files import read_json
from tripleaudit.grescores.systems import System, clean

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
