"""The section ``collections``: which texts are read by which of the study's models, and where the triples lie."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from tripleaudit.collection.files import collection_files
from tripleaudit.collection.index import shard_names
from tripleaudit.errors import UserError
from tripleaudit.extractors.registry import saved_extractor_name
from tripleaudit.fields import Batch, Number, Paths, Runtime, Section, Seed, Share, Text
from tripleaudit.shipped import shipped

if TYPE_CHECKING:
    from tripleaudit.plan.study import Study

DECIDING = ("threshold", "max_chars", "write", "on_error")
SPEED = ("batch_size", "window")


class Collection(Section):
    """One collection."""

    files: Paths
    """Files, folders or patterns; plain text with a sentence a line (.txt) or JSON lines with `text` and, if there is
    one, `id` (.jsonl), each also as .gz."""
    extractor: Text
    """An extractor that the study trains, or the folder of a trained one."""
    gate: str | None
    """The zero-cardinality classifier that reads every sentence first, zcc-binary or zcc-mcml of the study or the
    folder of a trained one; null for none."""
    corpus: str | None = None
    """The corpus that extractor and gate are trained on; by default the study's only one."""
    trainset: str = "original-nz"
    """The training set of the extractor, protocol and setting; behind a gate, original-nz is the usual one."""
    noise: Literal["none", "noising"] = "none"
    """Whether the extractor is the one trained with Entity Noising."""
    seed: Seed | None = None
    """Seed of the trainings; by default the study's first one."""
    shards: int = Field(8, ge=1, le=99999)
    """Number of parts of equally many lines; each is a job, is rerun alone, and is one output file."""
    threshold: Share = 0.5
    """The gate lets a sentence through above this score."""
    batch_size: Batch = 64
    """Sentences at a time."""
    window: Number = 4096
    """Sentences that are sorted by length together, and held in memory."""
    max_chars: Number = 10000
    """Longer texts are counted and left out."""
    write: Literal["all", "triples"] = "all"
    """Write every sentence (as scoring needs it), or only those with triples."""
    on_error: Literal["stop", "skip"] = "stop"
    """Lines that are not UTF-8, not JSON or without text: stop with an error, or count and skip them."""
    mem_mb: int = Field(4000, ge=500)
    """Memory that a cluster job asks for."""
    runtime: Runtime = "4h"
    """Time that a cluster job asks for, minutes or '4h'."""


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
        """Yield one sentence for each model that the study neither trains nor finds, and for texts that are missing."""
        for name, section in self.section.items():
            yield from self._problems_of_models(name, section)
            try:
                self.texts(name)
            except UserError as error:
                yield f"collections/{name}/files: {error}"

    def _problems_of_models(self, name: str, section: Collection) -> Iterator[str]:
        if not section.corpus and len(self.study.corpora) != 1 and not is_folder(section.extractor):
            known = ", ".join(self.study.corpora) or "none"
            yield f"collections/{name}/corpus: expected the corpus whose extractor reads it; known are {known}"
            return
        runs, classifiers = ([run.path for run in part] for part in (self.study.runs, self.study.classifier_runs))
        for key, model, run, known in (
            ("extractor", section.extractor, self.model_run(name), runs),
            ("gate", section.gate, self.gate_run(name), classifiers),
        ):
            if run is not None and run not in known:
                yield (
                    f"collections/{name}/{key}: the study has no training {run}; expected one of its trainings "
                    f"({_some(known)}) or the folder of a trained model"
                )
            elif run is None and model is not None:
                try:
                    saved_extractor_name(shipped(model))
                except UserError as error:
                    yield f"collections/{name}/{key}: {error}"

    def texts(self, name: str) -> list[str]:
        """Return the text files of a collection.

        Raises:
            UserError: an entry stands for no file.
        """
        return collection_files(self.section[name].files)

    def extractor(self, name: str) -> str:
        """Return the name of the extractor, empty where a folder holds it."""
        model = self.section[name].extractor
        return "" if is_folder(model) else model

    def model_run(self, name: str) -> str | None:
        """Return the path of the run whose model extracts (:attr:`.study.Run.path`), None for a folder."""
        section = self.section[name]
        if is_folder(section.extractor):
            return None
        return f"{self._corpus(section)}/{section.trainset}/{section.extractor}/{section.noise}/{self._seed(section)}"

    def gate_run(self, name: str) -> str | None:
        """Return the path of the run whose classifier is the gate, None for a folder or no gate."""
        section = self.section[name]
        if section.gate is None or is_folder(section.gate):
            return None
        return f"{self._corpus(section)}/original-wz/{section.gate}/none/{self._seed(section)}"

    def model(self, name: str) -> str:
        """Return the weights of the extractor."""
        return self._weights(self.model_run(name), self.section[name].extractor)

    def gate(self, name: str) -> list[str]:
        """Return the weights of the classifier before it, if there is one."""
        gate = self.section[name].gate
        return [] if gate is None else [self._weights(self.gate_run(name), gate)]

    def shards(self, name: str, ending: str) -> list[str]:
        """Return the files of all shards of a collection."""
        folder = f"{self.study.places.study}/collections/{name}"
        return [f"{folder}/{shard}.{ending}" for shard in shard_names(self.section[name].shards)]

    def tables(self) -> list[str]:
        """Return the names of the tables that the collections fill."""
        return ["collection"] if self.section else []

    def files(self) -> list[str]:
        """Return everything that the collections are read into."""
        return [file for name in self for file in self.shards(name, "jsonl.gz")]

    def settings_json(self, name: str, keys: Sequence[str] = DECIDING + SPEED) -> str:
        """Return the settings of a collection besides texts and models, or some of them, as canonical JSON."""
        return json.dumps(self.section[name].model_dump(include={*keys}), sort_keys=True)

    def deciding_json(self, name: str) -> str:
        """Return what of :meth:`settings_json` decides the triples."""
        return self.settings_json(name, DECIDING)

    def _weights(self, run: str | None, model: str) -> str:
        folder = f"{self.study.places.study}/models/{run}" if run else shipped(model)
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
