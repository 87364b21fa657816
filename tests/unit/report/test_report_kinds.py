import pytest

from tripleaudit.corpora.model import Span, Triple
from tripleaudit.report.kinds import KINDS, kind_of

TEXT = "Ann Lee wrote Emma in Rome"


def span(text: str, located: bool = True) -> Span:
    start = TEXT.index(text) if located else None
    return Span(start, start + len(text) if located else None, text)


def triple(subject: str, relation: str, object_: str, located: bool = True) -> Triple:
    return Triple(span(subject, located), relation, span(object_, located))


GOLD = [triple("Ann Lee", "wrote", "Emma"), triple("Ann Lee", "born", "Rome")]


@pytest.mark.parametrize(
    ("predicted", "kind"),
    [
        (triple("Ann Lee", "wrote", "Emma"), "correct"),
        (triple("Ann Lee", "read", "Emma"), "relation"),
        (triple("Emma", "wrote", "Ann Lee"), "swapped"),
        (triple("Ann", "wrote", "Emma"), "boundary"),
        (triple("Ann", "wrote", "Emma", located=False), "boundary"),
        (triple("Ann Lee", "wrote", "Rome"), "relation"),
        (triple("Rome", "wrote", "Emma"), "argument"),
        (triple("Rome", "near", "Emma"), "other"),
    ],
)
def test_kind_of_a_prediction(predicted, kind):
    assert kind_of(predicted, GOLD) == kind
    assert kind in ("correct", *KINDS)
    assert kind_of(predicted, []) == "zero"  # any triple on a sentence without triples
