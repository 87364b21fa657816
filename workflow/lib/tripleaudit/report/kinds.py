"""Kinds of errors: one for each wrong triple, by rules that a reader can verify in the text."""

from collections.abc import Sequence

from tripleaudit.corpora.model import Span, Triple
from tripleaudit.corpora.words import segments

CORRECT = "correct"
KINDS = {
    "missed": "missed triple",
    "zero": "invented where there is nothing",
    "relation": "wrong relation between a true pair",
    "swapped": "subject and object swapped",
    "boundary": "wrong boundary",
    "argument": "near miss: one argument wrong",
    "other": "invented triple",
}
"""Kind -> label; all but ``missed`` are kinds of a wrong prediction."""


def kind_of(triple: Triple, gold: Sequence[Triple]) -> str:
    """Return the kind of a predicted triple; ``correct`` if it equals a gold triple as strings.

    The first rule that holds decides: ``zero`` the sentence has no gold triple; ``relation`` gold
    has this pair under another relation; ``swapped`` gold has the triple with subject and object
    exchanged; ``boundary`` gold has the relation between spans of which both share characters
    (unlocated: words) with the predicted ones; ``argument`` gold has the relation with one equal
    argument in its role.
    """
    subject, relation, object_ = triple.strings
    strings = [one.strings for one in gold]
    same = [one for one in gold if one.relation == relation]
    if (subject, relation, object_) in strings:
        return CORRECT
    if not gold:
        return "zero"
    if any((s, o) == (subject, object_) for s, _, o in strings):
        return "relation"
    if (object_, relation, subject) in strings:
        return "swapped"
    if any(
        _overlap(one.subject, triple.subject) and _overlap(one.object, triple.object)
        for one in same
    ):
        return "boundary"
    if any(one.subject.text == subject or one.object.text == object_ for one in same):
        return "argument"
    return "other"


def decided(yes: bool, has: bool) -> str:
    """Return the kind of a classifier's answer: correct, missed, or invented triples."""
    return CORRECT if yes == has else "zero" if yes else "missed"


def _overlap(first: Span, second: Span) -> bool:
    if first.located and second.located:
        return first.start < second.end and second.start < first.end
    return not set(segments(first.text)).isdisjoint(segments(second.text))
