"""The section ``collections``: which texts are read by which of the study's models, and where
the triples lie.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from tripleaudit.collection.addresses import is_remote, text_files
from tripleaudit.core.addresses import holds_secrets
from tripleaudit.core.arguments import options_of
from tripleaudit.core.fields import Batch, Number, Paths, Runtime, Section, Seed, Share, Text
from tripleaudit.core.files import MANIFEST
from tripleaudit.core.shipped import shipped
from tripleaudit.extractors.registry import saved_extractor_name
from tripleaudit.scoring.gate import THRESHOLD
from tripleaudit.study.problems import refused

if TYPE_CHECKING:
    from tripleaudit.study.study import Study


class Collection(Section):
    """One collection."""

    files: Paths
    """Files, folders, patterns or addresses of a store (s3://…); plain text with a sentence a line (.txt), JSON lines
    (.jsonl), tables (.csv, .tsv), each also as .gz or .zst, and .parquet."""
    text_column: Text = "text"
    """Column of a table, or key of a JSON line, that holds the text."""
    id_column: Text = "id"
    """The same for the id; rows without one are called by file and number."""
    extractor: Text
    """An extractor that the study trains, the folder of a trained one, or one of its `systems`
    that reads texts.
    """
    gate: str | None
    """The zero-cardinality classifier that reads every sentence first, zcc-binary or zcc-mcml of the study or the
    folder of a trained one; null for none."""
    corpus: str | None = None
    """The corpus that extractor and gate are trained on; by default the study's only one."""
    trainset: str = "original-nz"
    """The training set of the extractor, protocol and setting; behind a gate, original-nz is the
    usual one.
    """
    noise: Literal["none", "noising"] = "none"
    """Whether the extractor is the one trained with Entity Noising."""
    seed: Seed | None = None
    """Seed of the trainings; by default the study's first one."""
    threshold: Share = THRESHOLD
    """A sentence passes the gate above this score."""
    batch_size: Batch = 64
    """Sentences at a time."""
    block: int = Field(20000, ge=1)
    """Rows that are read, extracted, written and, if they are lost, made again together; each
    block is a file.
    """
    jobs: Number = 1
    """Jobs that the blocks are divided among; on a cluster each runs on a node and a GPU of its
    own.
    """
    workers: Number = 1
    """Processes of a job that hold gate and extractor; they share the job's GPU."""
    max_chars: Number = 10000
    """Longer texts are counted and left out."""
    write: Literal["all", "triples"] = "all"
    """Write every sentence (as scoring needs it), or only those with triples."""
    on_error: Literal["stop", "skip"] = "stop"
    """Lines that are not UTF-8, not JSON or without text: stop with an error, or count and skip
    them.
    """
    mem_mb: int = Field(4000, ge=500)
    """Memory that a job on a cluster asks for, for each worker."""
    runtime: Runtime = "4h"
    """Time that a job on a cluster asks for, minutes or '4h'."""


class Collections:
    """The text collections of a study."""

    def __init__(self, study: "Study", section: dict[str, Collection]):
        self.study, self.section = study, section

    def __iter__(self) -> Iterator[str]:
        return iter(self.section)

    def __bool__(self) -> bool:
        return bool(self.section)

    def __getitem__(self, name: str) -> Collection:
        return self.section[name]

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each model that the study neither trains nor finds, and for
        texts that are missing.
        """
        for name, section in self.section.items():
            if any(map(holds_secrets, section.files)):
                yield (
                    f"collections/{name}/files: an address must not hold credentials; set them where the store's "
                    "tools look, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                )
            yield from self._problems_of_models(name, section)
            yield from refused(f"collections/{name}/files", self.texts, name)

    def _problems_of_models(self, name: str, section: Collection) -> Iterator[str]:
        if section.extractor in self.study.systems.given:
            kind = self.study.systems.kinds.get(section.extractor)
            if kind is not None and kind.name == "predictions":
                yield f"collections/{name}/extractor: '{section.extractor}' is stored predictions and reads no texts"
            if section.gate is None:
                return
        if not section.corpus and len(self.study.corpora) != 1 and not is_folder(section.extractor):
            known = ", ".join(self.study.corpora) or "none"
            yield f"collections/{name}/corpus: expected the corpus whose extractor reads it; known are {known}"
            return
        runs, classifiers = (
            [run.path for run in part] for part in (self.study.runs, self.study.classifier_runs)
        )
        for key, model, run, known in (
            ("extractor", section.extractor, self.model_run(name), runs),
            ("gate", section.gate, self.gate_run(name), classifiers),
        ):
            if run is not None and run not in known:
                yield (
                    f"collections/{name}/{key}: the study has no training {run}; expected one of its trainings "
                    f"({_some(known)}) or the folder of a trained model"
                )
            elif run is None and model is not None and model not in self.study.systems.given:
                yield from refused(
                    f"collections/{name}/{key}", saved_extractor_name, shipped(model)
                )

    def texts(self, name: str) -> list[str]:
        """Return the text files of a collection that lie on this machine; addresses of stores are
        not looked at.

        Raises:
            UserError: an entry stands for no file.
        """
        files = self.section[name].files
        return [
            file.name for file in text_files([entry for entry in files if not is_remote(entry)])
        ]

    def threads(self, wildcards: Any) -> int:
        """Return the threads of a collection's job: those of the workers, and its own."""
        return self[wildcards.collection].workers + 1

    def runtime(self, wildcards: Any) -> int | str:
        """Return the time that a collection's job asks for."""
        return self[wildcards.collection].runtime

    def models(self, wildcards: Any) -> list[str]:
        """Return the weights of the extractor and the classifier before it."""
        return self.model(wildcards.collection) + self.gate(wildcards.collection)

    def addresses(self, wildcards: Any) -> list[str]:
        """Return the entries of a collection that lie in a store, which is looked at when the
        job runs.
        """
        return [entry for entry in self.section[wildcards.collection].files if is_remote(entry)]

    def extractor(self, name: str) -> str:
        """Return the name of the extractor, empty where a folder holds it."""
        model = self.section[name].extractor
        return "" if is_folder(model) else model

    def model_run(self, name: str) -> str | None:
        """Return the path of the run whose model extracts (:attr:`.study.Run.path`), None for a
        folder.
        """
        section = self.section[name]
        if is_folder(section.extractor) or self.system(name):
            return None
        return f"{self._corpus(section)}/{section.trainset}/{section.extractor}/{section.noise}/{self._seed(section)}"

    def gate_run(self, name: str) -> str | None:
        """Return the path of the run whose classifier is the gate, None for a folder or no gate."""
        section = self.section[name]
        if section.gate is None or is_folder(section.gate):
            return None
        return f"{self._corpus(section)}/original-wz/{section.gate}/none/{self._seed(section)}"

    def system(self, name: str) -> str | None:
        """Return the system of the study that extracts, None where a trained extractor does."""
        extractor = self.section[name].extractor
        return extractor if extractor in self.study.systems.given else None

    def model(self, name: str) -> list[str]:
        """Return the weights of the extractor, or the files that a system's answers depend on."""
        if system := self.system(name):
            return self._programs(system) + self._shown(name)
        return [self._weights(self.model_run(name), self.section[name].extractor)]

    def _programs(self, system: str) -> list[str]:
        systems = self.study.systems
        settings = systems.settings(system)
        return sorted({*systems.kinds[system].files(settings), *(settings.get("files") or ())})

    def _shown(self, name: str) -> list[str]:
        """Return the training sentences whose relations a system is given."""
        corpus = self._corpus(self.section[name])
        return [self.study.set_file(corpus, "original", "nz", "train")] if corpus else []

    def who_options(self, name: str, threads: int) -> list[str]:
        """Return the options of ``tripleaudit collection run`` that say what extracts."""
        system, systems = self.system(name), self.study.systems
        if system is None:
            return ["--model", str(Path(self.model(name)[0]).parent)]
        said = {
            "name": system,
            "kind": systems.kinds[system].name,
            "settings": systems.settings(system),
            "deciding": systems.identity(self._corpus(self.section[name]), system),
            "job": json.loads(systems.job(self._corpus(self.section[name]), system, threads)),
            "train": next(iter(self._shown(name)), ""),
            "files": self._programs(system),
        }
        return ["--system", json.dumps(said, sort_keys=True)]

    def identity(self, wildcards: Any) -> dict[str, Any]:
        """Return what decides the answers of a collection's system, if it has one."""
        system = self.system(wildcards.collection)
        return (
            self.study.systems.identity(self._corpus(self.section[wildcards.collection]), system)
            if system
            else {}
        )

    def gate(self, name: str) -> list[str]:
        """Return the weights of the classifier before it, if there is one."""
        gate = self.section[name].gate
        return [] if gate is None else [self._weights(self.gate_run(name), gate)]

    def files(self) -> list[str]:
        """Return the manifests of all collections."""
        return [f"{self.study.paths.study}/collections/{name}/{MANIFEST}" for name in self]

    def parts(self, name: str) -> list[str]:
        """Return the outputs of the jobs that extract a collection."""
        jobs = self.section[name].jobs
        folder = f"{self.study.paths.study}/collections/{name}/parts"
        return [f"{folder}/{part}-of-{jobs}.json" for part in range(1, jobs + 1)]

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
        """Return the options that decide the triples besides texts, their reading and the
        models.
        """
        section = self.section[wildcards.collection]
        return options_of(
            {"threshold": section.threshold, "only-triples": section.write == "triples"}
        )

    def speed_options(self, wildcards: Any, input: Any) -> list[str]:
        """Return the options that change the speed alone."""
        section = self.section[wildcards.collection]
        return options_of({"workers": section.workers, "batch-size": section.batch_size})

    def kind(self, name: str) -> str:
        """Return the kind of the system that extracts."""
        return self.study.systems.kinds[self.system(name) or ""].name

    def mem_mb(self, wildcards: Any, attempt: int) -> int:
        """Return the memory of all workers together."""
        return (
            self.section[wildcards.collection].workers
            * self.section[wildcards.collection].mem_mb
            * attempt
        )

    def _weights(self, run: str | None, model: str) -> str:
        folder = f"{self.study.paths.study}/models/{run}" if run else shipped(model)
        return f"{folder}/model.safetensors"

    def _corpus(self, section: Collection) -> str:
        return section.corpus or next(iter(self.study.corpora), "")

    def _seed(self, section: Collection) -> str:
        return f"seed{self.study.seeds[0] if section.seed is None else section.seed}"


def is_folder(model: str) -> bool:
    """Whether a model is given as a folder: a path with a slash, or a folder that is there."""
    return "/" in model or Path(shipped(model)).is_dir()


def _some(names: list[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "it has none") + more
