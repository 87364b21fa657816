"""Names of relations as a system says them, and as the corpus does: a map between the two, given or proposed.

A map is never guessed silently: :func:`propose` writes one for people to look at, from pairs of entities that gold and
predictions join alike, and only what a study or a command names is applied.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tripleaudit.corpora.model import Sentence, Triple
from tripleaudit.corpora.readers.common import load_json
from tripleaudit.corpora.verbaliser import bare
from tripleaudit.errors import UserError
from tripleaudit.yaml_files import read_yaml

SHOWN: Final = 2  # examples of a name
LEAST: Final = 2  # pairs that are right, from which a name is guessed by them


@dataclass(frozen=True)
class Proposed:
    """One relation as the predictions name it.

    Attributes:
        name: there.
        count: predicted triples.
        pairs: of these, triples whose two entities the gold joins, spelling and direction aside.
        guess: a relation of the gold, empty where nothing speaks for one.
        support: of ``pairs``, those that the gold joins by ``guess``.
        turned: of ``support``, those with subject and object exchanged.
    """

    name: str
    count: int
    pairs: int
    guess: str
    support: int
    turned: int
    examples: tuple[str, ...]


def load_map(given: str | Path) -> dict[str, str]:
    """Return the map in a file, YAML or JSON.

    Raises:
        UserError: there is no such file, or it is no mapping of names to names.
    """
    found = load_json(given) if str(given).endswith(".json") else read_yaml(given)
    if not isinstance(found, dict):
        raise UserError(f"{given}: expected a mapping from a system's relations to the corpus's")
    for name, relation in found.items():
        if not isinstance(name, str) or not isinstance(relation, str) or not relation:
            shown = json.dumps(relation, default=str)
            raise UserError(
                f"{given}: {name!r} stands for {shown}, expected two names (in quotes, if YAML reads on, no)"
            )
    return found


def given_map(texts: Iterable[str], option: str = "--relations") -> dict[str, str]:
    """Return the map of an option that is a file, or ``NAME=RELATION``, and may be repeated.

    Raises:
        UserError: as :func:`load_map`.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, relation = text.partition("=")
        if Path(text).is_file() or not equals:
            found |= load_map(text)
        elif not name or not relation:
            raise UserError(f"{option}: {text!r}, expected a file or NAME=RELATION")
        else:
            found[name] = relation
    return found


def renamed(sentences: Sequence[Sentence], names: Mapping[str, str]) -> tuple[list[Sentence], int]:
    """Return the sentences with relations as a map says, and how many triples it gave another name."""
    found = [
        replace(each, triples=tuple(replace(t, relation=names.get(t.relation, t.relation)) for t in each.triples))
        for each in sentences
    ]
    return found, sum(names.get(t.relation, t.relation) != t.relation for each in sentences for t in each.triples)


def propose(gold: Sequence[Sentence], predictions: Sequence[Sentence]) -> list[Proposed]:
    """Say of every predicted relation which gold relation its pairs have, most frequent first.

    A guess needs :data:`LEAST` pairs, and more of them than any other relation has; else the name is looked for among
    the gold's, spelling aside.

    Args:
        gold, predictions: the same sentences in the same order; none that a score will rest on.
    """
    counts: Counter[str] = Counter()
    joined: Counter[str] = Counter()
    straight: dict[str, Counter[str]] = defaultdict(Counter)
    turned: dict[str, Counter[str]] = defaultdict(Counter)
    examples: dict[str, list[str]] = defaultdict(list)
    alike: dict[str, set[str]] = defaultdict(set)
    for right, guess in zip(gold, predictions, strict=True):
        here: dict[tuple[str, str], set[str]] = defaultdict(set)
        for triple in right.triples:
            here[_pair(triple)].add(triple.relation)
            alike[bare(triple.relation)].add(triple.relation)
        for triple in guess.triples:
            name, pair = triple.relation, _pair(triple)
            there, back = here.get(pair, set()), here.get(pair[::-1], set())
            counts[name] += 1
            joined[name] += bool(there or back)
            straight[name].update(there)
            turned[name].update(back - there)
            examples[name].append(f"({'; '.join(triple.strings)})")
    found = []
    for name in sorted(counts, key=lambda one: (-counts[one], one)):
        best = [*(straight[name] + turned[name]).most_common(2), ("", 0)]
        same = alike[bare(name)]
        guessed = best[0][0] if best[0][1] >= LEAST and best[0][1] > best[1][1] else ""
        choice = guessed or (next(iter(same)) if len(same) == 1 else "")
        back_ = turned[name][choice]
        shown = tuple(examples[name][:SHOWN])
        found.append(Proposed(name, counts[name], joined[name], choice, straight[name][choice] + back_, back_, shown))
    return found


def _pair(triple: Triple) -> tuple[str, str]:
    return bare(triple.subject.text), bare(triple.object.text)
