"""Options of all commands: numbers have ranges; nothing is written over what is read, or among
what lies there.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tripleaudit.cli import build_parser, main
from tripleaudit.commands.train import TRAINED_FILES
from tripleaudit.core.arguments import Real, Whole, check_folder, check_paths
from tripleaudit.core.errors import UserError


def options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from ((f"{name} {place}".strip(), found) for place, found in options(inner))
        else:
            yield "", action


def test_every_number_has_a_range() -> None:
    found = [
        (place, action)
        for place, action in options(build_parser())
        if isinstance(action.type, Whole | Real)
    ]
    assert len(found) > 60
    bare = [
        f"{place} {action.dest}"
        for place, action in options(build_parser())
        if action.type in (int, float)
    ]
    assert not bare
    for place, action in found:  # a default that its own option refused would be a trap
        for value in action.default if isinstance(action.default, list) else [action.default]:
            assert value is None or action.type(str(value)) == value, f"{place} {action.dest}"


def test_the_default_that_a_help_names_is_the_one_that_is_taken() -> None:
    named = 0
    for place, action in options(build_parser()):
        found = re.search(r"\((?:default: )?(-?\d[\d.]*)(?:, as published)?\)$", action.help or "")
        if found and action.default is not None:
            named += 1
            assert float(found[1]) == float(action.default), f"{place} {action.option_strings}"
    assert named > 40


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Whole(1, 9), {"1": 1, "9": 9}, ("0", "10", "1.5", "x", "", "nan", "-1", "9" * 5000)),
        (Whole(), {"0": 0, "100000000000": 10**11}, ("-1",)),
        (Real(0, 1), {"0": 0, "1": 1, "1e-3": 0.001}, ("-0.1", "1.1", "nan", "inf", "x")),
        (Real(open=True), {"0.5": 0.5}, ("0", "-1", "inf")),
    ],
)
def test_a_range_takes_its_ends_and_refuses_the_rest(
    kind, good: dict[str, float], bad: tuple[str, ...]
) -> None:
    for text, value in good.items():
        assert kind(text) == value
    for text in bad:
        with pytest.raises(
            argparse.ArgumentTypeError, match=r"^expected a (whole )?number .*, got '.{0,41}'$"
        ):
            kind(text)


def test_a_wrong_number_is_one_sentence(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["extract", "text", "--batch-size", "0"])
    assert capsys.readouterr().err == (
        "error: argument --batch-size: expected a whole number of at least 1, got '0'; "
        "tripleaudit extract --help explains it\n"
    )


def test_a_source_is_not_written_over(tmp_path: Path, refused) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "Ann saw Bob", "triples": [["Ann", "saw", "Bob"]]}\n')
    link = tmp_path / "b.jsonl"
    link.symlink_to(source)
    before = source.read_bytes()
    for out in (source, link, tmp_path / ".." / tmp_path.name / "a.jsonl"):
        assert "would be written over (--out)" in refused(
            "prepare", "--source", source, "--out", out
        )
    assert source.read_bytes() == before
    check_paths(
        {"name": "demo", "out": "demo", "facts": "{" + "x" * 5000 + "}"}
    )  # a name and a text are no files


def test_a_name_with_an_equals_sign_is_a_path_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("1", "a=1"):
        Path(folder).mkdir()
        Path(folder, "x").touch()
    check_paths({"out": "1/x", "source": "a=1/x"})
    for read in ("a=1/x", ["kind=a=1/x"]):
        with pytest.raises(UserError, match=r"a=1/x: this file would be written over \(--out\)"):
            check_paths({"out": "a=1/x", "file": read})
    check_paths({"out": "a=1/new", "report": "b=1/new", "out_train": "", "out_valid": ""})
    with pytest.raises(UserError, match="new: this file would be written over"):
        check_paths({"out": "new", "report": "./new"})


def test_a_filled_folder_needs_force(tmp_path: Path) -> None:
    check_folder(tmp_path / "new", False)
    check_folder(tmp_path, False)
    (tmp_path / "train.jsonl").write_text("x")
    with pytest.raises(
        UserError, match="holds something already; expected an empty or new one, or --force"
    ):
        check_folder(tmp_path, False)
    check_folder(tmp_path, True)
    check_folder(tmp_path, False, own=("train.jsonl",))
    (tmp_path / "model").mkdir()
    (tmp_path / "model/tokenizer.json").write_text(
        "{}"
    )  # what a workflow leaves of a training that it makes again
    check_folder(tmp_path / "model", False, own=TRAINED_FILES)
    with pytest.raises(UserError, match="is read and would be written over"):
        check_folder(tmp_path, True, [tmp_path / "train.jsonl"], ["train.jsonl"])
    with pytest.raises(UserError, match="this is a file, expected a folder"):
        check_folder(tmp_path / "train.jsonl", True)
