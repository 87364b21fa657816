"""``brat``: a ``.ann`` file next to its ``.txt``, named by either, or a folder of such pairs.

A line of the text is a sentence. Relations between entities of two lines, and of entities in several pieces, give no
triple and are counted, as are annotations of other kinds. The text that a line says of its span must be the one at its
offsets.
"""

import re
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Probe, Rows, lines
from tripleaudit.errors import UserError
from tripleaudit.files import open_text

_ENTITY = re.compile(r"(T\S+)\t(\S+) (\d+(?: \d+;\d+)* \d+)\t(.*)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # no other character ends one, for which offsets count on
_RELATION = re.compile(r"R\S+\t(\S+) Arg1:(\S+) Arg2:(\S+)\s*")


def texts(path: Path) -> Rows:
    """Yield the lines of the texts that are not blank; ids are the file's name and the number of the line."""
    for file in sorted(path.glob("*.ann")) if path.is_dir() else [path.with_suffix(".ann")]:
        yield from _lines_of(file)
    for text in sorted(path.glob("*.txt")):
        if not text.with_suffix(".ann").exists():
            yield text.name, LeftOut("not_annotated", str(text))
    deeper = sorted({file.parent for file in path.rglob("*.ann")} - {path}) if path.is_dir() else []
    yield from ((str(folder), LeftOut("folders", str(folder))) for folder in deeper)


def _lines_of(file: Path) -> Rows:
    with open_text(file.with_suffix(".txt")) as stream:
        text = stream.read()
    entities, left, gone = _annotations(file, text)
    gone += [] if file.stat().st_size else [LeftOut("empty_annotations", str(file))]
    start = 0
    for number, line in enumerate(_LINE.findall(text), 1):
        end, name = start + len(line.rstrip("\r\n")), f"{file.stem}-{number}"
        inside = {
            key: {**one, "start": one["start"] - start, "end": one["end"] - start}
            for key, one in entities.items()
            if start <= one["start"] and one["end"] <= end
        }
        links = [each for each in left if {each[1]["s"], each[1]["o"]} <= inside.keys()]
        left = [each for each in left if each not in links]
        if line.strip():
            triples = [one for _, one in links]
            row = {"id": name, "text": text[start:end], "entities": [*inside.values()], "triples": triples}
            yield f"{file} {name}", row
        start += len(line)
    gone += [LeftOut("relations_between_lines", said) for said, _ in left]
    yield from ((file.name, one) for one in gone)


def _annotations(file: Path, text: str) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]], list[LeftOut]]:
    """Return entities by id, relations, each behind its position, and what is left out."""
    entities: dict[str, dict[str, Any]] = {}
    relations: list[tuple[str, dict[str, Any]]] = []
    gone: list[LeftOut] = []
    for _, where, line in lines(file):
        if match := _ENTITY.fullmatch(line):
            name, kind, span, said = match.groups()
            edges = [int(edge) for edge in re.split("[ ;]", span)]
            if not 0 <= edges[0] < edges[-1] <= len(text):
                raise UserError(f"{where}: the span {span} is outside the text of {len(text)} characters")
            found = " ".join(text[first:last] for first, last in zip(edges[::2], edges[1::2], strict=True))
            if found.split() != said.split():
                raise UserError(f"{where}: the span {span} reads {found!r}, but the file says {said!r} of it")
            entities[name] = {"id": name, "start": edges[0], "end": edges[-1], "type": kind, "cut": len(edges) > 2}
        elif match := _RELATION.fullmatch(line):
            relations.append((f"{where}: {match[1]}", {"r": match[1], "s": match[2], "o": match[3]}))
        elif line[0] in "E*AM":
            gone.append(LeftOut("attributes" if line[0] in "AM" else "no_relations", f"{where}: {line.strip()}"))
        elif line[0] in "TR":
            raise UserError(f"{where}: expected 'T1<tab>Type start end<tab>text' or 'R1<tab>Type Arg1:T1 Arg2:T2'")
    left = []
    for said, one in relations:
        if unknown := [end for end in (one["s"], one["o"]) if end not in entities]:
            raise UserError(f"{said} points to {unknown[0]}, expected one of {', '.join(entities)}")
        if entities[one["s"]]["cut"] or entities[one["o"]]["cut"]:
            gone.append(LeftOut("in_pieces", said))
        else:
            left.append((said, one))
    return entities, left, gone


def _is_brat(probe: Probe) -> bool:
    if probe.path.is_dir():
        return any(probe.path.glob("*.ann"))
    return probe.path.suffix == ".ann" or probe.path.suffix == ".txt" and probe.path.with_suffix(".ann").is_file()


BRAT = form(
    "brat", order=1, rows=texts, detects=_is_brat, id="id", text="text", triples="triples",
    subject="s", relation="r", object="o", entities="entities", key="id", start="start", end="end", type="type",
)  # fmt: skip
