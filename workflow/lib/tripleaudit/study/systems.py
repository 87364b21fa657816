"""Systems that a study does not train: their kinds, settings, test sets and input files."""

import contextlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.corpora.spec import FORMATS
from tripleaudit.scoring.relation_names import load_map
from tripleaudit.scoring.sides import without_texts
from tripleaudit.study.config.study import StudyConfig
from tripleaudit.study.config.systems import COMMON_KEYS, RESOURCE_KEYS
from tripleaudit.study.corpora import formats_of
from tripleaudit.study.language_models import LanguageModels
from tripleaudit.study.paths import StudyPaths, with_contents
from tripleaudit.study.protocols import Protocols
from tripleaudit.systems.language_model import identity
from tripleaudit.systems.spec import SYSTEM_KINDS, SystemKind

TRANSPORT_KEYS = (
    *RESOURCE_KEYS,
    *("timeout", "restarts", "address", "headers", "concurrency", "endpoint"),
)
"""Keys of a system that do not affect its answers."""


class Systems:
    """The systems of a study that it does not train.

    Args:
        config: the configuration of the study.
        protocols: the training and test sets.
        language_models: the endpoints that systems may query.
        paths: the files of the study.
    """

    def __init__(
        self,
        config: StudyConfig,
        protocols: Protocols,
        language_models: LanguageModels,
        paths: StudyPaths,
    ):
        self.config, self.protocols = config, protocols
        self.language_models, self.paths = language_models, paths
        self.corpora = list(config.corpora)
        self.sections = {
            name: section for name, section in config.systems.items() if section.trained is None
        }

    @cached_property
    def kinds(self) -> dict[str, SystemKind]:
        """System -> its kind, for those that say one."""
        said = {
            name: [key for key in each.given() if key in SYSTEM_KINDS]
            for name, each in self.sections.items()
        }
        return {name: SYSTEM_KINDS[keys[0]] for name, keys in said.items() if len(keys) == 1}

    def stored(self, name: str) -> dict[str, dict[str, list[str]]]:
        """Return corpus -> protocol -> files of a system by ``predictions``."""
        given = self.sections[name].predictions
        by_corpus = given if isinstance(given, dict) else dict.fromkeys(self.corpora[:1], given)
        found = {}
        for corpus, value in by_corpus.items():
            by_protocol = value if isinstance(value, dict) else {"original": value}
            found[corpus] = {
                protocol: [paths] if isinstance(paths, str) else list(paths)
                for protocol, paths in by_protocol.items()
            }
        return found

    def formats(self, name: str) -> list[str]:
        """Return the formats of stored outputs: all if unknown, none for rows with ids."""
        given = self.sections[name]
        files = [
            path
            for by_protocol in self.stored(name).values()
            for paths in by_protocol.values()
            for path in paths
        ]
        files = list(map(self.paths.file, files))
        with contextlib.suppress(UserError):  # it is not there yet
            if not (given.format or given.columns) and all(
                without_texts(path, ids=True) for path in files
            ):
                return []
        return formats_of(files, given.format or "auto", given.columns) or list(FORMATS)

    def training(self, name: str) -> dict[str, str]:
        """Return corpus -> provenance of the training behind a system by ``predictions``."""
        given = self.sections[name].training
        if given is None:
            return {}
        return given if isinstance(given, dict) else dict.fromkeys(self.corpora[:1], given)

    def settings(self, name: str) -> dict[str, Any]:
        """Return the keys of a system with their defaults, those of its kind alone."""
        kind = self.kinds[name]
        full = self.sections[name].full()
        found = {key: full[key] for key in dict.fromkeys((kind.name, *kind.options, *COMMON_KEYS))}
        if isinstance(file := found["relations"], str):
            with contextlib.suppress(UserError):  # which is a problem of the study
                found["relations"] = load_map(self.paths.file(file))
        return found

    def testsets(self, corpus: str, trainset: str, name: str) -> list[tuple[str, str]]:
        """Return the ``(test set, testing setting)`` pairs that a system is scored on."""
        own, chosen = trainset.removesuffix("-nz"), self.sections[name].protocols
        tested = (
            self.stored(name).get(corpus, {})
            if self.kinds[name].name == "predictions"
            else self.protocols.names
        )
        return [
            (test, testing)
            for test, testing in self.protocols.testsets(trainset)
            if (set_ := own if test == "test" else test) in tested
            and (chosen is None or set_ in chosen)
            if not self.protocols.gives_schema(set_) or self.takes_schema(name)
        ]

    def takes_schema(self, name: str) -> bool:
        """Return whether a system reads the relations to extract; stored outputs are assumed to."""
        kind, settings = self.kinds[name], self.sections[name]
        reads = settings.relations is True or (
            kind.name == "endpoint" and settings.setting != "open"
        )
        return kind.name == "predictions" or (kind.takes_schema and reads)

    def threads(self, wildcards: Any) -> int:
        """Return the threads of a system's job."""
        return self.sections[wildcards.extractor].threads

    def gpus(self, wildcards: Any) -> int:
        """Return its GPUs."""
        return self.sections[wildcards.extractor].gpus

    def mem_mb(self, wildcards: Any, attempt: int) -> int:
        """Return its memory."""
        return self.sections[wildcards.extractor].mem_mb * attempt

    def runtime(self, wildcards: Any) -> int | str:
        """Return its time."""
        return self.sections[wildcards.extractor].runtime

    def inputs(self, wildcards: Any) -> dict[str, Any]:
        """Return the inputs of a prediction file other than the test set."""
        name = wildcards.extractor
        kind, settings = self.kinds[name], self.settings(name)
        own, protocol = wildcards.testset == "test", wildcards.trainset.rpartition("-")[0]
        files = [self.paths.file(path) for path in self.files(wildcards)]
        if own:
            test = self.protocols.testset_file(wildcards)
        else:
            test = self.protocols.set_file(wildcards.corpus, wildcards.testset, "nz", "test")
        return {
            "test": test,
            # relations and examples come from here; what is held out of training is held out of
            # these, too
            "train": self.protocols.set_file(
                wildcards.corpus,
                protocol if self.protocols.gives_schema(protocol) else "original",
                "nz",
                "train",
            )
            if self.config.corpora[wildcards.corpus].has_training
            else [],
            "model": self.language_models.served(settings["endpoint"])
            if kind.name == "endpoint"
            else [],
            "files": files,
            "contents": with_contents(files)[len(files) :],
            "programs": sorted({*kind.files(settings), *(settings.get("files") or ())}),
        }

    def gives_schema(self, wildcards: Any) -> bool:
        """Return whether a system receives the relations of a test set, not those of training."""
        return self.protocols.testset_gives_schema(wildcards.trainset, wildcards.testset)

    def files(self, wildcards: Any) -> list[str]:
        """Return the stored outputs for one test set."""
        if self.kinds[wildcards.extractor].name != "predictions":
            return []
        own = wildcards.trainset.removesuffix("-nz")
        protocol = own if wildcards.testset == "test" else wildcards.testset
        return self.stored(wildcards.extractor)[wildcards.corpus][protocol]

    def identity(self, corpus: str, name: str, trainset: str = "original-nz") -> dict[str, Any]:
        """Return what decides the answers of a system besides texts and files."""
        settings = self.settings(name)
        settings.pop("predictions", None)  # the files are inputs
        settings.pop("training", None)  # shown in the tables, by a job of its own
        found = {key: value for key, value in settings.items() if key not in TRANSPORT_KEYS}
        if self.kinds[name].name == "endpoint":
            found |= identity(self.language_models.section, settings)
        kind, setting = self.kinds[name], settings.get("setting")
        if kind.takes_schema and (settings["relations"] is True or setting not in (None, "open")):
            found["described"] = self.described(corpus, trainset)
        return found

    def described(self, corpus: str, trainset: str = "original-nz") -> dict[str, str]:
        """Return relation -> description as systems are given them with a training set."""
        return self.protocols.described(corpus, trainset.rpartition("-")[0])

    def json(self, wildcards: Any, input: Any) -> str:
        """Return the settings for the job, which Snakemake does not compare."""
        return json.dumps(self.settings(wildcards.extractor), sort_keys=True)

    def job_param(self, wildcards: Any, input: Any, threads: int) -> str:
        """Return :meth:`job` of wildcards; ``input`` keeps Snakemake from comparing it."""
        trainset = wildcards.get("trainset", "original-nz")
        return self.job(wildcards.corpus, wildcards.extractor, threads, trainset)

    def job(self, corpus: str, name: str, threads: int, trainset: str = "original-nz") -> str:
        """Return what the job needs besides the settings."""
        described = self.described(corpus, trainset)
        job: dict[str, Any] = {
            "threads": threads,
            "study": self.config.study,
            "relations": described,
        }
        if self.kinds[name].name == "endpoint":
            job["section"] = self.language_models.section
        return json.dumps(job, sort_keys=True)

    def networked(self) -> list[str]:
        """Return the systems that need a network: not what jobs serve themselves."""
        served = self.language_models.need_network
        return [
            name
            for name, kind in self.kinds.items()
            if kind.network and (kind.name != "endpoint" or served(self.sections[name].endpoint))
        ]


def next_attempt(report: str | Path) -> int:
    """Return the number of the next attempt of a system: a new one after a failed attempt.

    The number is a parameter of the rule, so that the next run queries a system again if its
    attempt failed, and never otherwise.
    """
    try:
        last = read_json(report) if Path(report).is_file() else {}
    except UserError:
        last = {}
    return last.get("attempt", 0) + bool(last.get("failed"))
