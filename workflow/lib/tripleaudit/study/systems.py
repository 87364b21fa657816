"""Systems that a study does not train: their kinds, settings, test sets and input files."""

import contextlib
import json
from collections.abc import Collection
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
from tripleaudit.systems.language_model import identity as endpoint_identity
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
        """System -> its kind; systems whose section has no or several kinds are left out."""
        kinds = {}
        for name, section in self.sections.items():
            keys = [key for key in section.given() if key in SYSTEM_KINDS]
            if len(keys) == 1:
                kinds[name] = SYSTEM_KINDS[keys[0]]
        return kinds

    def stored(self, name: str) -> dict[str, dict[str, list[str]]]:
        """Return corpus -> protocol -> files of a system by ``predictions``."""
        by_corpus = self._by_corpus(self.sections[name].predictions)
        stored: dict[str, dict[str, list[str]]] = {}
        for corpus, value in by_corpus.items():
            by_protocol = value if isinstance(value, dict) else {"original": value}
            stored[corpus] = {}
            for protocol, paths in by_protocol.items():
                stored[corpus][protocol] = [paths] if isinstance(paths, str) else list(paths)
        return stored

    def _by_corpus(self, value: Any) -> dict[str, Any]:
        """Return corpus -> value; a value that is no mapping belongs to the first corpus."""
        return value if isinstance(value, dict) else dict.fromkeys(self.corpora[:1], value)

    def formats(self, name: str) -> list[str]:
        """Return the corpus formats that the stored outputs of a system may be in.

        All formats if a file does not exist yet or its format is unknown; none if all files have
        triples by sentence id without texts, which no corpus reader reads.
        """
        section = self.sections[name]
        files = []
        for by_protocol in self.stored(name).values():
            for paths in by_protocol.values():
                files += [self.paths.file(path) for path in paths]
        if not section.format and not section.columns:
            with contextlib.suppress(UserError):  # a file cannot be read
                if all(without_texts(path, ids=True) for path in files):
                    return []
        return formats_of(files, section.format or "auto", section.columns) or list(FORMATS)

    def training(self, name: str) -> dict[str, str]:
        """Return corpus -> provenance of the training behind a system by ``predictions``."""
        provenance = self.sections[name].training
        return {} if provenance is None else self._by_corpus(provenance)

    def settings(self, name: str) -> dict[str, Any]:
        """Return the settings of a system that its kind has, with their defaults."""
        kind = self.kinds[name]
        values = self.sections[name].full()
        keys = dict.fromkeys((kind.name, *kind.options, *COMMON_KEYS))
        settings = {key: values[key] for key in keys}
        relations = settings["relations"]
        if isinstance(relations, str):
            with contextlib.suppress(UserError):  # reported by the checks of systems
                settings["relations"] = load_map(self.paths.file(relations))
        return settings

    def testsets(self, corpus: str, trainset: str, name: str) -> list[tuple[str, str]]:
        """Return the ``(test set, testing setting)`` pairs that a system is scored on."""
        chosen = self.sections[name].protocols
        available: Collection[str] = self.protocols.names
        if self.kinds[name].name == "predictions":
            available = self.stored(name).get(corpus, {})
        pairs = []
        for testset, testing in self.protocols.testsets(trainset):
            protocol = trainset.removesuffix("-nz") if testset == "test" else testset
            is_chosen = chosen is None or protocol in chosen
            fits = not self.protocols.gives_schema(protocol) or self.takes_schema(name)
            if protocol in available and is_chosen and fits:
                pairs.append((testset, testing))
        return pairs

    def takes_schema(self, name: str) -> bool:
        """Return whether a system reads the relations to extract; stored outputs are assumed to."""
        kind, section = self.kinds[name], self.sections[name]
        if kind.name == "predictions":
            return True
        is_closed_endpoint = kind.name == "endpoint" and section.setting != "open"
        return kind.takes_schema and (section.relations is True or is_closed_endpoint)

    def threads(self, wildcards: Any) -> int:
        """Return the threads of a system's job."""
        return self.sections[wildcards.extractor].threads

    def gpus(self, wildcards: Any) -> int:
        """Return the GPUs of a system's job."""
        return self.sections[wildcards.extractor].gpus

    def mem_mb(self, wildcards: Any, attempt: int) -> int:
        """Return the memory of a system's job."""
        return self.sections[wildcards.extractor].mem_mb * attempt

    def runtime(self, wildcards: Any) -> int | str:
        """Return the time limit of a system's job."""
        return self.sections[wildcards.extractor].runtime

    def inputs(self, wildcards: Any) -> dict[str, Any]:
        """Return the inputs of a prediction file other than the test set."""
        name, corpus = wildcards.extractor, wildcards.corpus
        kind, settings = self.kinds[name], self.settings(name)
        if wildcards.testset == "test":
            test = self.protocols.testset_file(wildcards)
        else:
            test = self.protocols.set_file(corpus, wildcards.testset, "nz", "test")
        train: str | list[str] = []
        if self.config.corpora[corpus].has_training:
            # source of relations and examples; a protocol may hold some of them out
            protocol = wildcards.trainset.rpartition("-")[0]
            if not self.protocols.gives_schema(protocol):
                protocol = "original"
            train = self.protocols.set_file(corpus, protocol, "nz", "train")
        model = []
        if kind.name == "endpoint":
            model = self.language_models.served(settings["endpoint"])
        files = [self.paths.file(path) for path in self.files(wildcards)]
        files_in_folders = with_contents(files)[len(files) :]
        programs = {*kind.files(settings), *(settings.get("files") or ())}
        return {
            "test": test,
            "train": train,
            "model": model,
            "files": files,
            "contents": files_in_folders,  # Snakemake notices their changes only as inputs
            "programs": sorted(programs),
        }

    def gives_schema(self, wildcards: Any) -> bool:
        """Return whether a system receives the relations of a test set, not those of training."""
        return self.protocols.testset_gives_schema(wildcards.trainset, wildcards.testset)

    def files(self, wildcards: Any) -> list[str]:
        """Return the stored outputs for one test set."""
        if self.kinds[wildcards.extractor].name != "predictions":
            return []
        protocol = wildcards.testset
        if protocol == "test":
            protocol = wildcards.trainset.removesuffix("-nz")
        return self.stored(wildcards.extractor)[wildcards.corpus][protocol]

    def identity(self, corpus: str, name: str, trainset: str = "original-nz") -> dict[str, Any]:
        """Return the settings that affect the answers of a system, besides texts and files.

        Snakemake queries a system again if they change.
        """
        kind, settings = self.kinds[name], self.settings(name)
        ignored = {*TRANSPORT_KEYS, "predictions", "training"}  # stored files are inputs
        affecting = {key: value for key, value in settings.items() if key not in ignored}
        if kind.name == "endpoint":
            affecting |= endpoint_identity(self.language_models.section, settings)
        is_closed = settings.get("setting") not in (None, "open")
        if kind.takes_schema and (settings["relations"] is True or is_closed):
            affecting["described"] = self.described(corpus, trainset)
        return affecting

    def described(self, corpus: str, trainset: str = "original-nz") -> dict[str, str]:
        """Return relation -> description that systems receive with a training set."""
        return self.protocols.described(corpus, trainset.rpartition("-")[0])

    def json(self, wildcards: Any, input: Any) -> str:
        """Return the settings of a system as JSON, with those that do not affect its answers.

        Changes rerun no job: Snakemake does not compare parameters whose function takes ``input``.
        """
        return json.dumps(self.settings(wildcards.extractor), sort_keys=True)

    def job_param(self, wildcards: Any, input: Any, threads: int) -> str:
        """Return :meth:`job` of a rule's wildcards; like :meth:`json`, changes rerun no job."""
        trainset = wildcards.get("trainset", "original-nz")
        return self.job(wildcards.corpus, wildcards.extractor, threads, trainset)

    def job(self, corpus: str, name: str, threads: int, trainset: str = "original-nz") -> str:
        """Return what a job of a system needs in addition to its settings, as JSON."""
        job: dict[str, Any] = {
            "threads": threads,
            "study": self.config.study,
            "relations": self.described(corpus, trainset),
        }
        if self.kinds[name].name == "endpoint":
            job["section"] = self.language_models.section
        return json.dumps(job, sort_keys=True)

    def networked(self) -> list[str]:
        """Return the systems that need a network, without models that jobs serve themselves."""
        names = []
        for name, kind in self.kinds.items():
            endpoint = self.sections[name].endpoint
            is_local = kind.name == "endpoint" and not self.language_models.need_network(endpoint)
            if kind.network and not is_local:
                names.append(name)
        return names


def next_attempt(report: str | Path) -> int:
    """Return the number of the next attempt of a system: a new one after a failed attempt.

    The number is a parameter of the rule, so that the next run queries a system again if its
    attempt failed, and never otherwise.
    """
    try:
        last = read_json(report) if Path(report).is_file() else {}
    except UserError:
        last = {}
    attempt: int = last.get("attempt", 0)
    return attempt + 1 if last.get("failed") else attempt
