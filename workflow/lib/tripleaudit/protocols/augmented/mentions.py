"""Where the entities of a sentence are mentioned, which sentences must stay as they are, and putting other words there.

An entity is a string that is subject or object of a located triple. All its mentions are replaced alike: the places
that the triples name, and every other place where the string stands between blanks (or at least between characters
that are no letters or digits). A mention inside a mention of a longer entity is part of the longer one ("Cesena" in
"A.C. Cesena"). A sentence stays as it is, whole, if one of its entities has no other mention than such inner ones, or
if mentions overlap in any other way: so it is in the published files, whose 39 unchanged WebNLG sentences are exactly
these.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tripleaudit.corpora.model import Sentence, Span
from tripleaudit.protocols.substitution import Place, entity_places, replace_places, substitute

Words = tuple[str, ...]
_WORD = re.compile(r"\S+")


@dataclass(slots=True)
class Entity:
    """One entity of a sentence.

    Attributes:
        text: the string.
        offsets: start and end of each of its words (between blanks) in ``text``.
        mentions: its places in the sentence, without those inside longer entities; empty if there is no other.
    """

    text: str
    offsets: tuple[Place, ...]
    mentions: list[Place]

    @property
    def words(self) -> Words:
        return tuple(self.text[start:end] for start, end in self.offsets)

    def with_words(self, words: Words) -> str:
        """Return the entity's string with other words between its own blanks."""
        return replace_places(self.text, dict(zip(self.offsets, words, strict=True)))[0]

    def slots(self, mention: Place) -> list[Place]:
        """Return the place of each word of one mention in the sentence."""
        return [(mention[0] + start, mention[0] + end) for start, end in self.offsets]


@dataclass(slots=True)
class Layout:
    """The entities of a sentence by string, and why the sentence must stay: ``"nested"``, ``"overlapping"`` or None."""

    sentence: Sentence
    entities: dict[str, Entity]
    stays: str | None


def lay_out(sentence: Sentence) -> Layout:
    """Find the mentions of all entities of a sentence."""
    places = entity_places(sentence, ("word", "token"))
    everything = [place for known in places.values() for place in known]
    entities: dict[str, Entity] = {}
    for text, known in places.items():
        mentions = sorted(place for place in known if not any(_inside(place, around) for around in everything))
        entities[text] = Entity(text, tuple(match.span() for match in _WORD.finditer(text)), mentions)
    if any(_clash(place, other) for place in everything for other in everything):
        stays = "overlapping"
    else:
        stays = None if all(entity.mentions for entity in entities.values()) else "nested"
    return Layout(sentence, entities, stays)


def rewrite(layout: Layout, chosen: Mapping[str, Words], id_: str) -> Sentence:
    """Return the layout's sentence with the words of each entity in ``chosen`` replaced in all its mentions.

    A triple's span moves with its words; where it lay inside a longer entity although the string has mentions of its
    own, it moves to the first of these.
    """
    slots: dict[Place, str] = {}
    for text, words in chosen.items():
        entity = layout.entities[text]
        for mention in entity.mentions:
            slots.update(zip(entity.slots(mention), words, strict=True))

    def place_of(span: Span) -> Place:
        mentions = layout.entities[span.text].mentions
        return (span.start, span.end) if not mentions or (span.start, span.end) in mentions else mentions[0]

    return replace(substitute(layout.sentence, slots, place_of)[0], id=id_)


def _inside(place: Place, around: Place) -> bool:
    return place != around and around[0] <= place[0] and place[1] <= around[1]


def _clash(one: Place, other: Place) -> bool:
    overlap = one[0] < other[1] and other[0] < one[1]
    return overlap and one != other and not _inside(one, other) and not _inside(other, one)
