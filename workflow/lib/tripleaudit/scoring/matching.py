"""Matching rules: when predicted triples of a sentence count as correct.

The ``note`` of each rule says what it compares. ``exact-string`` is the primary rule: what the
official scorers of most extractors compute. By ``exact-span`` a correct prediction on another
mention of the same string is wrong; ``partial-last`` compares the only word that the "star" corpora
annotate (zero-cardinality 4.1); ``normalised`` forgives what builders of knowledge graphs write in
their own way; ``pairs`` is for open extractors, whose names of relations are not the corpus's.

Gold and predicted triples become sets after the reduction, so duplicates count once on both sides,
and two triples that a partial rule makes equal count as one.
"""

from array import array
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.verbaliser import bare
from tripleaudit.scoring.spec import MATCHINGS, MatchingRule


def _offsets(span: Span) -> Hashable:
    # An entity that is not in the text stays itself: it is gold that nobody finds by its offsets.
    return (span.start, span.end) if span.located else span.text


def _bare(span: Span) -> Hashable:
    return bare(span.text)


RULES = (
    MatchingRule(
        name="exact-string",
        order=0,
        reduce=lambda span: span.text,
        note="Exact matching: a triple is correct if subject, relation and object are equal as strings.",
    ),
    MatchingRule(
        name="exact-span",
        order=1,
        reduce=_offsets,
        note="Exact span matching (“boundaries” of Taillé et al., 2020): a triple is correct if its relation and both "
        "character spans are equal.",
    ),
    MatchingRule(
        name="strict",
        order=1.5,
        reduce=lambda span: (_offsets(span), span.type),
        note="Strict matching (Taillé et al., 2020): a triple is correct if its relation, both character spans and the "
        "types of both entities are equal. An extractor that says no types has no strict score.",
        typed=True,
    ),
    MatchingRule(
        name="partial-first",
        order=2,
        reduce=lambda span: (span.text.split() or [""])[0],
        note="Partial matching: entities are compared by their first word, relations exactly.",
    ),
    MatchingRule(
        name="partial-last",
        order=3,
        reduce=lambda span: (span.text.split() or [""])[-1],
        note="Partial matching: entities are compared by their last word, relations exactly.",
    ),
    MatchingRule(
        name="normalised",
        order=4,
        reduce=_bare,
        relation=bare,
        note="Normalised matching: entities and relations are compared without case, form of Unicode, punctuation, "
        "underscores and blanks.",
    ),
    MatchingRule(
        name="pairs",
        order=5,
        reduce=_bare,
        relation=lambda name: "",
        note="Pairs: entities are compared as by normalised matching, relations not at all; several triples of one "
        "pair count once.",
    ),
)
PRIMARY: Final = "exact-string"
ALIASES: Final = {
    "exact": PRIMARY,
    "boundaries": "exact-span",
}  # in configurations and on the command line


def matching_names() -> list[str]:
    """Return what a configuration may name: every rule, and other names of some."""
    return [*ALIASES, *MATCHINGS]


def untyped_names() -> list[str]:
    """Return of :func:`matching_names` what training may select by: types are learnt behind it."""
    return [name for name in matching_names() if name in ALIASES or not MATCHINGS[name].typed]


def check_matching(matching: str) -> str:
    """Return the name in :data:`~tripleaudit.scoring.spec.MATCHINGS` that is meant.

    Raises:
        UserError: there is no such rule.
    """
    return MATCHINGS.need(ALIASES.get(matching, matching)).name


def reduced(
    triples: Sequence[Triple], matching: str = PRIMARY
) -> set[tuple[Hashable, str, Hashable]]:
    """Return the triples as the set that ``matching`` compares."""
    if matching == PRIMARY:
        return {triple.strings for triple in triples}
    rule = MATCHINGS[matching]
    return {
        (rule.reduce(t.subject), rule.relation(t.relation), rule.reduce(t.object)) for t in triples
    }


def applicable(gold: Sequence[Sentence], predictions: Sequence[Sentence]) -> list[str]:
    """Return the rules that can be applied: those that compare types need some on both sides.

    Where nothing is predicted, nothing lacks a type.
    """
    typed = _typed(gold) and (
        _typed(predictions) or not any(sentence.triples for sentence in predictions)
    )
    return [name for name, rule in MATCHINGS.items() if typed or not rule.typed]


def untyped(gold: Sequence[Sentence], predictions: Sequence[Sentence]) -> str:
    """Say which side has no types, where a rule that compares them does not apply."""
    lacking = [
        name for name, side in (("gold", gold), ("predicted", predictions)) if not _typed(side)
    ]
    return f"no {' and no '.join(lacking)} triple has one"


def _typed(sentences: Sequence[Sentence]) -> bool:
    return any(triple.typed for sentence in sentences for triple in sentence.triples)


def sentence_counts(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], matching: str = PRIMARY
) -> np.ndarray:
    """Return correct, predicted and gold triples ``[sentences, 3]`` of the same sentences."""
    counts = array("q")
    for right, guess in zip(gold, predictions, strict=True):
        expected = reduced(right.triples, matching)
        predicted = reduced(guess.triples, matching)
        counts.extend((len(expected & predicted), len(predicted), len(expected)))
    return np.array(counts, dtype=np.int64).reshape(-1, 3)
