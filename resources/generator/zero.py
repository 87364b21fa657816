"""Sentences with zero triples: plain, with one entity, with two that fit, and with facts of
relations not asked for.
"""

import random
import re

from generator import patterns_zero
from generator.compose import single
from generator.relations import NUMBER, OUTSIDE, RELATIONS, YEAR
from generator.templates import Draft, expand, fill
from generator.world import Fact, World

PLAIN, SINGLE, COMENTION, EVENT, CLAIM_OPEN, CLAIM_FALSE, OTHER = (
    "plain", "single", "comention", "event", "open_claim", "false_claim", "other_relation",
)  # fmt: skip
SHARES = {
    PLAIN: 0.1,
    SINGLE: 0.2,
    COMENTION: 0.12,
    EVENT: 0.12,
    CLAIM_OPEN: 0.08,
    CLAIM_FALSE: 0.08,
    OTHER: 0.3,
}
HARD = (COMENTION, EVENT, CLAIM_OPEN, CLAIM_FALSE)


class ZeroWriter:
    """Writes sentences that state none of the facts that are asked for.

    Args:
        world: the entities.
        weights: frequencies of the facts that are asked for; half of the hard sentences name a pair
            of such a fact without stating it, which is what a model that memorised the pair falls
            for.
        everything: all facts of the world; those of the relations outside the schema may be stated.
    """

    def __init__(self, world: World, weights: dict[Fact, float], everything: list[Fact]):
        self.world = world
        self.facts, self.frequencies = list(weights), list(weights.values())
        self.relations = [
            name for name in RELATIONS if any(fact.relation == name for fact in weights)
        ]
        self.related = {frozenset((fact.subject, fact.object)) for fact in everything}
        self.outside = {
            name: [fact for fact in everything if fact.relation == name] for name in OUTSIDE
        }

    def write(self, rng: random.Random, category: str | None = None) -> tuple[str, Draft]:
        """Write one sentence; returns its category and draft."""
        category = category or rng.choices(list(SHARES), list(SHARES.values()))[0]
        draft = Draft(self.world, rng)
        if category == PLAIN:
            draft.text = fill(expand(rng.choice(patterns_zero.PLAIN), rng), rng)
        elif category == SINGLE:
            kinds = [kind for kind in patterns_zero.SINGLE if self.world.by_kind.get(kind)]
            frequency = [
                len(patterns_zero.SINGLE[kind]) * len(self.world.by_kind[kind]) ** 0.5
                for kind in kinds
            ]
            kind = rng.choices(kinds, frequency)[0]
            draft.text = self.about(draft, rng.choice(self.world.by_kind[kind]).name)
        elif category == OTHER:
            single(draft, rng.choice(self.outside[rng.choice(OUTSIDE)]), plain=True)
            draft.facts.clear()  # said, and no triple of this corpus
        else:
            self._hard(draft, category)
        return category, draft

    def about(self, draft: Draft, name: str) -> str:
        """A remark on one entity, as draft text."""
        kind = self.world.entities[name].kind
        template = draft.rng.choice(patterns_zero.SINGLE[kind]).replace(f"{{{kind}}}", "{s}")
        return draft.render_pair(template, name, name)

    def _hard(self, draft: Draft, category: str) -> None:
        rng = draft.rng
        while True:
            true_pair = category != CLAIM_FALSE and rng.random() < 0.5
            if true_pair:
                fact = rng.choices(self.facts, self.frequencies)[0]
            else:
                fact = self._unrelated(rng.choice(self.relations), rng)
            if re.search(rf"(?<!\w){re.escape(fact.object)}(?!\w)", fact.subject):
                continue  # a nested name says too much
            if category in (EVENT, COMENTION) and self.world.kind_of(fact.object) in (YEAR, NUMBER):
                continue
            if category == EVENT:
                kinds = (self.world.kind_of(fact.subject), self.world.kind_of(fact.object))
                templates = patterns_zero.EVENTS.get(kinds)
                if not templates:
                    continue
                draft.text = draft.render_pair(rng.choice(templates), fact.subject, fact.object)
                return
            if category == COMENTION:
                template = rng.choice(patterns_zero.COMENTION)
            else:
                frames = (
                    patterns_zero.CLAIM_OPEN
                    if category == CLAIM_OPEN
                    else patterns_zero.CLAIM_FALSE
                )
                template = rng.choice(frames).replace(
                    "{claim}", rng.choice(patterns_zero.CLAIMS[fact.relation])
                )
            draft.text = draft.render_pair(template, fact.subject, fact.object)
            return

    def _unrelated(self, relation: str, rng: random.Random) -> Fact:
        """A fitting pair of entities with no fact between them."""
        rule = RELATIONS[relation]
        while True:
            subject = rng.choice(self._pool(rng.choice(rule.subjects)))
            object_ = rng.choice(self._pool(rng.choice(rule.objects)))
            if subject != object_ and frozenset((subject, object_)) not in self.related:
                return Fact(subject, relation, object_)

    def _pool(self, kind: str) -> list[str]:
        if kind in self.world.by_kind:
            return [entity.name for entity in self.world.by_kind[kind]]
        return [entity.name for entity in self.world.entities.values() if entity.kind == kind]
