"""What can be added, with all that is about it: tables, extractors, protocols, matching rules,
corpus formats.

A descriptor is a frozen record at the top level of the module that it describes (or in a tuple there), with all that
the rest of the program asks: label, position in the paper's order, inputs, when it is possible::

    from tripleaudit.core.descriptors import MatchingRule

    FOLDED = MatchingRule(name="folded", note="Entities are compared without case.", reduce=lambda
    s: s.text.lower())

Built-in ones are found in the home modules that the registry of their kind names, others in plugins
(:mod:`tripleaudit.core.registries`).
"""

import inspect
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tripleaudit.core.registries import Descriptor, Registry


@dataclass(frozen=True)
class Headline:
    """A column of the report's matrix of systems and questions.

    Attributes:
        label: its heading.
        of: what a cell of the table must be of to stand there, such as ``{"stratum": "unseen"}``;
            ``column`` is the label of the table's column. Of several cells of a system, the first.
    """

    label: str
    of: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TableSpec(Descriptor):
    """A table: one question, printed.

    Attributes:
        build: ``(TableInputs) -> Table``.
        needs: the kind of files that it is made from: ``audits`` (of the data), ``scores`` (of
            extractors), ``runs`` (facts of trainings), ``classifiers`` (their curves), ``gre``
            (GREScores), ``needles`` or ``collection``.
        possible: ``(study) -> bool``, whether a study can fill it.
        question: heading of the table's section in the report.
        overview: what of it stands in the report's matrix; by default the first column that
            measures systems, None for a table that does not compare systems.
    """

    build: Callable[[Any], Any]
    needs: Literal["audits", "scores", "runs", "classifiers", "gre", "needles", "collection"] = (
        "scores"
    )
    possible: Callable[[Any], bool] = lambda study: True
    question: str = "What does this table show?"
    overview: tuple[Headline, ...] | None = ()


@dataclass(frozen=True, kw_only=True)
class ExtractorSpec(Descriptor):
    """An extractor, or a classifier of sentences, that a study trains.

    Attributes:
        model: the class, or where it is found when it is needed: ``package.module:Class`` or
            ``file.py:Class``.
        settings: what it declares (:class:`tripleaudit.extractors.declared.ExtractorSettings`), so
            that a plan need not import ``model``; None for the attribute ``settings`` of ``model``.
        base: name under which its class saves models and under which its presets stand; empty for
            ``name``.
        fields: of the model's configuration that the name implies.
        training: settings of the training that the name implies.
        defaults: training settings that ``settings`` takes from the package's data: as what is said
            here, they count with the results; others count as code.
        presets: name -> settings; those of the built-in extractors lie in the package's data.
        classifier: whether it says only which sentences have triples.
        rte_order, cardinality_order: position in the tables of rte-generalization and of
        zero-cardinality.
        takes_schema: whether it reads the names of relations, so that a trained one can be given
            others.
        reported: name in the files of reported values.
    """

    model: str | type
    settings: Any = None
    base: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    classifier: bool = False
    rte_order: float = float("inf")
    cardinality_order: float = float("inf")
    takes_schema: bool = False
    reported: str = ""


@dataclass(frozen=True, kw_only=True)
class ProtocolSpec(Descriptor):
    """A protocol: from the splits of a corpus to other training, validation and test sets.

    Attributes:
        build: ``(splits, *, option=…) -> (splits, details)``.
        options: that a study or command may give; by default the keyword-only parameters of
            ``build``.
        inputs: keyword parameters of ``build`` that are files or data, no options: ``masked_lm``,
            ``vectors`` and ``encoder`` (folders and a file), ``raw`` (sentences of the raw corpus;
            for the command line alone).
        pattern: regular expression of further names that mean this protocol, such as ``sift-…``.
        defaults: name -> options that the name implies.
        train: whether extractors are trained on its own training set; else those of the original
            split are tested.
        published: whether a corpus may come with published sets of it, which ``source: published``
            takes as they are.
        gives_schema: whether its test set has relations that training lacks: systems are given
            those of the test set and no others, and what takes none is not run.
    """

    build: Callable[..., Any]
    options: tuple[str, ...] = ()
    pattern: str = ""
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    train: bool = True
    published: bool = False
    gives_schema: bool = False

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
            name: one
            for name, one in parameters.items()
            if one.kind is one.KEYWORD_ONLY and name not in self.inputs
        }


@dataclass(frozen=True, kw_only=True)
class MatchingRule(Descriptor):
    """A rule about when a predicted triple counts as correct: both sides are reduced, then compared
    as sets.

    Attributes:
        reduce: ``(Span) -> Hashable``, what is compared of an entity.
        relation: ``(name) -> str``, what is compared of a relation; by default all of it.
        note: under every table that is scored by it.
        typed: whether it compares types of entities; runs whose gold or predicted entities have
            none go without it.
    """

    reduce: Callable[[Any], Hashable]
    relation: Callable[[str], str] = str
    note: str = ""
    typed: bool = False


@dataclass(frozen=True, kw_only=True)
class SystemKind(Descriptor):
    """A way in which a system that needs no training comes into a study; a key of its name says so
    there.

    Attributes:
        answer: ``(Query) -> Answered`` (:mod:`tripleaudit.systems.queries`), the triples of every
            sentence of a test set. A ``UserError`` costs the system its row, and says why.
        options: further keys of such a system.
        files: ``(settings) -> Iterable[str]``, files on which its answers depend, of those that
            settings name.
        problems: ``(settings) -> Iterable[str]``, ``key: sentence`` for what cannot work, before
            anything runs.
        network: whether it needs one, so that a job is not sent to a compute node.
        takes_schema: whether it can be given the relations that there are.
    """

    answer: Callable[[Any], Any]
    options: tuple[str, ...] = ()
    files: Callable[[Any], Iterable[str]] = lambda settings: ()
    problems: Callable[[Any], Iterable[str]] = lambda settings: ()
    network: bool = False
    takes_schema: bool = False


@dataclass(frozen=True, kw_only=True)
class CorpusFormat(Descriptor):
    """A format of corpus files.

    Attributes:
        read: ``(path, **options) -> Iterator[RawSentence]``; among them ``LeftOut`` for what gives
            no sentence.
        options: names of the options that ``read`` understands.
        detects: ``(Probe) -> bool``, whether a file looks like this format; None for a format that
            must be named.
        keys: of every object of the format, where it consists of objects; a refusal names formats
            that come near.
        rows_without_texts: ``(path, columns) -> (where, row)`` of files whose triples may stand
            without texts, as predictions do that go by id or by order; None for other formats.
        read_with_gold: ``(path, gold path) -> Iterator[RawSentence]`` of predictions that point
            into the gold file; None for other formats.
    """

    read: Callable[..., Iterator[Any]]
    options: tuple[str, ...] = ()
    detects: Callable[[Any], bool] | None = None
    keys: tuple[str, ...] = ()
    rows_without_texts: Callable[..., Iterator[Any]] | None = None
    read_with_gold: Callable[..., Iterator[Any]] | None = None


TABLES: Final = Registry(TableSpec, "table", "tripleaudit.tables.builders.*")
EXTRACTORS: Final = Registry(
    ExtractorSpec,
    "extractor",
    "tripleaudit.extractors.catalogue",
    referred=lambda name, reference: ExtractorSpec(name=name, model=reference),
)
PROTOCOLS: Final = Registry(ProtocolSpec, "protocol", "tripleaudit.protocols.*")
MATCHINGS: Final = Registry(MatchingRule, "matching rule", "tripleaudit.scoring.matching")
SYSTEM_KINDS: Final = Registry(SystemKind, "kind of system", "tripleaudit.systems.*")
FORMATS: Final = Registry(
    CorpusFormat,
    "corpus format",
    "tripleaudit.corpora.readers.*",
    "tripleaudit.llm.stored_answers",
)
