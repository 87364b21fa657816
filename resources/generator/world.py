"""A fixed, consistent, invented world: entities and the facts between them."""

import random
import re
from collections import ChainMap, Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from generator import lexicon
from generator.relations import (
    BAND,
    BOOK,
    BUILDING,
    CITY,
    CLUB,
    COMPANY,
    COUNTRY,
    FILM,
    MUSIC,
    NUMBER,
    PARTY,
    PERSON,
    RELATIONS,
    UNIVERSITY,
    YEAR,
)


class Fact(NamedTuple):
    """What a triple says, by strings; ``Fact(*triple.strings)`` is the fact of a triple."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing; ``article`` is "the" where running text needs one before the name, outside
    the span.
    """

    name: str
    kind: str
    article: str = ""
    possessive: str = "its"


def article_of(name: str, kind: str | None) -> str:
    """ "the" for names that running text puts it before ("the Harrow Institute"), else nothing."""
    if kind in (PARTY, BUILDING):
        return "" if name.startswith("St.") else "the"
    if kind in (UNIVERSITY, None) and re.match(r"University\b|.*(Institute|Conservatory)$", name):
        return "the"
    return ""


class World:
    """Entities by name and all facts, consistent with the functional relations.

    Args:
        seed: another seed is another world.
        size: number of people; everything else grows with it.
    """

    def __init__(self, seed: int | str, size: int = 320):
        self.random = random.Random(f"demo-world-{seed}")
        self.entities: dict[str, Entity] = {}
        self.by_kind: dict[str, list[Entity]] = {}
        self.facts: list[Fact] = []
        self.named_after: dict[str, str] = {}
        self._keys: set[tuple[str, str, str]] = set()
        self._name_things(size)
        self._settle_places()
        self._tell_lives()
        self._credit_works()
        self._link_companies()
        self.pairs = Counter((fact.subject, fact.object) for fact in self.facts)

    def kind_of(self, name: str) -> str | None:
        """Type of the entity with this name, ``None`` for a stranger."""
        entity = self.entities.get(name)
        return entity.kind if entity else None

    def add(self, subject: Entity, relation: str, object_: Entity) -> bool:
        """Add a fact unless a functional relation, or the symmetric counterpart, forbids it."""
        rule = RELATIONS[relation]
        used = {("s", relation, subject.name)} if rule.subject_functional else set()
        used |= {("o", relation, object_.name)} if rule.object_functional else set()
        if rule.symmetric:
            used |= {("o", relation, subject.name), ("s", relation, object_.name)}
        used.add((subject.name, relation, object_.name))
        if subject.name == object_.name or used & self._keys:
            return False
        self._keys |= used
        self.facts.append(Fact(subject.name, relation, object_.name))
        return True

    def _enter(
        self, name: str, kind: str, article: str = "", possessive: str = "its"
    ) -> Entity | None:
        if name in self.entities:
            return None
        entity = Entity(name, kind, article, possessive)
        self.entities[name] = entity
        self.by_kind.setdefault(kind, []).append(entity)
        return entity

    def _name_things(self, size: int) -> None:
        pick = self.random.choice
        for name in lexicon.CITIES + lexicon.LATE_CITIES:
            self._enter(name, CITY)
        for name in lexicon.COUNTRIES:
            self._enter(name, COUNTRY)
        while len(self.by_kind.get(PERSON, ())) < size:
            female = self.random.random() < 0.5
            first = pick(lexicon.FEMALE if female else lexicon.MALE)
            surname = pick(lexicon.SURNAMES).replace("_", " ")
            form = self.random.random()
            if form < 0.08:
                first = f"{first[0]}. {pick('ABCDEFGHJKLMRSTW')}."
            elif form < 0.16:
                first = f"{first} {pick('ABCDEFGHJKLMRSTW')}."
            elif form < 0.19 and surname in lexicon.SURNAMES and "-" not in surname:
                first = ""
            self._enter(f"{first} {surname}".strip(), PERSON, possessive="her" if female else "his")
        cities = [city.name for city in self.by_kind.get(CITY, ())] or lexicon.CITIES
        roots = list(lexicon.COMPANY_ROOTS)
        self.random.shuffle(roots)
        target = size * 3 // 10
        while len(self.by_kind.get(COMPANY, ())) < target:
            form, surname = self.random.random(), pick(lexicon.SURNAMES).replace("_", " ")
            if form < 0.2 and roots:
                name = roots.pop()
            elif form < 0.6:
                name = f"{pick(lexicon.COMPANY_ROOTS)} {pick(lexicon.COMPANY_KINDS)}"
            elif form < 0.8:
                name = f"{surname} {pick(lexicon.COMPANY_KINDS)}"
            elif form < 0.88:
                name = f"{surname} & {pick(('Sons', 'Daughters', 'Partners', pick(lexicon.SURNAMES[:60])))}"
            elif form < 0.92:
                name = f"{pick('ABCEGHJKMRST')}. {pick('ABCEGHJKMRST')}. {surname} & Co."
            else:
                city = pick(cities)
                name = f"{city} {pick(lexicon.COMPANY_KINDS)}"
                self.named_after[name] = city
            self._enter(name, COMPANY)
        self.publishers = []
        while len(self.publishers) < max(6, size // 25):
            name = f"{pick(lexicon.SURNAMES).replace('_', ' ')} {pick(lexicon.PUBLISHER_KINDS)}"
            publisher = self._enter(name, COMPANY)
            if publisher:
                self.publishers.append(publisher)
        for kind, names in ((BAND, lexicon.BAND_NAMES), (PARTY, lexicon.PARTY_NAMES)):
            for name in names:
                self._enter(name, kind, article_of(name, kind))
        self._name_from(UNIVERSITY, lexicon.COLLEGE_KINDS, size // 9, cities)
        self._name_from(CLUB, lexicon.CLUB_KINDS, size // 14, cities)
        self._name_from(BUILDING, lexicon.BUILDING_KINDS, size // 8, cities)
        for kind, titles in (
            (BOOK, lexicon.BOOK_TITLES),
            (FILM, lexicon.FILM_TITLES),
            (MUSIC, lexicon.MUSIC_TITLES),
        ):
            for title in titles:
                city = pick(cities)
                name = title.format(city=city)
                self._enter(name, kind)
                if name != title:
                    self.named_after[name] = city

    def _name_from(self, kind: str, forms: list[str], count: int, cities: list[str]) -> None:
        """Name ``count`` institutions after cities or people; remember the city in the name, if
        any.
        """
        pick = self.random.choice
        for _ in range(40 * count):
            if len(self.by_kind.get(kind, ())) >= count:
                return
            form, city = pick(forms), pick(cities)
            surname = pick(lexicon.SURNAMES).replace("_", " ")
            name = form.format(
                city=city, surname=surname, first=pick(lexicon.FEMALE + lexicon.MALE)
            )
            entity = self._enter(name, kind, article_of(name, kind))
            if entity and "{city}" in form:
                self.named_after[name] = city

    def _some(self, kind: str) -> Entity:
        """Draw an entity, earlier ones more often (a few cities and firms dominate, as in real
        news).
        """
        pool = self.by_kind[kind]
        return pool[int(len(pool) * self.random.random() ** 1.5)]

    def _home(self, thing: Entity) -> Entity:
        """The city in the thing's name, or any city."""
        return self.entities.get(self.named_after.get(thing.name, "")) or self._some(CITY)

    def _settle_places(self) -> None:
        chance = self.random.random
        self.country_of = {}
        for number, country in enumerate(self.by_kind.get(COUNTRY, ())):
            capital = self.by_kind[CITY][number * 3 % len(self.by_kind[CITY])]
            if self.add(capital, "capital_of", country):
                self.country_of[capital.name] = country
        for city in self.by_kind.get(CITY, ()):
            if self.by_kind.get(COUNTRY):
                country = self.country_of.setdefault(city.name, self._some(COUNTRY))
                self.add(city, "located_in", country)
            thousands, rest = self.random.randrange(11, 980), self.random.randrange(0, 1000)
            number = (
                f"{thousands},{rest:03d}"
                if chance() < 0.8
                else f"{self.random.randrange(10, 42) / 10} million"
            )
            literal = self.entities.get(number) or Entity(number, NUMBER)
            self.entities[number] = literal
            self.add(city, "has_population", literal)
        for kind in (UNIVERSITY, BUILDING, CLUB):
            for thing in self.by_kind.get(kind, ()):
                self.add(thing, "located_in", self._home(thing))
        for kind in (COMPANY, UNIVERSITY, CLUB, BAND):
            for thing in self.by_kind.get(kind, ()):
                if chance() < 0.75:
                    year = str(
                        self.random.randrange(1975, 1999)
                        if kind == BAND
                        else self.random.randrange(1862, 1999)
                    )
                    self.entities.setdefault(year, Entity(year, YEAR))
                    self.add(thing, "founded_in", self.entities[year])
        for building in self.by_kind.get(BUILDING, ()):
            self.add(building, "designed_by", self._someone("architect"))

    def _someone(self, role: str) -> Entity:
        """A person of a profession; professions are dealt out round by round."""
        if not hasattr(self, "roles"):
            names = ("writer", "director", "actor", "composer", "founder", "manager", "politician", "athlete",
                     "musician", "academic", "architect", "employee")  # fmt: skip
            shares = (36, 16, 26, 14, 34, 24, 26, 34, 24, 34, 12, 40)
            self.roles = {name: [] for name in names}
            for person in self.by_kind[PERSON]:
                self.roles[self.random.choices(names, shares)[0]].append(person)
            for pool in self.roles.values():
                pool.append(self.random.choice(self.by_kind[PERSON]))
        pool = self.roles[role]
        return pool[int(len(pool) * self.random.random() ** 1.4)]

    def _tell_lives(self) -> None:
        chance = self.random.random
        dead = {person.name for person in self.by_kind[PERSON] if chance() < 0.16}
        for person in self.by_kind[PERSON]:
            birthplace = self._some(CITY)
            if chance() < 0.8:
                self.add(person, "born_in", birthplace)
            if person.name in dead:
                self.add(person, "died_in", birthplace if chance() < 0.45 else self._some(CITY))
            elif chance() < 0.55:
                self.add(person, "lives_in", birthplace if chance() < 0.4 else self._some(CITY))
            if chance() < 0.4 and person.name not in dead:
                country = self.country_of.get(birthplace.name) if chance() < 0.75 else None
                self.add(person, "citizen_of", country or self._some(COUNTRY))
            for _ in range(self.random.choice((0, 0, 1, 1, 1, 2))):
                self.add(person, "educated_at", self._some(UNIVERSITY))
            other = self.random.choice(self.by_kind[PERSON])
            if chance() < 0.4 and not {person.name, other.name} & dead:
                self.add(person, "spouse_of", other)
        self._someone("writer")  # deals the professions
        for person in self.roles["founder"]:
            company = self._some(COMPANY)
            self.add(person, "founder_of", company)
            if person.name not in dead and chance() < 0.6:
                self.add(person, "chief_executive_of", company)
            if chance() < 0.25:
                self.add(person, "founder_of", self._some(COMPANY))
        studied = {
            fact.subject: fact.object for fact in self.facts if fact.relation == "educated_at"
        }
        living_in = {
            fact.subject: fact.object
            for fact in self.facts
            if fact.relation in ("born_in", "lives_in")
        }
        for role, relation, kind in (("manager", "chief_executive_of", COMPANY), ("employee", "works_for", COMPANY),
                                     ("politician", "member_of", PARTY), ("musician", "member_of", BAND),
                                     ("athlete", "plays_for", CLUB), ("academic", "works_for", UNIVERSITY),
                                     ("politician", "mayor_of", CITY)):  # fmt: skip
            for person in self.roles[role]:
                if person.name in dead:
                    continue
                place = self._some(kind)
                if kind == UNIVERSITY and person.name in studied and chance() < 0.6:
                    place = self.entities[studied[person.name]]
                if relation == "mayor_of" and person.name in living_in and chance() < 0.7:
                    place = self.entities[living_in[person.name]]
                self.add(person, relation, place)

    def _credit_works(self) -> None:
        chance = self.random.random
        for book in self.by_kind.get(BOOK, ()):
            self.add(self._someone("writer"), "author_of", book)
            if chance() < 0.75:
                publisher = self.publishers[int(len(self.publishers) * self.random.random() ** 1.5)]
                self.add(book, "published_by", publisher)
            if chance() < 0.4 or book.name in self.named_after:
                self.add(book, "set_in", self._home(book))
        for film in self.by_kind.get(FILM, ()):
            director = self._someone("director")
            self.add(film, "directed_by", director)
            if chance() < 0.25:
                self.add(film, "starring", director)
            for _ in range(self.random.choice((0, 1, 1, 2, 3))):
                self.add(film, "starring", self._someone("actor"))
            if chance() < 0.5 or film.name in self.named_after:
                self.add(film, "set_in", self._home(film))
        for piece in self.by_kind.get(MUSIC, ()):
            self.add(piece, "composed_by", self._someone("composer"))

    def _link_companies(self) -> None:
        companies = self.by_kind.get(COMPANY, [])
        for number, company in enumerate(companies):
            if self.random.random() < 0.85:
                self.add(company, "headquartered_in", self._home(company))
            if (
                number > 5 and self.random.random() < 0.35
            ):  # only an earlier company buys: no circles
                self.add(company, "acquired_by", companies[self.random.randrange(number)])


class WithStrangers:
    """A world plus entities that it does not know, for sentences about them."""

    def __init__(self, world: World, strangers: Mapping[str, Entity]):
        self.entities: Mapping[str, Entity] = ChainMap(dict(strangers), world.entities)
        self.pairs = world.pairs

    def kind_of(self, name: str) -> str | None:
        """Type of an entity; ``None`` where it is not known."""
        return self.entities[name].kind
