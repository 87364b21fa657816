"""Everything that a study trains, predicts and scores, as lists of small records.

This is the single source of truth for evaluated predictions: the rules take inputs and keys from
it, the scores file its order, the report its sentences.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.scores import two_step_name
from tripleaudit.study.config.study import StudyConfig
from tripleaudit.study.paths import StudyPaths, fill
from tripleaudit.study.protocols import Protocols
from tripleaudit.study.systems import Systems
from tripleaudit.study.trainings import Trainings, takes_schema


@dataclass(frozen=True, order=True)
class TrainingRun:
    """One training of an extractor or classifier.

    Attributes:
        corpus: the corpus.
        protocol: the protocol of its training set.
        setting: the cardinality setting of its training set.
        extractor: the extractor or classifier.
        noise: ``noising`` with Entity Noising, else ``none``.
        seed: of everything random.
    """

    corpus: str
    protocol: str
    setting: str
    extractor: str
    noise: str
    seed: int

    @property
    def trainset(self) -> str:
        """The training set."""
        return f"{self.protocol}-{self.setting}"

    @property
    def path(self) -> str:
        """The part of every path that names the run, coarse to fine."""
        return f"{self.corpus}/{self.trainset}/{self.extractor}/{self.noise}/seed{self.seed}"


@dataclass(frozen=True, order=True)
class UntrainedRun:
    """A system or baseline on the test sets of one training set.

    Nothing is trained: the training set decides which triples of a test set count as seen.
    """

    corpus: str
    trainset: str
    system: str

    @property
    def path(self) -> str:
        """The part of every path that names the run."""
        return f"{self.corpus}/{self.trainset}/{self.system}"


@dataclass(frozen=True, order=True)
class SystemPrediction:
    """The predictions of a system without training on one test set."""

    corpus: str
    trainset: str
    system: str
    testset: str

    @property
    def run_path(self) -> str:
        """The part of every path that names the system on its training set."""
        return f"{self.corpus}/{self.trainset}/{self.system}"


@dataclass(frozen=True)
class Scored:
    """One row of the scores file: predictions of a system on a test set.

    Attributes:
        path: name of the row in ``counts/PATH.csv`` and ``scores/PATH.csv``.
        keys: keys of the row in the scores file, without the study.
        predictions: file of the predictions; the decisions of a classifier.
        gold: file of the test set.
        train: file with the triples that count as seen; empty for a classifier, and for a corpus
            without a training set.
        decisions: file with the decisions of the classifier before the system; empty for none.
        report: file with the report on a system without training; empty for none.
        classifies: whether the system decides only which sentences have triples.
    """

    path: str
    keys: dict[str, str]
    predictions: str
    gold: str
    train: str = ""
    decisions: str = ""
    report: str = ""
    classifies: bool = False

    @property
    def inputs(self) -> dict[str, str]:
        """The files by the options of ``score-run`` and ``score-classifier``."""
        if self.classifies:
            return {"gold": self.gold, "decisions": self.predictions}
        files = {"train": self.train, "decisions": self.decisions, "report": self.report}
        more = {role: file for role, file in files.items() if file}
        return {"gold": self.gold, "predictions": self.predictions, **more}

    @property
    def options(self) -> list[str]:
        """Further options that affect the scores."""
        return ["--only-with-triples"] if self.keys["testing"] == "nz" else []


class Runs:
    """The trainings, predictions and scores of a study.

    Args:
        config: the configuration of the study.
        protocols: the training and test sets.
        trainings: the extractors and classifiers that are trained.
        systems: the systems without training.
        paths: the files of the study.
    """

    def __init__(
        self,
        config: StudyConfig,
        protocols: Protocols,
        trainings: Trainings,
        systems: Systems,
        paths: StudyPaths,
    ):
        self.config, self.protocols, self.paths = config, protocols, paths
        self.trainings, self.systems = trainings, systems
        self.seeds: list[int] = config.seeds
        self.corpora: list[str] = list(config.corpora)

    # trainings

    @cached_property
    def extractors(self) -> list[TrainingRun]:
        """All trainings of extractors, each once."""
        noising = self.config.noising
        noises = ["none"] if noising is None else ["none", "noising"]
        noises_of_wz = noises if noising is not None and noising.wz else ["none"]
        runs = []
        for corpus, trainset, extractor in itertools.product(
            self.corpora, self.protocols.trainsets, self.trainings.extractors
        ):
            protocol, setting = trainset.rsplit("-", 1)
            if self.protocols.gives_schema(protocol) and not takes_schema(extractor):
                continue
            for noise in noises if setting == "nz" else noises_of_wz:
                runs += [
                    TrainingRun(corpus, protocol, setting, extractor, noise, seed)
                    for seed in self.seeds
                ]
        return runs

    @cached_property
    def classifiers(self) -> list[TrainingRun]:
        """All trainings of zero-cardinality classifiers."""
        return [
            TrainingRun(corpus, "original", "wz", classifier, "none", seed)
            for corpus, classifier, seed in itertools.product(
                self.corpora, self.trainings.classifiers, self.seeds
            )
        ]

    @property
    def trained(self) -> list[TrainingRun]:
        """All trainings."""
        return [*self.extractors, *self.classifiers]

    @cached_property
    def doubled(self) -> list[TrainingRun]:
        """Trainings that are repeated with twice the epochs: those of the first seed, if any."""
        if self.config.double is not True:
            return []
        return [run for run in self.trained if run.seed == self.seeds[0]]

    @cached_property
    def two_steps(self) -> list[tuple[TrainingRun, str]]:
        """Each nz training of an extractor with each classifier of the same seed before it."""
        first = [run for run in self.extractors if run.trainset == "original-nz"]
        return list(itertools.product(first, self.trainings.classifiers))

    @cached_property
    def two_step_systems(self) -> list[tuple[UntrainedRun, TrainingRun]]:
        """Each system without training behind each trained classifier."""
        return [
            (run, gate)
            for run in self.untrained
            if ("test", "wz") in self.systems.testsets(run.corpus, run.trainset, run.system)
            for gate in self.classifiers
            if gate.corpus == run.corpus
        ]

    # predictions without training

    @cached_property
    def untrained(self) -> list[UntrainedRun]:
        """All systems without training that are scored; stored outputs where there are some."""
        return [
            UntrainedRun(corpus, trainset, name)
            for name in self.systems.kinds
            for corpus in self.corpora
            for trainset in self.protocols.trainsets
            if trainset.endswith("-nz") and self.systems.testsets(corpus, trainset, name)
        ]

    @cached_property
    def predictions(self) -> list[SystemPrediction]:
        """Every prediction file of a system without training, sorted."""
        predictions = {
            SystemPrediction(run.corpus, run.trainset, run.system, testset)
            for run in self.untrained
            for testset, _ in self.systems.testsets(run.corpus, run.trainset, run.system)
        }
        return sorted(predictions)

    @cached_property
    def baselines(self) -> list[UntrainedRun]:
        """Each baseline on each training set of extractors, or of classifiers.

        A baseline has neither seeds nor noise, and no convergence.
        """
        runs = []
        for corpus, trainset, name in itertools.product(
            self.corpora, self.protocols.trainsets, self.config.baselines
        ):
            if not self.config.corpora[corpus].has_training:
                continue
            if self.protocols.testset_gives_schema(trainset):  # no baseline knows unseen relations
                continue
            if BASELINES[name].classifier:
                is_compared = trainset == "original-wz" and bool(self.trainings.classifiers)
            else:
                is_compared = self.compared
            if is_compared:
                runs.append(UntrainedRun(corpus, trainset, name))
        return runs

    @property
    def compared(self) -> bool:
        """Whether anything that extracts is scored."""
        return bool(self.trainings.extractors or self.untrained)

    # scores

    @cached_property
    def scores(self) -> dict[str, Scored]:
        """Everything that is scored, by its path, in the order of the scores file."""
        return {row.path: row for row in self._scored()}

    @cached_property
    def doubled_scores(self) -> dict[str, Scored]:
        """The scores of trainings of twice the epochs, by path; no part of the scores file.

        They have the keys of the training that they double.
        """
        doubled = {run.path for run in self.doubled}
        rows = {}
        for row in self.scores.values():
            folder = row.path.rpartition("/")[0]
            if folder in doubled and not row.classifies and not row.decisions:
                name = row.predictions.rpartition("/")[2]
                predictions = fill(self.paths.results.doubled_file, run=folder, name=name)
                path = f"doubled/{row.path}"
                rows[path] = replace(row, path=path, predictions=predictions)
        return rows

    def score_files(self) -> list[str]:
        """Return the files of all scores."""
        return [self.paths.results.scores.format(row=path) for path in self.scores]

    def count_files(self) -> list[str]:
        """Return the files with the counts of all scores."""
        return [self.paths.results.counts.format(row=path) for path in self.scores]

    def doubled_count_files(self) -> list[str]:
        """Return the files with the counts of trainings of twice the epochs."""
        return [self.paths.results.counts.format(row=path) for path in self.doubled_scores]

    def files_of(self, runs: Iterable[TrainingRun], pattern: str, **values: str) -> list[str]:
        """Return a file of each training.

        Args:
            runs: the trainings.
            pattern: of :class:`.paths.ResultPaths`, with ``<run>``.
            values: further wildcards of the pattern.
        """
        return [fill(pattern, run=run.path, **values) for run in runs]

    def _scored(self) -> Iterator[Scored]:
        for run in self.extractors:
            keys = _keys(run.corpus, run.extractor, run.noise, run.seed)
            for testset, testing in self.protocols.testsets(run.trainset):
                yield self._tested(run.path, run.trainset, testset, testing, keys)
        for run in self.classifiers:
            yield self._classified(run.path, _keys(run.corpus, run.extractor, run.noise, run.seed))
        for run, gate in self.two_steps:
            keys = _keys(run.corpus, run.extractor, run.noise, run.seed)
            yield self._two_step(run.path, gate, gate, keys)
        for system, gate_run in self.two_step_systems:
            gate = gate_run.extractor
            keys = _keys(system.corpus, system.system, seed=gate_run.seed)
            yield self._two_step(
                f"{system.corpus}/original-nz/{system.system}",
                f"{gate}-seed{gate_run.seed}",
                gate,
                keys,
                has_report=True,
            )
        for baseline in self.baselines:
            keys = _keys(baseline.corpus, baseline.system)
            if BASELINES[baseline.system].classifier:
                yield self._classified(baseline.path, keys)
                continue
            for testset, testing in self.protocols.testsets(baseline.trainset):
                yield self._tested(baseline.path, baseline.trainset, testset, testing, keys)
        for system in self.untrained:
            keys = _keys(system.corpus, system.system)
            tests = self.systems.testsets(system.corpus, system.trainset, system.system)
            for testset, testing in tests:
                yield self._tested(
                    system.path, system.trainset, testset, testing, keys, has_report=True
                )

    def _tested(
        self,
        path: str,
        trainset: str,
        testset: str,
        testing: str,
        keys: dict[str, str],
        has_report: bool = False,
    ) -> Scored:
        own, training = trainset.rsplit("-", 1)
        corpus = keys["corpus"]
        protocol = own if testset == "test" else testset
        train = ""
        if self.config.corpora[corpus].has_training:
            train = self.protocols.set_file(corpus, own, "nz", "train")
        return Scored(
            path=f"{path}/{testset}-{testing}",
            keys={**keys, "protocol": protocol, "training": training, "testing": testing},
            predictions=self._predictions(path, testset),
            gold=self.protocols.set_file(corpus, protocol, testing, "test"),
            train=train,
            report=self.report_of(path, testset) if has_report else "",
        )

    def _classified(self, path: str, keys: dict[str, str]) -> Scored:
        return Scored(
            path=f"{path}/classification",
            keys={**keys, "protocol": "original", "training": "wz", "testing": "wz"},
            predictions=self._predictions(path),
            gold=self.protocols.set_file(keys["corpus"], "original", "wz", "test"),
            classifies=True,
        )

    def _two_step(
        self, path: str, ending: str, gate: str, keys: dict[str, str], has_report: bool = False
    ) -> Scored:
        corpus = keys["corpus"]
        gate_path = f"{corpus}/original-wz/{gate}/none/seed{keys['seed']}"
        name = two_step_name(gate, keys["extractor"])
        sets = {"protocol": "original", "training": "nz", "testing": "wz"}
        return Scored(
            path=f"{path}/{ending}",
            keys={**keys, "extractor": name, **sets},
            predictions=self._predictions(path),
            gold=self.protocols.set_file(corpus, "original", "wz", "test"),
            train=self.protocols.set_file(corpus, "original", "nz", "train"),
            decisions=self._predictions(gate_path),
            report=self.report_of(path) if has_report else "",
        )

    def _predictions(self, path: str, testset: str = "test") -> str:
        return fill(self.paths.results.predictions, run=path, testset=testset)

    def report_of(self, path: str, testset: str = "test") -> str:
        """Return the report on the predictions of a system.

        Args:
            path: of the system's run.
            testset: the test set.
        """
        return fill(self.paths.results.prediction_report, run=path, testset=testset)

    # keys as the scores file names them

    def run_keys(self, run: TrainingRun) -> dict[str, Any]:
        """Return the keys of a training."""
        more = {"training": run.setting, "noise": run.noise, "seed": run.seed}
        return {**self.system_keys(run.corpus, run.extractor, run.protocol), **more}

    def system_keys(self, corpus: str, system: str, protocol: str = "original") -> dict[str, Any]:
        """Return the keys of a system without training."""
        return {
            "study": self.config.study,
            "corpus": corpus,
            "protocol": protocol,
            "training": "nz",
            "extractor": system,
            "noise": "none",
            "seed": "",
        }


def _keys(corpus: str, system: str, noise: str = "none", seed: int | str = "") -> dict[str, str]:
    return {"corpus": corpus, "extractor": system, "noise": noise, "seed": str(seed)}


def browsed_rows(rows: Sequence[Scored], seed: object) -> list[Scored]:
    """Return the rows whose sentences the report shows.

    They are of one seed; where a test set has several settings, the larger one is shown.
    """
    of_seed = [row for row in rows if row.keys["seed"] in ("", str(seed))]
    return [*{(row.predictions, row.decisions): row for row in of_seed}.values()]
