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
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Probe, Rows
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


def _lines_of(file: Path) -> Rows:
    with open_text(file.with_suffix(".txt")) as stream:
        text = stream.read()
    entities: dict[str, dict[str, Any]] = {}
    relations: list[dict[str, Any]] = []
    gone: list[LeftOut] = []
    with open_text(file) as stream:
        for number, line in enumerate(stream, 1):
            where, line = f"{file} line {number}", line.rstrip("\r\n")
            if match := _ENTITY.fullmatch(line):
                edges = [int(edge) for edge in re.split("[ ;]", match[3])]
                if not 0 <= edges[0] < edges[-1] <= len(text):
                    raise UserError(f"{where}: the span {match[3]} is outside the text of {len(text)} characters")
                found = " ".join(text[first:last] for first, last in zip(edges[::2], edges[1::2], strict=True))
                if found.split() != match[4].split():
                    raise UserError(
                        f"{where}: the span {match[3]} reads {found!r}, but the file says {match[4]!r} of it"
                    )
                entities[match[1]] = {"start": edges[0], "end": edges[-1], "type": match[2], "pieces": len(edges) // 2}
            elif match := _RELATION.fullmatch(line):
                relations.append({"r": match[1], "s": match[2], "o": match[3], "where": where})
            elif line[:1] in ("E", "*", "A"):
                kind = "attributes" if line[0] == "A" else "no_relations"
                gone.append(LeftOut(kind, f"{where}: {line.strip()}"))
            elif line[:1] in ("T", "R"):
                raise UserError(f"{where}: expected 'T1<tab>Type start end<tab>text' or 'R1<tab>Type Arg1:T1 Arg2:T2'")
    for one in relations:
        one["said"] = f"{one['where']}: {one['r']}"
        for argument in (one["s"], one["o"]):
            if argument not in entities:
                raise UserError(f"{one['said']} points to {argument}, expected one of {', '.join(entities)}")
        one["cut"] = max(entities[one["s"]]["pieces"], entities[one["o"]]["pieces"]) > 1
    whole = [one for one in relations if not one["cut"]]
    gone += [LeftOut("in_pieces", one["said"]) for one in relations if one["cut"]]
    gone += [] if file.stat().st_size else [LeftOut("empty_annotations", str(file))]
    start = 0
    for number, line in enumerate(_LINE.findall(text), 1):
        end, name = start + len(line.rstrip("\r\n")), f"{file.stem}-{number}"
        inside = {
            key: {"id": key, "start": one["start"] - start, "end": one["end"] - start, "type": one["type"]}
            for key, one in entities.items()
            if start <= one["start"] and one["end"] <= end
        }
        links = [one for one in whole if {one["s"], one["o"]} <= inside.keys()]
        whole = [one for one in whole if one not in links]
        if line.strip():
            row = {"id": name, "text": text[start:end], "entities": [*inside.values()], "triples": links}
            yield f"{file} {name}", row
        start += len(line)
    gone += [LeftOut("relations_between_lines", one["said"]) for one in whole]
    yield from ((file.name, one) for one in gone)


def _is_brat(probe: Probe) -> bool:
    if probe.path.is_dir():
        return any(probe.path.glob("*.ann"))
    return probe.path.suffix == ".ann" or probe.path.suffix == ".txt" and probe.path.with_suffix(".ann").is_file()


BRAT = form(
    "brat", order=1, rows=texts, detects=_is_brat, id="id", text="text", triples="triples",
    subject="s", relation="r", object="o", entities="entities", key="id", start="start", end="end", type="type",
)  # fmt: skip


def tokens(path: Path) -> Rows:
    """Yield the sentences; ids are what stands after ``#doc``."""
    name, lines, begin = "0", [], f"{path} line 1"
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            line = line.rstrip("\r\n")
            if line.startswith("#doc"):
                if lines:
                    yield begin, _of_tokens(name, lines, begin)
                name, lines, begin = line[4:].strip() or str(number), [], f"{path} line {number}"
            elif line.strip():
                cells = line.split("\t")
                if len(cells) != 5:
                    raise UserError(f"{path} line {number}: {len(cells)} tab-separated columns, expected 5")
                lines.append(cells)
    if lines:
        yield begin, _of_tokens(name, lines, begin)


def _of_tokens(name: str, lines: list[list[str]], where: str) -> dict[str, Any]:
    entities: dict[int, dict[str, Any]] = {}  # by the last token
    first, kind = 0, ""
    for place, (_, _, tag, _, _) in enumerate(lines):
        edge, _, of = tag.partition("-")
        if edge == "B" or of != kind:
            first, kind = place, of
        if edge != "O":
            entities.pop(place - 1, None) if place > first else None
            entities[place] = {"id": place, "start": first, "end": place, "type": of}
    triples = []
    for place, line in enumerate(lines):
        relations, heads = _list(line[3], str), _list(line[4], int)
        if relations is None or heads is None or len(relations) != len(heads):
            expected = "two lists of one length, of relations and of the places of their objects"
            raise UserError(f"{where}: token {place} has {line[3]!r} and {line[4]!r}, expected {expected}")
        for relation, head in zip(relations, heads, strict=True):
            if relation != "N" and not {place, head} <= entities.keys():
                raise UserError(f"{where}: {relation} leads from token {place} to {head}, expected ends of entities")
            triples += [{"s": place, "r": relation, "o": head}] * (relation != "N")
    return {"id": name, "tokens": [line[1] for line in lines], "entities": [*entities.values()], "triples": triples}


def _list(cell: str, kind: type) -> list[Any] | None:
    """Return the list that a cell spells, None where it spells anything else."""
    try:
        value = ast.literal_eval(cell)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, list) and all(type(item) is kind for item in value) else None


IOB = form(
    "iob", order=6.4, rows=tokens, detects=lambda probe: probe.line.startswith("#doc"), id="id", tokens="tokens",
    triples="triples", subject="s", relation="r", object="o",
    entities="entities", key="id", start="start", end="end", type="type", last="inclusive",
)  # fmt: skip
