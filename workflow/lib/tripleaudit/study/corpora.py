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
from tripleaudit.study.paths import StudyPaths, with_contents
from tripleaudit.study.protocols import Protocols

SPLITS = ("train", "valid", "test")


def formats_of(paths: Iterable[str], format: str, columns: Columns | None) -> list[str]:
    """Return the formats that files are read in; none if a file is missing or cannot be read."""
    try:
        found = [
            resolve_format(path, format, columns.given() if columns else None) for path in paths
        ]
    except UserError:
        return []
    return list(dict.fromkeys(found))


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
        corpus = self.sections[name]
        if corpus.only_relations:
            return {}
        entry = registry.corpora().get(corpus.registry or name) if corpus.files is None else None
        known = dict(entry.sizes) if entry is not None else self.file_sizes[name]
        limits = {split: most for split, most in corpus.limit or () if most is not None}
        return {split: min(size, limits.get(split, size)) for split, size in known.items()}

    def registered(self, corpus: str) -> registry.RegisteredCorpus | None:
        """Return the registered corpus behind a corpus of the study; None for own files."""
        chosen = self.sections[corpus]
        return None if chosen.files is not None else registry.corpus(chosen.registry or corpus)

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
        """Return the reports on reading: all splits of trainable corpora, else the test set."""
        corpora = {
            name: SPLITS if self.sections[name].has_training else ("test",)
            for name in self.sections
        }
        known = {
            name: splits
            for name, splits in corpora.items()
            if name in self.trainable or splits == ("test",)
        }
        return [
            self.paths.results.sentence_counts.format(corpus=name, split=split)
            for name, splits in known.items()
            for split in splits
        ]

    def files_of_split(self, corpus: str, split: str, protocol: str = "original") -> list[str]:
        """Return the files of a split as the study names them: own paths, or names of raw files.

        Args:
            protocol: whose published set the split is; ``original`` for the corpus itself.
        """
        files = self.sections[corpus].files
        if files is None:
            entry = self.protocols.published(corpus, protocol) or registry.corpus(
                self.sections[corpus].registry or corpus
            )
            return [file.name for file in entry.raw_files(split)]
        if split == "test" and self.protocols.in_files(corpus, protocol):
            return files.augmented
        return (
            getattr(files, split) or files.train or []
        )  # without a validation file, it is a part of the training file

    def raw_inputs(self, wildcards: Any) -> list[str]:
        """Return the paths of the files of a split, or of a protocol's published set."""
        files = self.files_of_split(
            wildcards.corpus, wildcards.split, wildcards.get("protocol", "original")
        )
        if self.registered(wildcards.corpus) is None:
            return with_contents(split_of(shipped(path))[0] for path in files)
        return [f"{self.paths.raw}/{name}" for name in files]

    def formats(self, corpus: str, split: str) -> list[str]:
        """Return the formats of the study's own files of a split; none if a file is missing."""
        chosen = self.sections[corpus]
        if chosen.files is None:
            return []
        return formats_of(
            map(shipped, self.files_of_split(corpus, split)), chosen.format, chosen.columns
        )

    def prepare_origin(self, wildcards: Any, input: Sequence[str]) -> list[str]:
        """Return the options of ``tripleaudit prepare`` that name the source of a split.

        Args:
            input: the input files of the rule.
        """
        files = self.files_of_split(
            wildcards.corpus, wildcards.split, wildcards.get("protocol", "original")
        )
        if self.registered(wildcards.corpus) is None:
            chosen = [split_of(shipped(path))[1] for path in files]
            named = [
                f"{path}#{of}" if of else path
                for path, of in zip(input[: len(chosen)], chosen, strict=True)
            ]
            return options_of({"source": named})
        return options_of({"raw-root": input[0].removesuffix(files[0]).rstrip("/") or "."})

    def prepare_options(self, wildcards: Any) -> list[str]:
        """Return the options of ``tripleaudit prepare`` that affect the content of a split.

        A published test set is read completely, except that variants of test sentences are limited
        as the test set is.
        """
        corpus, split, protocol = (
            wildcards.corpus,
            wildcards.split,
            wildcards.get("protocol", "original"),
        )
        chosen, published = self.sections[corpus], self.protocols.published(corpus, protocol)
        values: dict[str, Any] = {"occurrence": chosen.occurrence}
        if chosen.files is None:
            values |= {
                "corpus": published.name if published else chosen.registry or corpus,
                "split": split,
            }
        else:
            columns = chosen.columns.given() if chosen.columns else {}
            values |= {"format": chosen.format, "encoding": chosen.encoding}
            values |= {"column": [f"{role}={column}" for role, column in columns.items()]}
            if chosen.files.valid is None and split != "test":
                values |= {"divide": "train=9,valid=1", "part": split}
        values |= {"uncased": chosen.uncased, "only-relation": chosen.only_relations}
        values["some-absent"] = bool(chosen.only_relations) and split != "train"
        whole = published is not None and split == "test"
        if not whole or protocol in self.protocols.tests_only:
            values["limit-each" if whole else "limit"] = getattr(chosen.limit, split, None)
        return options_of(values)


def raw_files(entry: registry.RegisteredCorpus) -> list[registry.RawFile]:
    """Every file that a corpus is made of, once."""
    return [
        *{file.name: file for split in entry.splits for file in entry.raw_files(split)}.values()
    ]


def _sizes_of_files(files: Files | None) -> dict[str, int]:
    """Return the number of sentences of each split in formats with one sentence a line."""
    sizes: dict[str, int] = {}
    for split, paths in ((split, getattr(files, split)) for split in SPLITS if files):
        found = [Path(shipped(path)) for path in paths or ()]
        if found and all(file.suffix == ".jsonl" and file.is_file() for file in found):
            sizes[split] = sum(_lines(file) for file in found)
    return sizes


def _lines(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for line in stream if line.strip())
