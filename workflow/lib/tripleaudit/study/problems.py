"""Sentences about what cannot work in a study, as all sections say them: ``section/key: what is
wrong``.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.shipped import shipped


def unknown(
    where: str, what: str, name: str | None, known: Iterable[str], more: str = ""
) -> Iterator[str]:
    """Yield a sentence about a name that is not among the known ones; nothing of None."""
    if name is not None and name not in (known := list(known)):
        yield f"{where}: unknown {what} '{name}'{more}{hint(name, known)}"


def refused(where: str, function: Callable[..., Any], *given: Any) -> Iterator[str]:
    """Yield what a function says against what it is given."""
    try:
        function(*given)
    except UserError as error:
        yield f"{where}: {error}"


def missing(where: str, path: str | None) -> Iterator[str]:
    """Yield a sentence about a file that is not there; nothing of None."""
    if path and not Path(shipped(path)).is_file():
        yield f"{where}: {path}: no such file"
