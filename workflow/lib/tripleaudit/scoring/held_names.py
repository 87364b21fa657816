"""Training names in zero-triple sentences, which may tempt an extractor.

``seen_pair``  two names that a training triple joins;
``joinable``   no such pair, but two names of types that a relation joins in training; where entities have no types, one
               that some relation has as its subject there, and one that the same relation has as its object;
``names``      a name of training, or several that no relation joins;
``none``       no name of training.

Names are looked for as the lookup baseline looks for them: letter by letter, as whole words.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations
from typing import Final

from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.words import words
from tripleaudit.scoring.baselines import first_mention

KINDS: Final = ("seen_pair", "joinable", "names", "none")


def kinds_of(sentences: Sequence[Sentence], train: Sequence[Sentence]) -> list[str | None]:
    """Return one of :data:`KINDS` for every sentence without triples, None for the others."""
    if all(sentence.triples for sentence in sentences):
        return [None] * len(sentences)
    joined, pairs = set[frozenset[str]](), set[tuple[str, ...]]()
    roles: dict[str, set[str]] = defaultdict(
        set
    )  # name -> its types, or what it is the subject or object of
    for triple in (triple for sentence in train for triple in sentence.triples):
        typed, both = triple.subject.type and triple.object.type, (triple.subject, triple.object)
        pair = tuple(
            str(span.type) if typed else f"{n} of {triple.relation}" for n, span in enumerate(both)
        )
        pairs.add(pair)
        joined.add(frozenset(span.text for span in both))
        for span, role in zip(both, pair, strict=True):
            roles[span.text].add(role)
    starts: dict[str, set[str]] = defaultdict(set)  # index key of the first word -> names
    for name in roles:
        first_word = next(iter(words(name)), "")
        starts[_index_key(first_word)].add(name)

    def kind(text: str) -> str:
        candidates = {
            name for key in {"", *map(_index_key, words(text))} for name in starts.get(key, ())
        }
        found = sorted(name for name in candidates if first_mention(text, name))
        if any(frozenset(pair) in joined for pair in permutations(found, 2)):
            return "seen_pair"
        both = (
            (a, b)
            for one, other in permutations(found, 2)
            for a in roles[one]
            for b in roles[other]
        )
        return "joinable" if any(pair in pairs for pair in both) else "names" if found else "none"

    return [None if sentence.triples else kind(sentence.text) for sentence in sentences]


def _index_key(word: str) -> str:
    """Return the key of a name's first word; outside ASCII its first letter.

    Particles may follow a name there.
    """
    return word if word.isascii() else word[0]
