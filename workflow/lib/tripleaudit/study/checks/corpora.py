"""Checks of the sections ``corpora`` and ``protocols``."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.shipped import shipped
from tripleaudit.corpora.readers import detect_format
from tripleaudit.corpora.readers.common import first_character, split_of
from tripleaudit.corpora.readers.row_files import Probe
from tripleaudit.corpora.spec import FORMATS
from tripleaudit.protocols.build import spec_of
from tripleaudit.sources import registry
from tripleaudit.sources.data_sets import parse_data_set
from tripleaudit.study.config.corpora import Corpus, Files
from tripleaudit.study.config.protocols import Added
from tripleaudit.study.config.study import StudyConfig
from tripleaudit.study.corpora import SPLITS, Corpora, raw_files
from tripleaudit.study.hub import hub_files
from tripleaudit.study.paths import StudyPaths
from tripleaudit.study.problems import LeftOut, missing, refused
from tripleaudit.study.protocols import KEYS_OF_OTHER_RULES, Protocols


@dataclass(frozen=True)
class CorpusChecks:
    """Checks of corpora and of the sets that protocols make of them.

    Attributes:
        config: the configuration of the study.
        protocols: the protocols of the study.
        corpora: the corpora of the study.
        paths: the files of the study.
        trained: the extractors and classifiers that the study trains.
        left_out: values that do not fit, each of which is a problem already.
    """

    config: StudyConfig
    protocols: Protocols
    corpora: Corpora
    paths: StudyPaths
    trained: Sequence[str]
    left_out: LeftOut

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each file, corpus and size that cannot be had."""
        augmented = self.protocols.options("augmented")
        for name, corpus in self.config.corpora.items():
            if corpus.hub is not None:
                yield from self._problems_of_hub(f"corpora/{name}", corpus)
            elif corpus.files is None:
                yield from self._problems_of_registered(f"corpora/{name}", name, corpus)
            else:
                yield from self._problems_of_files(f"corpora/{name}", name, corpus, corpus.files)
        if masked_lm := augmented.get("masked_lm"):
            yield from self.paths.problems_of_model("protocols/augmented/masked_lm", masked_lm)
        yield from missing("protocols/augmented/vectors", augmented.get("vectors"))
        for name, corpus in self.config.corpora.items():
            if corpus.encoder is not None:
                layers = self.config.encoder.layers
                yield from self.paths.problems_of_model(
                    f"corpora/{name}/encoder", corpus.encoder, layers
                )
        yield from self._problems_without_training()
        yield from self._problems_of_sizes()
        for name in self.protocols.names:
            yield from self._problems_of_source(name, self.protocols.options(name))
            yield from self._problems_of_options(name, self.protocols.options(name))

    def _problems_of_files(
        self, where: str, name: str, corpus: Corpus, files: Files
    ) -> Iterator[str]:
        yield from _problems_of_form(where, corpus)
        for split, path in ((split, path) for split, paths in files for path in paths or ()):
            file = Path(split_of(shipped(path))[0])
            if not file.exists():
                yield f"{where}/files/{split}: {path}: no such file"
            else:
                yield from refused(f"{where}/files/{split}", _check_text, file, corpus.format)
        for path, known, split in _twice(files):
            if known == split:
                yield f"{where}/files/{split}: {path}: the same file twice; expected it once"
            elif known == "train":
                yield f"{where}/files/{split}: {path}: the model would be tested on its training sentences"
        yield from self._problems_of_limits(f"{where}/limit", name, self.corpora.file_sizes[name])
        is_tested = "augmented" in self.protocols.names
        if files.augmented and not is_tested and not self.left_out.includes("protocols/augmented"):
            yield f"{where}/files/augmented: nothing is tested on it; expected 'augmented' under protocols"
        if files.augmented and corpus.limit and corpus.limit.test:
            yield f"{where}/limit/test: would cut sentences whose variants files/augmented has; expected one"

    def _problems_of_hub(self, where: str, corpus: Corpus) -> Iterator[str]:
        """Yield problems of a data set of the Hugging Face hub, which need not be fetched yet."""
        if corpus.files != hub_files(corpus, self.paths.downloads):
            yield f"{where}/files: has no meaning together with 'hub'; expected one of the two"
            return
        yield from refused(f"{where}/hub", parse_data_set, corpus.hub)
        yield from _problems_of_form(where, corpus)
        for path, first, second in _twice(corpus.files):
            splits = f"{first} and {second} sentences are one split"
            if second == "test":
                yield f"{where}/hub_splits: {splits} ({Path(path).stem}); expected another one"

    def _problems_without_training(self) -> Iterator[str]:
        """Yield a sentence for each part that needs a training set which its corpus lacks."""
        corpora = self.config.corpora
        with_training = [name for name in corpora if corpora[name].has_training]
        if with_training and self.protocols.settings == ["wz"]:
            yield (
                f"settings: wz alone is for test sets alone, but corpora/{with_training[0]} has training sentences; "
                "expected nz, alone or with wz"
            )
        for name in self.config.corpora:
            has_training = self.config.corpora[name].has_training
            if has_training or self.left_out.includes(f"corpora/{name}/files/train"):
                continue
            where = f"corpora/{name}/files: the key 'train' is missing"
            if self.trained:
                yield f"{where}; {', '.join(self.trained)} need training sentences"
            elif others := [
                protocol for protocol in self.protocols.names if protocol != "original"
            ]:
                yield f"{where}; the protocol {others[0]} needs training sentences"
            elif (files := self.config.corpora[name].files) is not None and files.valid is not None:
                yield f"corpora/{name}/files/valid: has no meaning without 'train'"

    def _problems_of_registered(self, where: str, name: str, corpus: Corpus) -> Iterator[str]:
        if self.left_out.includes(f"{where}/files", f"{where}/hub", f"{where}/registry"):
            return
        try:
            entry = registry.corpus(corpus.registry or name)
        except UserError as error:
            yield f"{where}: {error}, or files of your own under the key 'files'"
            return
        for key, given in (
            ("format", corpus.format != "auto"),
            ("columns", corpus.columns is not None),
        ):
            if given:
                yield f"{where}/{key}: has no meaning without 'files', a registered corpus has its form"
        yield from self._problems_of_limits(f"{where}/limit", name, entry.sizes)
        yield from self.paths.problems_of_raw(where, *raw_files(entry))

    def _problems_of_options(self, name: str, options: Mapping[str, Any]) -> Iterator[str]:
        spec = spec_of(name)
        for corpus in self.config.corpora if options.get("descriptions") is True else ():
            if not self.protocols.described(corpus):
                lacks = f"corpora/{corpus}/relations describes none; expected there what relations mean, by name"
                yield f"protocols/{name}/descriptions: {lacks}"
        for key in options if spec.file else ():
            if key not in (*spec.options, *Added.model_fields):
                yield f"protocols/{name}: unknown key '{key}'{hint(key, spec.options)}"
        for key in spec.required if spec.file else ():
            if key not in options:
                yield f"protocols/{name}: the key '{key}' is missing"

    def _problems_of_limits(self, where: str, name: str, sizes: Mapping[str, int]) -> Iterator[str]:
        for split, limit in self.config.corpora[name].limit or ():
            size = sizes.get(split)
            if limit is not None and size is not None and limit > size:
                yield f"{where}/{split}: {limit} sentences, but the split has {size}; expected at most that"

    def _problems_of_sizes(self) -> Iterator[str]:
        """Yield sentences about sets of the rearranged protocol that are larger than a corpus."""
        options = self.protocols.options("rearranged")
        keys = [key for key in options if key in ("valid_size", "test_size")]
        if not keys:
            return
        held_out = sum(options[key] for key in keys)
        for name in self.config.corpora:
            sizes = self.corpora.sizes(name)
            total = sum(sizes.values())
            if len(sizes) == len(SPLITS) and held_out >= total:
                yield (
                    f"protocols/rearranged/{keys[0]}: {held_out} held-out sentences leave none for training of "
                    f"the {total} of corpus {name}"
                )

    def _problems_of_source(self, protocol: str, options: dict[str, Any]) -> Iterator[str]:
        """Yield sentences about ready-made sets of a protocol that are missing or unused."""
        made = options.pop("source", "made") == "made"
        own = [
            f"corpora/{name}/files/{protocol}"
            for name in self.config.corpora
            if self.protocols.in_files(name, protocol)
        ]
        if made and (not own or len(own) < len(self.config.corpora)):
            return
        for key in sorted({*options} - {*KEYS_OF_OTHER_RULES, "seed", "options"}):
            yield f"protocols/{protocol}/{key}: has no meaning with {own[0] if made else 'source: published'}"
        where, known = (
            f"protocols/{protocol}/source",
            [n for n, e in registry.corpora().items() if protocol in e.published],
        )
        for name in self.config.corpora if not made else ():
            if not self.protocols.origin(name, protocol):
                lacks = f"no published sets of corpus '{name}' are registered, only of {', '.join(known)}"
                yield f"{where}: {lacks}"
            elif entry := self.protocols.published(name, protocol):
                yield from self.paths.problems_of_raw(where, *raw_files(entry))


def notes_on_corpora(corpora: Corpora, paths: StudyPaths) -> Iterator[str]:
    """Yield notes: raw files to download by hand, and epochs that are chosen on the test set."""
    for name, corpus in corpora.sections.items():
        for path, known, _ in _twice(corpus.files) if corpus.files else ():
            if known == "valid":
                yield f"corpora/{name}: {path} is validation and test set; the best epoch is chosen on the test set"
    entries = [corpora.registered(name) for name in corpora.sections]
    yield from paths.to_get(*(file for entry in entries if entry for file in raw_files(entry)))


def _check_text(path: Path, format: str) -> None:
    """Refuse a file without sentences.

    Only the beginning is read; a file whose format is named is refused if it is empty.
    """
    if path.is_dir() and not any(path.iterdir()):
        raise UserError(f"{path}: the folder is empty, expected a data set or a file")
    if format == "auto" or path.is_file() and _is_blank(path):
        _ = detect_format(path) if path.is_dir() else Probe(path).first


def _problems_of_form(where: str, corpus: Corpus) -> Iterator[str]:
    """Yield what is said together with files of one's own and says nothing of them."""
    if corpus.registry is not None:
        other = "files" if corpus.hub is None else "hub"
        yield f"{where}/registry: has no meaning together with '{other}'; expected one of the two"
    if (
        corpus.columns is not None
        and corpus.format != "auto"
        and "columns" not in FORMATS[corpus.format].options
    ):
        yield f"{where}/columns: the format '{corpus.format}' has no columns; expected auto, or no columns"


def _is_blank(path: Path) -> bool:
    try:
        return not first_character(path)
    except UserError:  # no text; the format that is named may read it
        return False


def _twice(files: Files) -> Iterator[tuple[str, str, str]]:
    """Yield each file that stands twice, in two splits or in one: its path, and the splits."""
    first: dict[str, str] = {}
    for split, paths in files:
        for path in paths or ():
            file = os.path.realpath(shipped(path))
            if file in first:
                yield path, first[file], split
            first.setdefault(file, split)
