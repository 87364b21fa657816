import pytest

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
    assert stratify(TEST, SeenTriples(TRAIN)) == ["entirely_seen", "partially_seen", "unseen", "others", None]


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
    assert report["train"] == {"sentences": 2, "triples": 1, "zero_triple_sentences": 1, "relations": 1}


def percent(report, group="triple_types"):
    return [round(100 * row["share"], 2) for row in report[group].values()]


def counts(report, group="strata"):
    return [row["count"] for row in report[group].values()]


def test_original_webnlg_equals_the_paper(real_data):
    folder = real_data / "webnlg"
    report = audit_corpus(
        read_triple_list(folder / "train_triples.json"), read_triple_list(folder / "test_triples.json")
    )
    assert percent(report) == [91.10, 7.47, 1.43]
    assert counts(report) == [580, 42, 17, 64]
    assert report["unseen_relations"].keys() == {"child", "officialSchoolColour", "patronSaint"}


def test_published_rearranged_webnlg_equals_the_paper(real_data):
    folder = real_data / "rte-eval"
    train = read_triple_list(folder / "derived" / "rearranged_WebNLG_all_train_triples.json")
    report = audit_corpus(train, read_triple_list(folder / "rearranged_WebNLG_all" / "test_data.json"))
    assert report["triples"] == 1225
    assert percent(report) == [45.47, 34.20, 20.33]
    assert counts(report) == [155, 178, 174, 196]


def test_published_augmented_webnlg_equals_the_paper(real_data):
    folder = real_data / "rte-eval" / "augmented_test_WebNLG_all"
    parts = [folder / f"{part}_test_data.json" for part in ("ss", "su", "us", "uu")]
    train = read_triple_list(real_data / "webnlg" / "train_triples.json")
    report = audit_corpus(train, read_triple_list(*parts))
    assert report["sentences"] == 2812
    assert percent(report) == [17.21, 36.17, 46.62]
    assert counts(report, "triple_types") == [1106, 2325, 2997]


@pytest.mark.parametrize(("split", "duplicates", "triples"), [("val", 504, 7985), ("test", 496, 8120)])
def test_nyt_triples_count_once_a_sentence(real_data, split, duplicates, triples):
    sentences = read_triple_list(real_data / "nyt" / f"{split}_triples.json")
    report = audit_corpus(sentences, sentences)
    assert (report["duplicates"], report["triples"]) == (duplicates, triples)
