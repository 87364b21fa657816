"""Counts of what a corpus holds and of what was changed while reading it."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class CorpusReport:
    """Content of a corpus and decisions of its reader; everything dropped is counted.

    "Triples" are strings (subject, relation, object); a triple at several positions in a sentence
    is one triple.

    Attributes:
        source: file or files, or the hub id.
        format: name of the reader.
        occurrence: how positions were found where the file gives none.
        sentences: number of sentences, and ``texts`` of different texts among them.
        triples_raw: triples as listed, ``duplicates`` of them exact repeats inside their sentence
            (with the same positions, where the file gives any).
        triples: different triples of each sentence, and ``unique_triples`` different ones in the
            whole corpus.
        spans: triples with positions that the sentences hold (more than ``triples`` if a triple has
            several positions).
        relations: number of different relations, and ``relation_counts`` of triples by relation.
        triples_not_in_text: triples (of ``triples``) with an argument that does not occur in the
            text; they keep their strings and have no position.
        found: arguments (of ``triples``) by the level their span was found on
            (:mod:`tripleaudit.corpora.spans`), or ``given``.
        notes: counts of what was left out or changed (:mod:`tripleaudit.corpora.remarks`), of which
            ``examples`` has some.
    """

    source: str
    format: str
    occurrence: str
    sentences: int = 0
    texts: int = 0
    triples_raw: int = 0
    duplicates: int = 0
    triples: int = 0
    unique_triples: int = 0
    spans: int = 0
    relations: int = 0
    zero_triple_sentences: int = 0
    triples_not_in_text: int = 0
    found: dict[str, int] = field(default_factory=dict)
    relation_counts: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
