"""Triple types: what of a test triple training has already shown (rte-generalization 2.2).

Everything here works on strings with their case, as the published numbers do; spans play no part. A
triple counts once in each sentence that holds it, however often the sentence repeats it.
"""

from collections.abc import Iterable
from typing import Final

from tripleaudit.corpora.model import Sentence

ENTIRELY_SEEN: Final = "entirely_seen"
PARTIALLY_SEEN: Final = "partially_seen"
UNSEEN: Final = "unseen"
TRIPLE_TYPES: Final = (ENTIRELY_SEEN, PARTIALLY_SEEN, UNSEEN)

Strings = tuple[str, str, str]
"""A triple as ``(subject, relation, object)`` strings."""


def distinct_triples(sentence: Sentence) -> list[Strings]:
    """Return the sentence's triples as strings, each once, in the order of first mention."""
    return list(dict.fromkeys(triple.strings for triple in sentence.triples))


class SeenTriples:
    """Index of the triples, entities and relations of a training set.

    Attributes:
        triples: every ``(subject, relation, object)`` of training.
        entities: every string that is a subject or an object in training.
        relations: every relation name of training.
    """

    def __init__(self, train: Iterable[Sentence]) -> None:
        self.triples: set[Strings] = {
            triple.strings for sentence in train for triple in sentence.triples
        }
        self.entities = {
            entity for subject, _, object_ in self.triples for entity in (subject, object_)
        }
        self.relations = {relation for _, relation, _ in self.triples}
        self._heads = {(subject, relation) for subject, relation, _ in self.triples}
        self._tails = {(relation, object_) for _, relation, object_ in self.triples}

    def type_of(self, triple: Strings) -> str:
        """Return the type of one ``(subject, relation, object)``, one of :data:`TRIPLE_TYPES`.

        Entirely seen: training has the triple. Partially seen: it has the relation with this
        subject or with this object, but never both. Unseen: every other triple, also one whose two
        entities occur under other relations.
        """
        if triple in self.triples:
            return ENTIRELY_SEEN
        subject, relation, object_ = triple
        if (subject, relation) in self._heads or (relation, object_) in self._tails:
            return PARTIALLY_SEEN
        return UNSEEN
