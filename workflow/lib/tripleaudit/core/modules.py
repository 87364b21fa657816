"""Python code from files, ``module:name`` references and entry points; errors are sentences.

What such a file holds decides results and counts with them; how it is found does not.
"""

import contextlib
import importlib
import importlib.metadata
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from tripleaudit.core.errors import UserError


def load_attribute(reference: str, what: str) -> Any:
    """Return ``package.module:name`` or ``path/to/file.py:name``; the latter runs the file's code.

    Args:
        what: it is, for the error message, such as ``extractor``.

    Raises:
        UserError: there is no such file, module or name, or the file cannot be loaded.
    """
    source, _, attribute = reference.rpartition(":")
    if not source or not attribute:
        raise UserError(f"{reference!r} names no {what}; expected path/to/file.py:Class")
    if source.endswith(".py") or os.sep in source:
        if not Path(source).is_file():
            raise UserError(f"{source}: no such file ({what} {attribute})")
        module = load_file(source)
    else:
        with _explained(source):
            module = importlib.import_module(source)
    if not hasattr(module, attribute):
        raise UserError(f"{source}: has no class {attribute!r}")
    return getattr(module, attribute)


def load_file(path: str | Path) -> ModuleType:
    """Import a Python file that lies anywhere, once for each process.

    Raises:
        UserError: it is missing, no Python file, or fails while it is imported.
    """
    file = Path(os.path.realpath(path))
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(file):
            return module
    if not file.is_file():
        raise UserError(f"plugin {path}: no such file")
    # Classes of the module must be found by worker processes and by pickle under its name.
    name = f"tripleaudit_plugin_{file.stem}"
    while name in sys.modules:
        name += "_"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UserError(f"plugin {path}: expected a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(file.parent) not in sys.path:
        sys.path.append(
            str(file.parent)
        )  # it may import what lies next to it, wherever the study runs
    try:
        with _explained(f"plugin {path}", file):
            spec.loader.exec_module(module)
    except UserError:
        del sys.modules[name]
        raise
    return module


def entry_point(name: str, group: str) -> ModuleType:
    """Import the module of an installed entry point.

    Raises:
        UserError: none of the group has this name, or its module fails while it is imported.
    """
    entry_points = importlib.metadata.entry_points(group=group)
    if name not in entry_points.names:
        raise UserError(
            f"plugin {name!r}: no file and no installed entry point of the group {group}; installed are "
            f"{', '.join(sorted(entry_points.names)) or 'none'}"
        )
    with _explained(f"plugin {name}"):
        return importlib.import_module(entry_points[name].module)


@contextlib.contextmanager
def _explained(what: str, file: Path | None = None) -> Iterator[None]:
    """Turn errors of an import into one sentence, with the line of ``file``."""
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        words, lines = str(error), [frame.lineno for frame in frames if frame.filename == str(file)]
        if isinstance(error, SyntaxError):
            words, lines = error.msg, [error.lineno]
        line = f" line {lines[-1]}" if file and lines and lines[-1] else ""
        raise UserError(
            f"{what}{line}: cannot be loaded ({type(error).__name__}: {words})"
        ) from error
