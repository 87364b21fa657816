"""The demo corpus: an invented world, its facts in natural sentences, and sentences that state nothing."""

from generator.documents import documents, new_facts, state_triple
from generator.generator import FILES, SEED, Shape, generate, write_demo
from generator.relations import RELATIONS, Relation
from generator.world import Entity, Fact, World

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
