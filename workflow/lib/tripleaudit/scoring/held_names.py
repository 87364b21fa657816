"""Which names of training a sentence without triples holds: where an extractor is tempted, and where it is not.

``seen_pair``  two names that a training triple joins;
``joinable``   no such pair, but two names of types that a relation joins in training; where entities have no types, one
               that some relation has as its subject there, and one that the same relation has as its object;
``names``      a name of training, or several that no relation joins;
``none``       no name of training.

Names are looked for as the lookup baseline looks for them: letter by letter, as whole words.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations
from typing import Final

from tripleaudit.corpora.model import Sentence
from tripleaudit.scoring.baselines import first_mention

KINDS: Final = ("seen_pair", "joinable", "names", "none")
_WORD = re.compile(r"[^\W_]+")


def kinds_of(sentences: Sequence[Sentence], train: Sequence[Sentence]) -> list[str | None]:
    """Return one of :data:`KINDS` for every sentence without triples, None for the others."""
    zero = [not sentence.triples for sentence in sentences]
    if not any(zero):
        return [None] * len(sentences)
    names = _Names(train)
    return [names.kind(sentence.text) if empty else None for sentence, empty in zip(sentences, zero, strict=True)]


class _Names:
    """The names of a training set, with what its triples say of them."""

    def __init__(self, train: Sequence[Sentence]) -> None:
        triples = [triple for sentence in train for triple in sentence.triples]
        self.joined = {frozenset((triple.subject.text, triple.object.text)) for triple in triples}
        self.starts: dict[str, set[str]] = defaultdict(set)  # first word -> names
        roles: dict[str, set[str]] = defaultdict(set)  # name -> its types, or what it is the subject or object of
        self.pairs: set[tuple[str, str]] = set()
        for triple in triples:
            typed = triple.subject.type and triple.object.type
            first = str(triple.subject.type) if typed else f"subject of {triple.relation}"
            second = str(triple.object.type) if typed else f"object of {triple.relation}"
            self.pairs.add((first, second))
            for name, role in ((triple.subject.text, first), (triple.object.text, second)):
                roles[name].add(role)
                word = _WORD.search(name)
                self.starts[word[0] if word else ""].add(name)
        self.roles = roles

    def kind(self, text: str) -> str:
        words = {"", *_WORD.findall(text)}
        candidates = {name for word in words for name in self.starts.get(word, ())}
        found = sorted(name for name in candidates if first_mention(text, name))
        if any(frozenset(pair) in self.joined for pair in permutations(found, 2)):
            return "seen_pair"
        both = ((one, other) for one, other in permutations(found, 2))
        if any((a, b) in self.pairs for one, other in both for a in self.roles[one] for b in self.roles[other]):
            return "joinable"
        return "names" if found else "none"
