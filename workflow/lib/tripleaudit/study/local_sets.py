"""The contents of a study's own files, read before anything runs: for checks, estimates and
default settings.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.core import files
from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import shipped
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.own_files import read_own_files
from tripleaudit.study.corpora import SPLITS, split_of

if TYPE_CHECKING:
    from tripleaudit.study.corpora import Corpus
    from tripleaudit.study.study import Study

DIVIDED = {"train": 9.0, "valid": 1.0}
"""How a training file without a validation file is divided."""
MAX_BYTES = 50_000_000
"""Of the files of a split; larger ones are not read before the study runs."""
MAX_BYTES_OF_SETTINGS = 5_000_000
"""The same for settings that follow from the data, which every job of a study determines."""


def local_split(corpus: "Corpus", split: str, max_bytes: int = MAX_BYTES) -> list[Sentence] | None:
    """Return a split of a corpus from the study's own files, as the study will prepare it.

    Args:
        corpus: a section of the configuration.
        split: ``train``, ``valid`` or ``test``.
        max_bytes: files that are larger together are not read.

    Returns:
        None for a registered corpus, a split without files, and files that are missing or too
        large.

    Raises:
        UserError: a file cannot be read.
    """
    given = corpus.files
    if given is None:
        return None
    divided = given.valid is None and split != "test"
    paths = (given.train if divided else getattr(given, split)) or []
    located = [shipped(path) for path in paths]
    sizes = [_size(Path(split_of(path)[0])) for path in located]
    if not located or None in sizes or sum(filter(None, sizes)) > max_bytes:
        return None
    return list(_read(_Split(corpus, split, tuple(located), divided)))


class _Split:
    """A split to read; equal to another one of the same configuration and the same state of its
    files.
    """

    def __init__(self, corpus: "Corpus", split: str, paths: tuple[str, ...], divided: bool):
        self.corpus, self.split, self.paths, self.divided = corpus, split, paths, divided
        files_state = tuple(_state(Path(split_of(path)[0])) for path in paths)
        self.identity = (split, files_state, divided, corpus.model_dump_json())

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Split) and self.identity == other.identity


def _state(path: Path) -> tuple[str, int, int | None]:
    """Return what tells a changed file from the one that was read: its place, time and size."""
    return str(path.resolve()), path.stat().st_mtime_ns, _size(path)


@cache
def _read(part: _Split) -> tuple[Sentence, ...]:
    corpus = part.corpus
    with files.reading_else_as(corpus.encoding or ""):
        found = read_own_files(
            part.paths,
            format=corpus.format,
            columns=corpus.columns.given() if corpus.columns else None,
            occurrence=corpus.occurrence,
            divide=DIVIDED if part.divided else None,
            part=part.split,
            limit=getattr(corpus.limit, part.split, None),
            only_relations=corpus.only_relations,
            some_absent=bool(corpus.only_relations) and part.split != "train",
            lower=corpus.uncased,
        )
    return tuple(found.sentences)


def _size(path: Path) -> int | None:
    """Return the bytes of a file or folder, None if it is not there."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size if path.is_file() else None


def settings_of_data(corpora: "dict[str, Corpus]") -> list[str]:
    """Return the cardinality settings of a study that trains nothing: ``wz`` too if a test set
    has empty sentences.
    """
    for corpus in corpora.values():
        try:
            test = local_split(corpus, "test", MAX_BYTES_OF_SETTINGS) or []
        except UserError:  # which is a problem of the study
            continue
        if not all(sentence.triples for sentence in test):
            return ["nz", "wz"]
    return ["nz"]


def local_set(study: "Study", corpus: str, split: str, setting: str) -> list[Sentence] | None:
    """Return a split of the original protocol in a cardinality setting, None where it cannot be
    read beforehand.
    """
    try:
        found = local_split(study.data.section[corpus], split)
    except UserError:
        return None
    if found is None or setting == "wz":
        return found
    return [sentence for sentence in found if sentence.triples]


def problems(study: "Study") -> Iterator[str]:
    """Yield a sentence for everything in a study's own files that would make a job fail."""
    for name, corpus in study.data.section.items():
        splits: dict[str, list[Sentence]] = {}
        for split in SPLITS if study.data.has_training(name) else ("test",):
            try:
                found = local_split(corpus, split)
            except UserError as error:
                key = "train" if corpus.files and not getattr(corpus.files, split) else split
                yield f"corpora/{name}/files/{key}: {error}"
                continue
            if found is not None:
                splits[split] = found
        test = splits.get("test")
        if test is not None and not any(sentence.triples for sentence in test):
            yield f"corpora/{name}/files/test: no sentence has a triple; nothing can be scored"
        elif test is not None and ("train" in splits or not study.data.has_training(name)):
            yield from _problems_of_relations(study, name, splits.get("train", []), test)


def _problems_of_relations(
    study: "Study", corpus: str, train: list[Sentence], test: list[Sentence]
) -> Iterator[str]:
    """Yield a sentence for each system that is to be given relations where none are known."""
    if study.data.section[corpus].relations or any(sentence.triples for sentence in train):
        return
    names = sorted({triple.relation for sentence in test for triple in sentence.triples})
    offered = ", ".join(f"{name}: ''" for name in names)
    for name, kind in study.systems.kinds.items():
        settings: dict[str, Any] = study.systems.settings(name)
        if kind.name == "endpoint" and settings["setting"] != "open":
            yield (
                f"systems/{name}: the setting {settings['setting']} needs relations, and corpus {corpus} has no "
                f"training triples to take them from; list them under corpora/{corpus}/relations, such as "
                f"{{{offered}}}, or use setting: open"
            )


def notes(study: "Study") -> Iterator[str]:
    """Yield a sentence about sentences of test sets that the study leaves out."""
    for name, corpus in study.data.section.items():
        try:
            test = local_split(corpus, "test") or []
        except UserError:
            continue
        empty = sum(not sentence.triples for sentence in test)
        if empty and "wz" not in study.settings:
            yield (
                f"corpora/{name}: {empty} of {len(test)} test sentences have no triples and are left out by the "
                "setting nz; settings: [nz, wz] tests on them, too"
            )
