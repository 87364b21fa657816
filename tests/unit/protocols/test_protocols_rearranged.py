import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.webnlg import read_triple_list, sentence
from tripleaudit.errors import UserError
from tripleaudit.protocols.rearranged import rearrange
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.strata import audit_corpus
from tripleaudit.protocols.types import SeenTriples, distinct_triples


def row(name, *facts):
    return sentence("A B C D E F", *((fact, "r", "A") for fact in facts), id_=name)


def ids(sentences):
    return sorted(sentence.id for sentence in sentences)


def test_the_rarest_triples_leave_training():
    # B occurs in four sentences, C in two, D and E in one; the sizes ask for two sentences.
    train = [row("a", "B"), row("b", "B"), row("c", "B", "C"), row("d", "D")]
    splits = Splits(train, [row("e", "C")], [row("f", "B", "E")])
    new, report = rearrange(splits)
    assert ids(new.test) + ids(new.valid) in (["d", "f"], ["f", "d"])
    assert ids(new.train) == ["a", "b", "c", "e"]
    assert report == {"hidden_triples": 2, "largest_count": 1, "test_sentences_without_hidden_triple": 0}


def test_a_triple_that_does_not_fit_gives_way_to_one_that_does():
    # D has one sentence, C two, B three.
    train = [row("a", "B"), row("b", "B"), row("c", "B"), row("d", "D"), row("e", "C"), row("f", "C")]
    new, report = rearrange(Splits(train, [], []), valid_size=0, test_size=3)
    assert ids(new.test) == ["d", "e", "f"]
    new, report = rearrange(Splits(train, [], []), valid_size=1, test_size=1)
    assert ids(new.test) == ["d"]  # of the cut group, the sentence without a hidden triple goes to validation
    assert report["test_sentences_without_hidden_triple"] == 0


def test_where_nothing_fits_the_report_says_so():
    train = [row("a", "B"), row("b", "B"), row("c", "C"), row("d", "C")]
    _, report = rearrange(Splits(train, [], []), valid_size=0, test_size=3)
    assert report["test_sentences_without_hidden_triple"] == 1


def test_remaining_counts_are_counted_anew():
    # Taking D moves "a" and leaves one sentence of B, which is then as rare as E and F, and mentioned before them.
    corpus = [
        row("a", "D", "B"),
        row("b", "B"),
        row("c", "E"),
        row("d", "F"),
        row("e", "C"),
        row("f", "C"),
        row("g", "C"),
    ]
    asked = {"valid_size": 0, "test_size": 2, "ties": "corpus-order"}
    assert ids(rearrange(Splits(corpus, [], []), counts="corpus", **asked)[0].test) == ["a", "c"]
    assert ids(rearrange(Splits(corpus, [], []), counts="remaining", **asked)[0].test) == ["a", "b"]


def test_ties_prefer_the_fullest_sentence_unless_told_otherwise():
    corpus = [row("a", "B"), row("b", "C", "D"), row("c", "E"), row("d", "E")]
    one = {"valid_size": 0, "test_size": 1}
    assert ids(rearrange(Splits(corpus, [], []), **one)[0].test) == ["b"]
    assert ids(rearrange(Splits(corpus, [], []), ties="corpus-order", **one)[0].test) == ["a"]


def test_zero_triple_sentences_stay_in_their_sets_and_equal_ids_are_told_apart():
    splits = Splits([row("0"), row("1", "B"), row("2", "B")], [row("1", "C")], [row("0"), row("2", "D")])
    new, _ = rearrange(splits)
    assert [sum(not sentence.triples for sentence in part) for _, part in new] == [1, 0, 1]
    everything = [sentence.id for _, part in new for sentence in part]
    assert len(set(everything)) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test_size": 3}, "the corpus has 3 sentences with triples, too few for 0 validation and 3 test"),
        ({"test_size": 0}, "test_size is 0"),
        ({"valid_size": -1}, "valid_size is -1"),
        ({"counts": "all"}, "'all'"),
        ({"ties": "random"}, "'random'"),
    ],
)
def test_impossible_options_are_refused(options, message):
    splits = Splits([row("a", "B"), row("b", "C")], [], [row("c", "D")])
    with pytest.raises(UserError, match=message):
        rearrange(splits, **options)


@given(
    st.lists(st.lists(st.sampled_from("BCDEF"), min_size=0, max_size=3), min_size=4, max_size=25),
    st.integers(0, 3),
    st.sampled_from(["corpus", "remaining"]),
    st.sampled_from(["most-triples", "corpus-order"]),
)
def test_sentences_are_moved_never_lost(rows, seed, counts, ties):
    sentences = [row(str(number), *facts) for number, facts in enumerate(rows)]
    positives = sum(bool(facts) for facts in rows)
    splits = Splits(sentences, [], [])
    if positives < 3:
        return
    new, report = rearrange(splits, valid_size=1, test_size=1, counts=counts, ties=ties, seed=seed)
    assert ids(new.train + new.valid + new.test) == ids(sentences)
    assert (len(new.valid), len(new.test)) == (1, 1)
    known = SeenTriples(new.train).triples
    bare = sum(known.issuperset(distinct_triples(sentence)) for sentence in new.test)
    assert bare == report["test_sentences_without_hidden_triple"]


def test_own_rearranged_webnlg_is_close_to_the_published_one(real_data):
    splits = Splits(
        *(read_triple_list(real_data / "webnlg" / f"{name}_triples.json") for name in ("train", "val", "test"))
    )
    for seed in range(5):
        new, report = rearrange(splits, seed=seed)
        assert [len(part) for _, part in new] == [5019, 500, 703]
        known = SeenTriples(new.train).triples
        assert all(not known.issuperset(distinct_triples(sentence)) for sentence in new.test)
        shares = [100 * item["share"] for item in audit_corpus(new.train, new.test)["triple_types"].values()]
        assert shares == pytest.approx([45.47, 34.20, 20.33], abs=3)
        assert report["largest_count"] == 2


def test_equal_seeds_give_equal_sets(real_data):
    sentences = read_triple_list(real_data / "webnlg" / "test_triples.json")
    random.Random(0).shuffle(sentences)
    splits = Splits(sentences, [], [])
    sets = [rearrange(splits, valid_size=50, test_size=70, seed=seed)[0] for seed in (3, 3, 4)]
    assert sets[0] == sets[1]
    assert ids(sets[0].test + sets[0].valid) == ids(sets[2].test + sets[2].valid)
    assert sets[0].test != sets[2].test
