"""Replacement of entities: mentions, sentences that must stay, and moved spans.

An entity is a string that is subject or object of a located triple. In the augmented test set all
its mentions are replaced alike: where the triples have it, and wherever else the string stands
between blanks (or at least between characters that are no letters or digits). A mention inside a
mention of a longer entity is part of the longer one ("Cesena" in "A.C. Cesena"). A sentence stays
as it is, whole, if one of its entities has no other mention than such inner ones, or if mentions
overlap in any other way: exactly these are the 39 unchanged WebNLG sentences of the published
files.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.spans import find_spans
from tripleaudit.corpora.words import segment_spans

Offsets = tuple[int, int]
Words = tuple[str, ...]
Shift = Callable[[int], int]
"""Where an offset of the old text lies in the new one; not for offsets inside a replaced word."""


def replaceable(word: str) -> bool:
    """Whether the word holds a letter or a digit; commas, brackets and the like always stay."""
    return any(character.isalnum() for character in word)


def same(one: str, other: str) -> bool:
    """Whether two words differ in case at most."""
    return one.casefold() == other.casefold()


def like(word: str, model: str) -> str:
    """Return ``word`` in the case of ``model``: all capitals, first capital, or unchanged."""
    if len(model) > 1 and model.isupper() and model.isalpha():
        return word.upper()
    first = next((character for character in model if character.isalpha()), "")
    return word[:1].upper() + word[1:] if first.isupper() else word


def replace_at(text: str, words: Mapping[Offsets, str]) -> tuple[str, Shift]:
    """Put ``words`` at disjoint positions; return the text and the shift of other offsets."""
    parts, growths, at = [], list[tuple[int, int]](), 0
    for (start, end), word in sorted(words.items()):
        parts += [text[at:start], word]
        growths.append((end, len(word) - (end - start)))
        at = end
    return "".join(
        [*parts, text[at:]]
    ), lambda offset: offset + sum(more for end, more in growths if end <= offset)


def substitute(
    sentence: Sentence,
    words: Mapping[Offsets, str],
    offsets_of: Callable[[Span], Offsets] | None = None,
) -> tuple[Sentence, Shift]:
    """Put ``words`` at disjoint positions of a sentence.

    Spans that end outside of them, or with them, move along.

    ``offsets_of`` is the position that a located span is to have before it moves; by default its
    own.
    """
    text, shift = replace_at(sentence.text, words)

    def moved(span: Span) -> Span:
        if not span.located:
            return span
        start, end = map(shift, offsets_of(span) if offsets_of else span.offsets)
        return Span(start, end, text[start:end], span.type)

    triples = (Triple(moved(t.subject), t.relation, moved(t.object)) for t in sentence.triples)
    return Sentence(sentence.id, text, tuple(triples)), shift


def entity_positions(
    sentence: Sentence, levels: Container[str] | None = None
) -> dict[str, set[Offsets]]:
    """Return all positions of located entities: those of triples, and further occurrences.

    At ``levels`` of :func:`~tripleaudit.corpora.spans.find_spans` it counts as standing there, by
    default at all.
    """
    positions: dict[str, set[Offsets]] = {}
    for triple in sentence.triples:
        for span in (triple.subject, triple.object):
            if span.located:
                positions.setdefault(span.text, set()).add(span.offsets)
    for text, known in positions.items():
        found, level = find_spans(sentence.text, text, every=True)
        if levels is None or level in levels:
            known.update(found)
    return positions


@dataclass(slots=True)
class Entity:
    """One entity of a sentence.

    Attributes:
        text: the string.
        offsets: start and end of each of its words (:func:`~tripleaudit.corpora.words.segments`) in
            ``text``.
        mentions: its positions in the sentence, without those inside longer entities; empty if
            there is no other.
    """

    text: str
    offsets: tuple[Offsets, ...]
    mentions: list[Offsets]

    @property
    def words(self) -> Words:
        return tuple(self.text[start:end] for start, end in self.offsets)

    def with_words(self, words: Words) -> str:
        """Return the entity's string with other words between its own blanks."""
        return replace_at(self.text, dict(zip(self.offsets, words, strict=True)))[0]

    def slots(self, mention: Offsets) -> list[Offsets]:
        """Return the position of each word of one mention in the sentence."""
        return [(mention[0] + start, mention[0] + end) for start, end in self.offsets]


@dataclass(slots=True)
class Layout:
    """Entities of a sentence, and why it must stay: ``"nested"``, ``"overlapping"`` or None."""

    sentence: Sentence
    entities: dict[str, Entity]
    stays: str | None


def lay_out(sentence: Sentence) -> Layout:
    """Find the mentions of all entities of a sentence."""
    positions = entity_positions(sentence, ("word", "token"))
    everything = [position for known in positions.values() for position in known]
    entities: dict[str, Entity] = {}
    for text, known in positions.items():
        mentions = sorted(
            position
            for position in known
            if not any(_inside(position, around) for around in everything)
        )
        entities[text] = Entity(text, tuple(segment_spans(text)), mentions)
    if any(_clash(position, other) for position in everything for other in everything):
        return Layout(sentence, entities, "overlapping")
    return Layout(
        sentence,
        entities,
        None if all(entity.mentions for entity in entities.values()) else "nested",
    )


def rewrite(layout: Layout, chosen: Mapping[str, Words], id_: str) -> Sentence:
    """Return the sentence with entities of ``chosen`` replaced in all their mentions.

    A triple's span moves with its words; where it lay inside a longer entity although the string
    has mentions of its own, it moves to the first of these.
    """
    slots: dict[Offsets, str] = {}
    for text, words in chosen.items():
        entity = layout.entities[text]
        for mention in entity.mentions:
            slots.update(zip(entity.slots(mention), words, strict=True))

    def offsets_of(span: Span) -> Offsets:
        mentions = layout.entities[span.text].mentions
        return span.offsets if not mentions or span.offsets in mentions else mentions[0]

    return replace(substitute(layout.sentence, slots, offsets_of)[0], id=id_)


def _inside(position: Offsets, around: Offsets) -> bool:
    return position != around and around[0] <= position[0] and position[1] <= around[1]


def _clash(one: Offsets, other: Offsets) -> bool:
    overlap = one[0] < other[1] and other[0] < one[1]
    return overlap and one != other and not _inside(one, other) and not _inside(other, one)
