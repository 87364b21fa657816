"""Options that are wrong, and outputs that must not be written."""

import argparse
import os
import random
import shlex
from collections.abc import Iterator
from pathlib import Path

from tripleaudit.cli import build_parser
from tripleaudit.core.arguments import Whole

from .corpora import COUNTS, TEXT, text
from .running import Case, of_lines

NUMBERS = ("-1", "nan", "inf", "x", "", "1e400", "9" * 5000, "0x10", "½", "-9" * 30)

HERE, MINEA = "http://127.0.0.1:9/v1", "minea good.jsonl --model m"
# command lines: a beginning, and what is wrong behind it; what else is refused has its words in
# tests/unit/commands
WORDS = {
    "": ("", "score good.jsonl", "--plugin", "--plugin gone.py check good.jsonl"),
    "check good.jsonl": ("--format xml", "--format ''", "--format docred", "--column triples=text"),
    "check good.jsonl --format records --column": ("text", "text=", "body=text", "text=gone", "text=triples",
                                                   "order=ssr", "units=words", "rows=gone"),
    "check train.jsonl test.jsonl --write train.jsonl": ("", "--force"),
    "score good.jsonl good.jsonl": ("--train gone.jsonl", "--seed 1.5"),
    "audit good.jsonl": ("good.jsonl good.jsonl",),
    "prepare --out o.jsonl --source good.jsonl": ("--corpus webnlg", "--split test --format datasets"),
    "prepare --out o.jsonl --raw-root . --corpus webnlg --split": ("test", "x"),
    "prepare --out o.jsonl --source good.jsonl --part a --divide": ("b=1", "a=-1,b=1", "a=nan,b=1", "a=0,b=0",
                                                                    "a=1e999,b=1"),
    "export --out o": ("'a b=good.jsonl'", "a=good.jsonl a=good.jsonl"),
    "split train.jsonl valid.jsonl test.jsonl --out o --protocol": (
        "sifted", "sifted --rule sample", "sifted --k 3", "rearranged --rule sample", "rearranged --test-size 9999",
        "cardinality --zero-sizes 1,2", "cardinality --zero-sizes 9,9,9 --raw gone.jsonl", "augmented --masked-lm gone",
    ),
    "fetch --out o": ("gone", "good.jsonl --sha256 abc", f"good.jsonl --sha256 {'0' * 64}", "http://x.invalid/a",
                      "pypi:", "hub:"),
    "table --out o": ("gone --scores good.jsonl", "overall --scores good.jsonl", "overall --options {"),
    "plots --out o.svg": ("gone", "type-f1 --scores good.jsonl", "type-f1 --options []"),
    "report --out o.html": ("gone", "."),
    "collection": ("index gone.txt --shards 2 --out o", "cost --measured good.jsonl"),
    "minea": (f"gone.txt --model m --endpoint {HERE}", ". --model m --endpoint nonsense"),
    MINEA: (f"--endpoint {HERE} --schema gone", f"--endpoint {HERE} --schema good.jsonl"),
    "gre-score --triples": ("gone", *(f"good.jsonl {end}" for end in (
        "--lda-text gone", "--factualness good.jsonl", "--granularity good.jsonl", "--similarities good.jsonl",
        "--reference gone",
    ))),
    "gre-lda": ("--text gone --topics 2 --out o",),
    "estimate": ("gone.yaml",), "validate": ("gone.yaml",),
}  # fmt: skip


def good() -> None:
    for name in ("good.jsonl", "train.jsonl", "valid.jsonl", "test.jsonl"):
        text(TEXT)(name)


def cases(random_: random.Random) -> Iterator[Case]:
    yield from _declared(random_)
    yield from _words()
    yield from _outputs()


def _declared(random_: random.Random) -> Iterator[Case]:
    """Yield what every command's declared arguments refuse: unknown options, missing ones,
    choices, bad numbers.
    """
    commands = next(
        action for action in build_parser()._actions if action.dest == "command"
    ).choices
    for name, parser in commands.items():
        if name != "run":  # which hands on what it does not know
            yield Case(f"{name}: an unknown option", [name, "--formt"], good)
        if any(action.required for action in parser._actions):
            yield Case(f"{name}: no argument", [name], good)
        for action in parser._actions:
            if action.option_strings and action.choices:
                option = action.option_strings[-1]
                yield Case(f"{name}: {option} of another name", [name, f"{option}=nobody"], good)
            kind = action.type
            if not action.option_strings or not hasattr(kind, "low"):
                continue
            values = [
                value
                for value in NUMBERS
                if not (value == "9" * 5000 and not isinstance(kind, Whole))
            ]
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
    for beginning, ends in WORDS.items():
        for end in ends:
            argv = shlex.split(f"{beginning} {end}")
            yield Case(" ".join(argv)[:110] or "nothing at all", argv, good)


def _outputs() -> Iterator[Case]:
    prepare = ["prepare", "--source", "good.jsonl", "--out"]
    split = ["split", "train.jsonl", "valid.jsonl", "test.jsonl", "--protocol", "sifted", "--rule", "frequency",
             "--max-count", "1", "--out"]  # fmt: skip

    def prepared(*make) -> None:
        good()
        for each in make:
            each()

    closed = lambda: prepared(lambda: os.mkdir("shut"), lambda: os.chmod("shut", 0o555))  # noqa: E731
    folder = lambda: prepared(lambda: os.mkdir("d"))  # noqa: E731
    filled = lambda: prepared(lambda: os.mkdir("d"), lambda: Path("d", "mine").write_text("x"))  # noqa: E731
    link = lambda: prepared(lambda: os.symlink("good.jsonl", "link"))  # noqa: E731
    circle = lambda: prepared(lambda: os.symlink("loop", "loop"))  # noqa: E731
    for name, out, make in (
        ("the source", "good.jsonl", good), ("the source by a detour", "./d/../good.jsonl", folder),
        ("a link to the source", "link", link), ("a folder", "d", folder), ("a closed folder", "shut/o", closed),
        ("below a file", "good.jsonl/o", good), ("a name too long", "n" * 300, good), ("no name", "", good),
        ("a name with a zero", "a\0b", good), ("below a circle of links", "loop/o", circle), ("here", ".", good),
        ("a folder by its slash", "d/", folder),
    ):  # fmt: skip
        case = [*prepare, out]
        yield Case(
            f"prepare --out: {name}",
            case,
            make,
            kept=("good.jsonl",),
            unprivileged="closed" in name,
        )
    new = [*prepare, "new/er/o.jsonl"]
    yield Case("prepare into a new folder", new, good, "read", of_lines("new/er/o.jsonl"), COUNTS)
    export = ["export", "test=good.jsonl", "--to", "jsonl", "--out"]
    train = shlex.split(
        "train --train good.jsonl --valid good.jsonl --encoder d --extractor casrel --out d"
    )
    for name, argv, make, *kept in (
        (
            "prepare --out and --report the same",
            [*prepare, "o", "--report", "o"],
            good,
            "good.jsonl",
        ),
        (
            "prepare --report: the source",
            [*prepare, "o", "--report", "good.jsonl"],
            good,
            "good.jsonl",
        ),
        ("split: a filled folder", [*split, "d"], filled, "d/mine"),
        ("split: the sources' folder", [*split, "."], good, "train.jsonl", "test.jsonl"),
        (
            "split: the sources' folder by force",
            [*split, ".", "--force"],
            good,
            "train.jsonl",
            "test.jsonl",
        ),
        ("split: a file", [*split, "good.jsonl"], good, "good.jsonl"),
        ("export: a filled folder", [*export, "d"], filled, "d/mine"),
        ("export: a file", [*export, "good.jsonl"], good, "good.jsonl"),
        ("train: a filled folder", train, filled, "d/mine"),
        (
            "gre-lda: a filled folder",
            ["gre-lda", "--text", "good.jsonl", "--topics", "2", "--out", "d"],
            filled,
        ),
        (
            "minea: a filled folder",
            [*shlex.split(MINEA), "--endpoint", HERE, "--out", "d"],
            filled,
            "d/mine",
        ),
    ):
        yield Case(name, argv, make, kept=tuple(kept))
    yield Case("split: an empty folder", [*split, "d"], folder, "read")
    yield Case(
        "split: a filled folder by force",
        [*split, "d", "--force"],
        filled,
        "read",
        kept=("d/mine",),
    )
