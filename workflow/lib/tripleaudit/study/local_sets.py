"""The contents of a study's own files, read early for checks, estimates and default settings."""

from functools import cache
from pathlib import Path

from tripleaudit.core import files
from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import shipped
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.own_files import read_own_files
from tripleaudit.corpora.readers.common import split_of
from tripleaudit.study.config.corpora import Corpus

DIVIDED = {"train": 9.0, "valid": 1.0}
"""How a training file without a validation file is divided."""
MAX_BYTES = 50_000_000
"""Of the files of a split; larger ones are not read before the study runs."""
MAX_BYTES_OF_SETTINGS = 5_000_000
"""The same for settings that follow from the data, which every job of a study determines."""


def local_split(corpus: Corpus, split: str, max_bytes: int = MAX_BYTES) -> list[Sentence] | None:
    """Return a split of a corpus from the study's own files, as the study will prepare it.

    Args:
        corpus: a section of the configuration.
        split: ``train``, ``valid``, ``test`` or ``augmented``.
        max_bytes: files that are larger together are not read.

    Returns:
        None for a registered corpus, a split without files, and files that are missing or too
        large.

    Raises:
        UserError: a file cannot be read.
    """
    if corpus.files is None:
        return None
    divided = corpus.files.valid is None and split in DIVIDED
    names = getattr(corpus.files, "train" if divided else split) or []
    paths = [shipped(name) for name in names]
    sizes = [_size(Path(split_of(path)[0])) for path in paths]
    existing = [size for size in sizes if size is not None]
    if not paths or len(existing) < len(paths) or sum(existing) > max_bytes:
        return None
    return list(_read(_Split(corpus, split, tuple(paths), divided)))


class _Split:
    """A split to read; splits with equal options and unchanged files compare equal."""

    def __init__(self, corpus: Corpus, split: str, paths: tuple[str, ...], divided: bool):
        self.corpus = corpus
        self.split = split
        self.paths = paths
        self.divided = divided
        states = tuple(_state(Path(split_of(path)[0])) for path in paths)
        self.identity = (split, states, divided, corpus.model_dump_json())

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Split) and self.identity == other.identity


def _state(path: Path) -> tuple[str, int, int | None]:
    """Return path, time and size of a file, which differ if the file was changed."""
    return str(path.resolve()), path.stat().st_mtime_ns, _size(path)


@cache
def _read(part: _Split) -> tuple[Sentence, ...]:
    corpus = part.corpus
    with files.reading_else_as(corpus.encoding or ""):
        result = read_own_files(
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
    return tuple(result.sentences)


def _size(path: Path) -> int | None:
    """Return the bytes of a file or folder; None if it does not exist."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size if path.is_file() else None


def settings_of_data(corpora: dict[str, Corpus]) -> list[str]:
    """Return the cardinality settings of a study that trains nothing.

    A study of gold sets alone tests each of them once, with all of its sentences: in the setting
    ``wz``, unless all sets are read here and every sentence has a triple. Other studies test in
    both settings if a test set that is read here has sentences without triples.
    """
    test_sets = [_small_test_set(corpus) for corpus in corpora.values()]
    has_empty = any(not sentence.triples for test_set in test_sets for sentence in test_set or ())
    if any(corpus.has_training for corpus in corpora.values()):
        return ["nz", "wz"] if has_empty else ["nz"]
    is_unread = any(test_set is None for test_set in test_sets)
    return ["wz"] if has_empty or is_unread else ["nz"]


def _small_test_set(corpus: Corpus) -> list[Sentence] | None:
    """Return the test set of a corpus; None if it is missing, unreadable or large."""
    try:
        return local_split(corpus, "test", MAX_BYTES_OF_SETTINGS)
    except UserError:  # the study reports it
        return None


def local_set(corpus: Corpus, split: str, setting: str) -> list[Sentence] | None:
    """Return a split of the original protocol in a cardinality setting.

    Args:
        corpus: a section of the configuration.
        split: ``train``, ``valid`` or ``test``.
        setting: ``nz`` or ``wz``.

    Returns:
        None where the split cannot be read before the study runs.
    """
    try:
        sentences = local_split(corpus, split)
    except UserError:
        return None
    if sentences is None or setting == "wz":
        return sentences
    return [sentence for sentence in sentences if sentence.triples]
