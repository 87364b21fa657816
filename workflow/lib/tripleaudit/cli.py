"""The console command: finds a command by its name and runs it.

A command is a module of :mod:`tripleaudit.commands` with ``HELP`` (one line), ``configure(parser)``
and ``run(args) -> int | None``, or a step, which only the workflow calls
(:mod:`tripleaudit.steps`). ``--plugin FILE`` before the name of a command adds what a file brings
(:mod:`tripleaudit.core.registries`).

Only the module of the command at hand is imported, and modules import nothing heavy at the top.
What is done here finds a command and hands it its arguments as they are; it counts to no result, so
nothing that could alter one belongs here.
"""

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import NoReturn

from tripleaudit import __version__, commands
from tripleaudit.core import files, outputs, storage
from tripleaudit.core.arguments import check_paths
from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.registries import use_plugins
from tripleaudit.steps import STEPS, add_step

REMOVED_COMMANDS = {
    "bundle": "zip the folder of the study, or publish it with `hf upload`",
    "gold-noise": "check counts suspicious gold triples",
}
"""Removed command -> what replaces it."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a command line in one sentence, without the list of all its
    options.
    """

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}; {self.prog} --help explains it\n")


def command_names() -> list[str]:
    """Return the names of the commands that users and the workflow have: modules of ``commands``
    and steps.
    """
    return [
        *(info.name.replace("_", "-") for info in pkgutil.iter_modules(commands.__path__)),
        *STEPS,
    ]


def build_parser(name: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands, or, where ``name`` is a command, of this one alone."""
    parser = Parser(
        prog="tripleaudit",
        description="Audit relational-triple extraction.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tripleaudit {__version__}")
    text = "a file, or an installed entry point, that adds tables, formats, …; may be repeated"
    parser.add_argument("--plugin", action="append", metavar="FILE", help=text)
    subparsers = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands"
    )
    internal = {}
    named = command_names()
    for command in [name] if name in named else sorted(named):
        if command in STEPS:
            internal[command] = STEPS[command].help
            if name == command:
                add_step(
                    subparsers.add_parser(command, description=STEPS[command].help),
                    STEPS[command].function,
                )
        else:
            module = importlib.import_module(f"{commands.__name__}.{command.replace('-', '_')}")
            subparser = subparsers.add_parser(command, help=module.HELP, description=module.HELP)
            module.configure(subparser)
            subparser.set_defaults(run=module.run)
    parser.epilog = "used by the workflow:\n" + "\n".join(
        f"  {name:<24}{text}" for name, text in internal.items()
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; print a :class:`UserError` as one line and return 1."""
    argv = sys.argv[1:] if argv is None else list(argv)
    command = None
    try:
        plugins = []
        while (
            argv[:1] == ["--plugin"] and len(argv) > 1 or argv and argv[0].startswith("--plugin=")
        ):
            _, equals, file = argv.pop(0).partition("=")
            plugins.append(file if equals else argv.pop(0))
        use_plugins(plugins)
        command = argv[0] if argv else None
        if command and not command.startswith("-") and command not in (known := command_names()):
            if command in REMOVED_COMMANDS:
                raise UserError(f"{command}: this command was removed; {REMOVED_COMMANDS[command]}")
            raise UserError(f"unknown command {command!r}{hint(command, known)}")
        parser = build_parser(command)
        if "_ARGCOMPLETE" in os.environ:  # a shell asks how a command line goes on
            import argcomplete

            argcomplete.autocomplete(parser)
        args = parser.parse_args(argv)
        check_paths(vars(args))
        with files.reading_else_as(getattr(args, "encoding", None)):
            outputs.claim_options(command or "", vars(args))
            status = args.run(args) or 0
            outputs.release_claims()
            return status
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except (
        BrokenPipeError
    ):  # the reader of our output went away, as in `tripleaudit audit … | head`
        sys.stderr.close()
        return 0
    except Exception as error:
        message = storage.sentence(error)
        if isinstance(error, ModuleNotFoundError):
            from tripleaudit.core import extras

            message = extras.advice(error, command or "")
        if message is None and isinstance(error, OSError) and error.filename is not None:
            message = f"{str(error.filename)[:200]}: {error.strerror}"
        if message is None:
            raise
        print(f"error: {message}", file=sys.stderr)
        return 1
