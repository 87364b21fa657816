"""The commands of ``docs/evaluate.md``, run as they stand."""

import shlex
import shutil
from pathlib import Path

import pytest

from support.docs import sections
from support.scored import make_study
from tripleaudit.cli import main

PAGE = sections(Path(__file__).resolve().parents[3] / "docs" / "evaluate.md")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files and studies that the page names."""
    folder = tmp_path_factory.mktemp("page")
    make_study(folder / "results/before", {"casrel": 0.9})
    make_study(folder / "results/after", {"casrel": 0.8})
    run = "predictions/c/original-nz/casrel/none/seed1/test.jsonl"
    for name, study in (("mine", "before"), ("theirs", "after")):
        shutil.copy(folder / "results" / study / run, folder / f"{name}.jsonl")
    shutil.copy(folder / "results/before/protocols/c/original/wz/test.jsonl", folder / "gold.json")
    shutil.copy(folder / "results/before/protocols/c/original/nz/train.jsonl", folder / "train.json")
    return folder


@pytest.mark.parametrize("title", ["Compare", "Bundle"])
def test_the_commands_of_the_page(folder, title, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (block,) = PAGE[title]
    lines = [shlex.split(line) for line in block.text.splitlines()]
    assert len(lines) >= 4
    for program, *arguments in lines:
        gate = "--fail-below" in arguments  # which the second study does not pass
        assert (program, main(arguments)) == ("tripleaudit", 3 if gate else 0), arguments
        assert capsys.readouterr().out
