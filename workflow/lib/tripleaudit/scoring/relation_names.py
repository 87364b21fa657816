"""Maps between relation names of a system and of the corpus, given or proposed.

A map is never guessed silently: :func:`propose` writes one for people to look at, from pairs of
entities that gold and predictions join alike, and only what a study or a command names is applied.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tripleaudit.core.errors import UserError
from tripleaudit.core.yaml_files import read_yaml
from tripleaudit.corpora.model import Sentence, Triple
from tripleaudit.corpora.readers.common import load_json
from tripleaudit.corpora.verbaliser import bare

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


def given_map(texts: Iterable[str]) -> dict[str, str]:
    """Return the map of ``--relations``, repeatable: a file or ``NAME=RELATION``.

    Raises:
        UserError: as :func:`load_map`.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, relation = text.partition("=")
        if Path(text).is_file() or not equals:
            found |= load_map(text)
        elif not name or not relation:
            raise UserError(f"--relations: {text!r}, expected a file or NAME=RELATION")
        else:
            found[name] = relation
    return found


def renamed(sentences: Sequence[Sentence], names: Mapping[str, str]) -> tuple[list[Sentence], int]:
    """Return sentences with mapped relations, and the number of renamed triples."""
    if not names:
        return list(sentences), 0
    found, count = [], 0
    for sentence in sentences:
        triples = tuple(
            replace(t, relation=names.get(t.relation, t.relation)) for t in sentence.triples
        )
        count += sum(
            new.relation != old.relation for new, old in zip(triples, sentence.triples, strict=True)
        )
        found.append(replace(sentence, triples=triples))
    return found, count


def propose(gold: Sequence[Sentence], predictions: Sequence[Sentence]) -> list[Proposed]:
    """Say of every predicted relation which gold relation its pairs have, most frequent first.

    A guess needs :data:`LEAST` pairs, and more of them than any other relation has; else the name
    is looked for among the gold's, spelling aside.

    Args:
        gold, predictions: the same sentences in the same order; none that a score will rest on.
    """
    said: dict[str, list[tuple[Triple, set[str], set[str]]]] = defaultdict(list)
    alike: dict[str, set[str]] = defaultdict(set)
    for right, guess in zip(gold, predictions, strict=True):
        here: dict[tuple[str, str], set[str]] = defaultdict(set)
        for triple in right.triples:
            here[_pair(triple)].add(triple.relation)
            alike[bare(triple.relation)].add(triple.relation)
        for triple in guess.triples:
            there, back = (here.get(pair, set()) for pair in (_pair(triple), _pair(triple)[::-1]))
            said[triple.relation].append((triple, there, back - there))
    found = []
    for name, triples in sorted(said.items(), key=lambda one: (-len(one[1]), one[0])):
        straight = Counter(relation for _, there, _ in triples for relation in there)
        turned = Counter(relation for _, _, back in triples for relation in back)
        best = [*(straight + turned).most_common(2), ("", 0)]
        same = alike[bare(name)]
        guessed = best[0][0] if best[0][1] >= LEAST and best[0][1] > best[1][1] else ""
        choice = guessed or (next(iter(same)) if len(same) == 1 else "")
        joined = sum(bool(there or back) for _, there, back in triples)
        shown = (*dict.fromkeys(f"({'; '.join(triple.strings)})" for triple, *_ in triples),)[
            :SHOWN
        ]
        support = straight[choice] + turned[choice]
        found.append(Proposed(name, len(triples), joined, choice, support, turned[choice], shown))
    return found


def _pair(triple: Triple) -> tuple[str, str]:
    return bare(triple.subject.text), bare(triple.object.text)
