"""Factualness (FS): the share of a text's triples that a judge finds supported by the text (GenRES, section 3.3).

A judgement is stored as ``{text: {"score": float, "results": [bool, …]}}``, one result for each triple in order, the
form of the published details.
"""

import json
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
