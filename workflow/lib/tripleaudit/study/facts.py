"""Facts of trainings and systems: their provenance, reports and keys."""

from functools import cached_property
from typing import Any

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.study.config.study import StudyConfig
from tripleaudit.study.paths import StudyPaths, fill
from tripleaudit.study.protocols import Protocols
from tripleaudit.study.runs import Runs
from tripleaudit.study.systems import Systems
from tripleaudit.systems.facts import history_of


class Facts:
    """The files and keys behind ``trainings.json`` and ``systems.json`` of a study.

    Stored predictions are those of a system by ``predictions``; its key ``training`` may name the
    provenance of the training that made them. Lists of keys have the order of the lists of files
    that they belong to.

    Args:
        config: the configuration of the study.
        protocols: the training and test sets.
        systems: the systems without training.
        runs: the trainings and predictions.
        paths: the files of the study.
    """

    def __init__(
        self,
        config: StudyConfig,
        protocols: Protocols,
        systems: Systems,
        runs: Runs,
        paths: StudyPaths,
    ):
        self.config, self.protocols, self.systems = config, protocols, systems
        self.runs, self.paths = runs, paths

    # trainings

    @cached_property
    def stored_trainings(self) -> list[tuple[str, dict[str, Any]]]:
        """``(provenance, keys)`` of the trainings behind stored predictions.

        There is one for each system and corpus. Predictions for several training sets belong to
        the original one; those for another training set alone belong to that one.
        """
        trainsets: dict[tuple[str, str], list[str]] = {}
        for run in self.runs.untrained:
            trainsets.setdefault((run.corpus, run.system), []).append(run.trainset)
        trainings = []
        for (corpus, system), names in trainsets.items():
            provenances = self.systems.training(system)
            if corpus in provenances:
                trainset = "original-nz" if "original-nz" in names else names[0]
                keys = self.runs.system_keys(corpus, system, trainset.removesuffix("-nz"))
                trainings.append((self.paths.file(provenances[corpus]), keys))
        return trainings

    @property
    def stored_histories(self) -> list[str]:
        """The histories next to :attr:`stored_trainings`, where there are some."""
        histories = [history_of(path) for path, _ in self.stored_trainings]
        return [str(history) for history in histories if history]

    @cached_property
    def trainings(self) -> list[str]:
        """Provenances of all trainings: those of the study, and those behind stored predictions."""
        trained = self.runs.files_of(
            self.runs.trained, self.paths.results.model_file, name="provenance.json"
        )
        return trained + [path for path, _ in self.stored_trainings]

    @cached_property
    def training_keys(self) -> list[dict[str, Any]]:
        """The keys of each of :attr:`trainings` as the scores file names them."""
        trained = [self.runs.run_keys(run) for run in self.runs.trained]
        return trained + [keys for _, keys in self.stored_trainings]

    @cached_property
    def doubles(self) -> list[str]:
        """Provenances of the trainings that ``double: true`` repeats with twice the epochs."""
        return self.runs.files_of(
            self.runs.doubled, self.paths.results.doubled_file, name="provenance.json"
        )

    @property
    def double_keys(self) -> list[dict[str, Any]]:
        """The keys of each of :attr:`doubles`."""
        return [self.runs.run_keys(run) for run in self.runs.doubled]

    @property
    def gain_files(self) -> dict[str, list[str]]:
        """Files that the gain from twice the epochs is computed from, one of each kind a training.

        The kinds are the validation set, and the predictions for it after the epochs and after
        twice the epochs.
        """
        runs, results = self.runs.doubled, self.paths.results
        return {
            "validation": [self.protocols.validation_file(run) for run in runs],
            "single_predictions": self.runs.files_of(runs, results.predictions, testset="valid"),
            "double_predictions": self.runs.files_of(
                runs, results.doubled_file, name="valid.jsonl"
            ),
        }

    @cached_property
    def earlier(self) -> list[str]:
        """The ``trainings.json`` of an earlier study, if the key ``double`` names one.

        It holds the gains from twice the epochs, so that this study repeats no training.
        """
        double = self.config.double
        return [self.paths.file(double)] if isinstance(double, str) else []

    # systems

    def reports(self) -> list[str]:
        """Return the reports on all predictions of systems."""
        return [
            self.runs.report_of(prediction.run_path, prediction.testset)
            for prediction in self.runs.predictions
        ]

    def report_keys(self) -> list[dict[str, Any]]:
        """Return the keys of each of :meth:`reports` as the scores file names them."""
        keys = []
        for prediction in self.runs.predictions:
            protocol = self.protocols.protocol_of(prediction.trainset, prediction.testset)
            keys.append(self.runs.system_keys(prediction.corpus, prediction.system, protocol))
        return keys

    @cached_property
    def timed(self) -> dict[str, dict[str, Any]]:
        """Prediction file -> keys, for the extractors and baselines compared with systems in time.

        Extractors are those of the original protocol without noise; baselines those that extract.
        """
        predictions = fill(self.paths.results.predictions, testset="test")
        timed = {}
        for run in self.runs.extractors:
            if run.protocol == "original" and run.noise == "none":
                timed[fill(predictions, run=run.path)] = self.runs.run_keys(run)
        for baseline in self.runs.baselines:
            if baseline.trainset == "original-nz" and not BASELINES[baseline.system].classifier:
                keys = self.runs.system_keys(baseline.corpus, baseline.system)
                timed[fill(predictions, run=baseline.path)] = keys
        return timed
