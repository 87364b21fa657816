"""Text collections of a study, the models that process them, and the files of their triples."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.collection.addresses import is_remote, text_files
from tripleaudit.core.arguments import options_of
from tripleaudit.core.files import MANIFEST
from tripleaudit.core.shipped import shipped
from tripleaudit.study.config.collections import Collection
from tripleaudit.study.config.study import StudyConfig
from tripleaudit.study.paths import StudyPaths, fill
from tripleaudit.study.protocols import Protocols
from tripleaudit.study.systems import Systems

GATE_TRAINSET = "original-wz"
"""Training set of classifiers: the original one with its sentences without triples."""


class Collections:
    """The text collections of a study.

    A collection is extracted by a trained extractor (of the study or in a folder) or by a system
    without training; a trained classifier may be the gate before it. Methods with ``wildcards``
    are functions of the rules in ``rules/collection.smk``.

    Args:
        config: the configuration of the study.
        systems: the systems without training, some of which read texts.
        protocols: the training and test sets.
        paths: the files of the study.
    """

    def __init__(
        self, config: StudyConfig, systems: Systems, protocols: Protocols, paths: StudyPaths
    ):
        self.config, self.section = config, config.collections
        self.systems, self.protocols, self.paths = systems, protocols, paths

    def __iter__(self) -> Iterator[str]:
        return iter(self.section)

    def __bool__(self) -> bool:
        return bool(self.section)

    def __getitem__(self, name: str) -> Collection:
        return self.section[name]

    def texts(self, name: str) -> list[str]:
        """Return the text files of a collection on this machine; addresses of stores are left out.

        Raises:
            UserError: an entry matches no file.
        """
        local = [entry for entry in self.section[name].files if not is_remote(entry)]
        return [file.name for file in text_files(local)]

    def threads(self, wildcards: Any) -> int:
        """Return the threads of a collection's job: those of the workers, and its own."""
        return self[wildcards.collection].workers + 1

    def runtime(self, wildcards: Any) -> int | str:
        """Return the time that a collection's job asks for."""
        return self[wildcards.collection].runtime

    def models(self, wildcards: Any) -> list[str]:
        """Return the files of :meth:`model` and the weights of the gate."""
        return self.model(wildcards.collection) + self.gate(wildcards.collection)

    def addresses(self, wildcards: Any) -> list[str]:
        """Return the entries of a collection that are addresses of a store; the job reads them."""
        return [entry for entry in self.section[wildcards.collection].files if is_remote(entry)]

    def extractor(self, name: str) -> str:
        """Return the name of the extractor or system; empty for the folder of a model."""
        model = self.section[name].extractor
        return "" if is_folder(model) else model

    def model_run(self, name: str) -> str | None:
        """Return the path of the run whose model extracts; None if the model is a folder.

        The path is :attr:`.runs.TrainingRun.path`.
        """
        section = self.section[name]
        if is_folder(section.extractor) or self.system(name):
            return None
        trainset, extractor, noise = section.trainset, section.extractor, section.noise
        return f"{self._corpus(section)}/{trainset}/{extractor}/{noise}/{self._seed(section)}"

    def gate_run(self, name: str) -> str | None:
        """Return the path of the run whose classifier is the gate; None for a folder or no gate."""
        section = self.section[name]
        if section.gate is None or is_folder(section.gate):
            return None
        return f"{self._corpus(section)}/{GATE_TRAINSET}/{section.gate}/none/{self._seed(section)}"

    def system(self, name: str) -> str | None:
        """Return the system that extracts; None if a trained extractor does."""
        extractor = self.section[name].extractor
        return extractor if extractor in self.systems.sections else None

    def model(self, name: str) -> list[str]:
        """Return the weights of the extractor, or the files that a system's answers depend on."""
        system = self.system(name)
        if system is not None:
            return self._programs(system) + self._training_sets(name)
        return [self._weights(self.model_run(name), self.section[name].extractor)]

    def _programs(self, system: str) -> list[str]:
        """Return the programs and other files that a system's settings name."""
        settings = self.systems.settings(system)
        files = settings.get("files") or ()
        return sorted({*self.systems.kinds[system].files(settings), *files})

    def _training_sets(self, name: str) -> list[str]:
        """Return the training set whose relations a system is given; none without a corpus."""
        corpus = self._corpus(self.section[name])
        return [self.protocols.set_file(corpus, "original", "nz", "train")] if corpus else []

    def extractor_options(self, name: str, threads: int, model_files: Sequence[str]) -> list[str]:
        """Return the options of ``tripleaudit collection`` for the extractor or system.

        ``model_files`` are the job's own input files of :meth:`model`: Snakemake has put the folder
        of the study into them, which paths of this class do not name.

        In the JSON of a system, ``deciding`` are the settings that affect its answers, and ``job``
        the values that its job needs besides its settings.
        """
        system, systems = self.system(name), self.systems
        if system is None:
            return ["--model", str(Path(model_files[0]).parent)]
        corpus = self._corpus(self.section[name])
        values = {
            "name": system,
            "kind": systems.kinds[system].name,
            "settings": systems.settings(system),
            "deciding": systems.identity(corpus, system),
            "job": json.loads(systems.job(corpus, system, threads)),
            "train": model_files[-1] if self._training_sets(name) else "",
            "files": self._programs(system),
        }
        return ["--system", json.dumps(values, sort_keys=True)]

    def identity(self, wildcards: Any) -> dict[str, Any]:
        """Return the settings that affect the answers of a collection's system, if it has one.

        Snakemake compares them instead of :meth:`extractor_options`, which also hold others.
        """
        system = self.system(wildcards.collection)
        if system is None:
            return {}
        return self.systems.identity(self._corpus(self.section[wildcards.collection]), system)

    def gate(self, name: str) -> list[str]:
        """Return the weights of the gate, if there is one."""
        gate = self.section[name].gate
        return [] if gate is None else [self._weights(self.gate_run(name), gate)]

    def files(self) -> list[str]:
        """Return the manifests of all collections."""
        return [
            self.paths.results.collection_file.format(collection=name, name=MANIFEST)
            for name in self
        ]

    def parts(self, name: str) -> list[str]:
        """Return the outputs of the jobs that extract a collection."""
        jobs = self.section[name].jobs
        pattern = self.paths.results.collection_part
        return [
            pattern.format(collection=name, part=part, parts=jobs) for part in range(1, jobs + 1)
        ]

    def reading_options(self, wildcards: Any) -> list[str]:
        """Return the options of ``tripleaudit collection`` about how texts are read."""
        section = self.section[wildcards.collection]
        values = {
            "text-column": section.text_column,
            "id-column": section.id_column,
            "max-chars": section.max_chars,
            "block": section.block,
            "skip-broken": section.on_error == "skip",
        }
        return options_of(values)

    def deciding_options(self, wildcards: Any) -> list[str]:
        """Return the options that affect the triples, apart from texts and models."""
        section = self.section[wildcards.collection]
        return options_of(
            {"threshold": section.threshold, "only-triples": section.write == "triples"}
        )

    def speed_options(self, wildcards: Any, input: Any) -> list[str]:
        """Return the options that change the speed alone.

        Snakemake compares no parameter whose function takes ``input``, so that another speed
        extracts nothing again.
        """
        section = self.section[wildcards.collection]
        return options_of({"workers": section.workers, "batch-size": section.batch_size})

    def kind(self, name: str) -> str:
        """Return the kind of the system that extracts; only for collections that have one."""
        return self.systems.kinds[self.system(name) or ""].name

    def mem_mb(self, wildcards: Any, attempt: int) -> int:
        """Return the memory of all workers together."""
        section = self.section[wildcards.collection]
        return section.workers * section.mem_mb * attempt

    def _weights(self, run: str | None, model: str) -> str:
        """Return the weights of a run of the study, or of the folder of a model."""
        if run:
            return fill(self.paths.results.model_file, run=run, name="model.safetensors")
        return f"{shipped(model)}/model.safetensors"

    def _corpus(self, section: Collection) -> str:
        return section.corpus or next(iter(self.config.corpora), "")

    def _seed(self, section: Collection) -> str:
        return f"seed{self.config.seeds[0] if section.seed is None else section.seed}"


def is_folder(model: str) -> bool:
    """Whether a model is given as a folder: a path with a slash, or a folder that is there."""
    return "/" in model or Path(shipped(model)).is_dir()
