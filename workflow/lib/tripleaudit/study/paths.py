"""Paths of a study: the files that it makes, and the raw files, models and own files it names."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tripleaudit.core.addresses import holds_secrets
from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.files import read_json
from tripleaudit.core.shipped import shipped
from tripleaudit.sources import registry


def with_contents(paths: Iterable[str]) -> list[str]:
    """Return paths, followed by the files inside of those that are folders.

    Snakemake does not notice a changed file of a folder, unless the file is an input itself.
    """
    paths = list(paths)
    contents = [str(file) for path in paths for file in sorted(_files_below(Path(path)))]
    return paths + contents


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, also those behind links to folders, each folder once."""
    visited = set()
    for parent, folders, names in os.walk(folder, followlinks=True):
        visited.add(os.path.realpath(parent))
        folders[:] = [
            name for name in folders if os.path.realpath(Path(parent, name)) not in visited
        ]
        for name in names:
            file = Path(parent, name)
            if file.is_file():
                yield file


def fill(pattern: str, **values: Any) -> str:
    """Return a path pattern with some of its wildcards replaced; others stay as they are.

    Args:
        pattern: a pattern of :class:`ResultPaths`.
        values: wildcard -> value; ``run`` is the path of a training or system.
    """
    for name, value in values.items():
        pattern = pattern.replace(f"{{{name}}}", str(value)).replace(f"<{name}>", str(value))
    return pattern


class ResultPaths:
    """The files that a study makes, as patterns that rules and Python share.

    Wildcards are in braces. ``<run>`` is the path of a training (corpus, training set, extractor,
    noise and seed) or of a system (corpus, training set and system).

    Args:
        study: folder of the results; ``<study>`` in the workflow.
    """

    def __init__(self, study: str):
        self.study = study
        # corpora and protocols
        self.sentences = f"{study}/corpora/{{corpus}}/{{split}}.jsonl"
        self.sentence_counts = f"{study}/corpora/{{corpus}}/{{split}}.counts.json"
        self.published_sentences = f"{study}/published/{{corpus}}/{{protocol}}/{{split}}.jsonl"
        self.published_counts = f"{study}/published/{{corpus}}/{{protocol}}/{{split}}.counts.json"
        self.protocol_set = f"{study}/protocols/{{corpus}}/{{protocol}}/{{setting}}/{{split}}.jsonl"
        self.protocol_report = f"{study}/protocols/{{corpus}}/{{protocol}}/report.json"
        self.masked_lm_file = f"{study}/masked_lm/{{corpus}}/{{name}}"
        self.audit = f"{study}/audits/{{corpus}}/{{protocol}}.json"
        # trainings
        self.model_file = f"{study}/models/<run>/{{name}}"
        self.doubled_file = f"{study}/doubled/<run>/{{name}}"
        self.training_facts = f"{study}/trainings.json"
        # predictions
        self.predictions = f"{study}/predictions/<run>/{{testset}}.jsonl"
        self.prediction_report = f"{study}/predictions/<run>/{{testset}}.report.json"
        self.system_facts = f"{study}/systems.json"
        # scores
        self.scores = f"{study}/scores/{{row}}.csv"
        self.counts = f"{study}/counts/{{row}}.csv"
        self.score_provenance = f"{study}/scores/{{row}}.provenance.json"
        self.curve = f"{study}/scores/{{classifier_run}}/curve.json"
        self.merged_scores = f"{study}/{{part}}scores.csv"
        self.merged_provenance = f"{study}/{{part}}scores.provenance.json"
        self.frame = f"{study}/{{frame}}.{{form}}"
        # generative extraction
        self.texts = f"{study}/generative/{{dataset}}/texts.jsonl"
        self.reference = f"{study}/generative/{{dataset}}/reference.jsonl"
        self.answers = f"{study}/generative/{{dataset}}/{{system}}/answers.jsonl"
        self.extractions = f"{study}/generative/{{dataset}}/{{system}}/predictions.jsonl"
        self.extraction_report = f"{study}/generative/{{dataset}}/{{system}}/report.json"
        # GREScores
        self.judgements = f"{study}/gre/{{dataset}}/judged/{{system}}/{{judge}}/{{kind}}.json"
        self.gre_scores = f"{study}/gre/{{dataset}}/scores.csv"
        self.gre_provenance = f"{study}/gre/{{dataset}}/scores.provenance.json"
        self.topic_weights = f"{study}/gre/{{dataset}}/topics/lda.safetensors"
        self.topic_vocabulary = f"{study}/gre/{{dataset}}/topics/lda.json"
        # needles
        self.needle_corpus_file = f"{study}/needles/corpus/{{name}}"
        self.needle_file = f"{study}/needles/models/{{lm}}/{{name}}"
        # collections
        self.collection_file = f"{study}/collections/{{collection}}/{{name}}"
        self.collection_part = (
            f"{study}/collections/{{collection}}/parts/{{part}}-of-{{parts}}.json"
        )
        # results
        self.table = f"{study}/tables/{{table}}.{{form}}"
        self.plot = f"{study}/plots/{{plot}}.{{form}}"
        self.report = f"{study}/report.html"


class StudyPaths:
    """The folders of a study, and the files that its configuration names.

    Args:
        study: what the study makes, ``results/<study>``.
        downloads: what is fetched, ``resources/downloads``.
        raw_root: local copies of raw files; None where they are fetched.
    """

    def __init__(self, study: str, downloads: str, raw_root: str | None = None):
        self.study, self.downloads, self.raw_root = study, downloads, raw_root
        self.results = ResultPaths(study)
        self._models_by_slug: dict[str, str] = {}  # filled by `model` and `served`

    @property
    def raw(self) -> str:
        """The folder with raw files: the study's own, or where they are fetched to."""
        return self.raw_root or f"{self.downloads}/raw"

    def file(self, path: str) -> str:
        """Return the path of a file: in the raw root, a fetched raw file, shipped, or as named."""
        if self.raw_root:
            file = Path(self.raw_root) / path
            if file.exists():
                return str(file)
        if path in registry.raw_files():
            return f"{self.raw}/{path}"
        return shipped(path)

    def own_files(self, paths: Iterable[str]) -> list[str]:
        """Return those inputs that the study neither makes nor fetches.

        For a model these are all files of its folder and of its modules (``1_Pooling``).
        """
        # "<" begins a path variable of the workflow, such as <study>
        made = (f"{self.study}/", f"{self.downloads}/", "<")
        files = []
        for path in paths:
            if path.startswith(made):
                continue
            if Path(path).name in ("config.json", "model.safetensors"):
                folder = Path(path).parent
                files += sorted(map(str, [*folder.glob("*.*"), *folder.glob("[0-9]_*/*.*")]))
            else:
                files.append(path)
        return list(dict.fromkeys(files))

    def problems_of_file(self, where: str, path: str) -> Iterator[str]:
        """Yield a sentence about a file that is neither there nor fetched."""
        if path in registry.raw_files():
            yield from self.problems_of_raw(where, registry.raw_file(path))
        elif not Path(self.file(path)).exists():
            root = (
                f"under raw_root ({self.raw_root})"
                if self.raw_root
                else "under raw_root, which is not set"
            )
            yield (
                f"{where}: {path}: no such file or folder, neither here nor {root}; name one of your own, or set "
                "raw_root to a folder that has it"
            )

    def problems_of_raw(self, where: str, *files: registry.RawFile) -> Iterator[str]:
        """Yield a sentence about registered files that are missing below the raw root."""
        missing = [
            file.name for file in files if self.raw_root and not file.below(self.raw_root).is_file()
        ]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            yield f"{where}: {missing[0]}{more}: no such file, expected below raw_root {self.raw_root}"

    def to_get(self, *files: registry.RawFile) -> Iterator[str]:
        """Yield a sentence about each page with files that cannot be fetched and are not there."""
        if self.raw_root:
            return
        pages: dict[str | None, list[str]] = {}
        for file in files:
            if file.source is None and not file.below(self.raw).is_file():
                pages.setdefault(file.page, []).append(file.name)
        for page, names in pages.items():
            yield f"{', '.join(names)}: cannot be fetched; get it from {page} and set raw_root to the folder above it"

    # models

    def model(self, model: str) -> str:
        """Return the folder of a model, fetched unless it is a local folder already."""
        return self._local(model) or f"{self.downloads}/models/{self._slug(model)}"

    def served(self, model: str) -> str:
        """Return the GGUF file of a language model, fetched unless it is a local file already."""
        return self._local(model) or f"{self.downloads}/lm/{self._slug(model)}.gguf"

    def source(self, slug: str) -> str:
        """Return the model that is fetched into a folder of this name.

        A name that no earlier call of :meth:`model` or :meth:`served` returned is the model's own.
        """
        return self._models_by_slug.get(slug, slug)

    def problems_of_served(self, where: str, model: str) -> Iterator[str]:
        """Yield a sentence about a language model that is unknown or not an existing GGUF file."""
        try:
            source = registry.find_model(model).source
        except UserError as error:
            yield f"{where}: {error}"
            return
        local, known = self._local(model), hint(model, registry.models())
        if local is not None and not Path(local).exists():
            yield f"{where}: {local}: no such file{known}"
            return
        file_name = source.inner or source.location
        if not file_name.lower().endswith(".gguf"):
            yield f"{where}: {model}: not a GGUF file; serve another model yourself, and name its 'base_url'{known}"

    def problems_of_model(self, where: str, model: str, layers: int | None = None) -> Iterator[str]:
        """Yield a sentence about an unknown model, a folder without a model, or missing layers.

        Args:
            where: location of the model's key, next to ``layers`` if that is given.
            layers: number of its first layers that are used; None for all.
        """
        if holds_secrets(model):
            yield f"{where}: an address must not hold credentials; fetch the model, and name its folder"
            return
        try:
            found = registry.find_model(model)
        except UserError as error:
            yield f"{where}: {error}"
            return
        folder = self._local(model)
        if folder is not None and not (Path(folder) / "config.json").is_file():
            what = "has no config.json" if Path(folder).is_dir() else "no such folder"
            known = hint(model, registry.models())
            yield f"{where}: {folder}: {what}; expected the folder of a model, or a registered one{known}"
            return
        has = self._layers(model) or found.layers
        if layers is not None and has is not None and layers > has:
            section = where.rpartition("/")[0]
            yield f"{section}/layers: {layers}, but the encoder {model} has {has}; expected 1 to {has}"

    def _layers(self, model: str) -> int | None:
        """The number of layers of a model whose configuration is at hand."""
        path = Path(self.model(model)) / "config.json"
        try:
            return int(read_json(path)["num_hidden_layers"]) if path.is_file() else None
        except (UserError, KeyError, TypeError, ValueError):
            return None

    @staticmethod
    def _local(model: str) -> str | None:
        """The folder or file of a model that is neither fetched nor taken out of an archive."""
        source = registry.find_model(model).source
        is_in_archive = source.inner is not None
        if source.kind != "local" or is_in_archive:
            return None
        return shipped(source.location)

    def _slug(self, model: str) -> str:
        """Return the folder name of a fetched model: its name with harmless characters."""
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")
        self._models_by_slug[slug] = model
        return slug
