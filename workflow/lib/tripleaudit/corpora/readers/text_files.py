"""Corpora with lines of text instead of rows; comments describe the lines of each format."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import open_text
from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Probe, Row, Rows, lines

TYPED: dict[str, Any] = {
    "id": "id", "triples": "triples", "relation": "r", "subject_type": "st", "object_type": "ot"
}  # fmt: skip
LINKED: dict[str, Any] = {
    "id": "id", "triples": "triples", "subject": "s", "relation": "r", "object": "o", "entities": "entities"
}  # fmt: skip

# The full CoNLL04 corpus of Roth and Yih: nine columns a token (sentence number, entity type,
# index, -, part of speech, word, -, -, -), a blank line, three columns a relation (subject index,
# object index, type), a blank line. A multi-word entity is one token with "/" between its words.
# Ids are the sentence numbers, which `orig_id` of the SpERT split repeats.
WRITTEN = {
    "COMMA": ",", "-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]"
}  # fmt: skip


def roth_and_yih(path: Path) -> Rows:
    """Yield the sentences, with the types of their tokens."""
    row: dict[str, Any] = {}
    begin = ""
    for _, where, line in lines(path):
        columns = line.split("\t")
        if len(columns) == 9:
            # relation lines or a new sentence number end the sentence before
            if row and (row["triples"] or columns[0] != row["id"]):
                yield begin, row
                row = {}
            if not row:
                begin, row = where, {"id": columns[0], "tokens": [], "types": [], "triples": []}
            position = len(row["tokens"])
            if columns[2] != str(position):
                raise UserError(
                    f"{where}: the token's position is {columns[2]!r}, expected {position}"
                )
            parts = [part for part in columns[5].split("/") if part] or [
                columns[5]
            ]  # a slash may be a word
            row["tokens"].append(" ".join(WRITTEN.get(part, part) for part in parts))
            row["types"].append(None if columns[1] == "O" else columns[1])
        elif len(columns) == 3:
            *positions, name = columns
            types = row.get("types", [])
            if not name.strip():
                raise UserError(f"{where}: the triple has no relation")
            for position in positions:
                if not position.isdecimal() or int(position) >= len(types):
                    raise UserError(
                        f"{where}: {position!r} is outside the text of {len(types)} tokens"
                    )
            subject, object_ = map(int, positions)
            link = {
                "s": subject,
                "st": types[subject],
                "r": name,
                "o": object_,
                "ot": types[object_],
            }
            row["triples"].append(link)
        else:
            raise UserError(
                f"{where}: {len(columns)} tab-separated columns, expected 9 for a token or 3 for a relation"
            )
    if row:
        yield begin, row


CONLL04 = form(
    "conll04", place=2, rows=roth_and_yih, detects=lambda probe: probe.line.count("\t") == 8, **TYPED, tokens="tokens",
    last="inclusive", subject_start="s", subject_end="s", object_start="o", object_end="o",
)  # fmt: skip

# The Adverse Drug Effect corpus, version 2: `DRUG-AE.rel` has one relation a line, with offsets in
# an abstract that is not in the file, so that the strings are looked for in the sentence;
# `ADE-NEG.txt` one sentence without a relation a line. The triple is (effect, Adverse-Effect,
# drug), as in the tokenised version. Ids are the PubMed id and the number of the line where the
# sentence comes first.
EFFECT, DRUG = "Adverse-Effect", "Drug"
RELATION_LINE = re.compile(r"\d+\|(?:[^|]*\|){6}[^|]*")
NEGATIVE = re.compile(r"(\d+) NEG (.+)")


def adverse_effects(path: Path) -> Rows:
    """Yield the sentences; lines with the same sentence make one."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for number, where, line in lines(path):
        if match := NEGATIVE.fullmatch(line):
            yield where, {"id": f"{match[1]}-{number}", "text": match[2], "triples": []}
            continue
        columns = line.split("|")
        if len(columns) != 8:
            raise UserError(
                f"{where}: expected 'id|sentence|effect|start|end|drug|start|end' or 'id NEG sentence', "
                f"got {len(columns)} columns"
            )
        name, text, effect, _, _, drug, _, _ = columns
        _, row = found.setdefault(
            text, (where, {"id": f"{name}-{number}", "text": text, "triples": []})
        )
        row["triples"].append({"s": effect, "st": EFFECT, "r": EFFECT, "o": drug, "ot": DRUG})
    yield from found.values()


ADE = form(
    "ade-corpus-v2", place=4, rows=adverse_effects, **TYPED, text="text", subject="s", object="o",
    detects=lambda probe: bool(NEGATIVE.fullmatch(probe.line) or RELATION_LINE.fullmatch(probe.line)),
)  # fmt: skip

# One pair a sentence in the form of SemEval-2010 task 8 and KBP37, four lines a record: `7<TAB>"The
# <e1> … </e1> … <e2> … </e2> …"`, the relation with its direction `name(e1,e2)`, a comment, and a
# blank line. Ids are the numbers.
NO_RELATION = ("no_relation", "Other")
FIRST_LINE = re.compile(r'(\d+)\t"?(.*?<e1>.*?)"?')
TAGS = re.compile(r"(</?e[12]>)")
LABEL = re.compile(r"(.+)\((e[12]),(e[12])\)")


def tagged_pairs(path: Path) -> Rows:
    """Yield the sentences, without tags."""
    with open_text(path) as stream:
        rest = iter(enumerate(stream, 1))
        for number, line in rest:
            if not line.strip():
                continue
            where = f"{path} line {number}"
            match = FIRST_LINE.fullmatch(line.strip())
            if not match:
                raise UserError(
                    f"{where}: expected a number, a tab and a sentence with <e1> and <e2>"
                )
            label, comment = next(rest, (0, ""))[1].strip(), next(rest, (0, ""))[1]
            if comment.strip() and not comment.startswith("Comment"):
                raise UserError(
                    f"{where}: expected a record of sentence, relation, comment and blank line"
                )
            yield where, {"id": match[1], **_tagged(match[2], label, where)}


def _tagged(tagged: str, label: str, where: str) -> dict[str, Any]:
    text, *rest = TAGS.split(tagged)
    edges = {}
    for tag, after in zip(rest[::2], rest[1::2], strict=True):
        edges[tag] = len(text)
        text = _joined(text, after)
    entities = []
    for name in ("e1", "e2"):
        if f"<{name}>" not in edges or f"</{name}>" not in edges:
            raise UserError(f"{where}: the tags <{name}> and </{name}> are not both there")
        first, end = edges[f"<{name}>"], edges[f"</{name}>"]
        while first < end and text[first].isspace():
            first += 1
        said = text[first:end].rstrip()  # KBP37 has empty tags
        entities.append(
            {"id": name, "name": said, "start": first if said else None, "end": first + len(said)}
        )
    match = LABEL.fullmatch(label)
    if label not in NO_RELATION and (not match or match[2] == match[3]):
        raise UserError(
            f"{where}: the relation is {label!r}, expected name(e1,e2), name(e2,e1) or no_relation"
        )
    triples = (
        [{"s": match[2], "r": match[1], "o": match[3]}]
        if match and label not in NO_RELATION
        else []
    )
    return {"text": text, "entities": entities, "triples": triples}


def _joined(left: str, right: str) -> str:
    """Join the texts around a tag; one blank of two remains, as around KBP37's tags."""
    return left + (right[1:] if left.endswith(" ") and right.startswith(" ") else right)


SEMEVAL = form(
    "semeval", place=5, rows=tagged_pairs, detects=lambda probe: bool(FIRST_LINE.fullmatch(probe.line.strip())),
    **LINKED, text="text", key="id", name="name", start="start", end="end",
)  # fmt: skip

# NYT24 and NYT29 as PtrNet's authors spread them, a sentence a line in each of three files: tokens
# joined with blanks; `subject ; object ; relation | …`; and `subject_first subject_last
# object_first object_last relation | …` with word positions from 0, ends inclusive. Without a
# `.pointer` file positions are looked for, as is a string that is not the words at its positions.
SUFFIXES = (".sent", ".tup", ".pointer")


def three_files(path: Path) -> Rows:
    """Yield the sentences of a path: any one of the three files, or their common prefix."""
    stem = path.with_suffix("") if path.suffix in SUFFIXES else path
    sent, tup, pointer = (stem.with_name(stem.name + suffix) for suffix in SUFFIXES)
    texts, *others = (
        _lines(file) for file in (sent, tup, pointer) if file != pointer or file.exists()
    )
    for file, found in zip((tup, pointer), others, strict=False):
        if len(found) != len(texts):
            raise UserError(f"{file}: {len(found)} lines, expected {len(texts)} as in {sent.name}")
    for number, (text, *parts) in enumerate(zip(texts, *others, strict=True), 1):
        where, at = f"{tup} line {number}", f"{pointer} line {number}"
        triples, *positions = (
            [part.strip() for part in f" {part} ".split(" | ")] if part else [] for part in parts
        )
        row = Row({"text": text, "triples": [_strings(triple, where) for triple in triples]})
        if positions and len(positions[0]) != len(triples):
            raise UserError(
                f"{at}: {len(positions[0])} triples, expected {len(triples)} as in {tup.name}"
            )
        words = [match.span() for match in re.finditer(r"\S+", text)]
        for triple, position in zip(row["triples"], *positions, strict=True) if positions else ():
            row.left_out += _located(triple, position, text, words, at)
        yield where, row


def _lines(path: Path) -> list[str]:
    with open_text(path) as stream:
        return [line.rstrip("\r\n") if path.suffix == ".sent" else line.strip() for line in stream]


def _strings(part: str, where: str) -> dict[str, Any]:
    pieces = [piece.strip() for piece in part.rsplit(" ; ", 1)]
    subject, separator, object_ = pieces[0].partition(" ; ")
    if len(pieces) != 2 or not pieces[1]:
        raise UserError(
            f"{where}: the triple {part!r} has no relation, expected 'subject ; object ; relation'"
        )
    if not separator:
        raise UserError(
            f"{where}: the triple {part!r} has two parts, expected 'subject ; object ; relation'"
        )
    ends = dict.fromkeys(("s1", "s2", "o1", "o2"))
    return {"s": subject.strip(), "r": pieces[1], "o": object_.strip(), **ends}


def _located(
    triple: dict[str, Any], position: str, text: str, words: list[Any], where: str
) -> Iterator[LeftOut]:
    """Put the characters of a position into a triple; yield what its words do not bear out."""
    *edges, relation = position.split() or [""]
    if len(edges) != 4 or not all(edge.isdecimal() for edge in edges):
        raise UserError(f"{where}: {position!r}, expected four word positions and a relation")
    if relation != triple["r"]:
        raise UserError(
            f"{where}: the relation is {relation!r}, expected {triple['r']!r} as in the .tup file"
        )
    numbers = [int(edge) for edge in edges]
    for name, first, last in (("s", numbers[0], numbers[1]), ("o", numbers[2], numbers[3])):
        if not first <= last < len(words):
            raise UserError(
                f"{where}: the word positions {first} {last} are outside the text of {len(words)} words"
            )
        start, end = words[first][0], words[last][1]
        if text[start:end] == triple[name]:
            triple |= {f"{name}1": start, f"{name}2": end}
        else:
            yield LeftOut(
                "pointer_mismatches",
                f"{where}: {text[start:end]!r} at {first} {last}, not {triple[name]!r}",
            )


SENT_TUP = form(
    "sent-tup", place=1, rows=three_files, text="text", triples="triples", subject="s", relation="r", object="o",
    subject_start="s1", subject_end="s2", object_start="o1", object_end="o2",
    detects=lambda probe: probe.path.suffix in SUFFIXES
    or (not probe.path.exists() and probe.path.with_name(f"{probe.path.name}.sent").exists()),
)  # fmt: skip


# brat: a `.ann` file next to its `.txt`, named by either, or a folder of such pairs; a line of the
# text is a sentence. Relations between entities of two lines, and of entities in several pieces,
# give no triple and are counted, as are annotations of other kinds. The text that a line says of
# its span must be the one at its offsets.
_ENTITY = re.compile(r"(T\S+)\t(\S+) (\d+(?: \d+;\d+)* \d+)\t(.*)")
_TEXT_LINE = re.compile(
    r"[^\n]*\n|[^\n]+"
)  # no other character ends one, for which offsets count on
_RELATION = re.compile(r"R\S+\t(\S+) Arg1:(\S+) Arg2:(\S+)\s*")


def texts(path: Path) -> Rows:
    """Yield non-blank lines as texts; ids are the file's name and the line number."""
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
    for number, line in enumerate(_TEXT_LINE.findall(text), 1):
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
            row = {
                "id": name,
                "text": text[start:end],
                "entities": [one for one in inside.values() if not one["cut"]],
                "triples": triples,
            }
            yield f"{file} {name}", row
        start += len(line)
    gone += [LeftOut("relations_between_lines", said) for said, _ in left]
    yield from ((file.name, one) for one in gone)


def _annotations(
    file: Path, text: str
) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]], list[LeftOut]]:
    """Return entities by id, relations, each behind its position, and what is left out."""
    entities: dict[str, dict[str, Any]] = {}
    relations: list[tuple[str, dict[str, Any]]] = []
    gone: list[LeftOut] = []
    for _, where, line in lines(file):
        if match := _ENTITY.fullmatch(line):
            name, kind, span, said = match.groups()
            edges = [int(edge) for edge in re.split("[ ;]", span)]
            if not 0 <= edges[0] < edges[-1] <= len(text):
                raise UserError(
                    f"{where}: the span {span} is outside the text of {len(text)} characters"
                )
            found = " ".join(
                text[first:last] for first, last in zip(edges[::2], edges[1::2], strict=True)
            )
            if found.split() != said.split():
                raise UserError(
                    f"{where}: the span {span} reads {found!r}, but the file says {said!r} of it"
                )
            entities[name] = {
                "id": name,
                "start": edges[0],
                "end": edges[-1],
                "type": kind,
                "cut": len(edges) > 2,
            }
        elif match := _RELATION.fullmatch(line):
            relations.append(
                (f"{where}: {match[1]}", {"r": match[1], "s": match[2], "o": match[3]})
            )
        elif line[0] in "E*AM":
            gone.append(
                LeftOut(
                    "attributes" if line[0] in "AM" else "no_relations", f"{where}: {line.strip()}"
                )
            )
        elif line[0] in "TR":
            raise UserError(
                f"{where}: expected 'T1<tab>Type start end<tab>text' or 'R1<tab>Type Arg1:T1 Arg2:T2'"
            )
    left = []
    for said, one in relations:
        unknown = [end for end in (one["s"], one["o"]) if end not in entities]
        if unknown and unknown[0].startswith("E"):
            gone.append(LeftOut("relations_to_events", said))
            continue
        if unknown:
            raise UserError(f"{said} points to {unknown[0]}, expected one of {', '.join(entities)}")
        if entities[one["s"]]["cut"] or entities[one["o"]]["cut"]:
            gone.append(LeftOut("in_pieces", said))
        else:
            left.append((said, one))
    return entities, left, gone


def _is_brat(probe: Probe) -> bool:
    if probe.path.is_dir():
        return any(probe.path.glob("*.ann"))
    return (
        probe.path.suffix == ".ann"
        or probe.path.suffix == ".txt"
        and probe.path.with_suffix(".ann").is_file()
    )


BRAT = form(
    "brat", place=0.9, rows=texts, detects=_is_brat, **LINKED, text="text",
    key="id", start="start", end="end", type="type",
)  # fmt: skip
