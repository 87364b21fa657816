"""The console command: finds the sub-commands of :mod:`tripleaudit.commands` and runs one of them.

A sub-command is a module with ``HELP`` (one line), ``configure(parser)`` and ``run(args) -> int | None``. Modules
import nothing heavy at the top, so that ``tripleaudit --help`` stays fast.
"""

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence

from tripleaudit import __version__, commands, extras
from tripleaudit.errors import UserError
from tripleaudit.machine import storage


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with one sub-parser for each module of ``tripleaudit.commands``."""
    parser = argparse.ArgumentParser(prog="tripleaudit", description="Audit relational-triple extraction.")
    parser.add_argument("--version", action="version", version=f"tripleaudit {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for info in sorted(pkgutil.iter_modules(commands.__path__), key=lambda item: item.name):
        module = importlib.import_module(f"{commands.__name__}.{info.name}")
        name = info.name.replace("_", "-")
        subparser = subparsers.add_parser(name, help=module.HELP, description=module.HELP)
        module.configure(subparser)
        subparser.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command; print a :class:`UserError` as one line and return 1."""
    args = build_parser().parse_args(argv)
    try:
        return args.run(args) or 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output went away, as in `tripleaudit audit … | head`
        sys.stderr.close()
        return 0
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError)
        message = extras.advice(error, args.command) if missing else storage.sentence(error)
        if message is None:
            raise
        print(f"error: {message}", file=sys.stderr)
        return 1
