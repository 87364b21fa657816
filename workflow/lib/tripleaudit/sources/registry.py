"""Registered models and corpora: the files ``models.yaml`` and ``corpora.yaml`` of ``data/registry``.

The classes are the entries of the two files, with the files' keys. To register a model or a corpus,
add an entry there; the tests validate both files. Read by the workflow, ``tripleaudit list``, and
the commands that fetch models and make corpora, so nothing slow is imported here.
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import quote

import yaml
from pydantic import BeforeValidator, Field

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import AsTuple, Number, Section, Text, among
from tripleaudit.core.shipped import DATA
from tripleaudit.core.yaml_files import LOADER
from tripleaudit.sources.source import Source, parse_source

FOLDER = DATA / "registry"
CORPORA = "corpora.yaml"
MODELS = "models.yaml"
# A change of these files reruns only the jobs whose entries changed: rules name the entries.
SPLITS = ("train", "valid", "test")
NO_LICENCE = "not known"

Files = Annotated[tuple[Text, ...], AsTuple]
Numbers = Annotated[tuple[int, ...], AsTuple]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Bytes = Annotated[int, Field(ge=1)]
SplitName = Annotated[str, among(SPLITS)]


class Model(Section):
    """A model by name: its source, SHA-256 and size of what is transferred, and its licence."""

    name: str = ""
    title: Text
    source: Annotated[Source, BeforeValidator(parse_source)]
    sha256: Sha256 | None = None
    size: Bytes | None = None
    licence: Text
    layers: Number | None = None  # of an encoder


class Repository(Section):
    """A public repository at one commit."""

    repository: Text
    commit: Annotated[str, Field(pattern="^[0-9a-f]{40}$")]
    licence: Text


class RawFile(Section):
    """A file of a corpus as it was published.

    Attributes:
        name: path below ``raw_root`` (or below the folder of downloads).
        repository: name of the public repository that has the file, an entry of ``repositories``.
        path: path of the file in the repository.
        source: public address of the file, made from repository and path; None if it cannot be
            fetched.
        page: page that says where to get a file that cannot be fetched.
        sha256: digest of the published file; None if not known.
        size: bytes of the published file; None if not known.
        licence: licence of the file; that of the repository by default.
        format: name of its reader, None for files that are no corpus of their own.
        expect: ``sentences`` and ``triples`` of a file without a digest; each lists the counts of
            all versions that are accepted.
    """

    name: str = ""
    repository: Text | None = Field(None, repr=False)
    path: Text | None = Field(None, repr=False)
    page: Text | None = Field(None, repr=False)
    source: Source | None = Field(None, repr=False)
    sha256: Sha256 | None = None
    size: Bytes | None = None
    licence: Text | None = None
    format: Text | None = None
    expect: Mapping[Literal["sentences", "triples"], Numbers] = {}

    def below(self, folder: str | Path) -> Path:
        """Where the file lies below a folder."""
        return Path(folder) / self.name


class Split(Section):
    """Split that consists of whole files.

    Attributes:
        files: the files, in this order.
        without: files whose texts are left out.
        drop: file -> positions of its sentences that are left out, from 0.
    """

    files: Files
    without: Files = ()
    drop: Mapping[str, Numbers] = {}


class Division(Section):
    """Splits that files are divided into, at random or like another version of the corpus.

    Attributes:
        files: the files that are divided.
        parts: split -> weight, for a division at random.
        like: split -> files of another version of the corpus; a sentence goes to the split whose
            files have a sentence of the same id.
        zero_texts: files with JSON lists of texts; those that are not in ``files`` are sentences
            without triples.
        seed: seed of the division.
    """

    files: Files
    parts: Mapping[SplitName, float] = {}
    like: Mapping[SplitName, Files] = {}
    zero_texts: Files = ()
    seed: int


class Zero(Section):
    """Zero-triple sentences added from a raw corpus (:mod:`tripleaudit.corpora.divide`).

    Attributes:
        files: the raw corpus.
        sizes: sentences that each split receives, as published.
        least: share of them that the raw corpus must have.
        lower: put them in lower case, as the splits' own sentences are.
        seed: of the division among the splits.
    """

    files: Files
    sizes: Mapping[SplitName, Number]
    least: float = 1.0
    lower: bool = False
    seed: int


def _of_files(value: Any) -> Any:
    return {"files": value} if isinstance(value, list) else value


class RegisteredCorpus(Section):
    """A corpus: where its splits come from.

    Attributes:
        name: the name of the entry.
        title: the name in print, with what distinguishes this version.
        whole: splits that consist of whole files; in the file under ``splits``.
        division: splits that files are divided into; in the file under ``divide``.
        needs: file -> further files that its reader opens.
        zero: sentences without triples that are added to the splits.
        sizes: split -> its number of sentences, where known; in the file under ``sentences``.
        published: protocol -> registered corpus with the published sets of that protocol.
        licence: licence of the corpus, where it says more than those of its files.
    """

    name: str = ""
    title: Text
    whole: Mapping[SplitName, Annotated[Split, BeforeValidator(_of_files)]] = Field(
        {}, alias="splits"
    )
    division: Division | None = Field(None, alias="divide")
    needs: Mapping[str, Files] = {}
    zero: Zero | None = None
    sizes: Mapping[SplitName, Number] = Field({}, alias="sentences", repr=False)
    published: Mapping[str, str] = Field({}, repr=False)
    licence: Text | None = Field(None, repr=False)

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, in the order train, valid, test."""
        divided = (*self.division.parts, *self.division.like) if self.division else ()
        return tuple(sorted({*self.whole, *divided}, key=SPLITS.index))

    def raw_files(self, split: str) -> tuple[RawFile, ...]:
        """Return every file that is needed to make a split.

        Raises:
            UserError: the corpus has no such split.
        """
        if split not in self.splits:
            raise UserError(
                f"corpus {self.name!r} has no split {split!r}, expected one of {', '.join(self.splits)}"
            )
        if split in self.whole:
            # which raw sentences have zero triples depends on the sentences of every split
            plans = [plan for name, plan in self.whole.items() if self.zero or name == split]
            names = [name for plan in plans for name in (*plan.files, *plan.without)]
            names += self.zero.files if self.zero else ()
        else:
            like = [name for members in self.division.like.values() for name in members]
            names = [*self.division.files, *like, *self.division.zero_texts]
        names += [other for name in names for other in self.needs.get(name, ())]
        return tuple(raw_file(name) for name in dict.fromkeys(names))

    @property
    def licences(self) -> tuple[str, ...]:
        """Licence of the corpus, or the licences of the files of all splits, each once."""
        if self.licence is not None:
            return (self.licence,)
        files = [file for split in self.splits for file in self.raw_files(split)]
        return tuple(dict.fromkeys(file.licence or NO_LICENCE for file in files))


class Models(Section):
    """``models.yaml``."""

    models: Mapping[str, Model]


class Corpora(Section):
    """``corpora.yaml``."""

    repositories: Mapping[str, Repository]
    files: Mapping[str, RawFile]
    corpora: Mapping[str, RegisteredCorpus]


Entry = TypeVar("Entry", Model, RawFile, RegisteredCorpus)


def model(name: str) -> Model:
    """Return a registered model; raises :class:`UserError` where none has this name."""
    return _known("model", name, models())


def find_model(name: str) -> Model:
    """Return the registered model of this name, else a model of the source that ``name`` spells."""
    if name in models():
        return models()[name]
    return Model.model_construct(
        name=name, title=name, source=parse_source(name), licence="not stated"
    )


def corpus(name: str) -> RegisteredCorpus:
    """Return a registered corpus; raises :class:`UserError` where none has this name."""
    return _known("corpus", name, corpora())


def _known(kind: str, name: str, entries: Mapping[str, Entry]) -> Entry:
    if name not in entries:
        raise UserError(f"{kind} {name!r} is not registered, expected one of {', '.join(entries)}")
    return entries[name]


def raw_file(name: str) -> RawFile:
    """Return a registered raw file by its path below ``raw_root``.

    Raises :class:`UserError` if no corpus has it.
    """
    if name not in raw_files():
        raise UserError(f"raw file {name!r} is not registered in {FOLDER.name}/{CORPORA}")
    return raw_files()[name]


@functools.cache
def models() -> dict[str, Model]:
    """Return all registered models by name."""
    return _named(load(MODELS).models)


@functools.cache
def raw_files() -> dict[str, RawFile]:
    """Return all registered raw files by name."""
    document, found = load(CORPORA), {}
    for name, file in document.files.items():
        if file.repository is not None:
            origin = document.repositories[file.repository]
            address = f"https://raw.githubusercontent.com/{origin.repository}/{origin.commit}/{quote(file.path)}"
            more = {"source": parse_source(address), "licence": file.licence or origin.licence}
            file = file.model_copy(update=more)
        found[name] = file
    return _named(found)


@functools.cache
def corpora() -> dict[str, RegisteredCorpus]:
    """Return all registered corpora by name."""
    return _named(load(CORPORA).corpora)


def _named(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    return {name: entry.model_copy(update={"name": name}) for name, entry in entries.items()}


@functools.cache
def load(name: str) -> Any:
    """Return one file of the registry, :class:`Models` or :class:`Corpora`."""
    with (FOLDER / name).open(encoding="utf-8") as stream:
        document = yaml.load(stream, LOADER)
    return (Models if name == MODELS else Corpora).model_validate(document)
