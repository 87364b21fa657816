"""The demo's test sentences about other names: of the same types, either known from training or
made for this.

The four variants of a sentence are those of the paper's augmented test set (rte-generalization
3.3): seen or unseen subjects with seen or unseen objects. A sentence is not edited but finished
once more with other names in its places, so that articles, pronouns and the place of a name inside
another stay right.
"""

import random
from collections.abc import Collection, Iterator

from generator import lexicon
from generator.relations import CITY, COMPANY
from generator.templates import Draft
from generator.world import Entity, Fact, WithStrangers, World, article_of
from tripleaudit.corpora.model import Sentence

VARIANTS = ("ss", "su", "us", "uu")


class Renamer:
    """Writes a drafted sentence about other names.

    Args:
        world: the entities of the drafts.
        trained: names in training triples; those are seen.
        rng: of all draws.
    """

    def __init__(self, world: World, trained: Collection[str], rng: random.Random):
        self.world, self.rng = world, rng
        self.seen: dict[tuple[str, str], list[str]] = {}
        for name in sorted(trained):
            self.seen.setdefault(self._like(name), []).append(name)

    def variants(self, draft: Draft, identifier: str) -> Iterator[Sentence]:
        """Yield the sentence once for each variant; a name that is subject and object is new if
        either role asks so.
        """
        for variant in VARIANTS:
            asked: dict[str, bool] = {}
            for fact in draft.facts:
                for name, role in zip((fact.subject, fact.object), variant, strict=True):
                    asked[name] = asked.get(name, False) or role == "u"
            yield self._renamed(draft, asked).finish(f"{identifier}.{variant}")

    def _like(self, name: str) -> tuple[str, str]:
        """What a name in its place must share: the type, and for people the pronoun."""
        entity = self.world.entities[name]
        return entity.kind, entity.possessive

    def _renamed(self, draft: Draft, asked: dict[str, bool]) -> Draft:
        """A copy of a draft about other names, new ones where it is asked for."""
        names: dict[str, str] = {}
        for name in sorted(
            asked, key=lambda name: name not in draft.names
        ):  # a name inside another comes after it
            if name in names:
                continue
            inner = [one for one in asked if one not in draft.names and one in name]
            taken = {*draft.names, *asked, *names.values()}
            if inner:
                names[inner[0]], names[name] = self._firm_of_a_city(
                    asked[name] or asked[inner[0]], taken
                )
            elif asked[name]:
                names[name] = self._new(*self._like(name), taken)
            else:
                names[name] = self._seen(self.seen[self._like(name)], taken)
        strangers = {
            new: Entity(new, kind, article_of(new, kind), possessive)
            for new, (kind, possessive) in ((new, self._like(old)) for old, new in names.items())
        }
        copy = Draft(WithStrangers(self.world, strangers), self.rng)
        copy.text, copy.names = draft.text, [names.get(name, name) for name in draft.names]
        copy.facts = [
            Fact(names[fact.subject], fact.relation, names[fact.object]) for fact in draft.facts
        ]
        return copy

    def _seen(self, pool: list[str], taken: Collection[str]) -> str:
        return self.rng.choice([name for name in pool if name not in taken])

    def _firm_of_a_city(self, new: bool, taken: Collection[str]) -> tuple[str, str]:
        """A city, and a firm with the city's name in its own."""
        if not new:
            cities = self.seen[CITY, "its"]
            firm = self._seen(
                [one for one in self.seen[COMPANY, "its"] if self._city_of(one) in cities], taken
            )
            return self._city_of(firm), firm
        city = self._new(CITY, "its", taken)
        return city, f"{city} {self.rng.choice(lexicon.COMPANY_KINDS)}"

    def _city_of(self, firm: str) -> str | None:
        return self.world.named_after.get(firm)

    def _new(self, kind: str, possessive: str, taken: Collection[str]) -> str:
        """A made name that neither the world nor the sentence has."""
        while True:
            found = self._made(kind, possessive)
            if found not in self.world.entities and found not in taken:
                return found

    def _made(self, kind: str, possessive: str = "its") -> str:
        pick = self.rng.choice
        surname = pick(lexicon.NEW_BEGINNINGS) + pick(lexicon.NEW_SURNAME_ENDS)
        match kind:
            case "PERSON":
                return f"{pick(lexicon.FEMALE if possessive == 'her' else lexicon.MALE)} {surname}"
            case "COMPANY":
                return f"{surname} {pick(lexicon.COMPANY_KINDS)}"
            case "UNIVERSITY":
                return pick(lexicon.COLLEGE_KINDS).format(city=self._made(CITY), surname=surname)
            case "BOOK":
                return pick(lexicon.NEW_TITLES)
        return pick(lexicon.NEW_BEGINNINGS) + pick(lexicon.NEW_CITY_ENDS)
