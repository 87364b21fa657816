"""Parts that the checks of all sections share; a problem reads ``section/key: what is wrong``."""

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


def declared(names: Iterable[str], section: str, incomplete: Iterable[str]) -> list[str]:
    """Return the names of a section's entries, of those too that lack a required key.

    An incomplete entry has a problem of its own, so a reference to it is no second one.

    Args:
        names: the complete entries.
        section: location of the section, such as ``generative/endpoints``.
        incomplete: locations of all incomplete entries.
    """
    prefix = f"{section}/"
    more = [place.removeprefix(prefix) for place in incomplete if place.startswith(prefix)]
    return [*names, *more]
