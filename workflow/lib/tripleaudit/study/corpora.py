"""Corpora of a study: where their splits come from and how they are read."""

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.arguments import options_of
from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import shipped
from tripleaudit.corpora.readers import resolve_format
from tripleaudit.corpora.readers.common import split_of
from tripleaudit.corpora.readers.records import Columns
from tripleaudit.sources import registry
from tripleaudit.study.config.corpora import Files
from tripleaudit.study.config.study import StudyConfig
from tripleaudit.study.hub import data_set_folder
from tripleaudit.study.paths import StudyPaths, with_contents
from tripleaudit.study.protocols import Protocols

SPLITS = ("train", "valid", "test")


def formats_of(paths: Iterable[str], format: str, columns: Columns | None) -> list[str]:
    """Return the formats that files are read in; none if a file is missing or cannot be read."""
    roles = columns.given() if columns else None
    try:
        formats = [resolve_format(path, format, roles) for path in paths]
    except UserError:
        return []
    return list(dict.fromkeys(formats))


class Corpora:
    """The corpora of a study and their splits.

    Args:
        config: the configuration of the study.
        protocols: the protocols, whose published sets are read like a corpus.
        paths: the files of the study.
    """

    def __init__(self, config: StudyConfig, protocols: Protocols, paths: StudyPaths):
        self.sections, self.protocols, self.paths = config.corpora, protocols, paths

    @functools.cached_property
    def file_sizes(self) -> dict[str, dict[str, int]]:
        """Sentences of each split of the user's own files, where they have one a line."""
        return {name: _sizes_of_files(corpus.files) for name, corpus in self.sections.items()}

    def sizes(self, name: str) -> dict[str, int]:
        """Return the number of sentences of each split, where it is known before the study runs."""
        return {} if self.sections[name].only_relations else self.largest_sizes(name)

    def largest_sizes(self, name: str) -> dict[str, int]:
        """Return how many sentences each split has at most, all relations included."""
        section = self.sections[name]
        sizes = self.file_sizes[name]
        if section.files is None:
            entry = registry.corpora().get(section.registry or name)
            sizes = dict(entry.sizes) if entry is not None else sizes
        limited: dict[str, int] = {}
        for split, size in sizes.items():
            limit = getattr(section.limit, split, None)
            limited[split] = size if limit is None else min(size, limit)
        return limited

    def registered(self, corpus: str) -> registry.RegisteredCorpus | None:
        """Return the registered corpus behind a corpus of the study; None for own files."""
        section = self.sections[corpus]
        if section.files is not None:
            return None
        return registry.corpus(section.registry or corpus)

    @property
    def trainable(self) -> list[str]:
        """The corpora that have training, validation and test sets."""
        entries = {
            corpus: self.registered(corpus)
            for corpus in self.sections
            if self.sections[corpus].has_training
        }
        return [
            corpus
            for corpus, entry in entries.items()
            if entry is None or len(entry.splits) == len(SPLITS)
        ]

    def counts(self) -> list[str]:
        """Return the files of the reports on reading the corpora.

        A corpus for training has a report for each split, a corpus without training data has one
        for its test set.
        """
        report = self.paths.results.sentence_counts
        reports: list[str] = []
        for name, section in self.sections.items():
            if not section.has_training:
                reports.append(report.format(corpus=name, split="test"))
            elif name in self.trainable:
                reports += [report.format(corpus=name, split=split) for split in SPLITS]
        return reports

    def files_of_split(self, corpus: str, split: str, protocol: str = "original") -> list[str]:
        """Return the files of a split: paths of the user's files, or names of raw files.

        Args:
            protocol: whose published set the split is; ``original`` for the corpus itself.
        """
        section = self.sections[corpus]
        files = section.files
        if files is None:
            entry = self.protocols.published(corpus, protocol)
            if entry is None:
                entry = registry.corpus(section.registry or corpus)
            return [file.name for file in entry.raw_files(split)]
        if split == "test" and self.protocols.in_files(corpus, protocol):
            return files.augmented
        # without a validation file, the validation set is a part of the training file
        return getattr(files, split) or files.train or []

    def raw_inputs(self, wildcards: Any) -> list[str]:
        """Return the paths of the files of a split, or of a protocol's published set."""
        files = self.files_of_split(
            wildcards.corpus, wildcards.split, wildcards.get("protocol", "original")
        )
        if self.registered(wildcards.corpus) is None:
            data_sets = [split_of(shipped(path))[0] for path in files]
            return with_contents(data_sets)
        return [f"{self.paths.raw}/{name}" for name in files]

    def data_set(self, folder: str) -> list[str]:
        """Return the options of ``tripleaudit fetch`` that name the data set of a folder."""
        corpora = [corpus for corpus in self.sections.values() if corpus.hub is not None]
        corpus = next(corpus for corpus in corpora if data_set_folder(corpus) == folder)
        return options_of({"data-set": corpus.hub, "subset": corpus.hub_subset})

    def formats(self, corpus: str, split: str) -> list[str]:
        """Return the formats of the user's files of a split; none if a file is missing."""
        section = self.sections[corpus]
        if section.files is None:
            return []
        files = map(shipped, self.files_of_split(corpus, split))
        return formats_of(files, section.format, section.columns)

    def prepare_origin(self, wildcards: Any, input: Sequence[str]) -> list[str]:
        """Return the options of ``tripleaudit prepare`` that name the source of a split.

        Args:
            input: the input files of the rule.
        """
        files = self.files_of_split(
            wildcards.corpus, wildcards.split, wildcards.get("protocol", "original")
        )
        if self.registered(wildcards.corpus) is not None:
            # the input is the folder of raw files, followed by the name of the raw file
            raw_folder = input[0].removesuffix(files[0]).rstrip("/")
            return options_of({"raw-root": raw_folder or "."})
        sources = []
        # the input has the files in this order, followed by the contents of folders
        for path, file in zip(input, files, strict=False):
            # of folder#split, only the folder is in the input
            _, split_name = split_of(shipped(file))
            sources.append(f"{path}#{split_name}" if split_name else path)
        return options_of({"source": sources})

    def prepare_options(self, wildcards: Any) -> list[str]:
        """Return the options of ``tripleaudit prepare`` that affect the content of a split.

        The limit of the study does not apply to a published test set, which is read completely. A
        published set of variants of the test sentences has several files; the limit applies to
        each of them.
        """
        corpus, split = wildcards.corpus, wildcards.split
        protocol = wildcards.get("protocol", "original")
        section = self.sections[corpus]
        published = self.protocols.published(corpus, protocol)
        is_published_test = published is not None and split == "test"
        options: dict[str, Any] = {"occurrence": section.occurrence}
        if section.files is None:
            options["corpus"] = published.name if published else section.registry or corpus
            options["split"] = split
        else:
            columns = section.columns.given() if section.columns else {}
            options["format"] = section.format
            options["encoding"] = section.encoding
            options["column"] = [f"{role}={column}" for role, column in columns.items()]
            if section.files.valid is None and split != "test":
                # without a validation file, a tenth of the training file is the validation set
                options["divide"] = "train=9,valid=1"
                options["part"] = split
        options["uncased"] = section.uncased
        options["only-relation"] = section.only_relations
        # a relation that is missing from the training split is an error, from others it is not
        options["some-absent"] = bool(section.only_relations) and split != "train"
        limit = getattr(section.limit, split, None)
        if not is_published_test:
            options["limit"] = limit
        elif protocol in self.protocols.tests_only:
            options["limit-each"] = limit
        return options_of(options)


def raw_files(entry: registry.RegisteredCorpus) -> list[registry.RawFile]:
    """Return the raw files of all splits of a corpus, each once."""
    files = {file.name: file for split in entry.splits for file in entry.raw_files(split)}
    return list(files.values())


def _sizes_of_files(files: Files | None) -> dict[str, int]:
    """Return the number of sentences of each split in formats with one sentence a line."""
    sizes: dict[str, int] = {}
    if files is None:
        return sizes
    for split in SPLITS:
        paths = [Path(shipped(path)) for path in getattr(files, split) or ()]
        is_lines = [path.suffix == ".jsonl" and path.is_file() for path in paths]
        if paths and all(is_lines):
            sizes[split] = sum(_lines(path) for path in paths)
    return sizes


def _lines(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for line in stream if line.strip())
