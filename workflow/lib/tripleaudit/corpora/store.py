"""The project's own JSON-lines form of a corpus, which every stage reads and writes."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_jsonl, write_jsonl
from tripleaudit.corpora.model import Sentence, sentence_from_json


def load_sentences(path: str | Path) -> list[Sentence]:
    """Read all sentences of a JSON-lines file.

    Raises:
        UserError: the file is missing, a line is not JSON, or a sentence is not well formed (file
            and line named).
    """
    return [
        sentence_from_json(value, f"{path} line {number}") for number, value in read_jsonl(path)
    ]


def load_set(path: str | Path) -> list[Sentence]:
    """Read a training, test or gold set, which has at least one sentence.

    Raises:
        UserError: as :func:`load_sentences`, or the file has no sentence.
    """
    sentences = load_sentences(path)
    if not sentences:
        raise UserError(f"{path}: has no sentences; expected at least one")
    return sentences


def save_sentences(path: str | Path, sentences: Iterable[Sentence]) -> None:
    """Write sentences (or predictions) as JSON lines, atomically."""
    write_jsonl(path, map(_stored_row, sentences))


def _stored_row(sentence: Sentence) -> dict[str, Any]:
    """Return a sentence with the names of its entities, which scores of mentions need."""
    row = sentence.to_json()
    if sentence.names:
        row["names"] = [list(names) for names in sentence.names]
    return row
