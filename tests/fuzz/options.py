"""Options that are wrong, and outputs that must not be written."""

import argparse
import os
import random
from collections.abc import Iterator
from pathlib import Path

from tripleaudit.arguments import Whole
from tripleaudit.cli import build_parser

from .corpora import COUNTS, LISTS, SENTENCES, TEXT, TRIPLES, lines, text
from .running import Case, of_json, of_lines

NUMBERS = ("-1", "nan", "inf", "x", "", "1e400", "9" * 5000, "0x10", "½", "-9" * 30)


def good() -> None:
    for name in ("good.jsonl", "train.jsonl", "valid.jsonl", "test.jsonl"):
        text(TEXT)(name)


def cases(random_: random.Random) -> Iterator[Case]:
    yield from _numbers(random_)
    yield from _words()
    yield from _outputs()
    yield from _pairs()


def _numbers(random_: random.Random) -> Iterator[Case]:
    """Yield bad values of the numbers of every command; none is so far from a number that it may be taken."""
    commands = next(action for action in build_parser()._actions if action.dest == "command").choices
    for name, parser in commands.items():
        for action in parser._actions:
            kind = action.type
            if not action.option_strings or not hasattr(kind, "low"):
                continue
            values = [value for value in NUMBERS if not (value == "9" * 5000 and not isinstance(kind, Whole))]
            bad = random_.choice([value for value in values if _is_bad(kind, value)])
            repeat = action.nargs if isinstance(action.nargs, int) else 1
            option = action.option_strings[-1]
            yield Case(f"{name}: {option} {bad[:20]}", [name, f"{option}={bad}" if repeat == 1 else option,
                                                         *[bad] * (repeat - 1)], good)  # fmt: skip


def _is_bad(kind, value: str) -> bool:
    try:
        kind(value)
    except argparse.ArgumentTypeError:
        return True
    return False


def _words() -> Iterator[Case]:
    for argv in (
        [], ["sccore"], ["score"], ["score", "good.jsonl"], ["--plugin"], 
        ["--plugin", "gone.py", "check", "good.jsonl"],
        ["check", "good.jsonl", "--formt", "jsonl"], ["check", "good.jsonl", "--format", "xml"],
        ["check", "good.jsonl", "--format", ""], ["check", "good.jsonl", "--format", "docred"],
        ["check", "good.jsonl", "--format", "records", "--column", "text"],
        ["check", "good.jsonl", "--format", "records", "--column", "text="],
        ["check", "good.jsonl", "--format", "records", "--column", "body=text"],
        ["check", "good.jsonl", "--format", "records", "--column", "text=gone"],
        ["check", "good.jsonl", "--format", "records", "--column", "text=triples"],
        ["check", "good.jsonl", "--format", "records", "--column", "order=ssr"],
        ["check", "good.jsonl", "--format", "records", "--column", "units=words"],
        ["check", "good.jsonl", "--format", "records", "--column", "rows=gone"],
        ["check", "good.jsonl", "--column", "triples=text"],
        ["check", "good.jsonl", "good.jsonl"], ["check", "good.jsonl", "--write", "s.yaml"],
        ["check", "train.jsonl", "test.jsonl", "--write", "train.jsonl"],
        ["check", "train.jsonl", "test.jsonl", "--write", "train.jsonl", "--force"],
        ["score", "good.jsonl", "good.jsonl", "--matching", "soft"],
        ["score", "good.jsonl", "good.jsonl", "--train", "gone.jsonl"],
        ["score", "good.jsonl", "good.jsonl", "--seed", "1.5"],
        ["audit", "good.jsonl"], ["audit", "good.jsonl", "good.jsonl", "good.jsonl"],
        ["prepare", "--source", "good.jsonl"], ["prepare", "--out", "o.jsonl"],
        ["prepare", "--source", "good.jsonl", "--corpus", "webnlg", "--out", "o.jsonl"],
        ["prepare", "--corpus", "webnlg", "--split", "test", "--raw-root", ".", "--out", "o.jsonl"],
        ["prepare", "--corpus", "webnlg", "--split", "x", "--raw-root", ".", "--out", "o.jsonl"],
        ["prepare", "--source", "good.jsonl", "--occurrence", "none", "--out", "o.jsonl"],
        ["prepare", "--source", "good.jsonl", "--split", "test", "--format", "datasets", "--out", "o.jsonl"],
        ["prepare", "--source", "good.jsonl", "--divide", "a=1", "--part", "b", "--out", "o.jsonl"],
        ["prepare", "--source", "good.jsonl", "--divide", "a=-1,b=1", "--part", "a", "--out", "o.jsonl"],
        ["prepare", "--source", "good.jsonl", "--divide", "a=nan,b=1", "--part", "a", "--out", "o.jsonl"],
        ["prepare", "--source", "good.jsonl", "--divide", "a=0,b=0", "--part", "a", "--out", "o.jsonl"],
        ["prepare", "--source", "good.jsonl", "--divide", "a=1e999,b=1", "--part", "a", "--out", "o.jsonl"],
        ["prepare", "--source", "good.jsonl", "--tokenizer", "good.jsonl", "--out", "o.jsonl"],
        ["export", "good.jsonl", "--out", "o"], ["export", "a b=good.jsonl", "--out", "o"],
        ["export", "a=good.jsonl", "a=good.jsonl", "--out", "o"], 
        ["export", "a=good.jsonl", "--to", "xml", "--out", "o"],
        ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "none", "--out", "o"],
        ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "sifted", "--out", "o"],
        ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "sifted", "--rule", "sample", "--out", "o"],
        ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "sifted", "--k", "3", "--out", "o"],
        ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "rearranged", "--rule", "sample",
         "--out", "o"],
        ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "rearranged", "--test-size", "9999",
         "--out", "o"],
        ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "cardinality", "--zero-sizes", "1,2",
         "--out", "o"],
        ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "cardinality", "--zero-sizes", "9,9,9",
         "--raw", "gone.jsonl", "--out", "o"],
        ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "augmented", "--masked-lm", "gone",
         "--out", "o"],
        ["fetch", "gone", "--out", "o"], ["fetch", "good.jsonl", "--sha256", "abc", "--out", "o"],
        ["fetch", "good.jsonl", "--sha256", "0" * 64, "--out", "o"], ["fetch", "http://x.invalid/a", "--out", "o"],
        ["fetch", "pypi:", "--out", "o"], ["fetch", "hub:", "--out", "o"],
        ["table", "gone", "--scores", "good.jsonl", "--out", "o"],
        ["table", "overall", "--scores", "good.jsonl", "--out", "o"],
        ["table", "overall", "--options", "{", "--out", "o"],
        ["plots", "gone", "--out", "o.svg"], ["plots", "type-f1", "--scores", "good.jsonl", "--out", "o.svg"],
        ["plots", "type-f1", "--options", "[]", "--out", "o.svg"], 
        ["report", "gone", "--out", "o.html"], ["report", ".", "--out", "o.html"],
        ["report", ".", "--facts", "{", "--out", "o.html"],
        ["collection", "index", "gone.txt", "--shards", "2", "--out", "o"], ["collection"],
        ["collection", "cost", "--measured", "good.jsonl"],
        ["minea", "gone.txt", "--model", "m", "--endpoint", "http://127.0.0.1:9/v1"],
        ["minea", "good.jsonl", "--model", "m"], ["minea", ".", "--model", "m", "--endpoint", "nonsense"],
        ["minea", "good.jsonl", "--model", "m", "--endpoint", "http://127.0.0.1:9/v1", "--schema", "gone"],
        ["minea", "good.jsonl", "--model", "m", "--endpoint", "http://127.0.0.1:9/v1", "--schema", "good.jsonl"],
        ["minea", "good.jsonl", "--model", "m", "--endpoint", "http://127.0.0.1:9/v1", "--samples", "2"],
        ["minea", "good.jsonl", "--model", "m", "--endpoint", "http://127.0.0.1:9/v1", "--budget", "1"],
        ["gre-score", "--triples", "gone"], ["gre-score", "--triples", "good.jsonl", "--endpoint", "http://x/v1"],
        ["gre-score", "--triples", "good.jsonl", "--samples", "2"],
        ["gre-score", "--triples", "good.jsonl", "--embedder", "gone"],
        ["gre-score", "--triples", "good.jsonl", "--lda", "gone"],
        ["gre-score", "--triples", "good.jsonl", "--lda-text", "gone"],
        ["gre-score", "--triples", "good.jsonl", "--factualness", "good.jsonl"],
        ["gre-score", "--triples", "good.jsonl", "--granularity", "good.jsonl"],
        ["gre-score", "--triples", "good.jsonl", "--similarities", "good.jsonl"],
        ["gre-score", "--triples", "good.jsonl", "--factualness-by", "x"],
        ["gre-score", "--triples", "good.jsonl", "--reference", "gone"],
        ["gre-lda", "--text", "gone", "--topics", "2", "--out", "o"],
        ["run", "gone.yaml"], ["estimate", "gone.yaml"], ["validate", "gone.yaml"], ["validate"],
    ):  # fmt: skip
        yield Case(f"{' '.join(argv)[:110] or 'nothing at all'}", argv, good)


def _outputs() -> Iterator[Case]:
    prepare = ["prepare", "--source", "good.jsonl", "--out"]
    split = ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "sifted", "--rule", "frequency",
             "--max-count", "1", "--out"]  # fmt: skip

    def beside(*make) -> None:
        good()
        for each in make:
            each()

    closed = lambda: beside(lambda: os.mkdir("shut"), lambda: os.chmod("shut", 0o555))  # noqa: E731
    folder = lambda: beside(lambda: os.mkdir("d"))  # noqa: E731
    filled = lambda: beside(lambda: os.mkdir("d"), lambda: Path("d", "mine").write_text("x"))  # noqa: E731
    link = lambda: beside(lambda: os.symlink("good.jsonl", "link"))  # noqa: E731
    circle = lambda: beside(lambda: os.symlink("loop", "loop"))  # noqa: E731
    kept = ("good.jsonl",)
    for name, out, make in (
        ("the source", "good.jsonl", good), ("the source by a detour", "./d/../good.jsonl", folder),
        ("a link to the source", "link", link), ("a folder", "d", folder), 
        ("a folder that is closed", "shut/o", closed),
        ("below a file", "good.jsonl/o", good), ("a name too long", "n" * 300, good), ("no name", "", good),
        ("a name with a zero", "a\0b", good), ("below a circle of links", "loop/o", circle), ("here", ".", good),
        ("a folder by its slash", "d/", folder),
    ):  # fmt: skip
        yield Case(f"prepare --out: {name}", [*prepare, out], make, kept=kept, unprivileged="closed" in name)
    yield Case("prepare --out and --report the same", [*prepare, "o", "--report", "o"], good, kept=kept)
    yield Case("prepare --report: the source", [*prepare, "o", "--report", "good.jsonl"], good, kept=kept)
    yield Case(
        "prepare into a new folder", [*prepare, "new/er/o.jsonl"], good, "read", of_lines("new/er/o.jsonl"), COUNTS
    )
    yield Case("split: a filled folder", [*split, "d"], filled, kept=("d/mine",))
    yield Case("split: the sources' folder", [*split, "."], good, kept=("train.jsonl", "test.jsonl"))
    yield Case(
        "split: the sources' folder by force", [*split, ".", "--force"], good, kept=("train.jsonl", "test.jsonl")
    )
    yield Case("split: a file", [*split, "good.jsonl"], good, kept=kept)
    yield Case("split: an empty folder", [*split, "d"], folder, "read")
    yield Case("split: a filled folder by force", [*split, "d", "--force"], filled, "read", kept=("d/mine",))
    export = ["export", "test=good.jsonl", "--to", "jsonl", "--out"]
    yield Case("export: a filled folder", [*export, "d"], filled, kept=("d/mine",))
    yield Case("export: a file", [*export, "good.jsonl"], good, kept=kept)
    train = [
        "train",
        "--train",
        "good.jsonl",
        "--valid",
        "good.jsonl",
        "--encoder",
        "d",
        "--extractor",
        "casrel",
        "--out",
    ]
    yield Case("train: a filled folder", [*train, "d"], filled, kept=("d/mine",))
    yield Case("gre-lda: a filled folder", ["gre-lda", "--text", "good.jsonl", "--topics", "2", "--out", "d"], filled)
    minea = ["minea", "good.jsonl", "--model", "m", "--endpoint", "http://127.0.0.1:9/v1", "--out", "d"]
    yield Case("minea: a filled folder", minea, filled, kept=("d/mine",))


def _pairs() -> Iterator[Case]:
    """Yield gold and predictions that do not fit, or fit in another way than line by line."""
    less = [row for row in LISTS if row["triples"]]
    half = [{**row, "triples": row["triples"] if n % 2 else []} for n, row in enumerate(LISTS)]
    hits = sum(len(row["triples"]) for row in half)
    score = ["score", "gold.jsonl", "guess.jsonl", "--bootstrap", "0", "--json"]

    def files(gold: list, guess: list):
        return lambda: (lines(*gold)("gold.jsonl"), lines(*guess)("guess.jsonl"))

    found = of_json("micro/correct", "micro/predicted", "micro/gold")
    for name, gold, guess, right in (
        ("as they are", LISTS, half, [hits, hits, TRIPLES]),
        ("exchanged", half, LISTS, [hits, TRIPLES, hits]),
        ("backwards", LISTS, half[::-1], [hits, hits, TRIPLES]),
        ("turned", LISTS, half[7:] + half[:7], [hits, hits, TRIPLES]),
        ("with ids, backwards", [{**row, "id": f"s{n}"} for n, row in enumerate(LISTS)],
         [{**row, "id": f"s{n}"} for n, row in enumerate(half)][::-1], [hits, hits, TRIPLES]),
        ("twice the same triple", LISTS, [{**row, "triples": row["triples"] * 2} for row in LISTS], [TRIPLES] * 3),
        ("with other blanks", LISTS, [{**row, "text": row["text"].replace(" ", "  ")} for row in LISTS], [TRIPLES] * 3),
    ):  # fmt: skip
        yield Case(f"score: {name}", score, files(gold, guess), "read", found, right)
    other = [{**row, "text": f"other {n}"} for n, row in enumerate(LISTS)]
    for name, gold, guess in (
        ("fewer sentences", LISTS, less), ("more sentences", less, LISTS), ("other sentences", LISTS, other),
        ("one other sentence", LISTS, [*LISTS[:-1], other[-1]]), ("one sentence again", LISTS, [*LISTS, LISTS[0]]),
    ):  # fmt: skip
        yield Case(f"score: {name}", score, files(gold, guess))
    assert len(LISTS) == SENTENCES
