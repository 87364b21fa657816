"""The console command: its help, the steps of the workflow, completion."""

import argparse
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tripleaudit import cli, commands, steps


def test_help_shows_four_groups_of_commands_and_no_steps(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    text = capsys.readouterr().out
    assert len(cli.GROUPS) == 4
    for group in cli.GROUPS:
        section = text.partition(f"{group.title}:")[2].partition("\n\n")[0]
        listed = re.findall(r"(?m)^  ([a-z-]+)  ", section)
        assert listed == list(group.commands)
        assert section.count("$ tripleaudit ") == 1
    for name in steps.STEPS:
        assert f"  {name} " not in text


@pytest.mark.parametrize("group", cli.GROUPS, ids=lambda group: group.title)
def test_the_example_of_a_group_is_a_command_line_of_it(group):
    program, command, *options = group.example.split()
    assert program == "tripleaudit"
    assert command in group.commands
    cli.build_parser(command).parse_args([command, *options])


def test_every_command_module_is_listed():
    files = pkgutil.iter_modules(commands.__path__)
    modules = [importlib.import_module(f"tripleaudit.commands.{file.name}") for file in files]
    names = {
        module.__name__.rpartition(".")[2].replace("_", "-")
        for module in modules
        if hasattr(module, "configure")
    }
    assert names == {name for group in cli.GROUPS for name in group.commands}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("corpora", "webnlg"),
        ("extractors", "casrel"),
        ("studies", "demo"),
        ("systems", "endpoint"),
        ("tables", "type-f1"),
        ("profiles", "slurm"),
    ],
)
def test_names_are_listed_with_a_description(kind, name, capsys):
    assert cli.main(["list", kind]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(re.match(rf"{name}  +\S", line) for line in lines)


def test_corpora_are_listed_with_their_licences(capsys):
    assert cli.main(["list", "corpora"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names, licences = lines[::2], lines[1::2]
    assert all(line[0] != " " for line in names)
    assert all(line.strip().startswith("licence: ") for line in licences)
    webnlg = next(number for number, line in enumerate(names) if line.startswith("webnlg "))
    assert "CC BY-NC-SA 4.0" in licences[webnlg]


@pytest.mark.parametrize("command", ["bundle", "gold-noise"])
def test_a_removed_command_is_refused_with_what_replaces_it(command, capsys):
    assert cli.main([command, "a.jsonl"]) == 1
    error = capsys.readouterr().err
    assert (
        error.startswith(f"error: {command}: this command was removed; ")
        and len(error.splitlines()) == 1
    )


@pytest.mark.parametrize(("command", "option"), cli.REMOVED_OPTIONS)
@pytest.mark.parametrize("value", [["3"], []], ids=["value", "no-value"])
def test_a_removed_option_is_refused_with_what_replaces_it(command, option, value, capsys):
    assert cli.main([command, option, *value]) == 1
    replacement = cli.REMOVED_OPTIONS[command, option]
    sentence = f"error: {command} {option}: this option was removed; {replacement}\n"
    assert capsys.readouterr().err == sentence
    assert cli.main([command, f"{option}=3"]) == 1
    assert capsys.readouterr().err == sentence
    with pytest.raises(SystemExit, match="0"):
        cli.main([command, "--help"])
    assert not re.search(rf"{option}\b(?!-)", capsys.readouterr().out)


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
    "fetch --out o": "--source --model --raw --data-set is required",
}


@pytest.mark.parametrize(("given", "said"), REQUIRED.items())
def test_what_a_command_cannot_do_without_is_named(capsys, given, said):
    with pytest.raises(SystemExit, match="2"):
        cli.main(given.split())
    assert f"{said}; tripleaudit" in capsys.readouterr().err


def test_a_mistyped_command_gets_a_close_one(capsys):
    assert cli.main(["audti", "corpus.jsonl"]) == 1
    assert capsys.readouterr().err == "error: unknown command 'audti', did you mean 'audit'?\n"
    assert cli.main(["query"]) == 1
    listed = capsys.readouterr().err.rpartition("known are ")[2].strip().split(", ")
    assert set(listed) == {name for group in cli.GROUPS for name in group.commands}


def test_an_argument_too_many_is_answered_by_the_help_of_its_command(capsys):
    with pytest.raises(SystemExit) as error:
        cli.main(["which", "gold.csv", "b=beta.jsonl"])
    assert error.value.code == 2
    message = capsys.readouterr().err
    assert "b=beta.jsonl" in message and message.endswith("tripleaudit which --help explains it\n")


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


def test_a_failing_disk_is_one_sentence_with_the_file(capsys):
    """Reading ``/proc/self/mem`` fails as a broken disk does."""
    source = "/proc/self/mem"
    assert cli.main(["prepare", "--source", source, "--out", "x", "--report", "y"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {source}: cannot be read (") and error.count("\n") == 1


def test_an_interrupted_command_ends_with_130_and_one_sentence(tmp_path, capsys):
    plugin = tmp_path / "interrupted.py"
    plugin.write_text("raise KeyboardInterrupt", encoding="utf-8")  # as Ctrl-C does
    assert cli.main(["--plugin", str(plugin), "check", "corpus.jsonl"]) == 130
    assert capsys.readouterr().err == "error: interrupted\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_of_a_run_is_shown_before_and_after_the_study(capsys, option):
    assert cli.main(["run", "minea", option]) == 0
    after = capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["run", option])
    assert after == capsys.readouterr().out and "SNAKEMAKE OPTION" in after


@pytest.mark.parametrize("command", [name for group in cli.GROUPS for name in group.commands])
def test_help_names_no_source_folder_and_no_value_of_yaml(capsys, command):
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    text = capsys.readouterr().out
    assert not re.search(r"workflow/lib|data/registry|\bnull\b|do not do this", text)


def test_files_of_the_project_are_found_from_any_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = "resources/demo/valid.jsonl"
    assert cli.main(["prepare", "--source", source, "--out", "valid.jsonl"]) == 0
    assert cli.main(["relations", source, "valid.jsonl"]) == 0
    assert cli.main(["score", source, "valid.jsonl"]) == 0
    assert "born_in" in capsys.readouterr().out
