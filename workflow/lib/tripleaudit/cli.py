"""The console command: finds a command by its name and runs it.

A command is a module of :mod:`tripleaudit.commands` with ``HELP`` (one line), ``configure(parser)`` and ``run(args) ->
int | None``; with ``INTERNAL = True``, it is one that only the workflow calls. A step of the workflow
(:mod:`tripleaudit.jobs`) is a function whose options follow from its signature: ``--name VALUE`` for each parameter,
several values for a sequence, JSON for a mapping, a switch for a truth value, and for a dataclass all that its fields
are. ``--plugin FILE`` before the name of a
command adds what a file brings, commands of its own among it (:mod:`tripleaudit.descriptors`).

Only the module of the command at hand is imported, and modules import nothing heavy at the top.
"""

import argparse
import dataclasses
import importlib
import inspect
import json
import logging
import os
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from tripleaudit import __version__, commands
from tripleaudit.arguments import Real, Whole, check_places
from tripleaudit.descriptors import COMMANDS, use_plugins
from tripleaudit.errors import UserError
from tripleaudit.machine import extras, storage

LOG_FORMAT = "%(asctime)s %(levelname)s %(message)s"


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a command line in one sentence, without the list of all its options."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}; {self.prog} --help explains it\n")


def build_parser(name: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands, or, where ``name`` is a command, of this one alone."""
    parser = Parser(
        prog="tripleaudit",
        description="Audit relational-triple extraction.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tripleaudit {__version__}")
    text = "a file, or an installed entry point, that adds tables, formats, commands, …; may be repeated"
    parser.add_argument("--plugin", action="append", metavar="FILE", help=text)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    modules = {info.name.replace("_", "-"): info.name for info in pkgutil.iter_modules(commands.__path__)}
    # a table of names, read when it is needed: a further step makes no result of the others anew
    steps = importlib.import_module(f"{__package__}.jobs").STEPS
    internal = {}
    named = {*modules, *steps}
    for command in [name] if name in named else sorted({*named, *COMMANDS}):
        if command not in named:
            added = COMMANDS[command]
            subparser = subparsers.add_parser(command, help=added.help, description=added.help)
            added.configure(subparser)
            subparser.set_defaults(run=added.run)
            continue
        if command in steps:
            internal[command] = steps[command].help
            if name == command:
                _add_step(subparsers.add_parser(command, description=steps[command].help), steps[command].function)
            continue
        module = importlib.import_module(f"{commands.__name__}.{modules[command]}")
        if getattr(module, "INTERNAL", False):
            internal[command] = module.HELP
            subparser = subparsers.add_parser(command, description=module.HELP)
        else:
            subparser = subparsers.add_parser(command, help=module.HELP, description=module.HELP)
        module.configure(subparser)
        subparser.set_defaults(run=module.run)
    parser.epilog = "used by the workflow:\n" + "\n".join(f"  {name:<22}{text}" for name, text in internal.items())
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; print a :class:`UserError` as one line and return 1."""
    argv = sys.argv[1:] if argv is None else list(argv)
    command = None
    try:
        plugins = []
        while argv[:1] == ["--plugin"] and len(argv) > 1:
            plugins.append(argv[1])
            argv = argv[2:]
        use_plugins(plugins)
        command = argv[0] if argv else None
        parser = build_parser(command)
        if "_ARGCOMPLETE" in os.environ:  # a shell asks how a command line goes on
            import argcomplete

            argcomplete.autocomplete(parser)
        args = parser.parse_args(argv)
        check_places(vars(args))
        return args.run(args) or 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output went away, as in `tripleaudit audit … | head`
        sys.stderr.close()
        return 0
    except Exception as error:
        message = extras.advice(error, command) if isinstance(error, ModuleNotFoundError) else storage.sentence(error)
        if message is None:
            raise
        print(f"error: {message}", file=sys.stderr)
        return 1


# steps of the workflow


def _add_step(parser: argparse.ArgumentParser, reference: str) -> None:
    """Give a parser the options of a step, and its function to run."""
    module, _, name = reference.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    groups = {name: _parameters(one.annotation) for name, one in _parameters(function).items()}
    for name, parameter in _parameters(function).items():
        for option in (groups[name] or {name: parameter}).values():
            _add_option(parser, option)

    def run(args: argparse.Namespace) -> None:
        logging.basicConfig(level=logging.INFO, format=LOG_FORMAT)
        given = {
            name: parameter.annotation(**{option: getattr(args, option) for option in groups[name]})
            if groups[name]
            else getattr(args, name)
            for name, parameter in _parameters(function).items()
        }
        function(**given)

    parser.set_defaults(run=run)


def _parameters(called: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function or a dataclass; none of any other type."""
    known = inspect.isfunction(called) or dataclasses.is_dataclass(called)
    return inspect.signature(called).parameters if known else {}


def _add_option(parser: argparse.ArgumentParser, parameter: inspect.Parameter) -> None:
    kind, required = str(parameter.annotation), parameter.default is parameter.empty
    option: dict[str, Any] = {"required": required, "default": None if required else parameter.default}
    if parameter.annotation is bool:
        option = {"action": "store_true"}
    elif "Mapping" in kind:
        option |= {"type": partial(_json, parameter.name), "metavar": "JSON"}
    elif "Sequence" in kind:
        option |= {"nargs": "*", "type": float if "float" in kind else str}
    elif parameter.annotation in (int, float):
        option["type"] = Whole() if parameter.annotation is int else Real()
    parser.add_argument(f"--{parameter.name.replace('_', '-')}", **option)


def _json(name: str, text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UserError(f"--{name}: not valid JSON ({error})") from error
    if not isinstance(value, dict | list):
        raise UserError(f"--{name}: expected a JSON object, got {text}")
    return value
