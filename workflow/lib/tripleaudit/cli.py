"""Console command that finds a command by its name and runs it.

A command is a module of :mod:`tripleaudit.commands` with ``HELP`` (one line), ``configure(parser)``
and ``run(args) -> int | None``, listed in :data:`GROUPS`. The workflow also calls steps
(:mod:`tripleaudit.steps`), which ``--help`` leaves out. ``--plugin FILE`` before the name of a
command loads what a file adds (:mod:`tripleaudit.core.plugins`).

Only the module of the called command is imported, and modules import nothing heavy at the top.
This module must not influence results: it passes arguments on unchanged, and the code digests of
jobs ignore it (:mod:`tripleaudit.core.code`).
"""

import argparse
import errno
import importlib
import os
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import NoReturn

from tripleaudit import commands
from tripleaudit.core import files, memory, outputs, storage
from tripleaudit.core.addresses import clean_addresses, clean_log_records
from tripleaudit.core.arguments import check_paths
from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.plugins import use_plugins
from tripleaudit.core.version import __version__
from tripleaudit.steps import STEPS, add_step


@dataclass(frozen=True)
class Group:
    """Commands for one purpose, with an example of how to start."""

    title: str
    example: str
    commands: tuple[str, ...]


GROUPS = (
    Group(
        "Evaluate predictions",
        "tripleaudit score test.jsonl predictions.jsonl --train train.jsonl",
        ("score", "compare", "which", "relations", "gre-score", "gre-lda", "minea", "needles"),
    ),
    Group(
        "Inspect and prepare data",
        "tripleaudit check train.jsonl valid.jsonl test.jsonl",
        ("check", "audit", "split", "prepare", "export", "fetch"),
    ),
    Group(
        "Run studies",
        "tripleaudit run demo --cores 2",
        ("run", "validate", "list", "estimate", "report", "claims", "verify", "config-reference"),
    ),
    Group(
        "Train and extract",
        "tripleaudit extract --input texts.txt --model models/casrel --json",
        (
            "extract",
            "train",
            "predict",
            "compact",
            "collection",
            "train-mlm",
            "check-extractor",
        ),
    ),
)
REMOVED_COMMANDS = {
    "bundle": "zip the folder of the study, or publish it with `hf upload`",
    "gold-noise": "check counts suspicious gold triples",
}
"""Removed command -> what replaces it."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells give it."""
REMOVED_OPTIONS = {
    ("collection", "--share"): "the workers of a job share its GPU (--workers)",
    ("estimate", "--config"): "name the study by itself, as in tripleaudit estimate STUDY.yaml",
    ("estimate", "--section"): "name a study that has only this section",
    ("fetch", "--attempts"): "a failed download is repeated by itself",
    ("fetch", "--content"): "--model fetches the files of a model, --source those of a data set",
    ("gre-score", "--factualness-by"): "one judge is used; score again with its --factualness",
    ("gre-score", "--samples"): "score the answers of a second judge or seed in a second run",
    ("minea", "--model-dir"): "--gguf names a local model",
    ("minea", "--samples"): "run again with another --seed",
    ("predict", "--gate"): "`tripleaudit extract --gate` filters sentences by a classifier",
    ("predict", "--relation-chunk"): "lower --batch-size if memory is short",
    ("predict", "--tell"): "it is now called --schema-of-test",
    ("prepare", "--keep-duplicates"): "repeated triples of a sentence are counted in --report",
    ("prepare", "--max-length"): "`tripleaudit check --encoder` counts triples that are cut off",
    ("prepare", "--tokenizer"): "`tripleaudit check --encoder` counts triples that are cut off",
    ("report", "--facts"): "the facts are read from the study's folder",
    ("train", "--train-zero"): "join the files, --train takes one",
}
"""Command and removed option -> what replaces it."""
HELP_INDENT = 20
HELP_WIDTH = 100


class Parser(argparse.ArgumentParser):
    """Parser whose errors are one sentence without the list of all options."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}; {self.prog} --help explains it\n")


def command_names() -> list[str]:
    """Return the names of all commands and steps."""
    return [name for group in GROUPS for name in group.commands] + list(STEPS)


def build_parser(name: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of one command or step; of all commands if the name is unknown or None."""
    parser = Parser(
        prog="tripleaudit",
        description="Check corpora, score predictions and compare extractors of relational triples.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="tripleaudit [--plugin FILE] COMMAND ...",
    )
    parser.add_argument("--version", action="version", version=f"tripleaudit {__version__}")
    text = "Python file or installed plugin with formats, tables, systems, ...; may be repeated"
    parser.add_argument("--plugin", action="append", metavar="FILE", help=text)
    subparsers = parser.add_subparsers(
        prog="tripleaudit", dest="command", required=True, metavar="COMMAND", help=argparse.SUPPRESS
    )
    if name in STEPS:
        step = STEPS[name]
        add_step(subparsers.add_parser(name, description=step.help), step.function)
        return parser
    is_command = name in command_names()
    paragraphs = []
    for group in GROUPS:
        group_commands = [
            command for command in group.commands if command == name or not is_command
        ]
        if not group_commands:
            continue
        lines = [f"{group.title}:", f"  $ {group.example}"]
        for command in group_commands:
            module = command_module(command)
            subparser = subparsers.add_parser(command, description=module.HELP)
            module.configure(subparser)
            subparser.set_defaults(run=module.run)
            lines.append(_help_entry(command, module.HELP))
        paragraphs.append("\n".join(lines))
    paragraphs.append("tripleaudit COMMAND --help shows the options of a command")
    parser.epilog = "\n\n".join(paragraphs)
    return parser


def command_module(command: str) -> ModuleType:
    """Import the module of a command."""
    return importlib.import_module(f"{commands.__name__}.{command.replace('-', '_')}")


def _help_entry(command: str, text: str) -> str:
    """Return one command with its description, wrapped and indented."""
    return textwrap.fill(
        text,
        HELP_WIDTH,
        initial_indent=f"  {command}".ljust(HELP_INDENT),
        subsequent_indent=" " * HELP_INDENT,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; print a :class:`UserError` as one line and return 1."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    command = None
    clean_log_records()
    try:
        plugins, arguments = split_plugins(arguments)
        use_plugins(plugins)
        command = arguments[0] if arguments else None
        if command and not command.startswith("-"):
            check_command(command)
            check_options(command, arguments[1:])
        parser = build_parser(command)
        if "_ARGCOMPLETE" in os.environ:  # a shell asks for completions
            import argcomplete

            argcomplete.autocomplete(parser)
        args, unknown = parser.parse_known_args(arguments)
        if unknown:
            parser.prog = f"tripleaudit {command}"  # whose help explains the error
            parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        check_paths(vars(args))
        with files.reading_else_as(getattr(args, "encoding", None)):
            outputs.claim_options(command or "", vars(args))
            status = args.run(args) or 0
            outputs.release_claims()
            return status
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of the output closed it, as `head` does
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        message = explain(error, command or "")
        if message is None:
            raise
        print(f"error: {clean_addresses(message)}", file=sys.stderr)
        return 1


def split_plugins(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the values of leading ``--plugin`` options, and the remaining arguments."""
    plugins = []
    rest = arguments
    while rest:
        option, equals, value = rest[0].partition("=")
        if option != "--plugin":
            break
        if equals:
            plugins.append(value)
            rest = rest[1:]
        elif len(rest) > 1:
            plugins.append(rest[1])
            rest = rest[2:]
        else:
            break
    return plugins, rest


def check_command(command: str) -> None:
    """Reject a name that is not a command.

    Raises:
        UserError: the command was removed or never existed.
    """
    names = command_names()
    if command in names:
        return
    if command in REMOVED_COMMANDS:
        raise UserError(f"{command}: this command was removed; {REMOVED_COMMANDS[command]}")
    public_names = [name for name in names if name not in STEPS]
    raise UserError(f"unknown command {command!r}{hint(command, public_names)}")


def check_options(command: str, arguments: Sequence[str]) -> None:
    """Reject an option that the command had in an earlier version.

    Raises:
        UserError: the option was removed; the message names its replacement.
    """
    for argument in arguments:
        option = argument.partition("=")[0]
        replacement = REMOVED_OPTIONS.get((command, option))
        if replacement is not None:
            raise UserError(f"{command} {option}: this option was removed; {replacement}")


def explain(error: Exception, command: str) -> str | None:
    """Return one sentence about an expected failure; None for a defect of the program."""
    message = storage.sentence(error)
    if isinstance(error, ModuleNotFoundError):
        from tripleaudit.core import extras

        message = extras.advice(error, command)
    if message is None and isinstance(error, OSError) and error.filename is not None:
        message = f"{str(error.filename)[:200]}: {error.strerror}"
    if message is None and isinstance(error, OSError) and error.errno == errno.EIO:
        message = f"a file cannot be read or written ({error.strerror}); check the disk"
    if message is None and memory.is_out_of_memory(error):
        message = f"{command}: out of memory; use less data, a smaller model or more memory"
    return message
