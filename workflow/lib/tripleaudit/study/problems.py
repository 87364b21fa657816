"""Functions that the checks of all sections share; a problem is ``section/key: description``."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class LeftOut:
    """Values that do not fit their type and were left out of a configuration.

    Each of them is a problem already, so no check may report a second problem because the value is
    absent.

    Attributes:
        locations: keys from the top level to each value, joined by ``/``.
    """

    locations: frozenset[str] = frozenset()

    def includes(self, *locations: str) -> bool:
        """Return whether one of these values was left out, alone or with a section around it."""
        for location in locations:
            keys = location.split("/")
            around = ["/".join(keys[:depth]) for depth in range(1, len(keys) + 1)]
            if not self.locations.isdisjoint(around):
                return True
        return False

    def includes_entry_of(self, section: str) -> bool:
        """Return whether a section or one of its entries was left out."""
        parents = {location.rpartition("/")[0] for location in self.locations}
        return section in parents or self.includes(section)

    def unknown(
        self,
        where: str,
        what: str,
        name: str | None,
        known: Iterable[str],
        *,
        section: str,
        more: str = "",
    ) -> Iterator[str]:
        """Yield a sentence about a reference to an entry that a section does not have.

        Args:
            where: location of the reference.
            what: word for the entries, such as ``endpoint``.
            name: the name that the reference gives; None is no problem.
            known: names of the entries that fit.
            section: location of the section, such as ``generative/endpoints``.
            more: words that follow the name.
        """
        if not self.includes(f"{section}/{name}"):
            yield from unknown(where, what, name, known, more)
