"""Studies that cannot run, and folders that hold no model."""

import copy
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from tripleaudit.commands.config_reference import reference

from .corpora import TEXT, data, text
from .running import Case

ROOT = Path(__file__).resolve().parents[2]
STUDY = {
    "study": "own",
    "corpora": {
        "own": {"files": {"train": "train.jsonl", "valid": "valid.jsonl", "test": "test.jsonl"}}
    },
    "encoder": {"model": "minilm", "layers": 2},
    "protocols": {"rearranged": {"test_size": 2}, "augmented": {"mlm_steps": 3}},
    "extractors": {"casrel": {"epochs": 2, "batch_size": 4}, "prgc": {}},
    "seeds": [1, 2],
    "scoring": {"bootstrap": 10},
}
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, 10**40, float("nan"), float("inf"), "", " ", "x" * 3000, "ü\u0000", [], {}, [[]], {"a": {}},
    ["casrel", "casrel"], {"": 1}, {1: 2}, "../../etc/passwd", "2024-01-01", "0x1f", [None],
)  # fmt: skip
FILES = "files: {train: good.jsonl, test: test.jsonl}"
# what else is no study has its message in tests/unit/study
TEXTS: dict[str, Callable[[str], Any]] = {
    "empty": data(b""),
    "noise": data(random.Random(2).randbytes(500)),
    "zeros": data(bytes(100)),
    "a word": text("study"),
    "a colon too many": text("study: x: y\n"),
    "a quote without end": text('study: "x\n'),
    "an object of Python": text("study: !!python/object/apply:os.system ['touch hacked']\n"),
    "an unknown tag": text("study: !env HOME\n"),
    "an alias without an anchor": text("study: *x\n"),
    "an alias of itself": text("study: x\ncorpora: &a {own: *a}\n"),
    "aliases that explode": text("".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]\n" for n in range(9)) + "study: x\n"),
    "deep": text("study: x\nseeds: " + "[" * 5000 + "]" * 5000 + "\n"),
    "two documents": text("study: a\n---\nstudy: b\n"),
    "JSON cut off": text('{"study": "a", '),
    "a number of 5,000 digits": text("study: a\nseeds: [" + "9" * 5000 + "]\n"),
    "a column that no row has": text(f"study: a\ncorpora: {{own: {{columns: {{body: x}}, {FILES}}}}}\n"),
}  # fmt: skip


def _keys() -> list[list[str]]:
    """Return the path of every key of a configuration; a name that a study chooses is ``own``."""
    found = filter(None, (re.match(r"\| `([^`]+)`", line) for line in reference()))
    return [
        ["own" if part.startswith("<") else part for part in row[1].split("/")] for row in found
    ]


def _with(path: list[str], value: Any) -> dict[str, Any]:
    study = copy.deepcopy(STUDY)
    inner: Any = study
    for key in path[:-1]:
        inner[key] = inner = inner.get(key) or {}
    inner[path[-1]] = value
    return study


def cases(random_: random.Random) -> Iterator[Case]:
    yield from _configurations(random_)
    yield from _models()


def _configurations(random_: random.Random) -> Iterator[Case]:
    def files(make: Callable[[str], Any]) -> Callable[[], Any]:
        names = ("good", "train", "valid", "test")
        return lambda: (make("s.yaml"), [text(TEXT)(f"{name}.jsonl") for name in names])

    for name, make in TEXTS.items():
        for command in ("validate", "estimate")[: 1 + (random_.random() < 0.3)]:
            yield Case(f"{command}: {name}", [command, "s.yaml"], files(make))
    yield Case("validate: a folder", ["validate", "s.yaml"], files(lambda name: Path(name).mkdir()))
    yield Case(
        "validate: as it is", ["validate", "s.yaml"], files(text(yaml.safe_dump(STUDY))), "read"
    )
    for number, path in enumerate(_keys()):
        value = random_.choice(ODD)
        make = text(yaml.safe_dump(_with(path, value), allow_unicode=True))
        shown = "/".join(map(str, path))
        yield Case(
            f"validate {number}: {shown} is {value!r:.40}",
            ["validate", "s.yaml"],
            files(make),
            "either",
        )


def tiny_model(folder: Path) -> Path:
    """Make the smallest trained extractor that there is."""
    from tripleaudit.extractors.casrel import CasRel
    from tripleaudit.testing import build_extractor, save_tiny_encoder

    model = build_extractor(CasRel, save_tiny_encoder(folder / "encoder"))
    model.save_pretrained(folder / "model")
    return folder / "model"


MODEL: list[Path] = []  # where the model lies, once it is made


FAULTS: dict[str, Callable[[bytes], bytes | None]] = {  # of a file of a model, by its content
    "gone": lambda content: None,
    "empty": lambda content: b"",
    "noise": lambda content: random.Random(3).randbytes(2000),
    "cut off": lambda content: content[: len(content) // 2],
}


def _of_config(**values: Any) -> tuple[str, Callable[[bytes], bytes]]:
    return "config.json", lambda content: json.dumps({**json.loads(content), **values}).encode()


def _models() -> Iterator[Case]:
    def damaged(change: Callable[[Path], Any]) -> Callable[[], Any]:
        return lambda: (shutil.copytree(MODEL[0], "m"), change(Path("m")), text(TEXT)("good.jsonl"))

    def edited(name: str, change: Callable[[bytes], bytes | None]) -> Callable[[], Any]:
        def edit(folder: Path) -> None:
            content = change((folder / name).read_bytes())
            (folder / name).unlink() if content is None else (folder / name).write_bytes(content)

        return damaged(edit)

    config, weights, words = names = ("config.json", "model.safetensors", "tokenizer.json")
    changes = {
        **{
            f"{name} is {said}": (name, change) for name in names for said, change in FAULTS.items()
        },
        "config is UTF-16": (config, lambda content: content.decode().encode("utf-16")),
        "config is a list": (config, lambda content: b"[1]"),
        "config is deep": (config, lambda content: b"[" * 100_000),
        "weights have no end of their head": (
            weights,
            lambda content: content[: len(content) // 2000],
        ),
        "weights are a pickle": (weights, lambda content: b"\x80\x04\x95cos\nsystem\n."),
        "tokenizer is an object": (words, lambda content: b"{}"),
        "one relation more": _of_config(relations=["a", "b", "c", "d", "e", "f", "g"]),
        "no relations": _of_config(relations=[]),
        "relations are a number": _of_config(relations=3),
        "relations twice": _of_config(relations=["a", "a"]),
        "another extractor": _of_config(model_type="tripleaudit-prgc"),
    }
    extract = ["extract", "--model", "m", "tim cook leads apple", "--gpu", "0"]
    for name, (file, change) in changes.items():
        yield Case(f"extract: {name}", extract, edited(file, change))
    yield Case("extract: nothing there", extract, damaged(shutil.rmtree))
    yield Case(
        "extract: a file",
        extract,
        damaged(lambda folder: (shutil.rmtree(folder), folder.write_text("x"))),
    )
    predict = ["predict", "--model", "m", "--data", "good.jsonl", "--out", "good.jsonl"]
    for name, argv, expect in (
        ("as it is", extract, "read"),
        ("no input", ["extract", "--model", "m", "--input", "gone.jsonl"], "refused"),
        ("a gate that is gone", ["extract", "--model", "m", "x", "--gate", "gone"], "refused"),
        (
            "a module that is gone",
            ["extract", "--model", "m", "x", "--module", "gone.py:X"],
            "refused",
        ),
        (
            "a module without a class",
            ["extract", "--model", "m", "x", "--module", "good.jsonl"],
            "refused",
        ),
        ("a surrogate", ["extract", "--model", "m", "a \udcff b", "--gpu", "0"], "either"),
        ("an empty text", ["extract", "--model", "m", "", "--gpu", "0"], "either"),
        ("a long text", ["extract", "--model", "m", "apple " * 5000, "--gpu", "0"], "either"),
        ("predict: over its source", predict, "refused"),
    ):
        yield Case(f"extract: {name}", argv, damaged(lambda folder: None), expect)
