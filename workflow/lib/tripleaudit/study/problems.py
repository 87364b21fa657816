"""Functions that the checks of all sections share; a problem is ``section/key: description``."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.shipped import shipped


def unknown(
    where: str, what: str, name: str | None, known: Iterable[str], more: str = ""
) -> Iterator[str]:
    """Yield a sentence about a name that is not among the known ones; None is no problem."""
    names = list(known)
    if name is not None and name not in names:
        yield f"{where}: unknown {what} '{name}'{more}{hint(name, names)}"


def refused(where: str, function: Callable[..., Any], *arguments: Any) -> Iterator[str]:
    """Yield the message of the :class:`UserError` that a function raises for its arguments."""
    try:
        function(*arguments)
    except UserError as error:
        yield f"{where}: {error}"


def missing(where: str, path: str | None) -> Iterator[str]:
    """Yield a sentence about a file that does not exist; None is no problem."""
    if path and not Path(shipped(path)).is_file():
        yield f"{where}: {path}: no such file"


def declared(names: Iterable[str], section: str, incomplete: Iterable[str]) -> list[str]:
    """Return the names of a section's entries, including those that lack a required key.

    An incomplete entry is a problem itself, so a reference to it is no second problem.

    Args:
        names: the complete entries.
        section: location of the section, such as ``generative/endpoints``.
        incomplete: locations of all incomplete entries.
    """
    prefix = f"{section}/"
    locations = [location for location in incomplete if location.startswith(prefix)]
    return [*names, *(location.removeprefix(prefix) for location in locations)]
