"""The sections ``corpora`` and ``encoder``, and what protocols make of the sentences of a
corpus.
"""

import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tripleaudit.core.arguments import options_of
from tripleaudit.core.descriptors import FORMATS
from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.fields import Number, Paths, Section, Share, Text, one_of
from tripleaudit.core.shipped import shipped
from tripleaudit.corpora.readers import REMOVED_FORMATS, detect_format, resolve_format
from tripleaudit.corpora.readers.common import first_character, split_of
from tripleaudit.corpora.readers.records import Columns
from tripleaudit.corpora.readers.row_files import Probe
from tripleaudit.protocols.build import spec_of
from tripleaudit.sources import registry
from tripleaudit.study.paths import with_contents
from tripleaudit.study.problems import missing, refused
from tripleaudit.study.protocol_section import Added

if TYPE_CHECKING:
    from tripleaudit.study.study import Study

SPLITS = ("train", "valid", "test")
NOT_OF_THE_SETS = (
    "train",
    "select_on",
    "masked_lm",
    "vectors",
    "mlm_steps",
    "descriptions",
)  # of other rules, or inputs of the rule


def format_names() -> list[str]:
    """Return what a corpus's files may be said to be."""
    return ["auto", *FORMATS]


class Encoder(Section):
    """The pretrained encoder under every extractor and classifier."""

    model: str = "minilm"
    """A model of workflow/lib/tripleaudit/data/registry/models.yaml, or a source (local folder,
    hub:name, pypi:wheel).
    """
    layers: Number | None = None
    """Use only the first layers of the encoder; null uses all."""


class Files(Section):
    """Your own files instead of a registered corpus, one path or a list of paths for each split."""

    train: Paths | None = None
    """Training sentences; without them nothing is trained, and seen and unseen triples are not
    told apart.
    """
    valid: Paths | None = None
    """Validation sentences; by default a seeded tenth of the training sentences."""
    test: Paths
    """Test sentences."""
    augmented: Paths | None = None
    """Your own rewritten test sentences, other names in them, for `protocols/augmented`; each with the id of its test
    sentence, a dot and a name (`test-00012.su`), as many for a sentence as you have."""


class Limit(Section):
    """Keep only the first sentences of each split, for quick runs; null keeps all."""

    train: Number | None = None
    """Training sentences at most."""
    valid: Number | None = None
    """Validation sentences at most."""
    test: Number | None = None
    """Test sentences at most."""


class Corpus(Section):
    """One corpus, registered or of your own; nothing after its name means the registered one."""

    registry: str | None = None
    """Name in workflow/lib/tripleaudit/data/registry/corpora.yaml; by default the corpus's own
    name.
    """
    files: Files | None = None
    format: Annotated[str, one_of(format_names, "format", REMOVED_FORMATS)] = "auto"
    """Format of the files, see `tripleaudit prepare --help`; auto looks at their content."""
    columns: Columns | None = None
    """Which column of the files is what, where they are in no known form; see docs/reference/formats.md."""
    encoding: Text | None = None
    """Encoding of files that are not UTF-8 or UTF-16, such as cp1252."""
    occurrence: Literal["first", "all"] = "first"
    """Which mention of an entity string is its span, the first one or all of them."""
    uncased: bool = False
    """Lower-case sentences and entities and strip their accents, as an uncased encoder reads
    them.
    """
    limit: Limit | None = None
    only_relations: list[Text] = []
    """Keep only sentences all of whose triples have these relations (those without triples,
    too); empty keeps all.
    """
    encoder: str | None = None
    """The encoder of this corpus by source, instead of encoder/model, such as an uncased one for
    NYT29*.
    """
    noise_probability: Share | None = None
    """Entity Noising probability for this corpus, instead of noising/probability."""
    relations: dict[Text, str] = {}
    """What its relations mean, by name, for systems that take them; names that training lacks
    count, too.
    """


def formats_of(paths: Iterable[str], format: str, columns: Columns | None) -> list[str]:
    """Return the formats that files are read in; none if one is not there yet, or in no format,
    as its reader says.
    """
    try:
        found = [
            resolve_format(path, format, columns.given() if columns else None) for path in paths
        ]
    except UserError:
        return []
    return list(dict.fromkeys(found))


def _check_text(path: Path, format: str) -> None:
    """Refuse a file that holds no sentence, as far as its beginning shows; of a format that is
    named, an empty one.
    """
    if path.is_dir() and not any(path.iterdir()):
        raise UserError(f"{path}: the folder is empty, expected a data set or a file")
    if format == "auto" or path.is_file() and _is_blank(path):
        _ = detect_format(path) if path.is_dir() else Probe(path).first


def _problems_of_form(where: str, corpus: Corpus) -> Iterator[str]:
    """Yield what is said together with files of one's own and says nothing of them."""
    if corpus.registry is not None:
        yield f"{where}/registry: has no meaning together with 'files'; expected one of the two"
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


class Corpora:
    """The corpora of a study, their splits, and the sets that protocols make of them."""

    def __init__(self, study: "Study", section: dict[str, Corpus], protocols: Section):
        self.study, self.section, self.options = study, section, protocols

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each file, corpus and size that cannot be had."""
        paths, augmented = self.study.paths, self.protocol("augmented")
        for name, corpus in self.section.items():
            if corpus.files is None:
                yield from self._problems_of_registered(f"corpora/{name}", name, corpus)
            else:
                yield from self._problems_of_files(f"corpora/{name}", name, corpus, corpus.files)
        if masked_lm := augmented.get("masked_lm"):
            yield from paths.problems_of_model("protocols/augmented/masked_lm", masked_lm)
        yield from missing("protocols/augmented/vectors", augmented.get("vectors"))
        for name, corpus in self.section.items():
            if corpus.encoder is not None:
                layers = self.study.typed.encoder.layers
                yield from paths.problems_of_model(
                    f"corpora/{name}/encoder", corpus.encoder, layers
                )
        yield from self._problems_without_training()
        yield from self._problems_of_sizes()
        for name in self.protocols:
            yield from self._problems_of_source(name, self.protocol(name))
            yield from self._problems_of_options(name, self.protocol(name))

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
        yield from self._problems_of_limits(f"{where}/limit", name, self._own_sizes[name])
        if files.augmented and "augmented" not in self.protocols:
            yield f"{where}/files/augmented: nothing is tested on it; expected 'augmented' under protocols"
        if files.augmented and corpus.limit and corpus.limit.test:
            yield f"{where}/limit/test: would cut sentences whose variants files/augmented has; expected one"

    def _problems_without_training(self) -> Iterator[str]:
        """Yield a sentence for each part of the study that needs the training set that a corpus
        lacks.
        """
        study = self.study
        for name in self.section:
            if self.has_training(name):
                continue
            where = f"corpora/{name}/files: the key 'train' is missing"
            if trained := [*study.extractors, *study.classifiers]:
                yield f"{where}; {', '.join(trained)} need training sentences"
            elif others := [protocol for protocol in self.protocols if protocol != "original"]:
                yield f"{where}; the protocol {others[0]} needs training sentences"
            elif (files := self.section[name].files) is not None and files.valid is not None:
                yield f"corpora/{name}/files/valid: has no meaning without 'train'"

    def _problems_of_registered(self, where: str, name: str, corpus: Corpus) -> Iterator[str]:
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
        yield from self.study.paths.problems_of_raw(where, *_raw_files(entry))

    def _problems_of_options(self, name: str, options: Mapping[str, Any]) -> Iterator[str]:
        spec = spec_of(name)
        for corpus in self.section if options.get("descriptions") is True else ():
            if not self.described(corpus):
                lacks = f"corpora/{corpus}/relations describes none; expected there what relations mean, by name"
                yield f"protocols/{name}/descriptions: {lacks}"
        for key in options if spec.file else ():
            if key not in (*spec.options, *Added.model_fields):
                yield f"protocols/{name}: unknown key '{key}'{hint(key, spec.options)}"
        for key in spec.required if spec.file else ():
            if key not in options:
                yield f"protocols/{name}: the key '{key}' is missing"

    def notes(self) -> Iterator[str]:
        """Yield a sentence about raw files that must be got by hand, and about epochs chosen on
        the test set.
        """
        for name, corpus in self.section.items():
            for path, known, _ in _twice(corpus.files) if corpus.files else ():
                if known == "valid":
                    yield f"corpora/{name}: {path} is validation and test set; the best epoch is chosen on the test set"
        entries = [self.registered(name) for name in self.section]
        yield from self.study.paths.to_get(
            *(file for entry in entries if entry for file in _raw_files(entry))
        )

    def _problems_of_limits(self, where: str, name: str, sizes: Mapping[str, int]) -> Iterator[str]:
        limit = self.section[name].limit
        for split, most in limit or ():
            if most is not None and split in sizes and most > sizes[split]:
                yield f"{where}/{split}: {most} sentences, but the split has {sizes[split]}; expected at most that"

    def _problems_of_sizes(self) -> Iterator[str]:
        """Yield sentences about sets of the rearranged protocol that are larger than a corpus."""
        given = {
            key: size
            for key, size in self.protocol("rearranged").items()
            if key in ("valid_size", "test_size")
        }
        for name in self.section if given else ():
            sizes = self.sizes(name)
            held_out, has = sum(given.values()), sum(sizes.values())
            if len(sizes) == len(SPLITS) and held_out >= has:
                where = f"protocols/rearranged/{next(iter(given))}"
                yield f"{where}: {held_out} held-out sentences leave none for training of the {has} of corpus {name}"

    def _problems_of_source(self, protocol: str, options: dict[str, Any]) -> Iterator[str]:
        """Yield sentences about published sets, and sets of one's own, that are not there or
        take no options.
        """
        made = options.pop("source", "made") == "made"
        own = [
            f"corpora/{name}/files/{protocol}"
            for name in self.section
            if self.in_files(name, protocol)
        ]
        if made and (not own or len(own) < len(self.section)):
            return
        for key in sorted({*options} - {*NOT_OF_THE_SETS, "seed", "options"}):
            yield f"protocols/{protocol}/{key}: has no meaning with {own[0] if made else 'source: published'}"
        where, known = (
            f"protocols/{protocol}/source",
            [n for n, e in registry.corpora().items() if protocol in e.published],
        )
        for name in self.section if not made else ():
            if not self.given(name, protocol):
                lacks = f"no published sets of corpus '{name}' are registered, only of {', '.join(known)}"
                yield f"{where}: {lacks}"
            elif entry := self.published(name, protocol):
                yield from self.study.paths.problems_of_raw(where, *_raw_files(entry))

    def in_files(self, corpus: str, protocol: str) -> bool:
        """Return whether a corpus of one's own brings the test set of a protocol, too."""
        files = self.section[corpus].files
        return protocol == "augmented" and files is not None and files.augmented is not None

    def given(self, corpus: str, protocol: str) -> str | None:
        """Return who made the sets of a protocol that are not made here: ``published`` or
        ``files``.
        """
        if self.in_files(corpus, protocol):
            return "files"
        return "published" if self.published(corpus, protocol) else None

    def published(self, corpus: str, protocol: str) -> registry.RegisteredCorpus | None:
        """Return the registered corpus that holds the published sets of a protocol; None if the
        sets are made here.
        """
        if self.protocol(protocol).get("source", "made") == "made":
            return None
        name = self.section[corpus].registry or corpus
        entry = registry.corpora().get(name) if self.section[corpus].files is None else None
        found = entry.published.get(protocol) if entry is not None else None
        return None if found is None else registry.corpus(found)

    @functools.cached_property
    def _own_sizes(self) -> dict[str, dict[str, int]]:
        return {name: _sizes_of_files(corpus.files) for name, corpus in self.section.items()}

    def sizes(self, name: str) -> dict[str, int]:
        """Return the number of sentences of each split as the study takes it, where that is
        known beforehand.
        """
        corpus = self.section[name]
        if corpus.only_relations:
            return {}
        entry = registry.corpora().get(corpus.registry or name) if corpus.files is None else None
        known = dict(entry.sizes) if entry is not None else self._own_sizes[name]
        limits = {split: most for split, most in corpus.limit or () if most is not None}
        return {split: min(size, limits.get(split, size)) for split, size in known.items()}

    # corpora

    def registered(self, corpus: str) -> registry.RegisteredCorpus | None:
        """Return the registered corpus behind a corpus of the study; None if the study brings
        files of its own.
        """
        chosen = self.section[corpus]
        return None if chosen.files is not None else registry.corpus(chosen.registry or corpus)

    def has_training(self, corpus: str) -> bool:
        """Return whether a corpus has a training set; files of one's own may be a test set
        alone.
        """
        files = self.section[corpus].files
        return files is None or files.train is not None

    @property
    def to_train_on(self) -> list[str]:
        """The corpora that have training, validation and test sets."""
        entries = {
            corpus: self.registered(corpus) for corpus in self.section if self.has_training(corpus)
        }
        return [
            corpus
            for corpus, entry in entries.items()
            if entry is None or len(entry.splits) == len(SPLITS)
        ]

    def counts(self) -> list[str]:
        """Return the reports on all splits of all corpora that have a training set, and on other
        test sets.
        """
        corpora = {name: SPLITS if self.has_training(name) else ("test",) for name in self.section}
        known = {
            name: splits
            for name, splits in corpora.items()
            if name in self.to_train_on or splits == ("test",)
        }
        folder = f"{self.study.paths.study}/corpora"
        return [
            f"{folder}/{name}/{split}.counts.json"
            for name, splits in known.items()
            for split in splits
        ]

    def files_of_split(self, corpus: str, split: str, protocol: str = "original") -> list[str]:
        """Return the files of a split (of a protocol's published sets): own paths, or names
        below the raw files'.
        """
        files = self.section[corpus].files
        if files is None:
            entry = self.published(corpus, protocol) or registry.corpus(
                self.section[corpus].registry or corpus
            )
            return [file.name for file in entry.raw_files(split)]
        if split == "test" and self.in_files(corpus, protocol):
            return files.augmented
        return (
            getattr(files, split) or files.train or []
        )  # without a validation file, it is a part of the training file

    def raw_inputs(self, wildcards: Any) -> list[str]:
        """Return the files that a split (of a protocol's published sets) is made of, where they
        lie, folders first.
        """
        files = self.files_of_split(
            wildcards.corpus, wildcards.split, wildcards.get("protocol", "original")
        )
        if self.registered(wildcards.corpus) is None:
            return with_contents(split_of(shipped(path))[0] for path in files)
        return [f"{self.study.paths.raw}/{name}" for name in files]

    def formats(self, corpus: str, split: str) -> list[str]:
        """Return the formats of the files of one's own that a split is made of; none if a file
        is not there yet.
        """
        chosen = self.section[corpus]
        if chosen.files is None:
            return []
        return formats_of(
            map(shipped, self.files_of_split(corpus, split)), chosen.format, chosen.columns
        )

    def prepare_origin(self, wildcards: Any, input: Sequence[str]) -> list[str]:
        """Return options of ``tripleaudit prepare`` that say where a split comes from, given the
        rule's input files.
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
        """Return options of ``tripleaudit prepare`` that decide what a split (of a protocol's
        published sets) holds.

        A published test set is whole, but one of variants of the test set's sentences is as short
        as that one.
        """
        corpus, split, protocol = (
            wildcards.corpus,
            wildcards.split,
            wildcards.get("protocol", "original"),
        )
        chosen, published = self.section[corpus], self.published(corpus, protocol)
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
        if not whole or protocol in self.tests_only:
            values["limit-each" if whole else "limit"] = getattr(chosen.limit, split, None)
        return options_of(values)

    # protocols

    @property
    def protocols(self) -> list[str]:
        """Names of the protocols, ``original`` first."""
        given = [
            type(self.options).model_fields[name].alias or name
            for name in self.options.model_fields_set
        ]
        return ["original", *(name for name in self._in_order(given) if name != "original")]

    def _in_order(self, names: Iterable[str]) -> list[str]:
        return sorted(names, key=list(self.study.given.get("protocols") or {}).index)

    @property
    def tests_only(self) -> list[str]:
        """Names of the protocols that have a test set and no training set."""
        return [name for name in self.protocols if not spec_of(name).train]

    def gives_schema(self, protocol: str) -> bool:
        """Whether systems are given the relations of a protocol's test set, which they may not
        have been trained on.
        """
        return spec_of(protocol).gives_schema

    def described(self, corpus: str, protocol: str = "original") -> dict[str, str]:
        """Return relation -> description as systems are given them under a protocol; none of
        texts without a corpus.
        """
        described = corpus and self.protocol(protocol).get("descriptions", True)
        return dict(self.section[corpus].relations) if described else {}

    @property
    def built(self) -> list[str]:
        """Names of the protocols whose sets follow from the original ones alone."""
        return [name for name in self.protocols if name != "original" and not spec_of(name).inputs]

    def protocol(self, name: str) -> dict[str, Any]:
        """Return the options of a protocol of the study; ``original`` has none."""
        if name not in self.protocols:
            return {}
        options = self.options.full()[name]
        return {key: value for key, value in options.items() if value is not None}

    def protocol_json(self, wildcards: Any) -> str:
        """Return what decides the sets of a protocol of one corpus besides the corpus, as
        canonical JSON.
        """
        name = wildcards.get("protocol", "augmented")
        if source := self.given(wildcards.corpus, name):
            return json.dumps({"source": source})
        options = {
            key: value for key, value in self.protocol(name).items() if key not in NOT_OF_THE_SETS
        }
        if "options" in options:
            options["options"] = {
                key: value for key, value in options["options"].items() if value is not None
            }
        if options.pop("source", "made") == "published":
            options = {"source": "published"}
        return json.dumps(options, sort_keys=True)

    def masked_lm_options(self, layers: int | None) -> list[str]:
        """Return options of ``tripleaudit train-mlm`` for the study's own masked language model."""
        options = self.options.augmented
        return options_of({"steps": options.mlm_steps, "seed": options.seed, "layers": layers})

    def augmentation_models(self, wildcards: Any) -> dict[str, str]:
        """Return the masked language model, the encoder that vectors are derived from, and vectors
        of one's own.

        Published sets need none of them.
        """
        if self.given(wildcards.corpus, "augmented"):
            return {}
        paths, options = self.study.paths, self.protocol("augmented")
        own, vectors = options.get("masked_lm"), options.get("vectors")
        masked_lm = paths.model(own) if own else f"{paths.study}/masked_lm/{wildcards.corpus}"
        found = {
            "masked_lm": f"{masked_lm}/config.json",
            "encoder": self.study.encoder_file(wildcards),
        }
        return found | ({"vectors": shipped(vectors)} if vectors else {})

    @staticmethod
    def augmentation_options(wildcards: Any, input: Any) -> list[str]:
        """Return the options of ``tripleaudit build-protocol`` that name what
        :meth:`augmentation_models` asks for.
        """
        given = dict(input.items())
        folders = {name: given.get(name.replace("-", "_")) for name in ("masked-lm", "encoder")}
        found = {name: Path(file).parent for name, file in folders.items() if file}
        return options_of({**found, "vectors": given.get("vectors")})

    def trained_on(self, protocol: str) -> str:
        """Return the protocol whose training set a test set is measured against."""
        return "original" if protocol in self.tests_only else protocol


def _raw_files(entry: registry.RegisteredCorpus) -> list[registry.RawFile]:
    """Every file that a corpus is made of, once."""
    return [
        *{file.name: file for split in entry.splits for file in entry.raw_files(split)}.values()
    ]


def _sizes_of_files(files: Files | None) -> dict[str, int]:
    """The number of sentences of each split of files that have one a line; others are not looked
    into.
    """
    sizes: dict[str, int] = {}
    for split, paths in ((split, getattr(files, split)) for split in SPLITS if files):
        found = [Path(shipped(path)) for path in paths or ()]
        if found and all(file.suffix == ".jsonl" and file.is_file() for file in found):
            sizes[split] = sum(_lines(file) for file in found)
    return sizes


def _lines(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for line in stream if line.strip())
