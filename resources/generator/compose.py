"""From facts to sentences: one fact, two facts about one pair, or up to five facts around a
shared entity.
"""

import random
import re

from generator import patterns_people, patterns_things
from generator.relations import NUMBER, PERSON, RELATIONS, YEAR
from generator.templates import Draft, suits
from generator.world import Fact, World

PATTERNS = {**patterns_people.PATTERNS, **patterns_things.PATTERNS}
NESTED = patterns_things.NESTED
NESTED_PHRASES = patterns_things.NESTED_PHRASES
EPO = {**patterns_people.EPO, **patterns_things.EPO}
_AMBIGUOUS = tuple(
    (wording, relations, module.AMBIGUOUS_FRAMES)
    for module in (patterns_people, patterns_things)
    for wording, relations in module.AMBIGUOUS.items()
)
# A report that wraps the sentence; its place or firm is a bystander of no triple.
_FRAMES: tuple[tuple[str, str], ...] = (
    ("CITY", "Speaking in {x}, a (historian|lawyer|former colleague) recalled that "),
    ("CITY", "A newspaper in {x} (reported|noted)[ {when}] that "),
    ("COMPANY", "According to a report commissioned by {x}, "),
    ("PERSON", "In a column, {x} (pointed out|mentioned) that "),
    ("CITY", "Guides in {x} (like to say|explain) that "),
)
# (facts in the opening, facts in the inserted clause, facts in the main clause) by the number of
# clauses
_PLANS: dict[int, tuple[tuple[int, int, int], ...]] = {
    1: ((0, 0, 1),),
    2: ((0, 1, 1), (1, 0, 1), (0, 0, 2)),
    3: ((1, 1, 1), (0, 2, 1), (1, 0, 2), (0, 1, 2), (0, 0, 3)),
    4: ((1, 1, 2), (0, 2, 2), (1, 0, 3), (0, 1, 3), (1, 2, 1)),
    5: ((1, 2, 2), (1, 1, 3), (0, 2, 3)),
}
_RELATIVE = re.compile(r"(of |to |for |with its )?(who|which|whose|where|whom)\b|with its capital")
_LITERALS = (YEAR, NUMBER)


def sides_of(fact: Fact, hub: str) -> str:
    """``s`` if the hub is the fact's subject, else ``o``."""
    return "s" if fact.subject == hub else "o"


def other_end(fact: Fact, hub: str) -> str:
    """The argument that is not the hub."""
    return fact.object if fact.subject == hub else fact.subject


def can_join(fact: Fact, hub: str) -> bool:
    """Whether the fact has verb phrases and modifiers with the hub as their subject."""
    return bool(PATTERNS[fact.relation]["v" + sides_of(fact, hub)])


def nested(fact: Fact) -> bool:
    """Whether the object is named within the subject's name and a pattern can say the fact by
    the subject alone.
    """
    return fact.relation in NESTED and bool(
        re.search(rf"(?<!\w){re.escape(fact.object)}(?!\w)", fact.subject)
    )


def single(draft: Draft, fact: Fact, plain: bool = False) -> None:
    """State one fact in one sentence.

    Now and then the object stands inside the subject's name, or the wording is one that several
    relations share; ``plain`` leaves both out.
    """
    rng, world = draft.rng, draft.world
    if not plain:
        if nested(fact) and rng.random() < 0.6:
            draft.text = draft.render(rng.choice(NESTED[fact.relation]), fact)
            return
        shared = [item for item in _AMBIGUOUS if fact.relation in item[1]]
        if shared and world.pairs[fact.subject, fact.object] == 1 and rng.random() < 0.16:
            wording, _, frames = rng.choice(shared)
            draft.text = draft.render(rng.choice(frames).replace("X", wording, 1), fact)
            return
    fitting = [
        template for template in PATTERNS[fact.relation]["full"] if suits(template, fact, world)
    ]
    draft.text = draft.render(rng.choice(fitting), fact)


def pair(draft: Draft, first: Fact, second: Fact) -> bool:
    """State two relations of one pair in one sentence; ``False`` if there is no pattern for the
    two relations.
    """
    for one, two in ((first, second), (second, first)):
        templates = EPO.get((one.relation, two.relation))
        if templates and (one.subject, one.object) == (two.subject, two.object):
            draft.text = draft.render(draft.rng.choice(templates), one)
            draft.facts.append(two)
            return True
    return False


class HubSentence:
    """A sentence around one entity that all facts share (but for one that may be attached to the
    last entity named).
    """

    def __init__(self, draft: Draft, hub: str, facts: list[Fact]):
        self.draft, self.hub, self.rng, self.world = draft, hub, draft.rng, draft.world
        self.units: list[list[Fact]] = []
        for fact in facts:
            key = (fact.relation, sides_of(fact, hub))
            twin = next(
                (unit for unit in self.units if (unit[0].relation, sides_of(unit[0], hub)) == key),
                None,
            )
            if twin is None:
                self.units.append([fact])
            elif len(twin) < 2:
                twin.append(fact)

    def pronoun(self, name: str) -> str:
        return "who" if self.world.kind_of(name) == PERSON else "which"

    def choices(self, unit: list[Fact], part: str, opening: bool = False) -> list[str]:
        """Fitting verb phrases (``v``) or modifiers (``m``); a unit of two facts needs the other
        entity last.
        """
        side = sides_of(unit[0], self.hub)
        last = "{o}" if side == "s" else "{s}"
        found = [
            item
            for item in PATTERNS[unit[0].relation][part + side]
            if suits(item, unit[0], self.world)
        ]
        if opening:
            found = [item for item in found if not _RELATIVE.match(item.split("> ")[-1])]
        return [item for item in found if item.endswith(last)] if len(unit) > 1 else found

    def phrase(self, unit: list[Fact], part: str, opening: bool = False) -> str:
        """Say a unit, two facts of one relation as "… A and B"."""
        options = self.choices(unit, part, opening)
        if (
            part == "v"
            and len(unit) == 1
            and nested(unit[0])
            and unit[0].subject == self.hub
            and self.rng.random() < 0.6
        ):
            options = NESTED_PHRASES[unit[0].relation]
        text = self.draft.render(self.rng.choice(options), unit[0])
        if len(unit) > 1:
            text += " and " + self.draft.slot(other_end(unit[1], self.hub))
            self.draft.facts.append(unit[1])
        return text

    def clause(self, units: list[list[Fact]]) -> str:
        """An inserted clause after the hub."""
        if len(units) == 1 and self.choices(units[0], "m") and self.rng.random() < 0.6:
            return self.phrase(units[0], "m")
        return f"{self.pronoun(self.hub)} " + " and ".join(self.phrase(unit, "v") for unit in units)

    def write(self, chain: Fact | None = None) -> bool:
        """Write the sentence into the draft; ``False`` if no arrangement can say these facts."""
        self.units = [unit if self.choices(unit, "v") else unit[:1] for unit in self.units]
        if not all(self.choices(unit, "v") for unit in self.units):
            return False
        front, inner, main = self.rng.choice(_PLANS[min(5, len(self.units))])
        units = self.units[:5]
        self.rng.shuffle(units)
        opening = (
            next((unit for unit in units if self.choices(unit, "m", opening=True)), None)
            if front
            else None
        )
        text = ""
        if opening is not None:
            units.remove(opening)
            text = self.phrase(opening, "m", opening=True)
            text = text[0].upper() + text[1:] + ", "
        elif front:
            main += 1
        text += self.draft.slot(self.hub)
        if inner:
            text += f", {self.clause(units[:inner])},"
        units = sorted(units[inner:], key=lambda unit: RELATIONS[unit[0].relation].order)
        phrases = [self.phrase(unit, "v") for unit in units]
        text += " " + (", ".join(phrases[:-1]) + " and " if len(phrases) > 1 else "") + phrases[-1]
        if chain is not None:
            tail = next(
                (
                    name
                    for name in (chain.subject, chain.object)
                    if text.endswith(self.draft.slot(name))
                ),
                None,
            )
            if tail is not None and tail != self.hub and can_join(chain, tail):
                options = PATTERNS[chain.relation]["v" + sides_of(chain, tail)]
                options = [item for item in options if suits(item, chain, self.world)]
                text += (
                    f", {self.pronoun(tail)} {self.draft.render(self.rng.choice(options), chain)}"
                )
        self.draft.text = text + "."
        return True


class Composer:
    """Chooses which facts share a sentence.

    Args:
        world: the entities.
        weights: how often each fact is drawn; facts that are not in it are never added.
    """

    def __init__(self, world: World, weights: dict[Fact, float]):
        self.world, self.weights = world, weights
        self.about: dict[str, list[Fact]] = {}
        for fact in weights:
            for name in (fact.subject, fact.object):
                self.about.setdefault(name, []).append(fact)
        self.pairs: dict[tuple[str, str], list[Fact]] = {}
        for fact in weights:
            self.pairs.setdefault((fact.subject, fact.object), []).append(fact)

    def compose(self, anchor: Fact, count: int, rng: random.Random) -> Draft:
        """Write a sentence of about ``count`` facts that holds ``anchor``; fewer where its
        entities have no more.
        """
        twins = [
            fact for fact in self.pairs.get((anchor.subject, anchor.object), ()) if fact != anchor
        ]
        if twins and count > 1 and rng.random() < 0.6:
            draft = Draft(self.world, rng)
            if pair(draft, anchor, rng.choice(twins)):
                return draft
        if count > 1:
            hubs = [name for name in (anchor.subject, anchor.object) if self._others(anchor, name)]
            hubs = [name for name in hubs if can_join(anchor, name)]
            if hubs:
                hub = max(
                    hubs,
                    key=lambda name: (min(count, len(self._others(anchor, name))), rng.random()),
                )
                draft = Draft(self.world, rng)
                if self._around(draft, anchor, hub, count, rng):
                    return draft
        draft = Draft(self.world, rng)
        single(draft, anchor)
        self._frame(draft)
        return draft

    def _others(self, anchor: Fact, hub: str) -> list[Fact]:
        if self.world.kind_of(hub) in _LITERALS:
            return []
        ends = {anchor.subject, anchor.object}
        return [
            fact
            for fact in self.about.get(hub, ())
            if can_join(fact, hub) and not {fact.subject, fact.object} <= ends
        ]  # fmt: skip

    def _around(self, draft: Draft, anchor: Fact, hub: str, count: int, rng: random.Random) -> bool:
        chosen, named = [anchor], {anchor.subject, anchor.object}
        chained = count > 2 and rng.random() < 0.4
        for fact in self._draw(self._others(anchor, hub), rng):
            if len(chosen) >= count - chained:
                break
            if other_end(fact, hub) not in named:
                chosen.append(fact)
                named.add(other_end(fact, hub))
        chain = None
        if chained or len(chosen) < count:
            tails = [
                fact
                for one in chosen
                for fact in self.about.get(other_end(one, hub), ())
                if self.world.kind_of(other_end(one, hub)) not in _LITERALS
                and other_end(fact, other_end(one, hub)) not in named
            ]
            chain = next(iter(self._draw(tails, rng)), None)
        return HubSentence(draft, hub, chosen).write(chain)

    def _draw(self, facts: list[Fact], rng: random.Random) -> list[Fact]:
        """Facts in random order, frequent ones first more often (drawn without replacement by
        weight).
        """
        return sorted(facts, key=lambda fact: rng.expovariate(1.0) / self.weights[fact])

    def _frame(self, draft: Draft) -> None:
        if draft.rng.random() < 0.07 and ord(draft.text[0]) >= 0xE000:
            kind, frame = draft.rng.choice(_FRAMES)
            bystander = draft.rng.choice(self.world.by_kind[kind]).name
            if bystander not in draft.names and not any(bystander in name for name in draft.names):
                frame = draft.render_pair(frame.replace("{x}", "{s}"), bystander, bystander)
                draft.text = frame + draft.text
