"""``sent-tup``: the text files ``.sent``, ``.tup`` and ``.pointer`` of NYT24 and NYT29 (PtrNet, AAAI 2020).

One sentence a line in each: tokens joined with blanks; ``subject ; object ; relation | ...``; and
``subject_first subject_last object_first object_last relation | ...`` with word positions from 0, ends inclusive. The
strings come from ``.tup``, the positions from ``.pointer``; without a ``.pointer`` file positions are looked for. An
empty line of ``.tup`` is a sentence with zero triples.
"""

from collections.abc import Iterator
from pathlib import Path

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError
from tripleaudit.files import open_text

SUFFIXES = (".sent", ".tup", ".pointer")
_BETWEEN_TRIPLES, _BETWEEN_PARTS = "|", ";"


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences of ``path`` (any one of the three files, or their common name without suffix).

    Where the words at a position are not the string of ``.tup``, the string counts and is looked for in the text;
    the report's note ``pointer_mismatches`` says how often.
    """
    stem = Path(path)
    if stem.suffix in SUFFIXES:
        stem = stem.with_suffix("")
    sent, tup, pointer = (stem.with_name(stem.name + suffix) for suffix in SUFFIXES)
    sentences, tuples = _lines(sent), _lines(tup)
    pointers = _lines(pointer) if pointer.exists() else None
    for other, lines in ((tup, tuples), (pointer, pointers)):
        if lines is not None and len(lines) != len(sentences):
            raise UserError(f"{other}: {len(lines)} lines, expected {len(sentences)} as in {sent.name}")
    for number, (text, line) in enumerate(zip(sentences, tuples, strict=True)):
        where = f"{tup} line {number + 1}"
        triples = [_triple(part, where) for part in _parts(line)]
        notes = {}
        if pointers is not None:
            where_pointer = f"{pointer} line {number + 1}"
            places = _parts(pointers[number])
            if len(places) != len(triples):
                raise UserError(f"{where_pointer}: {len(places)} triples, expected {len(triples)} as in {tup.name}")
            words = _words(text)
            located = [
                _locate(triple, place, text, words, where_pointer)
                for triple, place in zip(triples, places, strict=True)
            ]
            mismatches = sum(triple[3:5].count(None) for triple in located)
            triples, notes = located, {"pointer_mismatches": mismatches}
        yield RawSentence(str(number), text, triples, where, notes=notes)


def _lines(path: Path) -> list[str]:
    with open_text(path) as stream:
        return [line.rstrip("\r\n") for line in stream]


def _parts(line: str) -> list[str]:
    """Split at a bar that stands between blanks; a bar inside a word is kept."""
    line = line.strip()
    return [part.strip() for part in f" {line} ".split(f" {_BETWEEN_TRIPLES} ")] if line else []


def _triple(part: str, where: str) -> RawTriple:
    pieces = [piece.strip() for piece in part.rsplit(f" {_BETWEEN_PARTS} ", 1)]
    if len(pieces) != 2 or not pieces[1]:
        raise UserError(f"{where}: the triple {part!r} has no relation, expected 'subject ; object ; relation'")
    subject, separator, object_ = pieces[0].partition(f" {_BETWEEN_PARTS} ")
    if not separator:
        raise UserError(f"{where}: the triple {part!r} has two parts, expected 'subject ; object ; relation'")
    return RawTriple(subject.strip(), pieces[1], object_.strip())


def _words(text: str) -> list[tuple[int, int]]:
    """Character spans of the words, separated by any white space as in the original loader."""
    spans, end = [], 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        spans.append((start, end))
    return spans


def _locate(triple: RawTriple, place: str, text: str, words: list[tuple[int, int]], where: str) -> RawTriple:
    fields = place.split()
    if len(fields) != 5 or not all(field.isdecimal() for field in fields[:4]):
        raise UserError(f"{where}: {place!r}, expected four word positions and a relation")
    if fields[4] != triple.relation:
        raise UserError(f"{where}: the relation is {fields[4]!r}, expected {triple.relation!r} as in the .tup file")
    starts = []
    for string, first, last in (
        (triple.subject, int(fields[0]), int(fields[1])),
        (triple.object, int(fields[2]), int(fields[3])),
    ):
        if not 0 <= first <= last < len(words):
            raise UserError(f"{where}: the word positions {first} {last} are outside the text of {len(words)} words")
        start, end = words[first][0], words[last][1]
        starts.append(start if text[start:end] == string else None)
    return triple._replace(subject_start=starts[0], object_start=starts[1])


FORMAT = CorpusFormat(
    name="sent-tup",
    order=1,
    read=read,
    detects=lambda probe: (
        probe.path.suffix in SUFFIXES
        or (not probe.path.exists() and probe.path.with_name(f"{probe.path.name}.sent").exists())
    ),
)
