"""The console command: its help, the steps of the workflow, completion."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tripleaudit import cli, steps


def test_commands_of_users_and_of_the_workflow_stand_apart_in_the_help(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    users, _, workflow = capsys.readouterr().out.partition("used by the workflow:")
    assert "\n    audit " in users and "\n    predict " in users
    for name in steps.STEPS:
        assert f"\n  {name} " in workflow
        assert f"\n    {name} " not in users


@pytest.mark.parametrize("command", ["bundle", "gold-noise"])
def test_a_removed_command_is_refused_with_what_replaces_it(command, capsys):
    assert cli.main([command, "a.jsonl"]) == 1
    error = capsys.readouterr().err
    assert (
        error.startswith(f"error: {command}: this command was removed; ")
        and len(error.splitlines()) == 1
    )


@pytest.mark.parametrize("step", steps.STEPS)
def test_every_step_has_a_function_with_options(step, capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main([step, "--help"])
    assert "\n  --" in capsys.readouterr().out


def test_options_of_a_step_follow_from_its_signature(monkeypatch, capsys):
    called = []

    def function(
        paths: Sequence[str | Path],
        keys: Mapping[str, Any],
        out: str | Path,
        seed: int = 3,
        dry_run: bool = False,
    ) -> None:
        called.append((paths, keys, out, seed, dry_run))

    monkeypatch.setitem(steps.STEPS, "try-it", steps.Step("steps:function", "a step"))
    monkeypatch.setattr(steps, "function", function, raising=False)
    arguments = ["try-it", "--paths", "a", "b", "--keys", '{"x": 1}', "--out", "o"]
    assert cli.main(arguments) == 0
    assert cli.main([*arguments, "--seed", "4", "--dry-run"]) == 0
    assert called == [(["a", "b"], {"x": 1}, "o", 3, False), (["a", "b"], {"x": 1}, "o", 4, True)]
    assert cli.main(["try-it", "--paths", "--keys", "{", "--out", "o"]) == 1
    assert capsys.readouterr().err.startswith("error: --keys: not valid JSON")
    with pytest.raises(SystemExit, match="2"):
        cli.main(["try-it", "--paths", "a"])


REQUIRED = {  # which options are, test_arguments keeps
    "audit": "required: TRAIN, TEST",
    "needles": "required: STEP",
    "collection run f --out o": "--model --system is required",
    "prepare --out o": "--source --corpus is required",
    "fetch --out o": "--source --model --raw is required",
}


@pytest.mark.parametrize(("given", "said"), REQUIRED.items())
def test_what_a_command_cannot_do_without_is_named(capsys, given, said):
    with pytest.raises(SystemExit, match="2"):
        cli.main(given.split())
    assert f"{said}; tripleaudit" in capsys.readouterr().err


def test_a_mistyped_command_gets_a_close_one(capsys):
    assert cli.main(["audti", "corpus.jsonl"]) == 1
    assert capsys.readouterr().err == "error: unknown command 'audti', did you mean 'audit'?\n"


def test_the_schema_for_editors_is_indented_and_keeps_its_signs(capsys):
    assert cli.main(["config-reference", "--json-schema"]) == 0
    text = capsys.readouterr().out
    assert (
        text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
        and not text.isascii()
    )


def test_a_command_gets_its_arguments_as_they_are(monkeypatch):
    """The way to a command counts to no result, so it may neither add nor change anything."""
    from tripleaudit.commands import audit, split

    for module in (audit, split):
        called = []
        monkeypatch.setattr(module, "run", called.append)
        name = module.__name__.rpartition(".")[2]
        parser = argparse.ArgumentParser()
        module.configure(parser)
        options = [part for action in parser._actions if action.required for part in _given(action)]
        assert cli.main([name, *options]) == 0
        of_the_way = {"command": name, "run": called.append, "plugin": None}
        assert vars(called[0]) == vars(parser.parse_args(options)) | of_the_way


def _given(action: argparse.Action) -> list[str]:
    value = str(action.choices[0] if action.choices else 1)
    return [*action.option_strings[:1], value]


def test_only_the_module_of_the_command_is_imported():
    script = (
        "import sys; from tripleaudit import cli; cli.build_parser('audit'); print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [name for name in loaded if name.startswith("tripleaudit.commands.")] == [
        "tripleaudit.commands.audit"
    ]


def test_a_shell_learns_commands_and_options(tmp_path):
    def completed(line: str) -> set[str]:
        answers = tmp_path / "answers"
        environment = {
            "_ARGCOMPLETE": "1",
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
            "_ARGCOMPLETE_IFS": "\n",
        }
        environment |= {"_ARGCOMPLETE_STDOUT_FILENAME": str(answers)}
        script = "import sys; sys.argv = ['tripleaudit']; from tripleaudit.cli import main; main()"
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, **environment}, check=True
        )
        return set(answers.read_text().split())

    assert {"split", "score"} <= completed("tripleaudit s")
    assert "--format" in completed("tripleaudit audit --")
