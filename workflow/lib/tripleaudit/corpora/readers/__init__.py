"""Readers, one module a format: :func:`read_corpus` is the way in.

A reader module has ``read(path, **options)`` that yields :class:`~tripleaudit.corpora.corpus.RawSentence` objects and
raises :class:`~tripleaudit.errors.UserError` with file and line or item. A new format is one module and one line here.
"""

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import Corpus, RawSentence, build_corpus
from tripleaudit.corpora.readers.detect import detect_format
from tripleaudit.corpora.spans import check_occurrence
from tripleaudit.errors import UserError

FORMATS: dict[str, str] = {
    "triple-list": "tripleaudit.corpora.readers.triple_list",
    "triple-list-spans": "tripleaudit.corpora.readers.triple_list_spans",
    "entity-relation": "tripleaudit.corpora.readers.entity_relation",
    "conll04": "tripleaudit.corpora.readers.conll04",
    "nyt-raw": "tripleaudit.corpora.readers.nyt_raw",
    "pairs": "tripleaudit.corpora.readers.pairs",
    "sent-tup": "tripleaudit.corpora.readers.sent_tup",
    "genres": "tripleaudit.corpora.readers.genres",
    "genres-processed": "tripleaudit.corpora.readers.genres_processed",
    "jsonl": "tripleaudit.corpora.readers.own",
    "predictions": "tripleaudit.corpora.readers.predictions",
    "ade-corpus-v2": "tripleaudit.corpora.readers.ade_corpus",
    "semeval": "tripleaudit.corpora.readers.semeval",
    "datasets": "tripleaudit.corpora.readers.hub_datasets",
}
"""Format name -> module, imported when it is used."""


def check_format(format: str) -> str:
    """Return ``format``.

    Raises:
        UserError: no reader has this name (``auto`` has none: it stands for whatever the content shows).
    """
    if format not in FORMATS:
        raise UserError(f"format: {format!r} is unknown, expected auto or one of {', '.join(sorted(FORMATS))}")
    return format


def read_raw(
    path: str | Path, format: str = "auto", *, occurrence: str = "first", **options: Any
) -> Iterable[RawSentence]:
    """Yield the sentences of one file as it states them; arguments as :func:`read_corpus`."""
    format = detect_format(path) if format == "auto" else check_format(format)
    module = importlib.import_module(FORMATS[format])
    known = getattr(module, "OPTIONS", ())
    for name in options:
        if name not in known:
            expected = f"one of {', '.join(known)}" if known else "none"
            raise UserError(f"{path}: format {format} has no option {name!r}, expected {expected}")
    if "occurrence" in known:
        options["occurrence"] = occurrence
    return module.read(path, **options)


def read_corpus(
    path: str | Path | Sequence[str | Path],
    format: str = "auto",
    occurrence: str = "first",
    *,
    deduplicate: bool = True,
    **options: Any,
) -> Corpus:
    """Read a corpus of any supported format.

    Args:
        path: a file (``.gz`` too), a folder for some formats, or several of them, read one after the other.
        format: a key of :data:`FORMATS`, or ``auto`` to tell it from the content.
        occurrence: ``first`` (default), ``all`` or ``given``: which places an entity string has where the file gives
            no position. Positions that a file gives are always used, except those of ``triple-list-spans`` with
            ``first``.
        deduplicate: keep exactly repeated triples of a sentence once (the report counts them either way).
        options: of the format, see its module.

    Raises:
        UserError: missing or unreadable file, unknown format, broken content (file and line or item), no sentence.
    """
    check_occurrence(occurrence)
    paths = [path] if isinstance(path, str | Path) else list(path)
    if not paths:
        raise UserError("no corpus file is given, expected at least one")
    formats = [detect_format(one) if format == "auto" else check_format(format) for one in paths]

    def raw() -> Iterable[RawSentence]:
        for one, name in zip(paths, formats, strict=True):
            yield from read_raw(one, name, occurrence=occurrence, **options)

    return build_corpus(
        raw(),
        source=", ".join(str(one) for one in paths),
        format="+".join(dict.fromkeys(formats)),
        occurrence=occurrence,
        deduplicate=deduplicate,
    )
