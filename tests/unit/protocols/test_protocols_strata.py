import pytest

from support.published import webnlg
from support.webnlg import read_triple_list, sentence
from tripleaudit.protocols.strata import STRATA, audit_corpus, stratify
from tripleaudit.protocols.types import SeenTriples

TRAIN = [sentence("A r B", ("A", "r", "B")), sentence("nothing here")]
TEST = [
    sentence("A r B", ("A", "r", "B")),
    sentence("A r C", ("A", "r", "C"), ("A", "r", "C")),
    sentence("X q Y", ("X", "q", "Y")),
    sentence("A r B and X", ("A", "r", "B"), ("X", "r", "Z")),
    sentence("zero"),
]


def test_a_stratum_needs_one_type_and_zero_triples_have_none():
    assert stratify(TEST, SeenTriples(TRAIN)) == [
        "entirely_seen",
        "partially_seen",
        "unseen",
        "others",
        None,
    ]


def test_audit_counts_by_hand():
    report = audit_corpus(TRAIN, TEST)
    assert (report["sentences"], report["triples"], report["zero_triple_sentences"]) == (5, 5, 1)
    assert report["triple_types"]["entirely_seen"] == {"count": 2, "share": 0.4}
    assert report["triple_types"]["unseen"] == {"count": 2, "share": 0.4}
    assert report["strata"]["others"] == {"count": 1, "share": 0.25}
    assert list(report["strata"]) == list(STRATA)
    assert report["unseen_relations"] == {"q": 1}
    assert report["duplicates"] == 1
    assert report["missing_entities"] == 1  # Z is not in its sentence
    assert report["train"] == {
        "sentences": 2,
        "triples": 1,
        "zero_triple_sentences": 1,
        "relations": 1,
    }


def published_set(name):
    """Return training and test sentences of a published set of WebNLG."""
    published = webnlg()
    if name == "augmented":
        augmented = [sentence for part in published.augmented.values() for sentence in part]
        return published.original.train, augmented
    splits = getattr(published, name)
    return splits.train, splits.test


@pytest.mark.parametrize(
    ("name", "triples", "shares", "strata"),
    [
        ("original", 1607, [91.10, 7.47, 1.43], [580, 42, 17, 64]),
        ("rearranged", 1225, [45.47, 34.20, 20.33], [155, 178, 174, 196]),
        ("augmented", 6428, [17.21, 36.17, 46.62], None),
    ],
)
def test_published_sets_of_webnlg_equal_the_paper(name, triples, shares, strata):
    report = audit_corpus(*published_set(name))
    assert report["triples"] == triples
    assert [round(100 * row["share"], 2) for row in report["triple_types"].values()] == shares
    assert strata in (None, [row["count"] for row in report["strata"].values()])


@pytest.mark.parametrize(
    ("split", "duplicates", "triples"), [("val", 504, 7985), ("test", 496, 8120)]
)
def test_nyt_triples_count_once_a_sentence(real_data, split, duplicates, triples):
    sentences = read_triple_list(real_data / f"nyt/{split}_triples.json")
    report = audit_corpus(sentences, sentences)
    assert (report["duplicates"], report["triples"]) == (duplicates, triples)
