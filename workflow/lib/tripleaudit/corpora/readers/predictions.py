"""``predictions``: stored model output with its gold triples, ``{"text", "predict": [...], "truth": [...]}``.

Triples are ``[subject, relation, object]``; a JSON list, JSON lines, or JSON objects one after the other.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import RawSentence
from tripleaudit.corpora.readers.common import first_character, load_json, string_triple, take, unique_keys
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError
from tripleaudit.files import json_explained, open_text


def read(path: str | Path, side: str = "truth") -> Iterator[RawSentence]:
    """Yield the sentences with the triples of one ``side``, ``truth`` or ``predict``; ids are places from 0."""
    if side not in ("truth", "predict"):
        raise UserError(f"side: {side!r} is unknown, expected truth or predict")
    for number, (where, value) in enumerate(_objects(path)):
        text = take(value, "text", str, where)
        triples = [string_triple(triple, where) for triple in take(value, side, list, where)]
        yield RawSentence(str(number), text, triples, where)


def _objects(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    values = load_json(path) if first_character(path) == "[" else _stream(path)
    for number, value in enumerate(values, 1):
        where = f"{path} item {number}"
        if not isinstance(value, dict):
            raise UserError(f"{where}: expected an object with 'text', 'predict' and 'truth'")
        yield where, value


def _stream(path: str | Path) -> Iterator[Any]:
    """Decode JSON values that follow one another, on one line each or indented."""
    with open_text(path) as stream:
        text = stream.read()
    decoder, place = json.JSONDecoder(object_pairs_hook=unique_keys(path)), 0
    while place < len(text):
        if text[place].isspace() or text[place] == "\ufeff":
            place += 1
            continue
        with json_explained(path):
            value, place = decoder.raw_decode(text, place)
        yield value


FORMAT = CorpusFormat(
    name="predictions",
    order=6,
    read=read,
    keys=("text", "predict", "truth"),
    options=("side",),
    detects=lambda probe: {"predict", "truth"} <= probe.value.keys(),
)
