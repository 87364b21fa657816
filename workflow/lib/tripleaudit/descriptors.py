"""What can be added, with all that is about it: tables, extractors, protocols, matching rules, scores, formats …

A descriptor is a frozen record at the top level of the module that it describes (or in a tuple there), with all that
the rest of the program asks: label, place in the paper's order, inputs, when it is possible, question and answer. The
registry of a kind finds the built-in descriptors in its home modules, and those of plugins in files anywhere::

    from tripleaudit.descriptors import MatchingRule

    FOLDED = MatchingRule(name="folded", note="Entities are compared without case.", reduce=lambda s: s.text.lower())

A study lists such files (or installed entry points of the group ``tripleaudit.plugins``) under ``plugins:``, the
console command takes ``--plugin``; both hand them to every later process in ``TRIPLEAUDIT_PLUGINS``. A plugin is
Python that runs with the user's rights, like an extractor of one's own.
"""

import dataclasses
import difflib
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Generic, TypeVar

from tripleaudit.errors import UserError

VARIABLE: Final = "TRIPLEAUDIT_PLUGINS"
GROUP: Final = "tripleaudit.plugins"


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """What all kinds have.

    Attributes:
        name: by which a study, a command or a file calls it.
        label: as people read it; empty for the name.
        order: place among its kind, as the papers have it; additions come last.
        module, file: where it stands, set by its registry: a module of the package, or the file of a plugin.
    """

    name: str
    label: str = ""
    order: float = float("inf")
    module: str = field(default="", compare=False)
    file: str = field(default="", compare=False)


def _always(study: Any) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class TableSpec(Descriptor):
    """A table: one question, printed.

    Attributes:
        build: ``(TableInputs) -> Table``.
        needs: the kind of files that it is made from: ``audits`` (of the data), ``scores`` (of extractors), ``runs``
            (facts of trainings), ``gre`` (GREScores), ``needles`` or ``collection``.
        possible: ``(study) -> bool``, whether a study can fill it.
        question: that the report asks over the table.
        answer: ``(TableInputs) -> str``, computed from the values; empty for a table that speaks for itself.
    """

    build: Callable[[Any], Any]
    needs: str = "scores"
    possible: Callable[[Any], bool] = _always
    question: str = "What does this table show?"
    answer: Callable[[Any], str] = lambda inputs: ""


@dataclass(frozen=True, kw_only=True)
class ExtractorSpec(Descriptor):
    """An extractor, or a classifier of sentences, that a study trains.

    Attributes:
        model: the class, or where it is found when it is needed: ``package.module:Class`` or ``file.py:Class``.
        base: name under which its class saves models and under which its presets stand; empty for ``name``.
        fields: of the model's configuration that the name implies.
        training: settings of the training that the name implies.
        presets: name -> settings; those of the built-in extractors lie in the package's data.
        classifier: whether it says only which sentences have triples.
        rte_order, cardinality_order: place in the tables of rte-generalization and of zero-cardinality.
        reported: name in the files of reported values.
    """

    model: str | type
    base: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    classifier: bool = False
    rte_order: float = float("inf")
    cardinality_order: float = float("inf")
    reported: str = ""


@dataclass(frozen=True, kw_only=True)
class ProtocolSpec(Descriptor):
    """A protocol: from the splits of a corpus to other training, validation and test sets.

    Attributes:
        build: ``(splits, *, option=…) -> (splits, details)``.
        options: that a study or command may give; by default the keyword-only parameters of ``build``.
        inputs: keyword parameters of ``build`` that are files or data, no options: ``masked_lm``, ``vectors`` and
            ``encoder`` (folders and a file), ``raw`` (sentences of the raw corpus; for the command line alone).
        pattern: regular expression of further names that mean this protocol, such as ``sift-…``.
        defaults: name -> options that the name implies.
        train: whether extractors are trained on its own training set; else those of the original split are tested.
        published: whether a corpus may come with published sets of it, which ``source: published`` takes as they are.
    """

    build: Callable[..., Any]
    options: tuple[str, ...] = ()
    pattern: str = ""
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    train: bool = True
    published: bool = False

    def __post_init__(self) -> None:
        if not self.options:
            object.__setattr__(self, "options", tuple(self._parameters()))

    @property
    def required(self) -> list[str]:
        """The options without a default."""
        return [name for name, one in self._parameters().items() if one.default is one.empty]

    def means(self, name: str) -> bool:
        """Whether a name of a study stands for this protocol."""
        return name == self.name or bool(self.pattern and re.fullmatch(self.pattern, name))

    def _parameters(self) -> dict[str, inspect.Parameter]:
        parameters = inspect.signature(self.build).parameters
        return {
            name: one for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY and name not in self.inputs
        }


@dataclass(frozen=True, kw_only=True)
class MatchingRule(Descriptor):
    """A rule about when a predicted triple counts as correct: both sides are reduced, then compared as sets.

    Attributes:
        reduce: ``(Span) -> Hashable``, what is compared of an entity.
        note: under every table that is scored by it.
        typed: whether it compares types of entities; runs whose gold or predicted entities have none go without it.
    """

    reduce: Callable[[Any], Hashable]
    note: str = ""
    typed: bool = False


@dataclass(frozen=True, kw_only=True)
class Baseline(Descriptor):
    """A system that learns nothing, as a row beside those that do.

    Attributes:
        predict: ``(training sentences, test sentences) -> Iterable``, for each test sentence its triples, or of a
            classifier the score in [0, 1] that it has any.
        classifier: whether it says only which sentences have triples.
        note: under every table that has it.
    """

    predict: Callable[[Any, Any], Iterable[Any]]
    classifier: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class GreScore(Descriptor):
    """A score of generative extraction.

    Attributes:
        compute: ``(Evaluation) -> Iterable[float] | None``, one value for each text that counts; None where an input
            is missing.
        column: place among the tables' columns; ``order`` is that in the scores file.
        scale, digits: of the table's cells.
        reported: name in the paper's tables.
        note: what the score is, in the notes of the tables.
    """

    compute: Callable[[Any], Iterable[float] | None]
    column: float = float("inf")
    scale: float = 100
    digits: int = 1
    reported: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class CorpusFormat(Descriptor):
    """A format of corpus files.

    Attributes:
        read: ``(path, **options) -> Iterator[RawSentence]``.
        options: names of the options that ``read`` understands.
        detects: ``(Probe) -> bool``, whether a file looks like this format; None for a format that must be named.
        keys: of every object of the format, where it consists of objects; a refusal names formats that come near.
    """

    read: Callable[..., Iterator[Any]]
    options: tuple[str, ...] = ()
    detects: Callable[[Any], bool] | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Command(Descriptor):
    """A command of the console program.

    Attributes:
        help: one line.
        configure: ``(argparse.ArgumentParser) -> None``.
        run: ``(argparse.Namespace) -> int | None``.
    """

    help: str
    configure: Callable[[Any], None]
    run: Callable[[Any], int | None]


D = TypeVar("D", bound=Descriptor)


class Registry(Mapping[str, D], Generic[D]):
    """All descriptors of one kind by name, in their order; built-in ones are found at the first look.

    Args:
        kind: class of the descriptors.
        word: for the kind, in messages.
        homes: modules that hold built-in ones; ``package.*`` stands for every module of a package.
    """

    def __init__(self, kind: type[D], word: str, *homes: str) -> None:
        self.kind, self.word, self.homes = kind, word, homes
        self._found: dict[str, D] = {}
        self._loaded = False

    def add(self, descriptor: D, *, module: str = "", file: str = "", replace: bool = False) -> None:
        """Make a descriptor known; with ``replace``, in place of another one of its name.

        Raises:
            UserError: another one has its name.
        """
        known = None if replace else self._found.get(descriptor.name)
        if known is not None and (known != descriptor or known.file != file):
            where = f"of {known.file}" if known.file else "that is built in"
            raise UserError(f"{file or module}: the {self.word} {descriptor.name!r} has the name of one {where}")
        if known is None:
            self._found[descriptor.name] = dataclasses.replace(descriptor, module=module, file=file)

    def remove(self, name: str) -> None:
        """Forget a descriptor."""
        del self._found[name]

    def home_modules(self) -> list[str]:
        """The modules that hold built-in descriptors."""
        names: list[str] = []
        for home in self.homes:
            if home.endswith(".*"):
                package = importlib.import_module(home[:-2])
                names += [
                    f"{home[:-2]}.{info.name}" for info in pkgutil.iter_modules(package.__path__) if not info.ispkg
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
                _load_named_plugins()
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
        raise UserError(f"{where}unknown {self.word} {name!r}{suggestion(name, self)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return what a message about an unknown name goes on with: a close name, or all of them."""
    known = list(known)
    close = difflib.get_close_matches(name, known, 1)
    return f", did you mean '{close[0]}'?" if close else f"; known are {', '.join(known) or 'none'}"


TABLES: Final = Registry(TableSpec, "table", "tripleaudit.tables.builders.*")
EXTRACTORS: Final = Registry(ExtractorSpec, "extractor", "tripleaudit.extractors.catalogue")
PROTOCOLS: Final = Registry(ProtocolSpec, "protocol", "tripleaudit.protocols.*")
MATCHINGS: Final = Registry(MatchingRule, "matching rule", "tripleaudit.scoring.matching")
BASELINES: Final = Registry(Baseline, "baseline", "tripleaudit.scoring.baselines")
GRE_SCORES: Final = Registry(GreScore, "GREScore", "tripleaudit.grescores.evaluate")
FORMATS: Final = Registry(CorpusFormat, "corpus format", "tripleaudit.corpora.readers.*")
COMMANDS: Final = Registry(Command, "command")
REGISTRIES: Final[tuple[Registry[Any], ...]] = (
    TABLES,
    EXTRACTORS,
    PROTOCOLS,
    MATCHINGS,
    BASELINES,
    GRE_SCORES,
    FORMATS,
    COMMANDS,
)

_plugins: dict[str, list[Descriptor]] = {}  # file of each loaded plugin -> what it adds


def use_plugins(items: Iterable[str]) -> None:
    """Load plugins, and have every process that is started from now on load them, too.

    Args:
        items: files, ``name=file.py:Class`` for an extractor that is loaded when it is trained or used, or names of
            installed entry points of the group ``tripleaudit.plugins``.

    Raises:
        UserError: a plugin is missing, cannot be loaded, adds nothing, or adds a name that is taken.
    """
    absolute = list(map(_absolute, items))
    for item in absolute:
        _load_plugin(item)
    known = [item for item in os.environ.get(VARIABLE, "").split(";") if item]
    if absolute:
        os.environ[VARIABLE] = ";".join(dict.fromkeys([*known, *absolute]))


def plugin_files(*kinds: type[Descriptor]) -> list[str]:
    """Return the files of the plugins in use that add one of these kinds; of any kind without arguments.

    What such a file holds decides results like the code of the package.
    """
    _load_named_plugins()
    return [file for file, added in _plugins.items() if not kinds or any(isinstance(one, kinds) for one in added)]


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
        module = importlib.import_module(source)
    if not hasattr(module, attribute):
        raise UserError(f"{source}: has no class {attribute!r}")
    return getattr(module, attribute)


def load_file(path: str | Path) -> ModuleType:
    """Import a Python file that lies anywhere, once for each process.

    Raises:
        UserError: it is missing, no Python file, or fails while it is imported.
    """
    file = Path(path).resolve()
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
    try:
        spec.loader.exec_module(module)
    except UserError:
        del sys.modules[name]
        raise
    except Exception as error:
        del sys.modules[name]
        raise UserError(f"plugin {path}{_line_of(error, file)}: cannot be loaded ({_words(error)})") from error
    return module


def _load_named_plugins() -> None:
    for item in os.environ.get(VARIABLE, "").split(";"):
        if item:
            _load_plugin(item)


def _load_plugin(item: str) -> None:
    name, equals, reference = item.partition("=")
    if equals:
        file = reference.rpartition(":")[0]
        if file in _plugins and any(one.name == name for one in _plugins[file]):
            return
        if not Path(file).is_file():
            raise UserError(f"plugin {item}: expected NAME=path/to/file.py:Class; {file or reference}: no such file")
        _register([ExtractorSpec(name=name, model=reference)], file)
        return
    if item in _plugins:
        return
    module = load_file(item) if _is_path(item) else _entry_point(item)
    file = item if _is_path(item) else str(module.__file__)
    added = [one for one in _descriptors_in(module) if not one.module and not one.file]
    if not added:
        kinds = ", ".join(registry.kind.__name__ for registry in REGISTRIES)
        raise UserError(f"plugin {item}: adds nothing; expected at its top level one of {kinds}")
    _register(added, file)
    _plugins.setdefault(item, _plugins[file])


def _register(added: list[Descriptor], file: str) -> None:
    """Add all descriptors of a file, or none of them."""
    _plugins.setdefault(file, []).extend(added)
    done: list[tuple[Registry, str]] = []
    try:
        for descriptor in added:
            registry = next(one for one in REGISTRIES if isinstance(descriptor, one.kind))
            new = descriptor.name not in registry
            registry.add(descriptor, file=file)
            done += [(registry, descriptor.name)] * new
    except UserError:
        for registry, name in done:
            registry.remove(name)
        del _plugins[file]
        raise


def _entry_point(name: str) -> ModuleType:
    found = importlib.metadata.entry_points(group=GROUP)
    if name not in found.names:
        raise UserError(
            f"plugin {name!r}: no file and no installed entry point of the group {GROUP}; installed are "
            f"{', '.join(sorted(found.names)) or 'none'}"
        )
    try:
        return importlib.import_module(found[name].module)
    except Exception as error:
        raise UserError(f"plugin {name}: cannot be loaded ({_words(error)})") from error


def _descriptors_in(module: ModuleType) -> Iterator[Descriptor]:
    for value in list(vars(module).values()):
        parts = value if isinstance(value, tuple | list) else (value,)
        yield from (part for part in parts if isinstance(part, Descriptor))


def _is_path(item: str) -> bool:
    return item.endswith(".py") or os.sep in item


def _absolute(item: str) -> str:
    name, equals, reference = item.rpartition("=")
    return f"{name}{equals}{Path(reference).resolve()}" if _is_path(reference.rpartition(":")[0] or reference) else item


def _line_of(error: Exception, file: Path) -> str:
    if isinstance(error, SyntaxError):
        return f" line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f" line {lines[-1]}" if lines else ""


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"
