"""Texts about the demo world made to order: one fact as a sentence."""

import functools
import random

from generator.compose import single
from generator.generator import SEED
from generator.relations import RELATIONS
from generator.templates import Draft
from generator.world import Entity, Fact, WithStrangers, World, article_of
from tripleaudit.corpora.model import Sentence, Triple
from tripleaudit.errors import UserError


@functools.cache
def shipped_world() -> World:
    """The world of the corpus in ``resources/demo`` (made once, never changed)."""
    return World(SEED)


def state_triple(triple: Triple | Fact | tuple[str, str, str], seed: int | str = 0) -> Sentence:
    """Say a triple of a demo relation in one natural sentence with exact spans.

    Args:
        triple: a triple, or its three strings; the entities need not belong to the demo world.
        seed: another seed, often another wording; equal seeds give equal sentences.

    Raises:
        UserError: the relation is none of the demo corpus, or an argument is empty.
    """
    fact = Fact(*triple.strings) if isinstance(triple, Triple) else Fact(*triple)
    if fact.relation not in RELATIONS:
        raise UserError(f"relation {fact.relation!r} is not one of the demo corpus; expected {', '.join(RELATIONS)}")
    if not fact.subject.strip() or not fact.object.strip() or fact.subject == fact.object:
        raise UserError(f"triple {tuple(fact)!r} cannot be stated; expected two different, non-empty entity names")
    draft = Draft(_knowing(fact), random.Random(f"demo-state-{seed}-{'|'.join(fact)}"))
    single(draft, fact, plain=True)
    return draft.finish(f"stated-{seed}")


def _knowing(fact: Fact) -> WithStrangers:
    """The shipped world plus the fact's arguments that it does not know, of the types that the relation asks for."""
    rule, known = RELATIONS[fact.relation], shipped_world()
    strangers: dict[str, Entity] = {}
    for name, kinds in ((fact.subject, rule.subjects), (fact.object, rule.objects)):
        if name not in known.entities:
            kind = kinds[0] if len(kinds) == 1 else None
            strangers[name] = Entity(name, kind, article_of(name, kind), possessive="their")
    return WithStrangers(known, strangers)
