"""A study: its configuration, validated, and the parts that follow from it."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.yaml_files import TooManyValues, read_with_repeated
from tripleaudit.study.checks.collections import CollectionChecks
from tripleaudit.study.checks.corpora import CorpusChecks
from tripleaudit.study.checks.generative import GenerativeChecks
from tripleaudit.study.checks.grescores import GreChecks
from tripleaudit.study.checks.needles import NeedleChecks
from tripleaudit.study.checks.protocols import ProtocolChecks
from tripleaudit.study.checks.systems import SystemChecks
from tripleaudit.study.checks.tables import TableChecks
from tripleaudit.study.checks.training import TrainingChecks
from tripleaudit.study.collections import Collections
from tripleaudit.study.config.study import StudyConfig
from tripleaudit.study.config.training import CLASSIFIER_PREFIX
from tripleaudit.study.corpora import Corpora
from tripleaudit.study.facts import Facts
from tripleaudit.study.grescores import GreScores
from tripleaudit.study.hub import locate_hub_corpora
from tripleaudit.study.language_models import LanguageModels
from tripleaudit.study.local_sets import settings_of_data
from tripleaudit.study.needles import NeedleStudies
from tripleaudit.study.paths import StudyPaths
from tripleaudit.study.problems import LeftOut
from tripleaudit.study.protocols import Protocols
from tripleaudit.study.report import Report, chosen_tables, possible_tables
from tripleaudit.study.runs import Runs
from tripleaudit.study.systems import Systems
from tripleaudit.study.trainings import Trainings, trained_classifiers, trained_extractors
from tripleaudit.study.validate import load_plugins, parse_config, refused


class Study:
    """One study: parts that follow from its configuration, each made from those before it.

    Args:
        given: the configuration as the user wrote it.
        study: folder of the results of the study; by default ``results/<study>``.
        downloads: folder of fetched files.
        problems: problems that the reader of the files found, such as repeated keys.

    Raises:
        UserError: the configuration cannot be used; the message lists every problem of every
            section, one a line.

    Attributes:
        typed: the configuration with types and defaults.
        given: the configuration as the user wrote it, without invalid values.
        paths: the files of the study.
        name: the name of the study.
        corpora: names of the corpora.
        protocols: names of the protocols, ``original`` first.
        settings: the cardinality settings, ``nz`` first.
        extractors: names of the trained extractors.
        classifiers: names of the trained zero-cardinality classifiers.
        seeds: the random seeds.
        protocol_sets: the training and test sets of the protocols.
        data: the corpora and their splits.
        trainings: the settings of trainings.
        language_models: the endpoints and extractions by language models.
        systems: the systems without training.
        runs: everything that is trained, predicted and scored.
        facts: the facts of trainings and systems.
        grescores: the data sets with GREScores.
        needles: MINEA.
        collections: the text collections.
        report: the tables, plots and the report.
    """

    def __init__(
        self,
        given: Mapping[str, Any],
        study: str = "",
        downloads: str = "resources/downloads",
        problems: Iterable[str] = (),
    ):
        problems = [*problems, *load_plugins(given.get("plugins"))]
        parsed = parse_config(given)
        typed = parsed.typed
        paths = StudyPaths(study or f"results/{typed.study}", downloads, typed.raw_root)
        corpora = locate_hub_corpora(typed.corpora, paths.downloads)
        typed = typed.model_copy(update={"corpora": corpora})
        self.typed, self.given, self.paths = typed, parsed.given, paths
        self.name: str = typed.study
        self.corpora: list[str] = list(typed.corpora)
        self.seeds: list[int] = typed.seeds
        self.protocols = _protocol_names(typed, parsed.given)
        self.settings = _settings(typed)

        self.protocol_sets = Protocols(typed, self.protocols, self.settings, paths)
        self.data = Corpora(typed, self.protocol_sets, paths)
        self.trainings = Trainings(typed, self.protocol_sets)
        self.extractors: list[str] = self.trainings.extractors
        self.classifiers: list[str] = self.trainings.classifiers
        self.language_models = LanguageModels(typed.generative, paths)
        self.systems = Systems(typed, self.protocol_sets, self.language_models, paths)
        self.runs = Runs(typed, self.protocol_sets, self.trainings, self.systems, paths)
        self.facts = Facts(typed, self.protocol_sets, self.systems, self.runs, paths)
        self.grescores = GreScores(typed.grescores, self.language_models, self.runs, paths)
        self.needles = NeedleStudies(typed.needles, self.language_models, paths)
        self.collections = Collections(typed, self.systems, self.protocol_sets, paths)
        self.report = Report(
            typed,
            possible=possible_tables(self, typed),
            settings=self.settings,
            protocols=self.protocol_sets,
            runs=self.runs,
            facts=self.facts,
            language_models=self.language_models,
            grescores=self.grescores,
            needles=self.needles,
            collections=self.collections,
            paths=paths,
        )

        problems += [*parsed.problems, *self.problems(parsed.left_out)]
        if problems:
            raise refused(problems)

    @classmethod
    def read(cls, *paths: str | Path, raw_root: str | None = None, **options: Any) -> "Study":
        """Read a study from its files, later ones winning key by key.

        Args:
            paths: the configuration files.
            raw_root: replaces the key of the files.
            options: further arguments of :class:`Study`.
        """
        given, repeated = read_files(paths)
        changes = {} if raw_root is None else {"raw_root": raw_root}
        return cls({**given, **changes}, problems=repeated, **options)

    @classmethod
    def of_workflow(cls, config: Mapping[str, Any], files: Iterable[str | Path]) -> "Study":
        """Return the study of a workflow's configuration, with the workflow's names of folders.

        Args:
            config: as the workflow merged it from files and options.
            files: the configuration files, which are read again for repeated keys.
        """
        problems = []
        for path in files:
            try:
                problems += read_with_repeated(path)[1]
            except TooManyValues:
                raise
            except UserError:  # such as an address, or a form that only the workflow reads
                continue
        return cls(config, study="<study>", downloads="<downloads>", problems=problems)

    def problems(self, left_out: LeftOut) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, of every section.

        Args:
            left_out: values that do not fit, each of which is a problem already.
        """
        encoder = self.typed.encoder
        trained = [*self.extractors, *self.classifiers]
        yield from ProtocolChecks(
            self.protocol_sets, self.systems, self.trainings, left_out
        ).problems()
        yield from self.paths.problems_of_model("encoder/model", encoder.model, encoder.layers)
        checks = (
            CorpusChecks(self.typed, self.protocol_sets, self.data, self.paths, trained, left_out),
            TrainingChecks(self.trainings, left_out),
            SystemChecks(self.systems, self.data, left_out),
            GenerativeChecks(self.language_models, self.data, left_out),
            GreChecks(self.grescores, self.corpora, left_out),
            NeedleChecks(self.needles, left_out),
            CollectionChecks(self.collections, self.runs, left_out),
            TableChecks(self.report, left_out),
        )
        for check in checks:
            yield from check.problems()

    @functools.cached_property
    def config(self) -> dict[str, Any]:
        """The configuration with its defaults, as JSON values."""
        full = self.typed.full()
        full["settings"] = self.settings
        full["protocols"] = {name: self.protocol_sets.options(name) for name in self.protocols}
        full["training"] = self.trainings.shared
        full["extractors"] = {name: self.trainings.sections[name] for name in self.extractors}
        full["zcc"] = {
            name.removeprefix(CLASSIFIER_PREFIX): self.trainings.sections[name]
            for name in self.classifiers
        }
        full["tables"] = chosen_tables(self.typed)
        full["scoring"] = {
            key: value for key, value in full["scoring"].items() if value is not None
        }
        return full

    # attributes that tables ask for (:class:`tripleaudit.tables.spec.TableSpec`)

    @property
    def trainsets(self) -> list[str]:
        """All training sets, as ``protocol-setting``."""
        return self.protocol_sets.trainsets

    @property
    def compared(self) -> bool:
        """Whether anything that extracts is scored."""
        return self.runs.compared

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """The tables to make, with their options."""
        return self.report.tables()

    @property
    def gre_levels(self) -> set[str]:
        """Levels of the data sets with GREScores: sentence, bag, document."""
        return self.grescores.levels


def _protocol_names(typed: StudyConfig, given: Mapping[str, Any]) -> list[str]:
    """Return the names of the protocols in the user's order, ``original`` first."""
    fields = type(typed.protocols).model_fields
    valid = {fields[name].alias or name for name in typed.protocols.model_fields_set}
    others = [name for name in given.get("protocols") or {} if name in valid]
    return list(dict.fromkeys(["original", *others]))


def _settings(typed: StudyConfig) -> list[str]:
    """Return the cardinality settings; a study that trains nothing takes those of its data."""
    trains = bool(trained_extractors(typed) or trained_classifiers(typed))
    settings: list[str] = list(typed.settings)
    if "settings" not in typed.model_fields_set and not trains:
        settings = settings_of_data(typed.corpora)
    return [setting for setting in ("nz", "wz") if setting in settings]


def read_files(paths: Iterable[str | Path]) -> tuple[dict[str, Any], list[str]]:
    """Read configuration files, later ones winning key by key.

    Returns:
        The configuration, and one sentence for each key that a file has twice.

    Raises:
        UserError: a file cannot be read.
    """
    config: dict[str, Any] = {}
    repeated: list[str] = []
    for path in paths:
        value, sentences = read_with_repeated(path)
        repeated += sentences
        _update(config, value)
    return config, repeated


def _update(config: dict[str, Any], other: Mapping[str, Any]) -> None:
    """Merge as Snakemake does: mappings key by key, everything else replaced."""
    for key, value in other.items():
        if isinstance(value, Mapping) and isinstance(config.get(key), dict):
            _update(config[key], value)
        else:
            config[key] = value
