"""Where the entities of a sentence are mentioned, which mentions belong together, and putting other words there.

An entity is a string that is subject or object of a located triple. All its mentions are replaced alike: the places
that the triples name, and every other place where the string stands between blanks (or at least between characters
that are no letters or digits). A mention inside a mention of a longer entity is part of the longer one ("Cesena" in
"A.C. Cesena"). An entity with no other mention than such inner ones is *nested*: its words and those of the entities
around it can only change together, so they form one group. Mentions that overlap in any other way, or that divide a
word, cannot be replaced consistently: their whole group is frozen.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.spans import find_spans

Words = tuple[str, ...]
Place = tuple[int, int]
_WORD = re.compile(r"\S+")


@dataclass(slots=True)
class Entity:
    """One entity of a sentence.

    Attributes:
        text: the string.
        offsets: start and end of each of its words (between blanks) in ``text``.
        mentions: its places in the sentence, without those inside longer entities; all of them if it is nested.
        nested: whether it occurs inside longer entities only.
        inner: nested entities inside this one, with the numbers of the words at which they begin.
    """

    text: str
    offsets: tuple[Place, ...]
    mentions: list[Place]
    nested: bool = False
    inner: dict[str, list[int]] = field(default_factory=dict)

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
    """The entities of a sentence by string, the groups that change together, and the strings that must not change."""

    entities: dict[str, Entity]
    groups: list[list[Entity]]
    frozen: set[str]


def lay_out(sentence: Sentence) -> Layout:
    """Find the mentions of all entities of a sentence and group them."""
    spans = [span for triple in sentence.triples for span in (triple.subject, triple.object) if span.located]
    places: dict[str, set[Place]] = {}
    for span in spans:
        places.setdefault(span.text, set()).add((span.start, span.end))
    for text, known in places.items():
        found, level = find_spans(sentence.text, text, every=True)
        if level in ("word", "token"):
            known.update(found)
    everything = [(place, text) for text, known in places.items() for place in known]
    entities: dict[str, Entity] = {}
    for text, known in places.items():
        outer = {place: [other for around, other in everything if _inside(place, around)] for place in known}
        mentions = sorted(place for place in known if not outer[place])
        offsets = tuple(match.span() for match in _WORD.finditer(text))
        entities[text] = Entity(text, offsets, mentions or sorted(known), nested=not mentions)
    frozen = {text for place, text in everything if any(_clash(place, other) for other, _ in everything)}
    links: list[tuple[str, str]] = []
    for text, entity in entities.items():
        if not entity.nested:
            continue
        for place in places[text]:
            for around, other in everything:
                if _inside(place, around):
                    links.append((text, other))
                    if not _nest(entity, entities[other], place[0] - around[0]):
                        frozen.update((text, other))
    groups = _connected(list(entities), links)
    frozen.update(text for group in groups if not frozen.isdisjoint(group) for text in group)
    by_size = [[entities[text] for text in sorted(group, key=lambda text: (len(text), text))] for group in groups]
    return Layout(entities, by_size, frozen)


def replace_places(text: str, words: Mapping[Place, str]) -> tuple[str, "Shift"]:
    """Put ``words`` at disjoint places of ``text``; return the new text and the shift of offsets outside the places."""
    parts, shift, at = [], Shift(), 0
    for (start, end), word in sorted(words.items()):
        parts += [text[at:start], word]
        shift.add(end, len(word) - (end - start))
        at = end
    parts.append(text[at:])
    return "".join(parts), shift


class Shift:
    """Where an offset of the old text lies in the new one; not for offsets inside a replaced word."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, int]] = []

    def add(self, end: int, growth: int) -> None:
        """Record that everything from ``end`` on moves by ``growth``; ends must not fall."""
        self._steps.append((end, growth))

    def __call__(self, offset: int) -> int:
        return offset + sum(growth for end, growth in self._steps if end <= offset)


def rewrite(sentence: Sentence, layout: Layout, chosen: Mapping[str, Words], id_: str) -> Sentence:
    """Return the sentence with the words of each entity in ``chosen`` replaced in all its mentions.

    A triple's span moves with its words; where it lay inside a longer entity although the string has mentions of its
    own, it moves to the first of these.
    """
    slots: dict[Place, str] = {}
    for text, words in chosen.items():
        entity = layout.entities[text]
        if not entity.nested:  # a nested entity's words are part of those around it
            for mention in entity.mentions:
                slots.update(zip(entity.slots(mention), words, strict=True))
    new_text, shift = replace_places(sentence.text, slots)

    def moved(span: Span) -> Span:
        if not span.located:
            return span
        entity = layout.entities[span.text]
        start, end = (span.start, span.end) if (span.start, span.end) in entity.mentions else entity.mentions[0]
        start, end = shift(start), shift(end)
        return Span(start, end, new_text[start:end])

    triples = tuple(Triple(moved(triple.subject), triple.relation, moved(triple.object)) for triple in sentence.triples)
    return Sentence(id_, new_text, triples)


def _inside(place: Place, around: Place) -> bool:
    return place != around and around[0] <= place[0] and place[1] <= around[1]


def _clash(one: Place, other: Place) -> bool:
    overlap = one[0] < other[1] and other[0] < one[1]
    return overlap and one != other and not _inside(one, other) and not _inside(other, one)


def _nest(inner: Entity, outer: Entity, at: int) -> bool:
    """Note where the words of ``inner`` lie in ``outer``; False if they are not whole words of it."""
    starts = [start for start, _ in outer.offsets]
    wanted = [(at + start, at + end) for start, end in inner.offsets]
    if not wanted or wanted[0][0] not in starts:
        return False
    first = starts.index(wanted[0][0])
    if list(outer.offsets[first : first + len(wanted)]) != wanted:
        return False
    numbers = outer.inner.setdefault(inner.text, [])
    if first not in numbers:
        numbers.append(first)
    return True


def _connected(names: Iterable[str], links: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the connected groups of names, in order of their first members."""
    group = {name: [name] for name in names}
    for one, other in links:
        if group[one] is not group[other]:
            group[one].extend(group[other])
            for name in group[other]:
                group[name] = group[one]
    return list({id(members): members for members in group.values()}.values())
