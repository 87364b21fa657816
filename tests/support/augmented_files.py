"""The published augmented test sets of WebNLG, counted: what each entity of a sentence became in
each part.
"""

from collections import Counter

from support.published import WebNLG
from tripleaudit.protocols.types import Strings
from tripleaudit.protocols.variants import PARTS

Outcomes = Counter[tuple[str, str, str, str]]
"""Entities by part, way (``masked_word``, ``masked_words``, ``vectors``), role (s, o, so) and
same, seen or unseen.
"""


def renamed(old: list[Strings], new: list[Strings]) -> dict[str, str] | None:
    """Return the new string of each entity; None if no renaming turns the old triples into the new
    ones.

    The published files list the triples of a sentence in another order in each part, so a search is
    needed.
    """

    def search(number: int, left: frozenset[int], names: dict[str, str]) -> dict[str, str] | None:
        if number == len(old):
            return names
        for place in sorted(left):
            subject, relation, object_ = new[place]
            more = {old[number][0]: subject}
            if relation != old[number][1] or more.setdefault(old[number][2], object_) != object_:
                continue
            if all(names.get(text, name) == name for text, name in more.items()):
                found = search(number + 1, left - {place}, {**names, **more})
                if found is not None:
                    return found
        return None

    return search(0, frozenset(range(len(new))), {})


def published_outcomes(published: WebNLG, known: set[str]) -> Outcomes:
    """Count the published sets, without the 39 sentences that are the same in all parts.

    Args:
        published: the sets.
        known: the entities of training.
    """
    outcomes: Outcomes = Counter()
    for number, sentence in enumerate(published.augmented_from):
        if number in published.unchanged:
            continue
        triples = [triple.strings for triple in sentence.triples]
        pieces = published.pieces[number]
        for part in PARTS:
            variant = published.augmented[part][number]
            names = renamed(triples, [triple.strings for triple in variant.triples])
            assert names is not None, sentence.id
            for old, new in names.items():
                kind = "same" if new == old else "seen" if new in known else "unseen"
                way = (
                    "masked_words"
                    if " " in old
                    else "masked_word"
                    if pieces[old] == 1
                    else "vectors"
                )
                role = "".join(
                    end
                    for end, place in (("s", 0), ("o", 2))
                    if any(old == t[place] for t in triples)
                )
                outcomes[part, way, role, kind] += 1
    return outcomes
