"""Scores of parts of triples, of confident triples, and of triples that training does not have."""

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tripleaudit.corpora.model import Sentence, Span
from tripleaudit.scoring.matching import reduced, sentence_counts
from tripleaudit.scoring.spec import MATCHINGS

THRESHOLDS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def entity_counts(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], matching: str
) -> np.ndarray:
    """Return correct, predicted and gold entities ``[sentences, 3]``, each counted once per sentence."""
    reduce = MATCHINGS[matching].reduce

    def entities(sentence: Sentence) -> set[Hashable]:
        subjects = {reduce(triple.subject) for triple in sentence.triples}
        return subjects | {reduce(triple.object) for triple in sentence.triples}

    return _set_counts(gold, predictions, entities)


def relation_counts(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], matching: str
) -> np.ndarray:
    """Return correct, predicted and gold relations ``[sentences, 3]``, each counted once per sentence."""
    rename = MATCHINGS[matching].relation

    def relations(sentence: Sentence) -> set[Hashable]:
        return {rename(triple.relation) for triple in sentence.triples}

    return _set_counts(gold, predictions, relations)


def mention_counts(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], matching: str
) -> np.ndarray:
    """Return correct, predicted and gold facts ``[sentences, 3]``, as DocRED's scorer counts them.

    A fact is a relation between two entities; any of the names of an entity stands for it.
    """
    counts = np.zeros((len(gold), 3), dtype=np.int64)
    for position, (right, guess) in enumerate(zip(gold, predictions, strict=True)):
        expected, predicted = _compared_facts(right, guess, matching)
        counts[position] = len(expected & predicted), len(predicted), len(expected)
    return counts


Fact = tuple[Hashable, str, Hashable]


def _compared_facts(
    gold: Sentence, prediction: Sentence, matching: str
) -> tuple[set[Fact], set[Fact]]:
    """Return the facts of gold and predicted triples; without names of entities, the triples."""
    entities = _entities_by_name(_names_by_entity(gold, matching))
    expected = {next(_facts(triple, entities)) for triple in reduced(gold.triples, matching)}
    predicted = set()
    for triple in reduced(prediction.triples, matching):
        facts = list(_facts(triple, entities))
        # a name may be of several entities: the correct one counts
        correct = [fact for fact in facts if fact in expected]
        predicted.add((correct or facts)[0])
    return expected, predicted


def _names_by_entity(sentence: Sentence, matching: str) -> dict[Hashable, set[Hashable]]:
    """Return the names of each entity by its number, as ``matching`` compares names."""
    reduce = MATCHINGS[matching].reduce
    return {
        number: {reduce(Span(None, None, name)) for name in names}
        for number, names in enumerate(sentence.names)
    }


def _entities_by_name(
    names_by_entity: Mapping[Hashable, set[Hashable]],
) -> dict[Hashable, list[Hashable]]:
    """Return the numbers of the entities that have a name."""
    entities: dict[Hashable, list[Hashable]] = {}
    for number, names in names_by_entity.items():
        for name in names:
            entities.setdefault(name, []).append(number)
    return entities


def _facts(triple: Fact, entities: Mapping[Hashable, list[Hashable]]) -> Iterator[Fact]:
    """Yield what a triple may say of entities; an unknown name is an entity of its own."""
    subject, relation, object_ = triple
    for first in entities.get(subject, [subject]):
        for second in entities.get(object_, [object_]):
            yield first, relation, second


def _by_any_name(fact: Fact, names_by_entity: Mapping[Hashable, set[Hashable]]) -> Iterator[Fact]:
    """Yield a fact with every pair of names of its two entities."""
    subject, relation, object_ = fact
    for first in names_by_entity.get(subject, {subject}):
        for second in names_by_entity.get(object_, {object_}):
            yield first, relation, second


def _set_counts(
    gold: Sequence[Sentence],
    predictions: Sequence[Sentence],
    elements: Callable[[Sentence], set[Hashable]],
) -> np.ndarray:
    counts = np.zeros((len(gold), 3), dtype=np.int64)
    for position, (right, guess) in enumerate(zip(gold, predictions, strict=True)):
        expected, predicted = elements(right), elements(guess)
        counts[position] = len(expected & predicted), len(predicted), len(expected)
    return counts


def threshold_counts(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], matching: str
) -> dict[str, np.ndarray]:
    """Return counts ``[sentences, 3]`` of the predicted triples with at least some score."""
    counts = {}
    for threshold in THRESHOLDS:
        confident = [_above(sentence, threshold) for sentence in predictions]
        counts[f"{threshold:g}"] = sentence_counts(gold, confident, matching)
    return counts


def _above(sentence: Sentence, threshold: float) -> Sentence:
    triples = [triple for triple in sentence.triples if (triple.score or 0) >= threshold]
    return dataclasses.replace(sentence, triples=tuple(triples))


@dataclass(frozen=True)
class IgnScores:
    """Scores without the triples of training, as DocRED's scorer computes them.

    Attributes:
        precision: without predicted triples that are correct and in training.
        recall: of all gold triples.
        f1: of these two.
        known: correct triples that are in training.
    """

    precision: float
    recall: float
    f1: float
    known: int


def ign_scores(
    gold: Sequence[Sentence],
    predictions: Sequence[Sentence],
    train: Sequence[Sentence],
    matching: str,
) -> IgnScores:
    """Return Ign precision, recall and F1 (Yao et al., 2019).

    In documents any name of an entity stands for it, as by :func:`mention_counts`, and a correct
    fact is in training if it is there by any pair of names of its entities.
    """
    training_triples: set[Fact] = set()
    for sentence in train:
        names = _names_by_entity(sentence, matching)
        entities = _entities_by_name(names)
        for triple in reduced(sentence.triples, matching):
            training_triples.update(_by_any_name(next(_facts(triple, entities)), names))
    known = 0
    for right, guess in zip(gold, predictions, strict=True):
        names = _names_by_entity(right, matching)
        facts, predicted_facts = _compared_facts(right, guess, matching)
        for fact in facts & predicted_facts:
            known += not training_triples.isdisjoint(_by_any_name(fact, names))
    correct, predicted, expected = mention_counts(gold, predictions, matching).sum(axis=0)
    precision = float(correct - known) / max(predicted - known, 1)
    recall = float(correct) / max(expected, 1)
    total = precision + recall
    return IgnScores(precision, recall, 2 * precision * recall / total if total else 0.0, known)
