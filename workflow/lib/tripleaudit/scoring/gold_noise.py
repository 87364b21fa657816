"""How far errors of gold move a system's scores: a person judges a sample of what gold and systems disagree on.

Where gold and a system agree, the triple is taken as right. What they disagree on is either a gold triple that a system
misses, which may be wrong, or a triple that a system adds, which may be right. A random sample of both, which does not
say which is which, is judged; its shares, with their uncertainty, give bounds of the corrected scores. Triples that
neither gold nor any of the systems has stay unknown; with them, a corrected recall would be lower.
"""

import csv
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from tripleaudit.corpora.model import Sentence
from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write, open_text

LABELS: Final = ("yes", "no", "unsure")
COLUMNS: Final = ("id", "text", "subject", "relation", "object", "label")
DRAWS: Final = 20_000


class Item(NamedTuple):
    """A triple of a sentence, by strings."""

    id: str
    subject: str
    relation: str
    object: str


@dataclass(frozen=True)
class Disagreements:
    """What gold and systems have, as sets of items.

    Attributes:
        gold: all gold triples.
        systems: system -> all its triples.
        texts: id -> text.
    """

    gold: frozenset[Item]
    systems: Mapping[str, frozenset[Item]]
    texts: Mapping[str, str]

    @property
    def missed(self) -> list[Item]:
        """Gold triples that some system misses, in a fixed order."""
        return sorted(self.gold - frozenset.intersection(*self.systems.values()))

    @property
    def added(self) -> list[Item]:
        """Triples that some system has and gold has not, in a fixed order."""
        return sorted(frozenset().union(*self.systems.values()) - self.gold)


def disagreements(gold: Sequence[Sentence], systems: Mapping[str, Sequence[Sentence]]) -> Disagreements:
    """Return what gold sentences and the same sentences by systems disagree on."""
    right, *found = (
        frozenset(Item(each.id, *triple.strings) for each in sentences for triple in each.triples)
        for sentences in (gold, *systems.values())
    )
    return Disagreements(right, dict(zip(systems, found, strict=True)), {each.id: each.text for each in gold})


def drawn(found: Disagreements, size: int, seed: int) -> list[Item]:
    """Return a random sample, half of it missed gold triples and half added ones, in random order.

    Each beginning of it is such a sample, too, so that who stops early loses precision alone.

    Raises:
        UserError: there are not so many of a kind.
    """
    chooser, halves = random.Random(seed), (found.missed, found.added)
    for half, what in zip(halves, ("gold triples that a system misses", "triples that a system adds"), strict=True):
        if len(half) < size // 2:
            raise UserError(f"--sample {size}: there are {len(half)} {what}; expected at most {2 * len(half)}")
    missed, added = (chooser.sample(half, size // 2) for half in halves)
    pairs = [chooser.sample(pair, 2) for pair in zip(missed, added, strict=True)]
    return [item for pair in pairs for item in pair]


# files for people


def write_items(path: str | Path, items: Sequence[Item], texts: Mapping[str, str]) -> None:
    """Write a sample to be judged as CSV: does the text state this triple?"""
    with atomic_write(path) as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows((item.id, texts[item.id], *item[1:], "") for item in items)


def read_labels(path: str | Path) -> tuple[dict[Item, str], dict[str, int]]:
    """Return item -> label of a judged file, and how many rows are left out, by reason.

    Raises:
        UserError: a column is missing, a row has another label, or an item has two labels.
    """
    labels: dict[Item, str] = {}
    left: Counter[str] = Counter()
    with open_text(path) as stream:
        table = csv.DictReader(stream)
        missing = [name for name in (*Item._fields, "label") if name not in (table.fieldnames or ())]
        if missing:
            raise UserError(f"{path}: has no column {missing[0]!r}; expected {', '.join(COLUMNS)}")
        for row in table:
            where, item = f"{path} line {table.line_num}", Item(*(str(row[name]) for name in Item._fields))
            label = (row["label"] or "").strip().lower()
            if not label:
                left["without a label"] += 1
            elif label not in LABELS:
                raise UserError(f"{where}: the label is {label!r}, expected one of {', '.join(LABELS)}")
            elif labels.setdefault(item, label) != label:
                raise UserError(f"{where}: {' ; '.join(item[1:])} of sentence {item.id!r} has two labels; expected one")
    if not labels:
        raise UserError(f"{path}: no row has a label, expected {', '.join(LABELS)} in the column 'label'")
    return labels, dict(left)


# what follows


class Bounds(NamedTuple):
    """A score with unsure items against the system and for it, and the 95 % interval around both."""

    least: float
    most: float
    low: float
    high: float


@dataclass(frozen=True)
class Corrected:
    """Scores of one system against gold as it is, and bounds of what they would be against what the texts state.

    Attributes:
        precision, recall: against gold as it is.
        corrected_precision, corrected_recall: their bounds.
        judged: judged items by kind, (right, wrong, unsure): ``missed`` of gold and ``added`` by the system.
    """

    system: str
    precision: float
    recall: float
    corrected_precision: Bounds
    corrected_recall: Bounds
    judged: Mapping[str, tuple[int, ...]]


def corrected(found: Disagreements, labels: Mapping[Item, str], seed: int) -> list[Corrected]:
    """Return bounds of each system's scores from judged items.

    The share of right ones is drawn from its posterior (Jeffreys' prior) for three kinds: gold triples that the system
    misses, triples that it adds, and triples that another system adds. An interval reaches from the 2.5 % quantile with
    unsure items against the system to the 97.5 % quantile with them for it.

    Raises:
        UserError: a judged item is none of the disagreements, or a kind of a system has none that was judged.
    """
    missed, added = frozenset(found.missed), frozenset(found.added)
    known = missed | added
    if others := [item for item in labels if item not in known]:
        raise UserError(
            f"{' ; '.join(others[0][1:])} of sentence {others[0].id!r} was judged, but gold and systems do not "
            "disagree on it; expected the files that the sample was drawn from"
        )
    result = []
    for name, own in sorted(found.systems.items()):
        kinds = {"missed": found.gold - own, "added": own - found.gold, "others": added - own}
        said = {
            kind: Counter(label for item, label in labels.items() if item in items) for kind, items in kinds.items()
        }
        for kind in ("missed", "added"):
            if kinds[kind] and not said[kind]:
                raise UserError(f"{name}: none of its {len(kinds[kind])} triples of the kind '{kind}' was judged")
        sizes, agreed = {kind: len(items) for kind, items in kinds.items()}, len(own & found.gold)
        # unsure: an added triple that is right helps, a missed gold triple or another system's that is right hurts
        least, most = (_scores(np.random.default_rng(seed), agreed, sizes, said, helps) for helps in (False, True))
        judged = {kind: tuple(said[kind][label] for label in LABELS) for kind in ("missed", "added")}
        plain = agreed / max(len(own), 1), agreed / max(len(found.gold), 1)
        precision, recall = map(_bounds, least, most)
        result.append(Corrected(name, *plain, precision, recall, judged))
    return result


def _scores(
    chance: np.random.Generator,
    agreed: int,
    sizes: Mapping[str, int],
    said: Mapping[str, Mapping[str, int]],
    helps: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return corrected precision and recall ``[1 + draws]``; the first of each is that of the shares themselves."""
    share = {}
    for kind, labels in said.items():
        right, wrong = labels["yes"], labels["no"]
        if helps == (kind == "added"):
            right += labels["unsure"]
        else:
            wrong += labels["unsure"]
        plain = right / (right + wrong) if right + wrong else 0.5
        share[kind] = np.concatenate([[plain], chance.beta(right + 0.5, wrong + 0.5, DRAWS)]) * sizes[kind]
    true = agreed + share["added"]
    precision = true / max(agreed + sizes["added"], 1)
    return precision, true / np.maximum(true + share["missed"] + share["others"], 1)


def _bounds(least: np.ndarray, most: np.ndarray) -> Bounds:
    low, high = float(np.quantile(least[1:], 0.025)), float(np.quantile(most[1:], 0.975))
    return Bounds(float(least[0]), float(most[0]), low, high)
