"""The registry of known models and corpora in ``data/registry``; light enough for the workflow to import."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from tripleaudit.errors import UserError
from tripleaudit.shipped import DATA
from tripleaudit.sources.registry_check import problems_of_corpora, problems_of_models
from tripleaudit.sources.source import Source, parse_source

FOLDER = DATA / "registry"
CORPORA, MODELS = "corpora.yaml", "models.yaml"  # a job depends on its own entries alone, which its rule names


@dataclass(frozen=True, slots=True)
class Model:
    """A model by name: its source, SHA-256 and size of what is transferred, and its licence."""

    name: str
    title: str
    source: Source
    sha256: str | None
    size: int | None
    licence: str
    layers: int | None = None  # of an encoder


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file of a corpus as it was published.

    Attributes:
        name: path below ``raw_root`` (or below the folder of downloads).
        source: its public address, None if it cannot be fetched; then ``page`` says where to get it.
        sha256, size: of the published file; None if not known.
        expect: ``{"sentences": (n, ...), "triples": (n, ...)}``, the counts to check where there is no hash.
        format: name of its reader, None for files that are no corpus of their own.
    """

    name: str
    source: Source | None
    sha256: str | None
    size: int | None
    licence: str
    format: str | None
    page: str | None
    expect: Mapping[str, tuple[int, ...]]

    def path(self, folder: str | Path) -> Path:
        """Where the file lies below a folder."""
        return Path(folder) / self.name


@dataclass(frozen=True, slots=True)
class Split:
    """A split made of whole files: ``files`` in this order, less the texts of ``without`` and the items ``drop``."""

    files: tuple[str, ...]
    without: tuple[str, ...] = ()
    drop: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Division:
    """Splits made by dividing files: at random by weight (``parts``), or by the ids of other files (``like``).

    ``zero_texts`` are JSON lists of labelled texts; those that ``files`` do not have are sentences with zero triples.
    """

    files: tuple[str, ...]
    parts: Mapping[str, float]
    like: Mapping[str, tuple[str, ...]]
    zero_texts: tuple[str, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Zero:
    """Zero-triple sentences that a raw corpus adds to the splits (:mod:`tripleaudit.corpora.divide`).

    Attributes:
        files: the raw corpus.
        sizes: sentences that each split receives, as published.
        least: share of them that the raw corpus must have.
        lower: put them in lower case, as the splits' own sentences are.
        seed: of the division among the splits.
    """

    files: tuple[str, ...]
    sizes: Mapping[str, int]
    least: float
    lower: bool
    seed: int


@dataclass(frozen=True, slots=True)
class RegisteredCorpus:
    """A corpus by name, how its splits are made of files, and the corpora that hold its published protocol sets."""

    name: str
    title: str
    whole: Mapping[str, Split]
    division: Division | None
    needs: Mapping[str, tuple[str, ...]]
    zero: Zero | None = None
    sizes: Mapping[str, int] = field(default_factory=dict, repr=False)  # sentences of each split, where known
    published: Mapping[str, str] = field(default_factory=dict, repr=False)  # protocol -> corpus
    relations: Mapping[str, int] = field(default_factory=dict, repr=False)  # of train, and of these in test, if known

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, in the order train, valid, test."""
        names = set(self.whole)
        if self.division:
            names |= set(self.division.parts) | set(self.division.like)
        return tuple(sorted(names, key=lambda name: (["train", "valid", "test"].index(name), name)))

    def raw_files(self, split: str) -> tuple[RawFile, ...]:
        """Return every file that is needed to make a split.

        Raises:
            UserError: the corpus has no such split.
        """
        if split not in self.splits:
            raise UserError(f"corpus {self.name!r} has no split {split!r}, expected one of {', '.join(self.splits)}")
        if split in self.whole:
            # which raw sentences have zero triples depends on the sentences of every split
            plans = [self.whole[name] for name in self.splits] if self.zero else [self.whole[split]]
            names = [name for plan in plans for name in (*plan.files, *plan.without)]
            names += self.zero.files if self.zero else ()
        else:
            like = [name for members in self.division.like.values() for name in members]
            names = [*self.division.files, *like, *self.division.zero_texts]
        names += [other for name in names for other in self.needs.get(name, ())]
        return tuple(raw_file(name) for name in dict.fromkeys(names))


def model(name: str) -> Model:
    """Return a registered model.

    Raises:
        UserError: no model has this name.
    """
    known = models()
    if name not in known:
        raise UserError(f"model {name!r} is not registered, expected one of {', '.join(known)}")
    return known[name]


def find_model(name: str) -> Model:
    """Return the registered model of this name, else a model of the source that ``name`` spells.

    Raises:
        UserError: it is neither.
    """
    return models()[name] if name in models() else Model(name, name, parse_source(name), None, None, "not stated")


def corpus(name: str) -> RegisteredCorpus:
    """Return a registered corpus.

    Raises:
        UserError: no corpus has this name.
    """
    known = corpora()
    if name not in known:
        raise UserError(f"corpus {name!r} is not registered, expected one of {', '.join(known)}")
    return known[name]


def raw_file(name: str) -> RawFile:
    """Return a registered raw file by its path below ``raw_root``.

    Raises:
        UserError: no file has this name.
    """
    if name not in raw_files():
        raise UserError(f"raw file {name!r} is not registered in {FOLDER.name}/{CORPORA}")
    return raw_files()[name]


def resolve(file: RawFile, raw_root: str | Path | None, downloads: str | Path) -> Path:
    """Return where a raw file lies: below ``raw_root`` if one is given, else where a rule fetches it to.

    Raises:
        UserError: it is not below ``raw_root``, or there is none and the file cannot be fetched.
    """
    if raw_root is not None:
        path = file.path(raw_root)
        if not path.is_file():
            raise UserError(f"{path}: no such file, expected {file.name} below raw_root {raw_root}")
        return path
    if file.source is None:
        raise UserError(
            f"{file.name} cannot be fetched; get it from {file.page} and set raw_root to the folder above it"
        )
    return file.path(downloads)


@functools.cache
def models() -> dict[str, Model]:
    """Return all registered models by name."""
    document = load(MODELS)
    return {
        name: Model(
            name,
            entry["title"],
            parse_source(entry["source"]),
            entry.get("sha256"),
            entry.get("size"),
            entry["licence"],
            entry.get("layers"),
        )
        for name, entry in document["models"].items()
    }


@functools.cache
def raw_files() -> dict[str, RawFile]:
    """Return all registered raw files by name."""
    document = load(CORPORA)
    repositories = document["repositories"]
    result = {}
    for name, entry in document["files"].items():
        origin = repositories.get(entry.get("repository"))
        address = None
        if origin:
            path = quote(entry["path"])
            address = f"https://raw.githubusercontent.com/{origin['repository']}/{origin['commit']}/{path}"
        result[name] = RawFile(
            name,
            parse_source(address) if address else None,
            entry.get("sha256"),
            entry.get("size"),
            entry.get("licence") or origin["licence"],
            entry.get("format"),
            entry.get("page"),
            {key: tuple(values) for key, values in entry.get("expect", {}).items()},
        )
    return result


@functools.cache
def corpora() -> dict[str, RegisteredCorpus]:
    """Return all registered corpora by name."""
    result = {}
    for name, entry in load(CORPORA)["corpora"].items():
        whole = {}
        for split, plan in entry.get("splits", {}).items():
            plan = plan if isinstance(plan, dict) else {"files": plan}
            drop = {file: tuple(numbers) for file, numbers in plan.get("drop", {}).items()}
            whole[split] = Split(tuple(plan["files"]), tuple(plan.get("without", ())), drop)
        division = None
        if divide := entry.get("divide"):
            division = Division(
                tuple(divide["files"]),
                divide.get("parts", {}),
                {part: tuple(files) for part, files in divide.get("like", {}).items()},
                tuple(divide.get("zero", {}).get("texts", ())),
                divide["seed"],
            )
        needs = {file: tuple(others) for file, others in entry.get("needs", {}).items()}
        added = None
        if zero := entry.get("zero"):
            added = Zero(
                tuple(zero["files"]), zero["sizes"], zero.get("least", 1.0), zero.get("lower", False), zero["seed"]
            )
        result[name] = RegisteredCorpus(
            name,
            entry["title"],
            whole,
            division,
            needs,
            added,
            *(entry.get(key, {}) for key in ("sentences", "published", "relations")),
        )
    return result


@functools.cache
def load(name: str, folder: Path | None = None) -> dict[str, Any]:
    """Read and check one file of the registry.

    Raises:
        UserError: an entry is not well formed; the message lists all problems.
    """
    path = (folder or FOLDER) / name
    with open(path, encoding="utf-8") as stream:
        try:
            document = yaml.load(stream, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError as error:
            raise UserError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from error
    check = problems_of_models if name == MODELS else problems_of_corpora
    if problems := list(check(document)):
        raise UserError(f"{path} is not usable:\n" + "\n".join(f"- {problem}" for problem in problems))
    return document
