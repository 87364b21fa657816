"""``genres-processed``: :mod:`tripleaudit.corpora.readers.genres` with triples as subject, relation, object."""

from collections.abc import Iterator
from pathlib import Path

from tripleaudit.corpora.corpus import RawSentence
from tripleaudit.corpora.readers import genres
from tripleaudit.descriptors import CorpusFormat


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the documents."""
    return genres.read(path, order="sro")


FORMAT = CorpusFormat(
    name="genres-processed",
    order=14,
    read=read,
    detects=lambda probe: genres.by_text(probe) and genres.guess_order(probe.path) != "sor",
)
