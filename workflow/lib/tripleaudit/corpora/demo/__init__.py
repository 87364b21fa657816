"""The demo corpus: an invented world, its facts in natural sentences, and sentences that state nothing."""

from tripleaudit.corpora.demo.documents import documents, new_facts, state_triple
from tripleaudit.corpora.demo.generator import FILES, SEED, Shape, generate, write_demo
from tripleaudit.corpora.demo.relations import RELATIONS, Relation
from tripleaudit.corpora.demo.world import Entity, Fact, World

__all__ = [
    "FILES",
    "RELATIONS",
    "SEED",
    "Entity",
    "Fact",
    "Relation",
    "Shape",
    "World",
    "documents",
    "generate",
    "new_facts",
    "state_triple",
    "write_demo",
]
