"""The spec of a connection to systems that need no training, and the registry of connections."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from tripleaudit.core.plugins import Registry, Spec


@dataclass(frozen=True, kw_only=True)
class SystemKind(Spec):
    """A way to run or read a system that needs no training; systems of a study have its key.

    Attributes:
        answer: ``(Query) -> Answered`` (:mod:`tripleaudit.systems.queries`), the triples of every
            sentence of a test set. A ``UserError`` leaves the system's row empty, with its message.
        options: Further keys of such a system.
        files: ``(settings) -> Iterable[str]``, files among the settings that determine the
            answers.
        problems: ``(settings) -> Iterable[str]``, ``key: sentence`` for each setting that cannot
            work; asked before anything runs.
        network: Whether the system needs a network, so that its jobs are not sent to compute nodes.
        takes_schema: Whether the system can be given the relations to extract.
    """

    answer: Callable[[Any], Any]
    options: tuple[str, ...] = ()
    files: Callable[[Any], Iterable[str]] = lambda settings: ()
    problems: Callable[[Any], Iterable[str]] = lambda settings: ()
    network: bool = False
    takes_schema: bool = False


SYSTEM_KINDS: Final = Registry(
    SystemKind,
    "kind of system",
    shipped=[
        "tripleaudit.systems.language_model",
        "tripleaudit.systems.programs",
        "tripleaudit.systems.service",
        "tripleaudit.systems.stored",
    ],
)
