"""``brat``, and IOB with relations.

``brat``: a ``.ann`` file beside its ``.txt``, named by either, or a folder of such pairs. A line of the text is a
sentence. Relations between entities of two lines, and of entities in several pieces, give no triple and are counted, as
are annotations of other kinds. The text that a line says of its span must be the one at its offsets.

``iob``: a line a token with its place, the token, its IOB tag, its relations and the places of their objects, as
Bekoulis et al. (2018) spread CoNLL04 and ADE; ``#doc`` begins a sentence. Relations stand at the last token of an
entity and lead to the last token of another one.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import LeftOut, RawSentence, RawTriple
from tripleaudit.corpora.readers.common import Probe, join_tokens
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError
from tripleaudit.files import open_text

_ENTITY = re.compile(r"(T\S+)\t(\S+) (\d+(?: \d+;\d+)* \d+)\t(.*)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # no other character ends one, for which offsets count on
_RELATION = re.compile(r"R\S+\t(\S+) Arg1:(\S+) Arg2:(\S+)\s*")


def read_brat(path: str | Path) -> Iterator[RawSentence | LeftOut]:
    """Yield the lines of the texts that are not blank; ids are the file's name and the number of the line."""
    path = Path(path)
    files = sorted(path.glob("*.ann")) if path.is_dir() else [path.with_suffix(".ann")]
    for file in files:
        yield from _brat_document(file)


def _brat_document(file: Path) -> Iterator[RawSentence | LeftOut]:
    with open_text(file.with_suffix(".txt")) as stream:
        text = stream.read()
    entities: dict[str, tuple[int, int]] = {}
    types: dict[str, str] = {}
    relations: list[tuple[str, str, str, str]] = []
    in_pieces: set[str] = set()
    odd: list[LeftOut] = []
    with open_text(file) as stream:
        for number, line in enumerate(stream, 1):
            where = f"{file} line {number}"
            if match := _ENTITY.fullmatch(line.rstrip("\r\n")):
                edges = [int(edge) for edge in re.split("[ ;]", match[3])]
                if not 0 <= edges[0] < edges[-1] <= len(text):
                    raise UserError(f"{where}: the span {match[3]} is outside the text of {len(text)} characters")
                found = " ".join(text[first:last] for first, last in zip(edges[::2], edges[1::2], strict=True))
                if found.split() != match[4].split():
                    raise UserError(
                        f"{where}: the span {match[3]} reads {found!r}, but the file says {match[4]!r} of it"
                    )
                entities[match[1]] = (edges[0], edges[-1])
                types[match[1]] = match[2]
                if len(edges) > 2:
                    in_pieces.add(match[1])
            elif match := _RELATION.fullmatch(line.rstrip("\r\n")):
                relations.append((match[1], match[2], match[3], where))
            elif line[:1] in ("E", "*"):
                odd.append(LeftOut("no_relations", f"{where}: {line.strip()}"))
            elif line[:1] in ("T", "R"):
                raise UserError(f"{where}: expected 'T1<tab>Type start end<tab>text' or 'R1<tab>Type Arg1:T1 Arg2:T2'")
    for relation, *arguments, where in relations:
        for argument in arguments:
            if argument not in entities:
                raise UserError(f"{where}: {relation} points to {argument}, expected one of {', '.join(entities)}")
    whole = [relation for relation in relations if not {relation[1], relation[2]} & in_pieces]
    odd += [LeftOut("in_pieces", f"{where}: {name}") for name, *ends, where in relations if {*ends} & in_pieces]
    placed, start = set(), 0
    sentences = []
    for number, line in enumerate(_LINE.findall(text), 1):
        end = start + len(line.rstrip("\r\n"))
        inside = {name for name, (first, last) in entities.items() if start <= first and last <= end}
        triples = []
        for relation in whole:
            if {relation[1], relation[2]} <= inside:
                placed.add(relation)
                (first, last), (begin, stop) = entities[relation[1]], entities[relation[2]]
                places = first - start, begin - start, types[relation[1]], types[relation[2]]
                triples.append(RawTriple(text[first:last], relation[0], text[begin:stop], *places))
        if line.strip():
            name = f"{file.stem}-{number}"
            sentences.append(RawSentence(name, text[start:end], triples, f"{file} {name}", entities=len(inside)))
        start += len(line)
    yield from sentences
    yield from odd
    for relation in whole:
        if relation not in placed:
            yield LeftOut("relations_between_lines", f"{relation[3]}: {relation[0]}")


def read_iob(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences; ids are what stands after ``#doc``."""
    name, rows, place = "0", [], f"{path} line 1"
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            line = line.rstrip("\r\n")
            if line.startswith("#doc"):
                if rows:
                    yield _iob_sentence(name, rows, place)
                name, rows, place = line[4:].strip() or str(number), [], f"{path} line {number}"
            elif line.strip():
                cells = line.split("\t")
                if len(cells) != 5:
                    raise UserError(f"{path} line {number}: {len(cells)} tab-separated columns, expected 5")
                rows.append(cells)
    if rows:
        yield _iob_sentence(name, rows, place)


def _iob_sentence(name: str, rows: list[list[str]], where: str) -> RawSentence:
    tokens = [row[1] for row in rows]
    text, starts = join_tokens(tokens)
    spans: dict[int, tuple[str, int, str]] = {}  # last token -> string, first character, type
    first, kind = 0, ""
    for place, row in enumerate(rows):
        tag, _, of = row[2].partition("-")
        if tag == "B" or of != kind:
            first, kind = place, of
        if tag != "O":
            spans.pop(place - 1, None) if place > first else None
            spans[place] = (text[starts[first] : starts[place] + len(tokens[place])], starts[first], of)
    triples = []
    for place, row in enumerate(rows):
        relations, heads = _list(row[3], str), _list(row[4], int)
        if relations is None or heads is None or len(relations) != len(heads):
            expected = "two lists of one length, of relations and of the places of their objects"
            raise UserError(f"{where}: token {place} has {row[3]!r} and {row[4]!r}, expected {expected}")
        for relation, head in zip(relations, heads, strict=True):
            if relation == "N":
                continue
            if place not in spans or head not in spans:
                raise UserError(f"{where}: {relation} leads from token {place} to {head}, expected ends of entities")
            (subject, start, type_), (object_, object_start, object_type) = spans[place], spans[head]
            triples.append(
                RawTriple(subject, relation, object_, start, object_start, type_ or None, object_type or None)
            )
    return RawSentence(name, text, triples, where, entities=len(spans))


def _list(cell: str, kind: type) -> list[Any] | None:
    """Return the list that a cell spells, None where it spells anything else."""
    try:
        value = ast.literal_eval(cell)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, list) and all(type(item) is kind for item in value) else None


def _is_brat(probe: Probe) -> bool:
    if probe.path.is_dir():
        return any(probe.path.glob("*.ann"))
    return probe.path.suffix == ".ann" or probe.path.suffix == ".txt" and probe.path.with_suffix(".ann").is_file()


FORMATS = (
    CorpusFormat(name="brat", order=1, read=read_brat, detects=_is_brat),
    CorpusFormat(name="iob", order=6.4, read=read_iob, detects=lambda probe: probe.line.startswith("#doc")),
)
