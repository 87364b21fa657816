"""Choosing the new entities of one sentence for one part of the augmented set (rte-generalization, appendix C).

The four parts differ in what they ask for: seen entities, which occur in training, or unseen ones, which do not. Where
the published files do not do what the paper's text says, both ways can be had by name; ``docs/methods.md`` has the
counts behind them.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Final, NamedTuple

from tripleaudit.errors import UserError
from tripleaudit.protocols.augmented.mentions import Layout, Words

SOURCES: Final = ("files", "text")
OUTCOMES: Final = ("replaced", "no_candidate", "none_of_this_kind", "nested", "overlapping", "not_in_text")
VECTORS: Final = "vectors"
"""The way of candidates that are nearest words in the vector space."""


class Found(NamedTuple):
    """The similar entities of one entity, best first, and the way in which they were found."""

    way: str
    words: Sequence[Words] = ()


class Rules(NamedTuple):
    """What the published files and the paper's text do differently, each ``"files"`` or ``"text"``.

    Attributes:
        roles: what su and us ask of an entity that is both subject and object: an unseen one in both (files), or a
            seen one in both (text).
        fallback: what a word with neighbours, none of them of the kind asked for, becomes: any neighbour (files), or
            it stays (text).
    """

    roles: str = "files"
    fallback: str = "files"

    def check(self) -> None:
        """Raise :class:`UserError` at an unknown value."""
        for name, value in self._asdict().items():
            if value not in SOURCES:
                raise UserError(f"augmented: {name} is {value!r}, expected one of {', '.join(SOURCES)}")


def wants_seen(part: str, is_subject: bool, is_object: bool, roles: str = "files") -> bool:
    """Whether ``part`` asks for a training entity in this role."""
    first, second = (kind == "s" for kind in part)
    if is_subject and is_object:
        return first and second if roles == "files" else first or second
    return first if is_subject else second


def choose(
    layout: Layout,
    candidates: Mapping[str, Found],
    part: str,
    known: Set[str],
    seed: str,
    rules: Rules | None = None,
) -> tuple[dict[str, Words], Counter[str]]:
    """Draw a replacement for each entity, uniformly from its candidates of the kind that ``part`` asks for.

    An entity without such a candidate stays as it is, but see :class:`Rules`. No entity becomes equal to another one
    of the sentence, old or new.

    Args:
        layout: of the sentence.
        candidates: similar entities of each of its entities.
        part: one of :data:`tripleaudit.protocols.variants.PARTS`.
        known: the entities of training.
        seed: text that names this draw; equal texts draw alike.
        rules: where to follow the published files.

    Returns:
        New words by entity string, and how many entities met each of :data:`OUTCOMES`.
    """
    rules = rules or Rules()
    subjects = {triple.subject.text for triple in layout.sentence.triples}
    objects = {triple.object.text for triple in layout.sentence.triples}
    taken = subjects | objects
    outcomes: Counter[str] = Counter(not_in_text=len(taken) - len(layout.entities))
    if layout.stays:
        outcomes[layout.stays] += len(layout.entities)
        return {}, outcomes
    chosen: dict[str, Words] = {}
    for text, entity in layout.entities.items():
        found = candidates.get(text) or Found("none")
        seen = wants_seen(part, text in subjects, text in objects, rules.roles)
        free = [words for words in dict.fromkeys(found.words) if entity.with_words(words) not in taken]
        options = [words for words in free if (entity.with_words(words) in known) == seen]
        if not options and found.way == VECTORS and rules.fallback == "files":
            options = free
        if options:
            chosen[text] = random.Random(f"{seed} {part} {text}").choice(options)
            taken.add(entity.with_words(chosen[text]))
            outcomes["replaced"] += 1
        else:
            outcomes["none_of_this_kind" if found.words else "no_candidate"] += 1
    return chosen, outcomes
