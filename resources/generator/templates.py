"""The little language of sentence patterns, and drafts that become sentences with exact spans.

``(a|b)`` picks one alternative, ``[x]`` keeps ``x`` half of the time, ``{when}``, ``{year}``,
``{their}`` … are filled by :class:`Filler`, a leading ``<TYPE>`` restricts a pattern to arguments
of that type, and ``{s}`` and ``{o}`` are the arguments of the triple. Entities stand in a draft as
single private-use characters until the text is final, so that nothing done to the text can spoil a
span.
"""

import random
import re

from generator.lexicon import MONTHS
from generator.relations import PERSON, RELATIONS
from generator.world import Fact, World
from tripleaudit.corpora.model import Sentence, Span, Triple

_FIRST_SLOT = 0xE000
_CHOICE = re.compile(r"\(([^()\[\]]*\|[^()\[\]]*)\)")
_OPTION = re.compile(r"\[([^()\[\]]*)\]")
_TAG = re.compile(r"<([A-Z]+)> ")
_SLOT = re.compile("[\ue000-\uf8ff]")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def expand(template: str, rng: random.Random) -> str:
    """Resolve ``(a|b)`` and ``[x]`` from the inside out and drop a leading ``<TYPE>``."""
    template = _TAG.sub("", template, count=1)
    while True:
        choice, option = _CHOICE.search(template), _OPTION.search(template)
        if choice is None and option is None:
            return template
        if choice is not None and (option is None or choice.start() < option.start()):
            template = (
                template[: choice.start()]
                + rng.choice(choice[1].split("|"))
                + template[choice.end() :]
            )
        else:
            kept = option[1] if rng.random() < 0.5 else ""
            template = template[: option.start()] + kept + template[option.end() :]


def fill(template: str, rng: random.Random) -> str:
    """Replace the small fillers (dates, numbers); no year before 1999, so that no founding date
    is implied.
    """

    def value(match: re.Match) -> str:
        year, month, day = rng.randrange(1999, 2025), rng.choice(MONTHS), rng.randrange(1, 29)
        match match[1]:
            case "when":
                return rng.choice(
                    (f"in {year}", f"in {month} {year}", f"on {day} {month} {year}", "last year", "two years ago",
                     f"in the summer of {year}", "last spring", "a decade ago", f"at the end of {year}")
                )  # fmt: skip
            case "year":
                return str(year)
            case "oldyear":
                return str(rng.randrange(1850, 1960))
            case "futureyear":
                return str(rng.randrange(2026, 2031))
            case "month":
                return month
            case "day":
                return str(day)
            case "weekday":
                return rng.choice(_WEEKDAYS)
            case "number":
                return rng.choice(
                    ("three", "four", "five", "six", "seven", "nine", "eleven", "twelve", "fifteen")
                )
            case "age":
                return str(rng.randrange(19, 93))
            case "shirt":
                return str(rng.randrange(2, 40))
            case "amount":
                return str(rng.randrange(12, 900))
            case "ordinal" | "ordinal2":
                return rng.choice(_ORDINALS[1:5] if match[1] == "ordinal" else _ORDINALS[5:])
        return match[0]

    return re.sub(r"\{([a-z]+2?)\}", value, template)


def suits(template: str, fact: Fact, world: World) -> bool:
    """Whether a pattern's ``<TYPE>``, if any, is the type of the argument that may have it."""
    tag = _TAG.match(template)
    if tag is None:
        return True
    argument = fact.subject if tag[1] in RELATIONS[fact.relation].subjects else fact.object
    return world.kind_of(argument) == tag[1]


class Draft:
    """A sentence in the making: text with one private-use character for each entity, and the
    facts it states.
    """

    def __init__(self, world: World, rng: random.Random):
        self.world, self.rng = world, rng
        self.names: list[str] = []
        self.facts: list[Fact] = []
        self.text = ""

    def slot(self, name: str) -> str:
        """The character that stands for an entity."""
        if name not in self.names:
            self.names.append(name)
        return chr(_FIRST_SLOT + self.names.index(name))

    def render(self, template: str, fact: Fact) -> str:
        """Fill a pattern with a fact, and note the fact as stated."""
        self.facts.append(fact)
        return self.render_pair(template, fact.subject, fact.object)

    def render_pair(self, template: str, subject: str, object_: str) -> str:
        """Fill a pattern with two entities without stating anything."""
        people = [name for name in (subject, object_) if self.world.kind_of(name) == PERSON]
        their = self.world.entities[people[0]].possessive if people else "their"
        text = fill(expand(template, self.rng).replace("{their}", their), self.rng)
        if "{s}" in text:
            text = text.replace("{s}", self.slot(subject))
        return text.replace("{o}", self.slot(object_)) if "{o}" in text else text

    def finish(self, identifier: str) -> Sentence:
        """Write out names and articles, tidy the punctuation, and locate every argument.

        An argument without a place of its own is nested in the other one's name ("University of
        Brelin").
        """
        text = re.sub(r"\s+", " ", self.text).strip()
        text = re.sub(r" ([,.;])", r"\1", text)
        text = re.sub(r",+(?=[,.;])", "", text)
        text = text[0].upper() + text[1:]
        parts: list[str] = []
        spans: dict[str, Span] = {}
        length, position = 0, 0
        for match in _SLOT.finditer(text):
            name = self.names[ord(match[0]) - _FIRST_SLOT]
            before = text[position : match.start()]
            if parts and parts[-1].endswith(".") and before.startswith("."):
                before = before[1:]
            entity = self.world.entities.get(name)
            article = entity.article + " " if entity and entity.article else ""
            if re.search(r"(\b(the|a|an|his|her|its|their)|['’]s) $", before, re.IGNORECASE):
                article = ""
            if article and not parts and not before:
                article = article.capitalize()
            start = length + len(before) + len(article)
            spans[name] = Span(start, start + len(name), name)
            parts += [before + article, name]
            length, position = start + len(name), match.end()
        rest = text[position:]
        if parts and parts[-1].endswith(".") and rest.startswith("."):
            rest = rest[1:]
        final = "".join(parts) + rest
        triples = []
        for fact in dict.fromkeys(self.facts):
            outer = spans.get(fact.subject) or spans[fact.object]
            found = []
            for name in (fact.subject, fact.object):
                if name in spans:
                    found.append(spans[name])
                else:
                    inner = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", outer.text)
                    found.append(Span(outer.start + inner.start(), outer.start + inner.end(), name))
            triples.append(Triple(found[0], fact.relation, found[1]))
        return Sentence(identifier, final, tuple(triples))
