import pytest

from support.published import webnlg
from support.webnlg import sentence
from tripleaudit.core.errors import UserError
from tripleaudit.protocols.sifted import SIFTED, sift
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.strata import audit_corpus

A, B, C = ("A", "r", "B"), ("B", "r", "C"), ("C", "r", "D")


def corpus(*rows, prefix):
    return [sentence("A B C D", *row, id_=f"{prefix}{number}") for number, row in enumerate(rows)]


@pytest.fixture
def splits():
    return Splits(
        corpus(
            [A], [A, A], [A, B], [B], [C], [], prefix="train"
        ),  # A in 3 sentences, B in 2, C in 1
        corpus([A], prefix="valid"),
        corpus([A, B], [B], [("D", "r", "A")], prefix="test"),
    )


@pytest.mark.parametrize(
    ("max_count", "left", "chosen", "hidden"),
    [
        (0, [0, 1, 2, 3, 4, 5], 1, 0),  # only the triple that training lacks anyway
        (2, [0, 1, 4, 5], 2, 1),
        (3, [4, 5], 3, 2),
    ],
)
def test_frequency_hides_triples_of_at_most_n_training_sentences(
    splits, max_count, left, chosen, hidden
):
    sifted, report = sift(splits, rule="frequency", max_count=max_count)
    assert [row.id for row in sifted.train] == [f"train{number}" for number in left]
    assert (sifted.valid, sifted.test) == (splits.valid, splits.test)
    assert report == {
        "chosen_triples": chosen,
        "hidden_triples": hidden,
        "dropped_train_sentences": 6 - len(left),
    }


def test_sample_of_everything_leaves_no_test_triple_in_training(splits):
    sifted, report = sift(splits, rule="sample", percent=100)
    assert [row.id for row in sifted.train] == ["train4", "train5"]
    assert report["chosen_triples"] == 3
    assert sift(splits, rule="sample", percent=0)[0] == splits


def entities(count):
    """As many sentences with one triple each, and one that no test triple is of."""
    names = [f"e{number}" for number in range(count)]
    rows = [sentence(f"{name} x", (name, "r", "x"), id_=name) for name in names]
    return Splits([*rows, sentence("other x", ("other", "r", "x"), id_="other")], [], rows)


def test_sample_depends_on_the_seed_alone():
    sets = [
        sift(entities(40), rule="sample", percent=25, **seed)
        for seed in ({}, {"seed": 0}, {"seed": 2})
    ]
    assert sets[0] == sets[1] != sets[2]
    assert [len(made.train) for made, _ in sets] == [31, 31, 31]


@pytest.mark.parametrize(("percent", "chosen"), [(10, 0), (30, 2), (50, 2), (70, 4), (90, 4)])
def test_the_number_of_a_sample_is_rounded_half_to_even(percent, chosen):
    assert sift(entities(5), rule="sample", percent=percent)[1]["chosen_triples"] == chosen


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "sample"}, "rule 'sample' needs percent"),
        ({"rule": "frequency"}, "rule 'frequency' needs max_count"),
        ({"rule": "rarest"}, "'rarest'"),
        ({"rule": "frequency", "max_count": 9}, "leaves no training sentence"),
    ],
)
def test_impossible_options_are_refused(splits, options, message):
    with pytest.raises(UserError, match=message):
        sift(Splits(splits.train[:4], [], splits.test), **options)


@pytest.mark.parametrize(
    ("name", "size", "hidden", "shares", "strata"),
    [
        ("sift-1", 4776, 182, [78.03, 17.05, 4.92], [435, 82, 34, 152]),
        ("sift-2", 3951, 410, [56.50, 30.86, 12.63], [249, 133, 63, 258]),
        ("sift-3", 3193, 554, [39.20, 37.40, 23.40], [160, 172, 99, 272]),
    ],
)
def test_published_sifted_webnlg_to_the_last_digit(name, size, hidden, shares, strata):
    original = webnlg().original
    splits = Splits(original.train, [], original.test)
    sifted, details = sift(splits, **SIFTED.defaults[name])
    report = audit_corpus(sifted.train, sifted.test)
    assert (len(sifted.train), details["hidden_triples"]) == (size, hidden)
    assert [round(100 * row["share"], 2) for row in report["triple_types"].values()] == shares
    assert [row["count"] for row in report["strata"].values()] == strata
