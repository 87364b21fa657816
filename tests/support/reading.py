"""Small files for readers, and what of a corpus a test compares."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import Corpus
from tripleaudit.corpora.model import Sentence


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    """Write files of bytes, texts, or values as JSON, by their paths below a folder; return the
    path of the first.
    """
    for name, content in files.items():
        given = content if isinstance(content, str | bytes) else json.dumps(content)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(given if isinstance(given, bytes) else given.encode())
    return folder / next(iter(files))


def lines(*rows: Any) -> str:
    """JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def table(*rows: Sequence[Any], delimiter: str = ",") -> str:
    """CSV; the first row is the header."""
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter).writerows(rows)
    return stream.getvalue()


def strings(corpus: Corpus) -> list[list[tuple[str, str, str]]]:
    """The triples of each sentence."""
    return [[triple.strings for triple in sentence.triples] for sentence in corpus.sentences]


def located(sentence: Sentence) -> list[tuple]:
    """Triples as (subject start, subject, relation, object start, object)."""
    return [
        (t.subject.start, t.subject.text, t.relation, t.object.start, t.object.text)
        for t in sentence.triples
    ]
