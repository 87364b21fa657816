"""The relations of the demo world: argument types, which of them are functional, and their order
in a life.
"""

from dataclasses import dataclass

PERSON, COMPANY, UNIVERSITY, CLUB = "PERSON", "COMPANY", "UNIVERSITY", "CLUB"
BAND, PARTY, CITY, COUNTRY = "BAND", "PARTY", "CITY", "COUNTRY"
BOOK, FILM, MUSIC, BUILDING = "BOOK", "FILM", "MUSIC", "BUILDING"
YEAR, NUMBER = "YEAR", "NUMBER"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of the demo world.

    Attributes:
        name: as it stands in triples. subjects, objects: entity types the arguments may have.
        subject_functional: a subject has at most one object (a person has one birthplace).
        object_functional: an object has at most one subject (a country has one capital). order:
        place in the natural order of telling, lowest first; verb phrases are coordinated in this
        order. symmetric: (a, r, b) means (b, r, a); stated once, the first mention being the
        subject.
    """

    name: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    subject_functional: bool = False
    object_functional: bool = False
    order: int = 50
    symmetric: bool = False


_ALL = (
    Relation("born_in", (PERSON,), (CITY,), True, False, 10),
    Relation("citizen_of", (PERSON,), (COUNTRY,), True, False, 15),
    Relation("educated_at", (PERSON,), (UNIVERSITY,), False, False, 20),
    Relation("member_of", (PERSON,), (BAND, PARTY), True, False, 30),
    Relation("plays_for", (PERSON,), (CLUB,), True, False, 30),
    Relation("works_for", (PERSON,), (COMPANY, UNIVERSITY), True, False, 35),
    Relation("spouse_of", (PERSON,), (PERSON,), True, True, 40, symmetric=True),
    Relation("founder_of", (PERSON,), (COMPANY,), False, False, 45),
    Relation("chief_executive_of", (PERSON,), (COMPANY,), True, True, 55),
    Relation("mayor_of", (PERSON,), (CITY,), True, True, 60),
    Relation("author_of", (PERSON,), (BOOK,), False, True, 50),
    Relation("lives_in", (PERSON,), (CITY,), True, False, 70),
    Relation("died_in", (PERSON,), (CITY,), True, False, 99),
    Relation("headquartered_in", (COMPANY,), (CITY,), True, False, 40),
    Relation("acquired_by", (COMPANY,), (COMPANY,), True, False, 70),
    Relation("founded_in", (COMPANY, UNIVERSITY, CLUB, BAND), (YEAR,), True, False, 20),
    Relation("directed_by", (FILM,), (PERSON,), True, False, 50),
    Relation("starring", (FILM,), (PERSON,), False, False, 55),
    Relation("composed_by", (MUSIC,), (PERSON,), True, False, 50),
    Relation("published_by", (BOOK,), (COMPANY,), True, False, 60),
    Relation("set_in", (BOOK, FILM), (CITY,), True, False, 65),
    Relation("designed_by", (BUILDING,), (PERSON,), True, False, 50),
    Relation("located_in", (CITY, UNIVERSITY, BUILDING, CLUB), (CITY, COUNTRY), True, False, 30),
    Relation("capital_of", (CITY,), (COUNTRY,), True, True, 35),
    Relation("has_population", (CITY,), (NUMBER,), True, False, 40),
)
RELATIONS: dict[str, Relation] = {relation.name: relation for relation in _ALL}

SCHEMA = (
    "born_in", "lives_in", "educated_at", "works_for", "founder_of", "chief_executive_of", "author_of",
    "headquartered_in",
)  # fmt: skip
"""The relations of the demo corpus's triples."""
OUTSIDE = (
    "died_in", "plays_for", "member_of", "mayor_of", "citizen_of", "acquired_by", "composed_by", "designed_by",
    "starring", "published_by", "directed_by", "set_in",
)  # fmt: skip
"""Relations that its zero-triple sentences may state: none of them is asked for."""
