"""The spec of a corpus format, and the registry of formats."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tripleaudit.core.plugins import Registry, Spec


@dataclass(frozen=True, kw_only=True)
class CorpusFormat(Spec):
    """A format of corpus files.

    Attributes:
        read: ``(path, **options) -> Iterator[RawSentence]``; ``LeftOut`` objects among them count
            what yields no sentence.
        options: Names of the options of ``read``.
        detects: ``(Probe) -> bool``, whether a file has this format; None for a format that must be
            named.
        keys: Keys that every object of the format has, if it consists of objects; errors about
            unknown formats suggest formats by them.
        rows_without_texts: ``(path, columns) -> (where, row)`` of files whose triples may lack
            texts, such as predictions that refer to sentences by id or order; None for other
            formats.
        read_with_gold: ``(path, gold path) -> Iterator[RawSentence]`` of predictions that point
            into the gold file; None for other formats.
    """

    read: Callable[..., Iterator[Any]]
    options: tuple[str, ...] = ()
    detects: Callable[[Any], bool] | None = None
    keys: tuple[str, ...] = ()
    rows_without_texts: Callable[..., Iterator[Any]] | None = None
    read_with_gold: Callable[..., Iterator[Any]] | None = None


FORMATS: Final = Registry(
    CorpusFormat,
    "corpus format",
    shipped=[
        "tripleaudit.corpora.readers.answers_by_order",
        "tripleaudit.corpora.readers.documents",
        "tripleaudit.corpora.readers.graph_builders",
        "tripleaudit.corpora.readers.published",
        "tripleaudit.corpora.readers.pubtator",
        "tripleaudit.corpora.readers.rdf",
        "tripleaudit.corpora.readers.records",
        "tripleaudit.corpora.readers.stored_sets",
        "tripleaudit.corpora.readers.text_files",
        "tripleaudit.corpora.readers.webnlg",
        "tripleaudit.llm.stored_answers",
    ],
)
