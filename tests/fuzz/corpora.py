"""Corpora that are damaged in known ways, before the commands that read them."""

import codecs
import gzip
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from support import written

from .running import Case, of_json, of_lines

ROWS = written.rows(20)
BUILDERS, SPOILT = Path(__file__).parents[1] / "data" / "builders", 8
SENTENCES, TRIPLES = len(ROWS), sum(len(row[1]) for row in ROWS)
TEXT = written.plain(ROWS)
LISTS = json.loads("[" + written.plain(ROWS, None).replace("\n", ",").rstrip(",") + "]")
COUNTS = [SENTENCES, TRIPLES]
Make = Callable[[str], Any]

# readers: command, how it reads the damaged file X, and how it says what it counted
CHECK = (["check", "X", "--json"], of_json("files/0/sentences", "files/0/triples"))
PREPARE = (["prepare", "--source", "X", "--out", "o.jsonl"], of_lines("o.jsonl"))
AUDIT = (["audit", "good.jsonl", "X", "--json"], of_json("sentences", "triples"))
SCORE = (["score", "X", "X", "--bootstrap", "0", "--json"], of_json("sentences", "micro/gold"))
EXPORT = (["export", "test=X", "--to", "jsonl", "--out", "o"], of_lines("o/test.jsonl"))
READERS = (CHECK, PREPARE, AUDIT, SCORE, EXPORT)


def text(content: str, encoding: str = "utf-8") -> Make:
    return lambda name: Path(name).write_bytes(content.encode(encoding))


def data(content: bytes) -> Make:
    return lambda name: Path(name).write_bytes(content)


def lines(*values: Any) -> Make:
    return text("".join(json.dumps(value) + "\n" for value in values))


def row(**changes: Any) -> dict[str, Any]:
    return {"text": "Ann saw Bob", "triples": [["Ann", "saw", "Bob"]], **changes}


def triple(value: Any) -> dict[str, Any]:
    return row(triples=[value])


def as_object(**changes: Any) -> dict[str, Any]:
    return triple({"subject": "Ann", "relation": "saw", "object": "Bob", **changes})


def span(start: Any, end: Any, text: Any = "Ann") -> dict[str, Any]:
    other = {"start": 8, "end": 11, "text": "Bob"}
    return triple({"subject": {"start": start, "end": end, "text": text}, "relation": "saw", "object": other})


def deep(depth: int, opening: str = "[", closing: str = "]") -> str:
    return '{"text": "a", "triples": ' + opening * depth + closing * depth + "}\n"


def duplicated(key: str) -> str:
    return f'{{"text": "Ann saw Bob", "triples": [], "{key}": "other"}}\n'


def left_out(content: str, **changes: Any) -> str:
    """The rows of a file with one more of them in front, which says nothing of its text."""
    rows = json.loads(content) if content.startswith("[") else list(map(json.loads, content.splitlines()))
    return json.dumps([{**rows[-1], **changes}, *rows])


TURTLE = "<http://x/Ann> <http://x/saw> <http://x/Bob> ."
ZSTD = bytes.fromhex("28b52ffd") + b"broken"

REFUSED: dict[str, Make] = {
    "empty file": data(b""),
    "Turtle without its text": text(TURTLE),
    "Turtle that breaks off": text(TURTLE[:-5]),
    "blank file": text(" \n\t\n"),
    "only a byte-order mark": data(codecs.BOM_UTF8),
    "empty list": text("[]"),
    "Latin-1": text(TEXT, "utf-8") if TEXT.isascii() else data(TEXT.encode("latin-1", "replace")),
    "bytes that are no UTF-8": data(TEXT.encode()[:200] + b"\xff\xfe\xfd" + TEXT.encode()[200:]),
    "UTF-16 cut in the middle of a character": data(TEXT.encode("utf-16")[:-3]),
    "UTF-32": text(TEXT, "utf-32"),
    "zeros": data(bytes(4096)),
    "noise": data(random.Random(0).randbytes(4096)),
    "a picture": data(b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(300)),
    "gzip cut off": data(gzip.compress(TEXT.encode())[:-30]),
    "gzip with a wrong byte": data(gzip.compress(TEXT.encode())[:40] + b"\0\0\0\0" + gzip.compress(TEXT.encode())[44:]),
    "no zstd behind its mark": data(ZSTD),
    "no Parquet behind its mark": data(b"PAR1" + bytes(100) + b"PAR1"),
    "a web page": text("<!DOCTYPE html><html><body>404</body></html>"),
    "prose": text("Nothing here is a corpus.\nNot at all.\n"),
    "a number": text("7"),
    "a JSON string": text('"text"'),
    "null": text("null"),
    "a list of numbers": text("[1, 2, 3]"),
    "a list of lists": text('[["Ann", "saw", "Bob"]]'),
    "an object that is no corpus": lines({"version": 1, "data": {}}),
    "lines of other kinds": lines(row(), [1], row()),
    "single quotes": text("{'text': 'a', 'triples': []}\n"),
    "no comma": text('{"text": "a" "triples": []}\n'),
    "a comma too many": text('[{"text": "a", "triples": []},]'),
    "a comment": text('// corpus\n{"text": "a", "triples": []}\n'),
    "brackets without end": text("[" * 200_000),
    "deep nesting": text(deep(100_000)),
    "deep objects": text(deep(50_000, '{"a":', "}").replace(":}", ":1}", 1)),
    "a number of 5,000 digits as position": text(json.dumps(span(0, 3)).replace(": 0", ": " + "9" * 5000)),
    "no text": lines({"triples": [["Ann", "saw", "Bob"]], "id": "1"}),
    "text is null": lines(row(text=None)),
    "text is a number": lines(row(text=5)),
    "text is a list": lines(row(text=["Ann", "saw", "Bob"])),
    "triples is a number": lines(row(triples=3)),
    "triples is text": lines(row(triples="Ann saw Bob")),
    "triples is true": lines(row(triples=True)),
    "a triple is a number": lines(triple(1)),
    "a triple is null": lines(triple(None)),
    "a triple is text": lines(triple("Ann saw Bob")),
    "a triple of two": lines(triple(["Ann", "saw"])),
    "a triple of four": lines(triple(["Ann", "saw", "Bob", "Cy"])),
    "a triple of numbers": lines(triple([1, 2, 3])),
    "an empty triple": lines(triple([])),
    "an empty object": lines(triple({})),
    "a subject is null": lines(as_object(subject=None)),
    "a subject is a list": lines(as_object(subject=["Ann"])),
    "a subject is true": lines(as_object(subject=True)),
    "a subject is a number": lines(as_object(subject=7)),
    "a relation is a number": lines(as_object(relation=7)),
    "a relation is an object": lines(as_object(relation={"id": 1})),
    "a relation is a list": lines(as_object(relation=["saw"])),
    "a relation is blank": lines(triple(["Ann", "  ", "Bob"])),
    "a relation is missing": lines(triple({"subject": "Ann", "object": "Bob"})),
    "a negative position": lines(span(-3, 3)),
    "positions the wrong way round": lines(span(3, 0)),
    "a position behind the end": lines(span(0, 30)),
    "a position that is half": lines(span(0.5, 3)),
    "a position that is text": lines(span("a", 3)),
    "a huge position": lines(span(0, 10**30)),
    "a position that is not a number": text(json.dumps(span(0, 3)).replace('"end": 3', '"end": NaN', 1)),
    "a position without end": text(json.dumps(span(0, 3)).replace('"end": 3', '"end": Infinity', 1)),
    "a span of other words": lines(span(4, 7)),
    "a key twice (text)": text(duplicated("text")),
    "a key twice (triples)": text(duplicated("triples")),
    "a key twice in a list": text("[" + duplicated("text").strip() + "]"),
    "a surrogate in the text": text('{"text": "Ann \\ud800 saw Bob", "triples": [["Ann", "saw", "Bob"]]}\n'),
    "a surrogate in an entity": text('{"text": "Ann saw Bob", "triples": [["Ann\\udfff", "saw", "Bob"]]}\n'),
    "a surrogate in a relation": text('{"text": "Ann saw Bob", "triples": [["Ann", "s\\ud800", "Bob"]]}\n'),
    "a surrogate in an id": text('{"id": "\\ud800", "text": "Ann saw Bob", "triples": [["Ann", "saw", "Bob"]]}\n'),
    "an entity that no one lists": lines({"text": "Ann saw Bob", "entities": [], "relations": [{"head": 0, "tail": 1,
                                          "type": "saw"}]}),
    "CSV with a head and nothing else": text("text,subject,relation,object\n"),
    "CSV with its head again": text("text,subject,relation,object\nAnn saw Bob,Ann,saw,Bob\n" * 2),
    "CSV with a quote without end": text('text,subject,relation,object\n"Ann saw Bob,Ann,saw,Bob\n'),
    "CSV with a field too many": text("text,subject,relation,object\nAnn saw Bob,Ann,saw,Bob,Cy\n"),
    "CSV with a field too few": text("text,subject,relation,object\nAnn saw Bob,Ann\n"),
    "CSV with a column twice": text("text,subject,subject,object\nAnn saw Bob,Ann,saw,Bob\n"),
    "CSV without a head": text("Ann saw Bob,Ann,saw,Bob\n"),
    "CSV without a relation": text("text,subject,object\nAnn saw Bob,Ann,Bob\n"),
    "CSV with an empty subject": text("text,subject,relation,object\nAnn saw Bob,,saw,Bob\n"),
    "brat without its text": text("T1\tX 0 3\tAnn\n"),
    "DocRED with an entity too far": text(written.docred(ROWS).replace('"t": 1', '"t": 99', 1)),
    "DocRED with a sentence too far": text(written.docred(ROWS).replace('"sent_id": 0', '"sent_id": 5', 1)),
    "DocRED with a short position": text(written.docred(ROWS).replace('"pos": [2, 4]', '"pos": [2]', 1)),
    "DyGIE++ with a place too far": text(re.sub(r"(\d+)(, .works_for.)", r"9999\2", written.dygie(ROWS), count=1)),
    "TACRED without an edge": text(written.tacred(ROWS).replace('"subj_end"', '"subj_ende"')),
    "Prodigy without a label": text(written.prodigy(ROWS).replace('"label": "works_for"', '"labels": 1', 1)),
    "doccano with an unknown entity": text(written.doccano(ROWS).replace('"from_id": 100', '"from_id": 999', 1)),
    "Label Studio with an unknown region": text(written.studio(ROWS).replace('"from_id": "r2"', '"from_id": "zz"', 1)),
    "FewRel without an object": text(written.fewrel(ROWS).replace('"t":', '"u":', 1)),
    "IOB with a head too far": text(written.iob(ROWS).replace("['works_for']\t[", "['works_for']\t[99", 1)),
    "REBEL without an object": text(written.rebel(ROWS).replace("<subj>", "", 1)),
    "cut off": data(TEXT.encode()[: len(TEXT) // 2]),
    "JSON cut off": text(written.docred(ROWS)[:-40]),
    "a DocBin that is none": data(b"\x78\x9c" + bytes(50)),
}  # fmt: skip
READ: dict[str, tuple[Make, list[int]]] = {
    "as it is": (text(TEXT), COUNTS),
    "a byte-order mark": (text(TEXT, "utf-8-sig"), COUNTS),
    "UTF-16": (text(TEXT, "utf-16"), COUNTS),
    "UTF-16, big end first, no mark": (text(TEXT, "utf-16-be"), COUNTS),
    "Windows line ends": (text(TEXT.replace("\n", "\r\n")), COUNTS),
    "no line end at the end": (text(TEXT.rstrip("\n")), COUNTS),
    "blank lines": (text(TEXT.replace("\n", "\n\n \n")), COUNTS),
    "gzip": (data(gzip.compress(TEXT.encode())), COUNTS),
    "gzip in two parts": (data(gzip.compress(TEXT[:500].encode()) + gzip.compress(TEXT[500:].encode())), COUNTS),
    "JSON that is not indented": (text(json.dumps(LISTS)), COUNTS),
    "JSON that is indented": (text(json.dumps(LISTS, indent=4)), COUNTS),
    "entities that are not there": (lines(triple(["Cy", "saw", "Dan"])), [1, 1]),
    "an empty text": (lines(row(text="", triples=[]), row()), [2, 1]),
    "triples twice": (lines(row(triples=[["Ann", "saw", "Bob"]] * 3)), [1, 1]),
    "an id of 5,000 digits": (text('{"id": "%s", "text": "a b", "triples": []}\n' % ("9" * 5000)), [1, 0]),
    "the same ids": (lines(*[row(id="x", text=f"Ann saw Bob {n}") for n in range(5)]), [5, 5]),
    "the same texts": (lines(*[row(id=str(n)) for n in range(5)]), [5, 5]),
    "a text of a million characters": (lines(row(text="Ann saw Bob " + "x" * 10**6)), [1, 1]),
    "a thousand triples": (lines(row(triples=[["Ann", f"r{n}", "Bob"] for n in range(1000)])), [1, 1000]),
    "emoji and joined characters": (lines(row(text="👩‍👩‍👧 saw é", triples=[["👩‍👩‍👧", "saw", "é"]])), [1, 1]),
    "right to left": (lines(row(text="רון ראה את דנה", triples=[["רון", "ראה", "דנה"]])), [1, 1]),
    "controls": (lines(row(text="Ann\u0000 saw\u0007 Bob\u200b\u2028 Cy", triples=[["Ann", "saw", "Cy"]])), [1, 1]),
    "markup": (lines(row(text="<script>alert(1)</script> saw Bob", triples=[["<script>", "saw", "Bob"]])), [1, 1]),
    "further keys": (lines(row(more={"a": [1, {"b": None}]}, nan=1e308)), [1, 1]),
    "two objects in a line": (text('{"text": "a", "triples": []} {"text": "b", "triples": []}\n'), [2, 0]),
    "tasks of Label Studio that nobody annotated": (text(left_out(written.studio(ROWS), annotations=[])), COUNTS),
    "rows of Prodigy that were rejected": (text(left_out(written.prodigy(ROWS), answer="reject")), COUNTS),
    "texts of Prodigy that two people accepted": (text(left_out(written.prodigy(ROWS), _session_id="ann")), COUNTS),
    "texts of doccano that nobody opened": (
        text(left_out(written.doccano(ROWS), text="Rain", entities=[], relations=[])),
        [SENTENCES + 1, TRIPLES],
    ),
    "documents of DocRED without labels": (text(left_out(written.docred(ROWS), labels=None)), COUNTS),
    "documents of DyGIE without relations": (text(left_out(written.dygie(ROWS), relations=None)), COUNTS),
    "triples that are nan alone": (lines(row(triples=[["Ann", "saw", "Bob"], ["nan", "NaN", "NULL"]])), [1, 1]),
    "relations that are called like none": (lines(triple(["Ann", "no relation", "Bob"])), [1, 1]),
    "UTF-8 as if it were another encoding": (lines(row(text="ZoÃ« saw", triples=[["ZoÃ«", "saw", "saw"]])), [1, 1]),
    "characters that were lost": (lines(row(text="Zo\ufffd saw", triples=[["Zo\ufffd", "saw", "saw"]])), [1, 1]),
    "offsets that count from 1": (lines(as_object(subject=[1, 4], object=[9, 11])), [1, 1]),
    "parts in another order": (lines(*[triple(["Ann", "Bob", f"saw {n}"]) for n in range(20)]), [20, 20]),
    "rows of two splits": (lines(row(split="train"), row(split="test", triples=[])), [2, 1]),
    "a negated triple": (lines(as_object(negated=True)), [1, 1]),
    "a row that failed": (lines(row(), row(text="Rain", triples=[], error="timeout")), [2, 1]),
    "predictions next to the gold": (lines(row(predicted=[["Ann", "met", "Bob"]])), [1, 1]),
    "a field of Turtle": (lines({"text": "Ann saw Bob", "turtle": TURTLE}), [1, 1]),
    "an answer that is no Turtle": (lines(*({"text": each, "turtle": each} for each in (TURTLE, "Sorry"))), [2, 1]),
    "a context at an address": (
        lines({"text": "Ann saw Bob", "jsonld": {"@context": "https://x.invalid", "@id": "Ann", "saw": "Bob"}}),
        [1, 1],
    ),
    "a text without a character": (lines(row(), row(text="", triples=[])), [2, 1]),
    "CSV with line ends inside": (text('text,subject,relation,object\n"Ann\nsaw Bob",Ann,saw,Bob\n'), [1, 1]),
    "CSV with semicolons": (text(written.table(ROWS, ";")), COUNTS),
}
EITHER: dict[str, tuple[Make, list[int]]] = {
    "TSV with quotes": (text('text\tsubject\trelation\tobject\n"Ann" saw Bob\tAnn\tsaw\tBob\n'), [1, 1]),
    "TACRED with an edge of text": (text(written.tacred(ROWS).replace('"subj_start": 2', '"subj_start": "2"')), COUNTS),
    "IOB with a word as place": (text(written.iob(ROWS).replace("\n0\t", "\nx\t", 1)), COUNTS),
    "an id that is a list": (lines(row(id=[1])), [1, 1]),
    "triples is null": (lines(row(triples=None)), [1, 0]),
    "an id of true": (lines(row(id=True)), [1, 1]),
    "an empty id": (lines(row(id="")), [1, 1]),
    "an id that is a number of 5,000 digits": (
        text('{"id": %s, "text": "Ann saw Bob", "triples": [["Ann", "saw", "Bob"]]}\n' % ("9" * 5000)), [1, 1]),
    "an empty entity": (lines(triple(["", "saw", "Bob"])), [1, 1]),
    "a blank entity": (lines(triple([" ", "saw", "Bob"])), [1, 1]),
    "a name that says gzip": (text(TEXT), COUNTS),
    "a brace at the end": (text(TEXT + "}"), None),
    "a comma at the end of lines": (text(TEXT.replace("\n", ",\n")), None),
    "a CSV field of 200,000 characters": (
        text(f"text,subject,relation,object\nAnn saw Bob {'x' * 200_000},Ann,saw,Bob\n"), [1, 1]),
}  # fmt: skip


def cases(random_: random.Random) -> Iterator[Case]:
    """Yield every damage before two of the commands, drawn."""
    for name, make in REFUSED.items():
        for argv, _ in random_.sample(READERS, 2):
            yield _case(name, argv, make, file=_suffix(name))
    for kind, found in (("read", READ), ("either", EITHER)):
        for name, (make, right) in found.items():
            for argv, counts in random_.sample(READERS, 2):
                yield _case(name, argv, make, kind, counts if right else None, right, _suffix(name))
    yield from _places(random_)
    yield from _spoilt(random_)


def _spoilt(random_: random.Random) -> Iterator[Case]:
    """Yield the dumps of builders with something in them taken out, or in another form."""
    for file in sorted(BUILDERS.glob("*.json*")):
        content = file.read_text()
        dump = [json.loads(line) for line in content.splitlines()] if file.suffix == ".jsonl" else json.loads(content)
        for number in range(SPOILT):
            made = text(json.dumps(_with_fault(dump, random_)))
            argv, _ = random_.choice(READERS)
            yield _case(f"{file.name}, fault {number}", argv, made, "either")


def _with_fault(value: Any, random_: random.Random) -> Any:
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not keys or random_.random() < 0.15:
        return random_.choice((None, 7, -1, 1.5, True, "x", "", [], {}, [[]], {"a": 1}))
    key = random_.choice(keys)
    changed = dict(value) if isinstance(value, dict) else list(value)
    if random_.random() < 0.15:
        del changed[key]
    else:
        changed[key] = _with_fault(value[key], random_)
    return changed


def _suffix(name: str) -> str:
    if "DocBin" in name or name.startswith("Turtle"):
        return "x.spacy" if "DocBin" in name else "x.ttl"
    return "x.ann" if "brat" in name else "x.jsonl.gz" if "gzip" in name else "x.csv" if "CSV" in name else "x.jsonl"


def _case(name, argv, make, expect="refused", counts=None, right=None, file="x.jsonl", **more) -> Case:
    def files() -> None:
        make(file)
        if "good.jsonl" in argv:
            text(TEXT)("good.jsonl")

    command = [file if part == "X" else part.replace("=X", f"={file}") for part in argv]
    return Case(f"{argv[0]}: {name}", command, files, expect, counts, right, **more)


def _places(random_: random.Random) -> Iterator[Case]:
    """Yield cases about what a path leads to."""
    places: dict[str, Make] = {
        "nothing there": lambda name: None,
        "a folder as file": lambda name: Path(name).mkdir(),
        "a folder with other files": lambda name: (Path(name).mkdir(), Path(name, "a.txt").write_text("a")),
        "a circle of links": lambda name: os.symlink(name, name),
        "a link that leads nowhere": lambda name: os.symlink("gone", name),
        "a pipe": lambda name: os.mkfifo(name),
        "a device": lambda name: os.symlink("/dev/zero", name),
    }
    for name, make in places.items():
        for argv, _ in random_.sample(READERS, 2):
            yield _case(name, argv, make)
    for argv, _ in READERS:
        closed = lambda name: (text(TEXT)(name), os.chmod(name, 0), os.chmod(".", 0o777))  # noqa: E731
        yield _case("a file of somebody else", argv, closed, unprivileged=True)
        yield _case("a name that is too long", argv, lambda name: None, file="n" * 5000)
        yield _case("a name with a zero", argv, lambda name: None, file="a\0b")
        if argv[0] != "export":
            yield _case("an empty name", argv, lambda name: None, file=".")
    yield _case("no name", ["export", "test=", "--to", "jsonl", "--out", "o"], lambda name: None)
