"""Registries of what can be added, by name and in order; and plugins, which add to them.

The registry of a kind finds the built-in descriptors in its home modules, and those of plugins in
files anywhere. A study lists such files (or installed entry points of the group
``tripleaudit.plugins``) under ``plugins:``, the console command takes ``--plugin``; both hand them
to every later process in ``TRIPLEAUDIT_PLUGINS``. A plugin is Python that runs with the user's
rights, like an extractor of one's own.
"""

import dataclasses
import importlib
import os
import pkgutil
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Generic, TypeVar

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.modules import entry_point, load_file

VARIABLE: Final = "TRIPLEAUDIT_PLUGINS"
GROUP: Final = "tripleaudit.plugins"
REGISTRIES: Final[list["Registry[Any]"]] = []


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """What all kinds have.

    Attributes:
        name: by which a study, a command or a file calls it. label: as people read it; empty for
        the name. order: position among its kind, as the papers have it; additions come last.
        module, file: where it stands, set by its registry: a module of the package, or the file of
        a plugin.
    """

    name: str
    label: str = ""
    order: float = float("inf")
    module: str = field(default="", compare=False)
    file: str = field(default="", compare=False)


D = TypeVar("D", bound=Descriptor)


class Registry(Mapping[str, D], Generic[D]):
    """All descriptors of one kind by name, in their order; built-in ones are found at the first
    look.

    Args:
        kind: class of the descriptors.
        word: for the kind, in messages.
        homes: modules that hold built-in ones; ``package.*`` stands for every module of a package.
        referred: ``(name, "file.py:Class") -> descriptor`` of a plugin that is loaded when it is
            needed.
    """

    def __init__(
        self,
        kind: type[D],
        word: str,
        *homes: str,
        referred: Callable[[str, str], D] | None = None,
    ) -> None:
        self.kind, self.word, self.homes, self.referred = kind, word, homes, referred
        self._found: dict[str, D] = {}
        self._loaded = False
        REGISTRIES.append(self)

    def add(
        self, descriptor: D, *, module: str = "", file: str = "", replace: bool = False
    ) -> None:
        """Make a descriptor known; with ``replace``, in place of another one of its name.

        Raises:
            UserError: another one has its name.
        """
        known = None if replace else self._found.get(descriptor.name)
        if known is not None and (known != descriptor or known.file != file):
            where = f"of {known.file}" if known.file else "that is built in"
            raise UserError(
                f"{file or module}: the {self.word} {descriptor.name!r} has the name of one {where}"
            )
        if known is None:
            self._found[descriptor.name] = dataclasses.replace(descriptor, module=module, file=file)

    def home_modules(self) -> list[str]:
        """The modules that hold built-in descriptors."""
        names: list[str] = []
        for home in self.homes:
            if home.endswith(".*"):
                package = importlib.import_module(home[:-2])
                names += [
                    f"{home[:-2]}.{info.name}"
                    for info in pkgutil.iter_modules(package.__path__)
                    if not info.ispkg
                ]
            else:
                names.append(home)
        return names

    def _all(self) -> dict[str, D]:
        if not self._loaded:
            self._loaded = True
            try:
                for name in self.home_modules():
                    for descriptor in _descriptors_in(importlib.import_module(name)):
                        if isinstance(descriptor, self.kind):
                            self.add(descriptor, module=name)
                for item in filter(None, os.environ.get(VARIABLE, "").split(";")):
                    _load_plugin(item)
            except BaseException:
                self._loaded = False
                raise
        return self._found

    def __getitem__(self, name: str) -> D:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all(), key=lambda name: self._found[name].order))

    def __len__(self) -> int:
        return len(self._all())

    def need(self, name: str, where: str = "") -> D:
        """Return the descriptor of a name.

        Raises:
            UserError: there is none; the message has the close names and all of them.
        """
        if name in self:
            return self[name]
        raise UserError(f"{where}unknown {self.word} {name!r}{hint(name, self)}")


_plugins: set[str] = set()  # those that are loaded, as they are named


def use_plugins(items: Iterable[str]) -> None:
    """Load plugins, and have every process that is started from now on load them, too.

    Args:
        items: files, ``name=file.py:Class`` for an extractor that is loaded when it is trained or
            used, or names of installed entry points of the group ``tripleaudit.plugins``.

    Raises:
        UserError: a plugin is missing, cannot be loaded, adds nothing, or adds a name that is
            taken.
    """
    absolute = list(map(_absolute, items))
    for item in absolute:
        _load_plugin(item)
    known = [item for item in os.environ.get(VARIABLE, "").split(";") if item]
    if absolute:
        os.environ[VARIABLE] = ";".join(dict.fromkeys([*known, *absolute]))


def _load_plugin(item: str) -> None:
    if item in _plugins:
        return
    name, equals, reference = item.partition("=")
    if equals:
        file = reference.rpartition(":")[0]
        if not Path(file).is_file():
            raise UserError(
                f"plugin {item}: expected NAME=path/to/file.py:Class; {file or reference}: no such file"
            )
        refer = next(registry.referred for registry in REGISTRIES if registry.referred)
        added = [refer(name, reference)]
    else:
        module = load_file(item) if _is_path(item) else entry_point(item, GROUP)
        file = item if _is_path(item) else str(module.__file__)
        added = [one for one in _descriptors_in(module) if not one.module and not one.file]
        if not added:
            kinds = ", ".join(registry.kind.__name__ for registry in REGISTRIES)
            raise UserError(
                f"plugin {item}: adds nothing; expected at its top level one of {kinds}"
            )
    _register(added, file)
    _plugins.add(item)


def _register(added: list[Descriptor], file: str) -> None:
    """Add all descriptors of a file, or none that does not fit."""
    for descriptor in added:
        if wrong := _misfit(descriptor):
            raise UserError(f"{file}: {type(descriptor).__name__} {descriptor.name!r}: {wrong}")
        if not re.fullmatch(r"\w[\w.-]*", descriptor.name, re.ASCII):
            expected = "letters, digits, '.', '_' and '-', starting with a letter or digit"
            raise UserError(f"{file}: {descriptor.name!r} is no name; expected {expected}")
    for descriptor in added:
        next(one for one in REGISTRIES if isinstance(descriptor, one.kind)).add(
            descriptor, file=file
        )


def _descriptors_in(module: ModuleType) -> Iterator[Descriptor]:
    for value in list(vars(module).values()):
        parts = value if isinstance(value, tuple | list) else (value,)
        yield from (part for part in parts if isinstance(part, Descriptor))


def _is_path(item: str) -> bool:
    return item.endswith(".py") or os.sep in item


def _absolute(item: str) -> str:
    name, equals, reference = item.rpartition("=")
    return (
        f"{name}{equals}{os.path.realpath(reference)}"
        if _is_path(reference.rpartition(":")[0] or reference)
        else item
    )


def _misfit(record: Any) -> str:
    """Return what is wrong with the first field of a data class that holds what its type
    forbids, else nothing.
    """
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    kinds = typing.get_type_hints(type(record))
    for name in (one.name for one in dataclasses.fields(record)):
        value, kind = getattr(record, name), kinds[name]
        try:
            TypeAdapter(kind, config=ConfigDict(arbitrary_types_allowed=True)).validate_python(
                value
            )
        except ValidationError as error:
            return f"{name} is {value!r}; {error.errors()[0]['msg'].replace('Input should be', 'expected')}"
    return ""
