"""Registration of specs: those that ship, those of installed plugins and those of a study's files.

A spec is a frozen dataclass that describes one entry of a kind: a table, an extractor, a protocol,
a matching rule, a connection to systems or a corpus format. The module ``spec.py`` of a package
defines the class of a kind and its registry, which lists the modules with the specs that ship.

A plugin is a Python file with specs at its top level::

    from tripleaudit.scoring.spec import MatchingRule

    FOLDED = MatchingRule(
        name="folded",
        note="Entities are compared without case.",
        reduce=lambda span: span.text.lower(),
    )

A study lists such files under ``plugins:``, or the names of entry points that installed packages
have in the group ``tripleaudit.plugins``; the console command takes ``--plugin``. Both pass the
plugins to later processes in ``TRIPLEAUDIT_PLUGINS``. A plugin runs with the user's permissions.
"""

import dataclasses
import importlib
import os
import re
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Generic, TypeVar

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.modules import entry_point, load_attribute, load_file

VARIABLE: Final = "TRIPLEAUDIT_PLUGINS"
GROUP: Final = "tripleaudit.plugins"
SPEC_MODULES: Final = (
    "tripleaudit.tables.spec",
    "tripleaudit.extractors.spec",
    "tripleaudit.protocols.spec",
    "tripleaudit.scoring.spec",
    "tripleaudit.systems.spec",
    "tripleaudit.corpora.spec",
)
"""Modules with a spec class and its registry, imported by name because they build on this one."""

_loaded_plugins: set[str] = set()


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Fields that the specs of all kinds share.

    Attributes:
        name: Name in studies, commands and files.
        label: Name in tables and reports; the name if empty.
        order: Position among the specs of the kind. Plugins come last by default.
        module: Module of the package that defines the spec; set by the registry.
        file: File of the plugin that defines the spec; set by the registry.
    """

    name: str
    label: str = ""
    order: float = float("inf")
    module: str = field(default="", compare=False)
    file: str = field(default="", compare=False)


S = TypeVar("S", bound=Spec)


class Registry(Mapping[str, S], Generic[S]):
    """All specs of one kind by name, in their order.

    Args:
        kind: Class of the specs.
        word: Name of the kind in messages.
        shipped: Modules with the specs that ship, imported when the registry is first read.
    """

    def __init__(self, kind: type[S], word: str, shipped: Iterable[str]) -> None:
        self.kind = kind
        self.word = word
        self.shipped = tuple(shipped)
        self._specs: dict[str, S] = {}
        self._loaded = False

    def load(self) -> dict[str, S]:
        """Return all specs by name, unordered; import those that ship and plugins if needed."""
        if self._loaded:
            return self._specs
        self._loaded = True  # modules that are imported below may read the registry
        try:
            for module in self.shipped:
                for spec in specs_in(importlib.import_module(module)):
                    if isinstance(spec, self.kind):
                        self.add(spec, module=module)
            for plugin in plugins_in_environment():
                _load_plugin(plugin)
        except BaseException:
            self._loaded = False
            raise
        return self._specs

    def add(self, spec: S, *, module: str = "", file: str = "", replace: bool = False) -> None:
        """Register a spec; the same one from the same file again changes nothing.

        Args:
            spec: The spec.
            module: Module of the package that defines it.
            file: File of the plugin that defines it.
            replace: Replace a spec of the same name.

        Raises:
            UserError: Another spec has the name.
        """
        registered = self._specs.get(spec.name)
        if registered is None or replace:
            self._specs[spec.name] = dataclasses.replace(spec, module=module, file=file)
        elif registered != spec or registered.file != file:
            origin = f"of {registered.file}" if registered.file else "that is built in"
            raise UserError(
                f"{file or module}: the {self.word} {spec.name!r} has the name of one {origin}"
            )

    def need(self, name: str, where: str = "") -> S:
        """Return the spec of a name.

        Raises:
            UserError: The name is unknown; the message suggests close names.
        """
        if name not in self:
            raise UserError(f"{where}unknown {self.word} {name!r}{hint(name, self)}")
        return self[name]

    def __getitem__(self, name: str) -> S:
        return self.load()[name]

    def __iter__(self) -> Iterator[str]:
        specs = self.load()
        return iter(sorted(specs, key=lambda name: specs[name].order))

    def __len__(self) -> int:
        return len(self.load())


def registries() -> list[Registry[Any]]:
    """Return the registries of all kinds."""
    all_registries: list[Registry[Any]] = []
    for module in SPEC_MODULES:
        values = vars(importlib.import_module(module)).values()
        all_registries += [value for value in values if isinstance(value, Registry)]
    return all_registries


def specs_in(module: ModuleType) -> list[Spec]:
    """Return the specs at the top level of a module, alone or in lists and tuples."""
    specs: list[Spec] = []
    for value in list(vars(module).values()):
        items = value if isinstance(value, list | tuple) else [value]
        specs += [item for item in items if isinstance(item, Spec)]
    return specs


def use_plugins(plugins: Iterable[str]) -> None:
    """Load plugins here and in every process that is started from now on.

    Args:
        plugins: Python files; names of installed entry points of the group
            ``tripleaudit.plugins``; or ``name=file.py:Class`` for an extractor whose file is loaded
            when it is trained or used.

    Raises:
        UserError: A plugin is missing, cannot be loaded, adds nothing, has an invalid field, or
            adds a name that is taken.
    """
    absolute = [_absolute(plugin) for plugin in plugins]
    for plugin in absolute:
        _load_plugin(plugin)
    if absolute:
        unique = dict.fromkeys([*plugins_in_environment(), *absolute])
        os.environ[VARIABLE] = ";".join(unique)


def plugins_in_environment() -> list[str]:
    """Return the plugins that the parent process passed on."""
    return [plugin for plugin in os.environ.get(VARIABLE, "").split(";") if plugin]


def _load_plugin(plugin: str) -> None:
    if plugin in _loaded_plugins:
        return
    if "=" in plugin:
        _add_extractor(plugin)
    elif _is_path(plugin):
        _add_specs(plugin, load_file(plugin), plugin)
    else:
        module = entry_point(plugin, GROUP)
        _add_specs(plugin, module, str(module.__file__))
    _loaded_plugins.add(plugin)


def _add_extractor(plugin: str) -> None:
    """Register ``name=file.py:Class`` without loading the file."""
    name, _, reference = plugin.partition("=")
    file = reference.rpartition(":")[0]
    if not Path(file).is_file():
        raise UserError(
            f"plugin {plugin}: expected NAME=path/to/file.py:Class; {file or reference}: no such file"
        )
    extractors = load_attribute("tripleaudit.extractors.spec:EXTRACTORS", "registry")
    spec = extractors.kind(name=name, model=reference)
    _validate(spec, file)
    extractors.add(spec, file=file)


def _add_specs(plugin: str, module: ModuleType, file: str) -> None:
    """Register all specs of a module, or none if one is invalid.

    Specs that the module has read from a registry are left out: they are registered already.
    """
    specs = [spec for spec in specs_in(module) if not spec.module and not spec.file]
    if not specs:
        kinds = ", ".join(registry.kind.__name__ for registry in registries())
        raise UserError(f"plugin {plugin}: adds nothing; expected at its top level one of {kinds}")
    for spec in specs:
        _validate(spec, file)
    for registry in registries():
        for spec in specs:
            if isinstance(spec, registry.kind):
                registry.add(spec, file=file)


def _validate(spec: Spec, file: str) -> None:
    """Check the types of the fields of a spec, and the characters of its name.

    Raises:
        UserError: A field has another type than its annotation, or the name is invalid.
    """
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    annotations = typing.get_type_hints(type(spec))
    for attribute in dataclasses.fields(spec):
        name = attribute.name
        value = getattr(spec, name)
        adapter = TypeAdapter[Any](
            annotations[name], config=ConfigDict(arbitrary_types_allowed=True)
        )
        try:
            adapter.validate_python(value)
        except ValidationError as error:
            problem = error.errors()[0]["msg"].replace("Input should be", "expected")
            raise UserError(
                f"{file}: {type(spec).__name__} {spec.name!r}: {name} is {value!r}; {problem}"
            ) from None
    if not re.fullmatch(r"\w[\w.-]*", spec.name, re.ASCII):
        expected = "letters, digits, '.', '_' and '-', starting with a letter or digit"
        raise UserError(f"{file}: {spec.name!r} is no name; expected {expected}")


def _is_path(plugin: str) -> bool:
    return plugin.endswith(".py") or os.sep in plugin


def _absolute(plugin: str) -> str:
    """Return ``file.py`` or ``name=file.py:Class`` with an absolute path, and a name unchanged."""
    name, equals, reference = plugin.rpartition("=")
    file = reference.rpartition(":")[0] or reference
    if not _is_path(file):
        return plugin
    return f"{name}{equals}{os.path.realpath(reference)}"
