import pytest

from support.webnlg import sentence
from tripleaudit.protocols.types import SeenTriples, distinct_triples

TRAIN = [
    sentence("Ada wrote Notes", ("Ada", "author of", "Notes")),
    sentence("Bob lives in Rome", ("Bob", "lives in", "Rome")),
    sentence("Eve lives in Oslo", ("Eve", "lives in", "Oslo")),
]


@pytest.mark.parametrize(
    ("triple", "expected"),
    [
        (("Ada", "author of", "Notes"), "entirely_seen"),
        (("Ada", "author of", "Poems"), "partially_seen"),
        (("Bob", "author of", "Notes"), "partially_seen"),
        (("Bob", "lives in", "Oslo"), "partially_seen"),  # both halves seen, apart
        (
            ("Ada", "lives in", "Notes"),
            "unseen",
        ),  # both entities known, each under another relation
        (("Bob", "author of", "Rome"), "unseen"),
        (("ada", "author of", "notes"), "unseen"),  # strings are compared with their case
    ],
)
def test_type_of_a_triple_follows_relation_and_one_argument(triple, expected):
    assert SeenTriples(TRAIN).type_of(triple) == expected


def test_a_repeated_triple_counts_once_in_order_of_mention():
    repeated = sentence("A x B", ("A", "r", "B"), ("B", "r", "A"), ("A", "r", "B"))
    assert distinct_triples(repeated) == [("A", "r", "B"), ("B", "r", "A")]
