"""The demo corpus: an invented world, its facts in natural sentences, and sentences that state
nothing.
"""

from generator.generator import FILES, SEED, Shape, generate, write_demo
from generator.relations import OUTSIDE, RELATIONS, SCHEMA, Relation
from generator.world import Entity, Fact, World

__all__ = [
    "FILES",
    "OUTSIDE",
    "RELATIONS",
    "SCHEMA",
    "SEED",
    "Entity",
    "Fact",
    "Relation",
    "Shape",
    "World",
    "generate",
    "write_demo",
]
