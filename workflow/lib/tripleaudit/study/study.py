"""A study as a plan: which trainings, test sets, scores, tables and files follow from a
configuration.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tripleaudit.core.descriptors import EXTRACTORS
from tripleaudit.core.errors import UserError
from tripleaudit.core.registries import use_plugins
from tripleaudit.core.yaml_files import TooManyValues, read_with_repeated
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.study.collections import Collections
from tripleaudit.study.configuration import parsed, read_files, refused
from tripleaudit.study.corpora import Corpora
from tripleaudit.study.grescores import GreScores
from tripleaudit.study.language_models import LanguageModels
from tripleaudit.study.local_sets import settings_of_data
from tripleaudit.study.needles import NeedleStudies
from tripleaudit.study.paths import StudyPaths
from tripleaudit.study.report import Report
from tripleaudit.study.scored import Scored, scored, scored_doubles
from tripleaudit.study.systems import Systems
from tripleaudit.study.training import CLASSIFIER, Trainings


@dataclass(frozen=True, order=True)
class Run:
    """One training: a corpus, the training set of a protocol and setting, an extractor, with or
    without noising.
    """

    corpus: str
    protocol: str
    setting: str
    extractor: str
    noise: str
    seed: int

    @property
    def trainset(self) -> str:
        return f"{self.protocol}-{self.setting}"

    @property
    def path(self) -> str:
        """The part of every path that names the run, coarse to fine."""
        return f"{self.corpus}/{self.trainset}/{self.extractor}/{self.noise}/seed{self.seed}"


class Study:
    """The plan of one configuration.

    Args:
        given: the configuration.
        study: folder of what the study makes; by default ``results/<study>``.
        downloads: folder of what is fetched.
        problems: what is known to be wrong with the configuration already.

    Raises:
        UserError: the configuration cannot be used; the message lists every problem of every
            section, one a line.

    Attributes:
        config: the configuration with its defaults, as JSON values. data, trainings, systems,
        language_models, grescores, needles, collections, report: the plan of each section. paths:
        where the files lie that the configuration names.
    """

    def __init__(
        self,
        given: Mapping[str, Any],
        study: str = "",
        downloads: str = "resources/downloads",
        problems: Iterable[str] = (),
    ):
        problems = [*problems, *_with_plugins(given.get("plugins"))]
        typed, self.given, found, gone = parsed(given)
        self.typed = typed
        self.name: str = typed.study
        self.paths = StudyPaths(study or f"results/{self.name}", downloads, typed.raw_root)
        settings = typed.settings
        self.seeds: list[int] = typed.seeds
        self.systems = Systems(self, typed.systems)
        trained = {**typed.extractors, **self.systems.trained}
        self.extractors: list[str] = list(trained)
        heads = {
            CLASSIFIER + head: each
            for head, each in typed.zcc
            if head in typed.zcc.model_fields_set
        }
        self.classifiers: list[str] = list(heads)
        if "settings" not in typed.model_fields_set and not trained and not heads:
            settings = settings_of_data(typed.corpora)
        self.settings: list[str] = [setting for setting in ("nz", "wz") if setting in settings]
        self.baselines: list[str] = list(typed.baselines)
        self.noises: list[str] = ["none"] + (["noising"] if typed.noising is not None else [])
        self.data = Corpora(self, typed.corpora, typed.protocols)
        self.trainings = Trainings(self, typed.training, trained, heads, typed.own_extractors)
        self.language_models = LanguageModels(self, typed.generative)
        self.grescores = GreScores(self, typed.grescores)
        self.needles = NeedleStudies(self, typed.needles)
        self.collections = Collections(self, typed.collections)
        self.report = Report(self, typed.tables)
        # what speaks of an entry that is left out because it does not fit says nothing new
        others = [each for each in self.problems() if not any(f"'{name}'" in each for name in gone)]
        if every := [*problems, *found, *others]:
            raise refused(every)

    @classmethod
    def read(cls, *paths: str | Path, raw_root: str | None = None, **options: Any) -> "Study":
        """Read a study from its files, later ones winning key by key.

        Args:
            raw_root: instead of the files'.
            options: of :class:`Study`.
        """
        given, twice = read_files(paths)
        changes = {} if raw_root is None else {"raw_root": raw_root}
        return cls({**given, **changes}, problems=twice, **options)

    @classmethod
    def of_workflow(cls, config: Mapping[str, Any], files: Iterable[str | Path]) -> "Study":
        """Return the plan of a workflow's configuration, with the workflow's own names of folders.

        Args:
            config: as the workflow merged it from files and options.
            files: the configuration files, which are read again for keys that they have twice.
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

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, of every section, before anything
        runs.
        """
        for protocol in filter(self.data.gives_schema, self.protocols):
            systems = [name for name in self.systems.kinds if self.systems.takes_schema(name)]
            if not systems and not any(map(self.takes_schema, self.extractors)):
                yield (
                    f"protocols/{protocol}: nothing in the study can be asked for relations that training lacks; "
                    "expected the extractor unirel, an endpoint under systems, or a system with relations: true"
                )
        if not self.data.protocol("original").get("train", True):
            needing = [
                *(f"protocol '{name}'" for name in self.data.tests_only),
                *(["setting 'wz'"] * ("wz" in self.settings)),
            ]
            for what in needing:
                yield f"protocols/original/train: false, but the {what} is tested by trainings on the original split"
        if self.classifiers and "wz" not in self.settings:
            yield "zcc: a zero-cardinality classifier needs sentences without triples; add wz to settings"
        encoder = self.typed.encoder
        yield from self.paths.problems_of_model("encoder/model", encoder.model, encoder.layers)
        sections = (
            self.data,
            self.trainings,
            self.systems,
            self.language_models,
            self.grescores,
            self.needles,
        )
        for section in (*sections, self.collections):
            yield from section.problems()
        yield from self.report.problems()

    @cached_property
    def config(self) -> dict[str, Any]:
        full = self.typed.full()
        full["settings"] = self.settings
        full["protocols"] = {name: self.data.protocol(name) for name in self.protocols}
        full["training"] = self.trainings.shared
        full["extractors"] = {name: self.trainings.sections[name] for name in self.extractors}
        full["zcc"] = {
            name.removeprefix(CLASSIFIER): self.trainings.sections[name]
            for name in self.classifiers
        }
        full["tables"] = self.report.chosen
        full["scoring"] = {
            key: value for key, value in full["scoring"].items() if value is not None
        }
        return full

    @property
    def corpora(self) -> list[str]:
        """Names of the corpora."""
        return list(self.data.section)

    @property
    def protocols(self) -> list[str]:
        """Names of the protocols, ``original`` first."""
        return self.data.protocols

    def encoder(self, corpus: str) -> str:
        """Return a corpus's encoder, as a name of the registry or a source: its own one, else
        the study's.
        """
        return self.data.section[corpus].encoder or self.typed.encoder.model

    def encoder_file(self, wildcards: Any) -> str:
        """Return the configuration file of a corpus's encoder."""
        return f"{self.paths.model(self.encoder(wildcards.corpus))}/config.json"

    # trainings

    @cached_property
    def trainsets(self) -> list[str]:
        """All training sets, as ``protocol-setting``: every protocol in nz, the original one in
        wz too.
        """
        options = {
            name: self.data.protocol(name)
            for name in self.protocols
            if name not in self.data.tests_only
        }
        sets = [f"{name}-nz" for name, chosen in options.items() if chosen.get("train", True)]
        return sets + (["original-wz"] if "wz" in self.settings else [])

    @cached_property
    def runs(self) -> list[Run]:
        """All trainings of extractors, none twice."""
        noising = self.typed.noising
        noise_of_wz = self.noises if noising is not None and noising.wz else ["none"]
        return [
            Run(corpus, protocol, setting, extractor, noise, seed)
            for corpus, (protocol, setting), extractor in itertools.product(
                self.corpora, (t.rsplit("-", 1) for t in self.trainsets), self.extractors
            )
            if not self.data.gives_schema(protocol) or self.takes_schema(extractor)
            for noise in (self.noises if setting == "nz" else noise_of_wz)
            for seed in self.seeds
        ]

    @staticmethod
    def takes_schema(extractor: str) -> bool:
        """Whether a trained extractor can be given other relations than those of its training."""
        return extractor in EXTRACTORS and EXTRACTORS[extractor].takes_schema

    @cached_property
    def classifier_runs(self) -> list[Run]:
        """All trainings of zero-cardinality classifiers."""
        return [
            Run(corpus, "original", "wz", classifier, "none", seed)
            for corpus, classifier, seed in itertools.product(
                self.corpora, self.classifiers, self.seeds
            )
        ]

    @cached_property
    def doubled_runs(self) -> list[Run]:
        """The trainings that are done once more with twice the epochs: those of the first seed,
        if so asked.
        """
        every = [*self.runs, *self.classifier_runs] if self.typed.double is True else []
        return [run for run in every if run.seed == self.seeds[0]]

    @cached_property
    def two_step_runs(self) -> list[tuple[Run, str]]:
        """Each nz training of an extractor with each classifier of the same seed before it."""
        first = [run for run in self.runs if run.trainset == "original-nz"]
        return [(run, classifier) for run in first for classifier in self.classifiers]

    @cached_property
    def two_step_systems(self) -> list[tuple[str, str, str, int]]:
        """``(corpus, system, classifier, seed)``: each system without training behind each
        trained classifier.
        """
        return [
            (corpus, system, run.extractor, run.seed)
            for corpus, trainset, system in self.systems.runs
            if ("test", "wz") in self.systems.testsets(corpus, trainset, system)
            for run in self.classifier_runs
            if run.corpus == corpus
        ]

    @cached_property
    def baseline_runs(self) -> list[tuple[str, str, str]]:
        """``(corpus, trainset, baseline)`` for each training set of extractors, and classifiers',
        that the study has.

        A baseline is no training: it has neither seeds nor noise, and nothing is known of its
        convergence.
        """
        return [
            (corpus, trainset, baseline)
            for corpus, trainset, baseline in itertools.product(
                self.corpora, self.trainsets, self.baselines
            )
            if self.data.has_training(corpus)
            if not self.gives_schema(trainset)  # who learns nothing can name none
            and (
                trainset == "original-wz" and self.classifiers
                if BASELINES[baseline].classifier
                else self.compared
            )
        ]

    @property
    def compared(self) -> bool:
        """Whether there is anything that extracts and is scored: a trained extractor, or a
        system without training.
        """
        return bool(self.extractors or self.systems.runs)

    def keys(self, corpus: str, extractor: str, protocol: str = "original") -> dict[str, Any]:
        """Return the keys of a system that the study does not train, as the scores file names
        them.
        """
        keys = {
            "study": self.name,
            "corpus": corpus,
            "protocol": protocol,
            "training": "nz",
            "extractor": extractor,
        }
        return {**keys, "noise": "none", "seed": ""}

    def run_keys(self, run: Run) -> dict[str, Any]:
        """Return those of a training."""
        own = {"training": run.setting, "noise": run.noise, "seed": run.seed}
        return {**self.keys(run.corpus, run.extractor, run.protocol), **own}

    def testsets(self, trainset: str) -> list[tuple[str, str]]:
        """Return the ``(test set, testing setting)`` pairs that a training on a training set is
        scored on.

        ``test`` is the test set of the training's own protocol; a protocol without a training set,
        such as ``augmented``, belongs to the original nz training.
        """
        settings = self.settings if trainset.startswith("original-") else ["nz"]
        pairs = [("test", setting) for setting in settings]
        if trainset == "original-nz":
            pairs += [(name, "nz") for name in self.data.tests_only]
        return pairs

    # files

    def set_file(self, corpus: str, protocol: str, setting: str, split: str) -> str:
        """Return one split of the sets of a protocol."""
        return f"{self.paths.study}/protocols/{corpus}/{protocol}/{setting}/{split}.jsonl"

    def protocol_inputs(self, wildcards: Any) -> dict[str, str]:
        """Return the original nz splits, from which protocols make theirs, or a protocol's
        published sets.
        """
        corpus, protocol = wildcards.corpus, wildcards.get("protocol", "augmented")
        found = {
            split: self.set_file(corpus, "original", "nz", split)
            for split in ("train", "valid", "test")
        }
        if self.data.given(corpus, protocol):
            if protocol in self.data.tests_only:
                found["original"] = found["test"]
            for split in (
                ("test",) if protocol in self.data.tests_only else ("train", "valid", "test")
            ):
                found[split] = f"{self.paths.study}/published/{corpus}/{protocol}/{split}.jsonl"
        return found

    def trainset_files(self, wildcards: Any) -> dict[str, str]:
        """Return training and validation set of a run, and the encoder.

        A sifted run may choose its epoch on its test set, as the paper did.
        """
        protocol, setting = wildcards.trainset.rsplit("-", 1)
        select_on = self.data.protocol(protocol).get("select_on", "valid")
        return {
            "train": self.set_file(wildcards.corpus, protocol, setting, "train"),
            "valid": self.set_file(wildcards.corpus, protocol, setting, select_on),
            "encoder": self.encoder_file(wildcards),
        }

    def validation_file(self, wildcards: Any) -> str:
        """Return the set that a training chooses its epoch on."""
        protocol, setting = wildcards.trainset.rsplit("-", 1)
        select_on = self.data.protocol(protocol).get("select_on", "valid")
        return self.set_file(wildcards.corpus, protocol, setting, select_on)

    def doubled_sets(self, wildcards: Any) -> list[str]:
        """Return what a training of twice the epochs predicts: the set that it chooses its epoch
        on, and test sets.
        """
        # the rule for the original nz training alone has no wildcard for the training set
        protocol, setting = wildcards.get("trainset", "original-nz").rsplit("-", 1)
        select_on = self.data.protocol(protocol).get("select_on", "valid")
        valid = self.set_file(wildcards.corpus, protocol, setting, select_on)
        if (protocol, setting) == ("original", "nz"):
            return [valid, *self.testset_files(wildcards)]
        return [valid, self.testset_file(wildcards)]

    def testset_file(self, wildcards: Any) -> str:
        """Return the test set of a training's own protocol, as large as the study scores it."""
        protocol = wildcards.trainset.rpartition("-")[0]
        setting = self.settings[-1] if protocol == "original" else "nz"
        return self.set_file(wildcards.corpus, protocol, setting, "test")

    def testset_files(self, wildcards: Any) -> list[str]:
        """Return the test sets of an original nz training: the original one and those without a
        training set.
        """
        names = [("original", self.settings[-1]), *((name, "nz") for name in self.data.tests_only)]
        return [
            self.set_file(wildcards.corpus, protocol, chosen, "test") for protocol, chosen in names
        ]

    def gives_schema(self, trainset: str, testset: str = "test") -> bool:
        """Return whether a run on a training set is given the relations of a test set."""
        return self.data.gives_schema(trainset.rpartition("-")[0] if testset == "test" else testset)

    def baseline_inputs(self, wildcards: Any) -> dict[str, str]:
        """Return the training set that a baseline looks at, and the test set that it speaks of."""
        protocol, setting = wildcards.trainset.rsplit("-", 1)
        own = wildcards.testset == "test"
        test = (
            self.testset_file(wildcards)
            if own
            else self.set_file(wildcards.corpus, wildcards.testset, "nz", "test")
        )
        return {"train": self.set_file(wildcards.corpus, protocol, setting, "train"), "test": test}

    def audited_files(self, wildcards: Any) -> dict[str, Any]:
        """Return the sets that one audit looks at."""
        corpus, protocol = wildcards.corpus, wildcards.protocol
        trained = self.data.trained_on(protocol)
        with_zero = protocol == "original" and "wz" in self.settings
        return {
            "train": self.set_file(corpus, trained, "nz", "train"),
            "valid": self.set_file(corpus, trained, "nz", "valid"),
            "test": self.set_file(corpus, protocol, "nz", "test"),
            "zero": [
                self.set_file(corpus, protocol, "wz", split)
                for split in ("train", "valid", "test")
                if with_zero
            ],
            "counts": [
                f"{self.paths.study}/corpora/{corpus}/{split}.counts.json"
                for split in ("train", "valid", "test")
                if protocol == "original"
            ],
            "original": [self.set_file(corpus, "original", "nz", "test")]
            if protocol == "augmented"
            else [],
        }

    @cached_property
    def scored(self) -> dict[str, Scored]:
        """Everything that is scored, by its path, in the order of the scores file."""
        return {row.path: row for row in scored(self)}

    def scores_of(self, wildcards: Any) -> list[str]:
        """Return what one tidy scores file is joined from: GREScores (``gre/``), needles
        (``needles/``), the rest.
        """
        return {"gre/": self.grescores.files, "needles/": self.needles.files}.get(
            wildcards.part, self.score_files
        )()

    @cached_property
    def doubled_scored(self) -> dict[str, Scored]:
        """What trainings of twice the epochs score, by its path; no part of the scores file."""
        return {row.path: row for row in scored_doubles(self)}

    def score_files(self, kind: str = "scores") -> list[str]:
        """Return every scores file of the study: extractors, classifiers, and extractors behind
        a classifier.
        """
        return [f"{self.paths.study}/{kind}/{path}.csv" for path in self.scored]

    # what tables ask (:class:`tripleaudit.core.descriptors.TableSpec`)

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """The tables to make, with their options."""
        return self.report.tables()

    @property
    def gre_levels(self) -> set[str]:
        """Levels of the data sets with GREScores: sentence, bag, document."""
        return self.grescores.levels


def _with_plugins(items: Any) -> Iterator[str]:
    """Load the plugins of a study, whose names others of its sections may use; yield what is
    wrong with them.
    """
    for item in items if isinstance(items, list) else ():
        try:
            use_plugins([str(item)])
        except UserError as error:
            yield f"plugins: {error}"
