"""Readers of corpus files, one module a format: :func:`read_corpus` is the way in.

A reader module has ``read(path, **options)`` that yields
:class:`~tripleaudit.corpora.corpus.RawSentence` objects and raises
:class:`~tripleaudit.core.errors.UserError` with file and line or item, and its spec, which
also says how a file of the format is distinguished from others. A new format is one module, listed
in ``corpora/spec.py``.
"""

import filecmp
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import shipped
from tripleaudit.corpora.corpus import Corpus, RawSentence, build_corpus, with_left_out
from tripleaudit.corpora.readers.common import first_character, is_parquet, split_of
from tripleaudit.corpora.readers.given import Given
from tripleaudit.corpora.readers.records import PARTS, Mapped
from tripleaudit.corpora.readers.row_files import Probe
from tripleaudit.corpora.readers.side import has_both_sides, refuse_second_list
from tripleaudit.corpora.remarks import say
from tripleaudit.corpora.spec import FORMATS, CorpusFormat

ANY_COLUMNS = "records"
STORED_ANSWERS = "answers"
_REPLACED_BY = {
    "openie5": "--column text=sentence,subject=extraction.arg1.text,relation=extraction.rel.text,"
    "object=extraction.arg2s.0.text",
    "stanford-openie": "--column rows=sentences,tokens=tokens.word,triples=openie,subject=subjectSpan,"
    "relation=relation,object=objectSpan",
    "glirel": "--column tokens=tokens,triples=relations,subject=head_pos,relation=label,object=tail_pos",
    "spacy-llm": "--column triples=relations,subject=dep,relation=relation,object=dest,entities=ents,"
    "start=start_char,end=end_char,type=label",
    "relik": "--column triples=triplets,subject=0.3,relation=1,object=2.3",
    "rebel-raw": "--column id=docid,triples=triples,subject=subject.surfaceform,"
    "relation=predicate.surfaceform,object=object.surfaceform",
    "fewrel": "--plugin resources/plugins/fewrel.py",
    "iob": "--plugin resources/plugins/iob.py",
}
REMOVED_FORMATS: Mapping[str, str] = MappingProxyType(_REPLACED_BY)
"""Names of formats that are no longer built in -> the options that read them."""


def detect_format(path: str | Path) -> str:
    """Return the name of the format that fits a file, or a folder with a saved data set.

    Built-in formats are asked in their order. One of a plugin has its say before
    :data:`ANY_COLUMNS`, which takes whatever has columns, but does not silently take a file that
    another format knows as its own.

    Raises:
        UserError: the file is missing or empty, no format fits, or one of a plugin and another; the
            message says how to name one.
    """
    probe = Probe(path)
    fits = [name for name, format in FORMATS.items() if format.file and _detects(format, probe)]
    built_in = next(
        (name for name, format in FORMATS.items() if not format.file and _detects(format, probe)),
        None,
    )
    if built_in and not (fits and built_in == ANY_COLUMNS):
        fits.insert(0, built_in)
    if len(fits) > 1:
        those = " and ".join(f"{name} (of {FORMATS[name].file or 'the program'})" for name in fits)
        raise UserError(
            f"{path}: looks like the formats {those}; name one with --format, or in a study under 'format'"
        )
    if fits:
        return fits[0]
    if not is_parquet(probe.path):
        first_character(probe.path)  # a folder that is no data set says so
    raise UserError(
        f"{path}: the format cannot be recognised from the content{_advice(probe.row, probe.line)}"
    )


def _detects(format: CorpusFormat, probe: Probe) -> bool:
    try:
        return format.detects is not None and bool(format.detects(probe))
    except UserError:
        raise
    except Exception as error:
        if not format.file:
            raise
        text = f"{type(error).__name__}: {error}"
        raise UserError(
            f"{format.file}: format {format.name} cannot tell what {probe.path} is ({text})"
        ) from error


def _advice(row: dict[str, Any], line: str) -> str:
    """Return the end of a format error: first row or line, similar formats, and advice."""
    name = f"name one with --format, of {', '.join(FORMATS)}"
    if not row:
        text = ": it is no table, whose rows have fields like its first line; texts without triples are for the "
        return (
            f"{text}commands extract, collection and minea. If it is a corpus, "
            if line
            else ", please "
        ) + name
    shown_columns = f"its columns are {', '.join(map(str, row))}"
    if _looks_like_data(row):
        return (
            ": its first line looks like data, not like names of columns; add a line with names, or count the columns "
            f"from 0, as in --column text=0,subject=1,relation=2,object=3; {shown_columns}"
        )
    lacking = Mapped().lacks(row)
    is_flat = not any(isinstance(value, list | dict) for value in row.values())
    if is_flat and len(lacking) == 1 and lacking[0] != "triples":
        role = lacking[0]
        strings = [value for value in row.values() if isinstance(value, str)]
        answers = ""
        if any("```" in string or string.lstrip()[:1] in ("[", "{") for string in strings):
            answers = "; if one holds the answers of a language model, with --predicted-column answer=COLUMN"
        return (
            f": it has no column {role!r}; {shown_columns}; if one of them is the {role}, name it with --column "
            f"{role}=COLUMN (in a study under 'columns'){answers}"
        )
    if is_flat and "triples" in lacking:
        lacking[lacking.index("triples") :] = PARTS  # one triple a row
    roles = ",".join(f"{role}=COLUMN" for role in lacking)
    answers = ""
    if is_flat and lacking == list(PARTS):
        answers = (
            ", with --predicted-column answer=COLUMN if one holds the answers of a language model"
        )
    return (
        f": {shown_columns}{_near_formats(row)}; say which column is what with --column {roles} "
        f"(in a study under 'columns'){answers}, or {name}"
    )


def _looks_like_data(row: Mapping[str, Any]) -> bool:
    """Return whether the names of columns are a sentence and two of its entities."""
    names = [str(name) for name in row]
    text = max(names, key=len)
    inside = [name for name in names if name != text and len(name) > 1 and name in text]
    return " " in text and len(inside) >= 2


def _near_formats(row: Mapping[str, Any]) -> str:
    near = []
    for format in FORMATS.values():
        missing = [key for key in format.keys if key not in row]
        if missing and len(missing) < len(format.keys):
            text = f"{format.name} (no {', '.join(map(repr, missing))})"
            near.append((len(missing) / len(format.keys), text))
    if not near:
        return ""
    return f"; near are {', '.join(text for _, text in sorted(near)[:3])}"


def resolve_format(
    path: str | Path, format: str = "auto", columns: Mapping[str, str] | None = None
) -> str:
    """Return the name of a file's format; with ``columns``, one that takes a mapping.

    Raises:
        UserError: no reader has this name, or as :func:`detect_format`.
    """
    if format != "auto":
        if format not in FORMATS and format in REMOVED_FORMATS:
            raise UserError(
                f"format: {format!r} is no longer built in; expected {REMOVED_FORMATS[format]} in its place"
            )
        if format not in FORMATS:
            raise UserError(
                f"format: {format!r} is unknown, expected auto or one of {', '.join(sorted(FORMATS))}"
            )
        return format
    if not columns or columns.keys() == {"annotator"}:
        return detect_format(path)
    if columns.get("answer"):
        return STORED_ANSWERS
    path = split_of(path)[0]
    folder = path.startswith("hub:") or Path(path).is_dir()
    return "datasets" if folder else ANY_COLUMNS


def read_raw(
    path: str | Path,
    format: str = "auto",
    *,
    occurrence: str = "first",
    side: str = "truth",
    **options: Any,
) -> Iterable[RawSentence]:
    """Yield the sentences of one file as it states them; arguments as :func:`read_corpus`."""
    format = resolve_format(path, format, options.get("columns"))
    options = {name: value for name, value in options.items() if name != "columns" or value}
    known = FORMATS[format].options
    if "side" in known:
        options["side"] = side
    elif side == "predict":
        refuse_both_sides(path, format)
    for name in options:
        if name not in known:
            expected = f"one of {', '.join(known)}" if known else "none"
            raise UserError(f"{path}: format {format} has no option {name!r}, expected {expected}")
    if "occurrence" in known:
        options["occurrence"] = occurrence
    return with_left_out(FORMATS[format].read(path, **options), path)


def read_corpus(
    path: str | Path | Given | Sequence[str | Path],
    format: str = "auto",
    occurrence: str = "first",
    *,
    side: str = "truth",
    quiet: bool = False,
    **options: Any,
) -> Corpus:
    """Read a corpus of any supported format.

    Args:
        path: a file (``.gz`` too), a folder for some formats (``folder#test`` names a split of a
            data set), or several of them, read one after the other; ``resources/demo/test.jsonl``
            and others that ship from any folder; or what a caller of Python gave.
        format: a key of :data:`FORMATS`, or ``auto`` to recognise it by its content.
        occurrence: ``first`` (default), ``all`` or ``given``: which positions an entity string has
            where the file gives no position. Positions that a file gives are always used, except
            those of ``triple-list-spans`` with ``first``.
        side: ``truth`` for gold triples, ``predict`` for a system's output: which is read of rows
            that hold both. An item of an output that is no triple is counted and kept as a wrong
            prediction; one of the gold is refused.
        quiet: do not warn of what was left out or changed, which the report has in any case.
        options: of the format, see its module.

    Raises:
        UserError: a file comes twice; missing or unreadable file, unknown format, broken content
            (file and line or item), no sentence.
    """
    if isinstance(path, Given):
        source, formats = path.name, ["python"]
        raw: Iterable[RawSentence] = with_left_out(
            path.sentences(options.get("columns"), side), path
        )
    else:
        paths = [path] if isinstance(path, str | Path) else list(path)
        if not paths:
            raise UserError("no corpus file is given, expected at least one")
        check_once(paths)
        source = ", ".join(map(str, paths))
        paths = [shipped(one) for one in paths]
        formats = [resolve_format(one, format, options.get("columns")) for one in paths]
        files = zip(paths, formats, strict=True)
        raw = chain.from_iterable(
            read_raw(one, name, occurrence=occurrence, side=side, **options) for one, name in files
        )
    corpus = build_corpus(
        raw, source=source, format="+".join(dict.fromkeys(formats)), occurrence=occurrence
    )
    if isinstance(path, Given) and path.bare:
        corpus.report.notes.pop("empty_texts", None)  # lists of triples alone have no texts
    if not quiet:
        say(corpus.report)
    return corpus


def refuse_both_sides(path: str | Path, format: str) -> None:
    """Raise :class:`UserError` for files with predictions and gold in other formats.

    Only some formats choose between the two.
    """
    probe = Probe(path)
    if probe.path.is_dir() or not (is_parquet(probe.path) or probe.first in ("[", "{")):
        return
    refuse_second_list(probe.row, (), (), f"{path}")
    if has_both_sides(probe.row):
        raise UserError(
            f"{path}: rows hold gold triples and predictions, and format {format} does not say which it reads; name "
            "the field with --predicted-column triples=FIELD"
        )


def check_once(paths: Sequence[str | Path]) -> None:
    """Raise :class:`UserError` if a file, or a copy of it, is given twice."""
    first: dict[str, str | Path] = {}
    for path in paths:
        real = os.path.realpath(path)
        for known, name in first.items():
            if real == known:
                raise UserError(f"{path}: given twice (as {name} before); expected each file once")
            if all(map(os.path.isfile, (real, known))) and filecmp.cmp(real, known, shallow=False):
                raise UserError(f"{path}: a copy of {name}, given before; expected each file once")
        first[real] = path
