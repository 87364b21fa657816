"""Strata of a test set, and its audit against training (rte-generalization 2.3)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tripleaudit.corpora.model import Sentence
from tripleaudit.protocols.types import TRIPLE_TYPES, SeenTriples, distinct_triples

OTHERS: Final = "others"
STRATA: Final = (*TRIPLE_TYPES, OTHERS)


def stratify(sentences: Iterable[Sentence], seen: SeenTriples) -> list[str | None]:
    """Return the common type of each sentence's triples, else ``"others"``; None without any."""
    kinds = [
        {seen.type_of(triple) for triple in distinct_triples(sentence)} for sentence in sentences
    ]
    return [OTHERS if len(types) > 1 else next(iter(types), None) for types in kinds]


def audit_corpus(train: Sequence[Sentence], test: Sequence[Sentence]) -> dict[str, Any]:
    """Say how much of a test set its training set gives away.

    Returns:
        ``sentences``, ``triples`` (each counted once per sentence) and ``zero_triple_sentences`` of the test
        set; ``triple_types`` with the share of all triples and ``strata`` with the share of the
        sentences that have triples, each ``{name: {"count", "share"}}`` with shares from 0 to 1 (0
        where there is nothing to share); ``unseen_relations`` (sorted names that training lacks,
        with their triple counts), ``duplicates`` (triples repeated inside a sentence),
        ``missing_entities`` (mentions of triples that have no position in their sentence);
        ``train`` with sentences, triples, zero-triple sentences and relations of the training set.
    """
    seen, size = SeenTriples(train), counts(test)
    triples = [triple for sentence in test for triple in distinct_triples(sentence)]
    unknown = Counter(relation for _, relation, _ in triples if relation not in seen.relations)
    return {
        **size,
        "triple_types": _shares(Counter(map(seen.type_of, triples)), TRIPLE_TYPES),
        "strata": _shares(Counter(filter(None, stratify(test, seen))), STRATA),
        "unseen_relations": dict(sorted(unknown.items())),
        "duplicates": sum(len(sentence.triples) for sentence in test) - size["triples"],
        "missing_entities": sum(
            not span.located
            for sentence in test
            for triple in sentence.triples
            for span in (triple.subject, triple.object)
        ),
        "train": {**counts(train), "relations": len(seen.relations)},
    }


def counts(sentences: Sequence[Sentence]) -> dict[str, int]:
    """Return counts of sentences, of triples (each counted once per sentence), and of zero sentences."""
    return {
        "sentences": len(sentences),
        "triples": sum(len(distinct_triples(sentence)) for sentence in sentences),
        "zero_triple_sentences": sum(not sentence.triples for sentence in sentences),
    }


def _shares(counter: Counter[str], names: Sequence[str]) -> dict[str, dict[str, float]]:
    total = counter.total()
    return {
        name: {"count": counter[name], "share": counter[name] / total if total else 0.0}
        for name in names
    }
