"""Corpora that are damaged in known ways, before the commands that read them."""

import codecs
import gzip
import json
import os
import random
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


def as_object(**changes: Any) -> dict[str, Any]:
    return row(triples=[{"subject": "Ann", "relation": "saw", "object": "Bob", **changes}])


def span(start: Any, end: Any) -> dict[str, Any]:
    other = {"start": 8, "end": 11, "text": "Bob"}
    return as_object(subject={"start": start, "end": end, "text": "Ann"}, object=other)


def deep(depth: int, opening: str = "[", closing: str = "]") -> str:
    return '{"text": "a", "triples": ' + opening * depth + closing * depth + "}\n"


ODD: dict[str, tuple[Any, ...]] = {  # what each part of a row cannot be
    "text": (None, 5, ["Ann", "saw", "Bob"]),
    "triples": (3, "Ann saw Bob", True),
    "triple": (
        1,
        None,
        "Ann saw Bob",
        ["Ann", "saw"],
        ["Ann", "saw", "Bob", "Cy"],
        [1, 2, 3],
        [],
        {},
    ),
    "subject": (None, ["Ann"], True, 7),
    "relation": (7, {"id": 1}, ["saw"], "  "),
}
SPANS = (
    (-3, 3),
    (3, 0),
    (0, 30),
    (0.5, 3),
    ("a", 3),
    (0, 10**30),
    (0, float("nan")),
    (0, float("inf")),
    (4, 7),
)


def odd(place: str, value: Any) -> dict[str, Any]:
    if place == "triple":
        return row(triples=[value])
    return row(**{place: value}) if place in row() else as_object(**{place: value})


# further faults of a row or of a format have their messages in tests/unit/corpora
REFUSED: dict[str, Make] = {
    "only a byte-order mark": data(codecs.BOM_UTF8),
    "Latin-1": data(TEXT.encode("latin-1", "replace")),
    "bytes that are no UTF-8": data(TEXT.encode()[:200] + b"\xff\xfe\xfd" + TEXT.encode()[200:]),
    "UTF-16 cut in the middle of a character": data(TEXT.encode("utf-16")[:-3]),
    "UTF-32": text(TEXT, "utf-32"),
    "zeros": data(bytes(4096)),
    "noise": data(random.Random(0).randbytes(4096)),
    "a picture": data(b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(300)),
    "gzip cut off": data(gzip.compress(TEXT.encode())[:-30]),
    "gzip with a wrong byte": data(gzip.compress(TEXT.encode())[:40] + b"\0\0\0\0" + gzip.compress(TEXT.encode())[44:]),
    "no zstd behind its mark": data(bytes.fromhex("28b52ffd") + b"broken"),
    "no Parquet behind its mark": data(b"PAR1" + bytes(100) + b"PAR1"),
    "a web page": text("<!DOCTYPE html><html><body>404</body></html>"),
    "a number": text("7"),
    "a JSON string": text('"text"'),
    "null": text("null"),
    "a list of lists": text('[["Ann", "saw", "Bob"]]'),
    "single quotes": text("{'text': 'a', 'triples': []}\n"),
    "a comment": text('// corpus\n{"text": "a", "triples": []}\n'),
    "brackets without end": text("[" * 200_000),
    "deep nesting": text(deep(100_000)),
    "deep objects": text(deep(50_000, '{"a":', "}").replace(":}", ":1}", 1)),
    "a number of 5,000 digits as position": text(json.dumps(span(0, 3)).replace(": 0", ": " + "9" * 5000)),
    "a key twice in a list": text('[{"text": "Ann saw Bob", "triples": [], "text": "other"}]'),
    "a surrogate in the text": lines(row(text="Ann \ud800 saw Bob")),
    "a surrogate in an entity": lines(as_object(subject="Ann\udfff")),
    "a surrogate in a relation": lines(as_object(relation="s\ud800")),
    "a surrogate in an id": lines(row(id="\ud800")),
    "an entity that no one lists": lines({"text": "Ann saw Bob", "entities": [], "relations": [{"head": 0, "tail": 1,
                                          "type": "saw"}]}),
    "CSV with a head and nothing else": text("text,subject,relation,object\n"),
    "CSV with a field too few": text("text,subject,relation,object\nAnn saw Bob,Ann\n"),
    "CSV with a column twice": text("text,subject,subject,object\nAnn saw Bob,Ann,saw,Bob\n"),
    "CSV without a head": text("Ann saw Bob,Ann,saw,Bob\n"),
    "CSV without a relation": text("text,subject,object\nAnn saw Bob,Ann,Bob\n"),
    "brat without its text": text("T1\tX 0 3\tAnn\n"),
    "Prodigy without a label": text(written.prodigy(ROWS).replace('"label": "works_for"', '"labels": 1', 1)),
    "cut off": data(TEXT.encode()[: len(TEXT) // 2]),
    "JSON cut off": text(written.docred(ROWS)[:-40]),
    **{f"a {place} that is {value!r}": lines(odd(place, value)) for place, values in ODD.items() for value in values},
    **{f"a span from {start} to {end}": lines(span(start, end)) for start, end in SPANS},
}  # fmt: skip
# further corpora that are read, with what is left out of them, are counted in tests/unit/corpora
READ: dict[str, tuple[Make, list[int]]] = {
    "as it is": (text(TEXT), COUNTS),
    "UTF-16, big end first, no mark": (text(TEXT, "utf-16-be"), COUNTS),
    "no line end at the end": (text(TEXT.rstrip("\n")), COUNTS),
    "blank lines": (text(TEXT.replace("\n", "\n\n \n")), COUNTS),
    "gzip in two parts": (
        data(gzip.compress(TEXT[:500].encode()) + gzip.compress(TEXT[500:].encode())),
        COUNTS,
    ),
    "JSON that is not indented": (text(json.dumps(LISTS)), COUNTS),
    "JSON that is indented": (text(json.dumps(LISTS, indent=4)), COUNTS),
    "entities that are not there": (lines(row(triples=[["Cy", "saw", "Dan"]])), [1, 1]),
    "an empty text": (lines(row(text="", triples=[]), row()), [2, 1]),
    "triples twice": (lines(row(triples=[["Ann", "saw", "Bob"]] * 3)), [1, 1]),
    "an id of 5,000 digits": (
        text('{"id": "%s", "text": "a b", "triples": []}\n' % ("9" * 5000)),
        [1, 0],
    ),
    "the same texts": (lines(*[row(id=str(n)) for n in range(5)]), [5, 5]),
    "a text of a million characters": (lines(row(text="Ann saw Bob " + "x" * 10**6)), [1, 1]),
    "a thousand triples": (
        lines(row(triples=[["Ann", f"r{n}", "Bob"] for n in range(1000)])),
        [1, 1000],
    ),
    "emoji and joined characters": (
        lines(row(text="👩‍👩‍👧 saw é", triples=[["👩‍👩‍👧", "saw", "é"]])),
        [1, 1],
    ),
    "right to left": (lines(row(text="רון ראה את דנה", triples=[["רון", "ראה", "דנה"]])), [1, 1]),
    "controls": (
        lines(row(text="Ann\u0000 saw\u0007 Bob\u200b\u2028 Cy", triples=[["Ann", "saw", "Cy"]])),
        [1, 1],
    ),
    "markup": (
        lines(row(text="<script>alert(1)</script> saw Bob", triples=[["<script>", "saw", "Bob"]])),
        [1, 1],
    ),
    "further keys": (lines(row(more={"a": [1, {"b": None}]}, nan=1e308)), [1, 1]),
    "two objects in a line": (
        text('{"text": "a", "triples": []} {"text": "b", "triples": []}\n'),
        [2, 0],
    ),
    "CSV with line ends inside": (
        text('text,subject,relation,object\n"Ann\nsaw Bob",Ann,saw,Bob\n'),
        [1, 1],
    ),
    "CSV with semicolons": (text(written.table(ROWS, ";")), COUNTS),
}
EITHER: dict[str, tuple[Make, list[int]]] = {
    "TSV with quotes": (text('text\tsubject\trelation\tobject\n"Ann" saw Bob\tAnn\tsaw\tBob\n'), [1, 1]),
    "an id that is a number of 5,000 digits": (
        text('{"id": %s, "text": "Ann saw Bob", "triples": [["Ann", "saw", "Bob"]]}\n' % ("9" * 5000)), [1, 1]),
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
    """Yield the forms of corpora and the dumps of builders with something taken out, or in
    another form.
    """
    forms = {name: make(ROWS[:3]) for name, make in written.TEXTS.items()}
    forms |= {file.name: file.read_text() for file in sorted(BUILDERS.glob("*.json*"))}
    for name, content in forms.items():
        if ".json" in name:
            dump = (
                [json.loads(line) for line in content.splitlines()]
                if name.endswith("l")
                else json.loads(content)
            )
            for number in range(SPOILT):
                made = text(json.dumps(_with_fault(dump, random_)))
                argv, _ = random_.choice(READERS)
                yield _case(f"{name}, fault {number}", argv, made, "either")


def _with_fault(value: Any, random_: random.Random) -> Any:
    keys = (
        list(value)
        if isinstance(value, dict)
        else list(range(len(value)))
        if isinstance(value, list)
        else []
    )
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
    return (
        "x.ann"
        if "brat" in name
        else "x.jsonl.gz"
        if "gzip" in name
        else "x.csv"
        if "CSV" in name
        else "x.jsonl"
    )


def _case(
    name, argv, make, expect="refused", counts=None, right=None, file="x.jsonl", **more
) -> Case:
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
        "a folder with other files": lambda name: (
            Path(name).mkdir(),
            Path(name, "a.txt").write_text("a"),
        ),
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
