"""Choosing the new entities of one sentence for one part of the augmented set (rte-generalization, appendix C).

The four parts differ in what they ask for: seen entities, which occur in training, or unseen ones, which do not.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

from tripleaudit.corpora.model import Sentence
from tripleaudit.protocols.augmented.mentions import Entity, Layout, Words

PARTS: Final = ("ss", "su", "us", "uu")
OUTCOMES: Final = ("replaced", "no_candidate", "none_of_this_kind", "overlapping", "not_in_text")

Candidates = Mapping[str, Sequence[Words]]
"""For each entity string of a sentence the words of its similar entities, best first; missing or empty: none."""

_TRIES = 10


def wants_seen(part: str, is_subject: bool, is_object: bool) -> bool:
    """Whether ``part`` asks for a training entity in this role.

    In ``su`` every entity that is a subject somewhere in the sentence is to be seen, also if it is an object too, and
    the rest unseen; ``us`` is its mirror image.
    """
    return {"ss": True, "su": is_subject, "us": is_object, "uu": False}[part]


def choose(
    sentence: Sentence, layout: Layout, candidates: Candidates, part: str, known: Set[str], seed: str
) -> tuple[dict[str, Words], Counter[str]]:
    """Draw a replacement for each entity, uniformly from its candidates of the kind that ``part`` asks for.

    An entity without such a candidate stays as it is. No entity becomes equal to another one of the sentence, old or
    new. A group of nested entities is drawn from the inside out, up to ten times, until every member gets a
    candidate; failing that its nested members stay and the others change around them.

    Args:
        sentence: the sentence that ``layout`` belongs to.
        layout: its mentions.
        candidates: similar entities of each of its entities.
        part: one of :data:`PARTS`.
        known: the entities of training.
        seed: text that names this draw; equal texts draw alike.

    Returns:
        New words by entity string, and how many entities met each of :data:`OUTCOMES`.
    """
    subjects = {triple.subject.text for triple in sentence.triples}
    objects = {triple.object.text for triple in sentence.triples}
    taken = subjects | objects

    def fits(entity: Entity, text: str) -> bool:
        seen = wants_seen(part, entity.text in subjects, entity.text in objects)
        return text not in taken and (text in known) == seen

    chosen: dict[str, Words] = {}
    outcomes: Counter[str] = Counter(not_in_text=len(taken) - len(layout.entities), overlapping=len(layout.frozen))
    for group in layout.groups:
        if group[0].text in layout.frozen:
            continue
        draw = random.Random(f"{seed} {part} {group[0].text}")
        picked = _draw_group(group, candidates, fits, draw)
        chosen |= picked
        taken = taken | {layout.entities[text].with_words(words) for text, words in picked.items()}
        for entity in group:
            some = "none_of_this_kind" if candidates.get(entity.text) else "no_candidate"
            outcomes["replaced" if entity.text in picked else some] += 1
    return chosen, outcomes


def _draw_group(group: Sequence[Entity], candidates: Candidates, fits, draw: random.Random) -> dict[str, Words]:
    """Return new words for the members of one group; members that stay are missing."""
    if len(group) == 1:
        options = _options(group[0], {}, candidates, fits)
        return {group[0].text: draw.choice(options)} if options else {}
    for _ in range(_TRIES):
        picked = _draw_members(group, {}, candidates, fits, draw)
        if len(picked) == len(group):
            return picked
    kept = {entity.text: entity.words for entity in group if entity.nested}
    return _draw_members([entity for entity in group if not entity.nested], kept, candidates, fits, draw)


def _draw_members(
    members: Iterable[Entity], fixed: Mapping[str, Words], candidates: Candidates, fits, draw: random.Random
) -> dict[str, Words]:
    picked: dict[str, Words] = {}
    texts: set[str] = set()
    for entity in members:
        options = _options(entity, {**fixed, **picked}, candidates, fits)
        options = [words for words in options if entity.with_words(words) not in texts]
        if options:
            picked[entity.text] = draw.choice(options)
            texts.add(entity.with_words(picked[entity.text]))
    return picked


def _options(entity: Entity, inner: Mapping[str, Words], candidates: Candidates, fits) -> list[Words]:
    """Return the candidates of the right kind once the words of its nested entities stand in their places."""
    options: dict[Words, None] = {}
    # Around a nested entity that changes, the entity's own words are as good a candidate as any.
    own = [entity.words] if any(text in inner for text in entity.inner) else []
    for words in [*candidates.get(entity.text, ()), *own]:
        new = list(words)
        for text, starts in entity.inner.items():
            for start in starts:
                if text in inner:
                    new[start : start + len(inner[text])] = inner[text]
        if tuple(new) != entity.words and fits(entity, entity.with_words(tuple(new))):
            options[tuple(new)] = None
    return list(options)
