"""Unseen relations: held out of training, tested alone.

As in zero-shot relational triple extraction (Chia et al., ACL Findings 2022), whole sentences leave
training and validation, so that no held-out triple is evidence that there is nothing. Only systems
that read the names of relations can be asked for relations that they were not trained on.
"""

import random
from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import replace
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence
from tripleaudit.protocols.spec import ProtocolSpec
from tripleaudit.protocols.splits import Splits

NAME = "unseen_relations"


def hold_out(splits: Splits, *, relations: int = 5, seed: int = 0) -> tuple[Splits, dict[str, Any]]:
    """Hold relations out of training and validation; test only sentences with their triples.

    Relations that training and test have are ranked by how many training sentences have them (ties
    by name) and cut into ``relations`` bands of nearly equal size; one is drawn from each, so that
    frequent and rare ones are among them.

    Returns:
        The sets, test sentences with their held-out triples alone, and a report: ``held_out``
        (relation -> training sentences that had it), ``dropped_train_sentences``,
        ``dropped_valid_sentences`` and ``dropped_test_triples``.

    Raises:
        UserError: there are not so many relations, or no training sentence with triples would be
            left.
    """
    frequency = Counter(name for sentence in splits.train for name in _relations(sentence))
    tested = {name for sentence in splits.test for name in _relations(sentence)}
    ranked = sorted(tested & set(frequency), key=lambda name: (-frequency[name], name))
    most = min(len(ranked), len(frequency) - 1)
    if not 1 <= relations <= most:
        raise UserError(
            f"{NAME}: relations is {relations}, but training has {len(frequency)} relations, of which the test set has "
            f"{len(ranked)}; expected from 1 to {max(1, most)}"
        )
    rng = random.Random(seed)
    edges = [position * len(ranked) // relations for position in range(relations + 1)]
    held_out = {
        rng.choice(ranked[first:stop]) for first, stop in zip(edges, edges[1:], strict=False)
    }
    train, valid = _without(splits.train, held_out), _without(splits.valid, held_out)
    test = [
        replace(
            sentence,
            triples=tuple(triple for triple in sentence.triples if triple.relation in held_out),
        )
        for sentence in splits.test
        if not held_out.isdisjoint(_relations(sentence))
    ]
    if not any(sentence.triples for sentence in train):
        raise UserError(
            f"{NAME}: every training sentence with triples has one of the {relations} held-out relations; "
            "expected fewer relations or another seed"
        )
    report = {
        "held_out": {name: frequency[name] for name in ranked if name in held_out},
        "dropped_train_sentences": len(splits.train) - len(train),
        "dropped_valid_sentences": len(splits.valid) - len(valid),
        "dropped_test_triples": sum(len(each.triples) for each in splits.test)
        - sum(len(each.triples) for each in test),
    }
    return Splits(train, valid, test), report


def _relations(sentence: Sentence) -> set[str]:
    return {triple.relation for triple in sentence.triples}


def _without(sentences: Iterable[Sentence], held_out: Set[str]) -> list[Sentence]:
    return [sentence for sentence in sentences if held_out.isdisjoint(_relations(sentence))]


UNSEEN_RELATIONS = ProtocolSpec(
    name=NAME, label="Unseen rel.", order=3.5, build=hold_out, gives_schema=True
)
