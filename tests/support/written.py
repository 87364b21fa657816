"""Sixty sentences written in the forms that corpora have, without any code of the package: what
readers are held to.

A sentence is ``(tokens, links)``; a link is ``(subject, relation, object)`` with spans of tokens,
ends exclusive.
"""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from support import reading

Span = tuple[int, int]
Row = tuple[list[str], list[tuple[Span, str, Span]]]
PEOPLE = (
    "Ada Lund",
    "Zoë Ode",
    "Ben Aït Said",
    "Cleo",
    "Dán Moss",
    "Eva-Maria Hill",
    "Finn O'Roy",
    "李 明",
    "Гала",
)
FIRMS = (
    "Harrow Steel",
    "Delta Foods & Co",
    "Æther",
    "Nord-Süd Bank",
    "Kōbe Mills",
    "Oslo Ferries AB",
)
TOWNS = ("Köln", "Oslo", "Saint Mary Mead", "Łódź", "New Harrow", "Ürümqi")
RELATIONS = ("works_for", "lives_in", "based_in")


def rows(size: int = 60, seed: int = 0) -> list[Row]:
    """Return sentences with no, one or three triples; all texts are different."""
    random_ = random.Random(seed)
    made = []
    for number in range(size):
        person, firm, town = (random_.choice(each).split() for each in (PEOPLE, FIRMS, TOWNS))
        tokens: list[str] = [f"Item{number}", ":"]
        if number % 5 == 0:
            made.append(([*tokens, "nothing", "of", "note", "."], []))
            continue
        places = []
        for part, after in ((person, ["joined"]), (firm, ["near"]), (town, ["."])):
            places.append((len(tokens), len(tokens) + len(part)))
            tokens += [*part, *after]
        who, where, city = places
        links = [(who, "works_for", where), (where, "based_in", city), (who, "lives_in", city)]
        made.append((tokens, links if number % 5 == 1 else links[:1]))
    return made


def text_of(row: Row) -> str:
    return " ".join(row[0])


def strings(row: Row) -> list[tuple[str, str, str]]:
    """Return the triples of a sentence as strings."""
    return [(_named(row, s), relation, _named(row, o)) for s, relation, o in row[1]]


def characters(row: Row, span: Span) -> Span:
    start = sum(len(token) + 1 for token in row[0][: span[0]])
    return start, start + len(_named(row, span))


def _named(row: Row, span: Span) -> str:
    return " ".join(row[0][slice(*span)])


def _spans(row: Row) -> list[Span]:
    return sorted({span for subject, _, object_ in row[1] for span in (subject, object_)})


def line_each(form: Callable[[int, Row], Any]) -> Callable[[Sequence[Row]], str]:
    """A form with one line of JSON a sentence."""
    return lambda rows: reading.lines(*[form(number, row) for number, row in enumerate(rows)])


def item_each(form: Callable[[int, Row], Any]) -> Callable[[Sequence[Row]], str]:
    """A form with one list, of an item a sentence."""
    return lambda rows: json.dumps([form(number, row) for number, row in enumerate(rows)])


def plain(
    rows: Sequence[Row], names: Sequence[str] | None = ("subject", "relation", "object")
) -> str:
    def triples(row: Row) -> list[Any]:
        return [
            dict(zip(names, triple, strict=True)) if names else triple for triple in strings(row)
        ]

    return reading.lines(*[{"text": text_of(row), "triples": triples(row)} for row in rows])


def table(rows: Sequence[Row], delimiter: str = ",") -> str:
    found = [[text_of(row), *triple] for row in rows for triple in strings(row) or [("", "", "")]]
    return reading.table(["text", "subject", "relation", "object"], *found, delimiter=delimiter)


@item_each
def docred(number: int, row: Row) -> Any:
    ends = _spans(row)
    entities = [
        [{"name": _named(row, end), "sent_id": 0, "pos": list(end), "type": "X"}] for end in ends
    ]
    labels = [
        {"h": ends.index(s), "t": ends.index(o), "r": relation, "evidence": [0]}
        for s, relation, o in row[1]
    ]
    return {"title": f"d{number}", "sents": [row[0]], "vertexSet": entities, "labels": labels}


@line_each
def rebel(number: int, row: Row) -> Any:
    marked = (
        " ".join(f"<triplet> {s} <subj> {o} <obj> {r}" for s, r, o in strings(row)) or "<triplet>"
    )
    return {"id": str(number), "context": text_of(row), "triplets": marked}


def tacred(rows: Sequence[Row]) -> str:
    found = []
    for number, row in enumerate(rows):
        for s, relation, o in row[1] or [((0, 1), "no_relation", (2, 3))]:
            edges = {
                "subj_start": s[0],
                "subj_end": s[1] - 1,
                "obj_start": o[0],
                "obj_end": o[1] - 1,
            }
            found.append(
                {"id": f"e{number}-{len(found)}", "relation": relation, "token": row[0], **edges}
            )
    return json.dumps(found)


def dygie(rows: Sequence[Row]) -> str:
    documents = []
    for start in range(0, len(rows), 4):
        part, before = rows[start : start + 4], 0
        value: dict[str, Any] = {
            "doc_key": f"d{start}",
            "sentences": [],
            "ner": [],
            "relations": [],
        }
        for row in part:
            shift = before
            value["sentences"].append(row[0])
            value["ner"].append([[a + shift, b - 1 + shift, "X"] for a, b in _spans(row)])
            value["relations"].append(
                [
                    [s[0] + shift, s[1] - 1 + shift, o[0] + shift, o[1] - 1 + shift, r]
                    for s, r, o in row[1]
                ]
            )
            before += len(row[0])
        documents.append(value)
    return reading.lines(*documents)


@line_each
def prodigy(number: int, row: Row) -> Any:
    def span(end: Span) -> dict[str, Any]:
        return dict(zip(("start", "end"), characters(row, end), strict=True), label="X")

    relations = [{"label": r, "head_span": span(s), "child_span": span(o)} for s, r, o in row[1]]
    return {
        "text": text_of(row),
        "spans": list(map(span, _spans(row))),
        "relations": relations,
        "answer": "accept",
    }


@line_each
def doccano(number: int, row: Row) -> Any:
    ids = {span: 100 * number + place for place, span in enumerate(_spans(row))}
    edges = {
        span: dict(zip(("start_offset", "end_offset"), characters(row, span), strict=True))
        for span in ids
    }
    entities = [{"id": ids[span], "label": "X", **edges[span]} for span in ids]
    links = [
        {"id": at, "from_id": ids[s], "to_id": ids[o], "type": r}
        for at, (s, r, o) in enumerate(row[1])
    ]
    return {"id": number, "text": text_of(row), "entities": entities, "relations": links}


@item_each
def studio(number: int, row: Row) -> Any:
    found: list[dict[str, Any]] = []
    for span in _spans(row):
        value = dict(zip(("start", "end"), characters(row, span), strict=True), labels=["X"])
        found.append({"id": f"r{span[0]}", "type": "labels", "value": value})
    for s, r, o in row[1]:
        link = {"from_id": f"r{s[0]}", "to_id": f"r{o[0]}", "direction": "right", "labels": [r]}
        found.append({"type": "relation", **link})
    return {"id": number, "data": {"text": text_of(row)}, "annotations": [{"result": found}]}


@line_each
def duie(number: int, row: Row) -> Any:
    triples = [{"predicate": r, "subject": s, "object": {"@value": o}} for s, r, o in strings(row)]
    return {"text": text_of(row), "spo_list": triples}


def opennre(rows: Sequence[Row]) -> str:
    found = []
    for row in rows:
        for s, r, o in strings(row) or [(row[0][0], "NA", row[0][2])]:
            found.append({"text": text_of(row), "relation": r, "h": {"name": s}, "t": {"name": o}})
    return reading.lines(*found)


def brat(path: Path, rows: Sequence[Row]) -> None:
    lines, before, names = [], 0, 0
    for row in rows:
        ids = {}
        for span in _spans(row):
            start, end = characters(row, span)
            names += 1
            ids[span] = f"T{names}"
            lines.append(f"T{names}\tX {start + before} {end + before}\t{_named(row, span)}")
        for number, (s, relation, o) in enumerate(row[1]):
            lines.append(f"R{names}{number}\t{relation} Arg1:{ids[s]} Arg2:{ids[o]}")
        before += len(text_of(row)) + 1
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.with_suffix(".txt").write_text(
        "".join(text_of(row) + "\n" for row in rows), encoding="utf-8"
    )


def parquet(path: Path, rows: Sequence[Row]) -> None:
    import pyarrow
    from pyarrow import parquet

    keys = ("subject", "relation", "object")
    found = [
        {"text": text_of(row), "triples": [dict(zip(keys, t, strict=True)) for t in strings(row)]}
        for row in rows
    ]
    parquet.write_table(pyarrow.Table.from_pylist(found), path)


def docbin(path: Path, rows: Sequence[Row], extension: bool = True) -> None:
    """Write a ``DocBin`` as spaCy's relation projects do: entities, and relations in an
    extension of the document.
    """
    import spacy
    from spacy.tokens import Doc, DocBin
    from spacy.tokens import Span as Entity

    vocabulary = spacy.blank("xx").vocab
    if extension and not Doc.has_extension("rel"):
        Doc.set_extension("rel", default={})
    bin_ = DocBin(store_user_data=extension)
    for row in rows:
        document = Doc(vocabulary, words=row[0], spaces=[True] * (len(row[0]) - 1) + [False])
        document.ents = [Entity(document, *span, label="X") for span in _spans(row)]
        if extension:
            heads = [span[0] for span in _spans(row)]
            given = {(s[0], o[0]): relation for s, relation, o in row[1]}
            document._.rel = {
                (a, b): {name: float(given.get((a, b)) == name) for name in RELATIONS}
                for a in heads for b in heads if a != b
            }  # fmt: skip
        bin_.add(document)
    bin_.to_disk(path)


TEXTS: dict[str, Callable[[Sequence[Row]], str]] = {
    "plain.jsonl": plain,
    "head-type-tail.jsonl": lambda rows: plain(rows, ("head", "type", "tail")),
    "lists.jsonl": lambda rows: plain(rows, None),
    "rows.csv": table,
    "rows.tsv": lambda rows: table(rows, "\t"),
    "docred.json": docred,
    "rebel.jsonl": rebel,
    "tacred.json": tacred,
    "dygie.jsonl": dygie,
    "prodigy.jsonl": prodigy,
    "doccano.jsonl": doccano,
    "studio.json": studio,
    "duie.jsonl": duie,
    "opennre.jsonl": opennre,
}
FILES: dict[str, Callable[[Path, Sequence[Row]], None]] = {
    "brat.ann": brat,
    "rows.parquet": parquet,
    "docbin.spacy": docbin,
}


def write(folder: Path, name: str, rows: Sequence[Row]) -> Path:
    """Write one of the forms into a folder; return the file."""
    path = folder / name
    if name in TEXTS:
        path.write_text(TEXTS[name](rows), encoding="utf-8")
    else:
        FILES[name](path, rows)
    return path
