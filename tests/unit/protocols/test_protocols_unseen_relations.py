"""Unseen relations: which are held out, what leaves training, and what is asked at test."""

import pytest

from support.webnlg import sentence
from tripleaudit.core.errors import UserError
from tripleaudit.protocols.build import build_protocol
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.unseen_relations import hold_out


def corpus(prefix, *rows):
    return [
        sentence("A B C D", *(("A", name, "B") for name in row), id_=f"{prefix}{number}")
        for number, row in enumerate(rows)
    ]


@pytest.fixture
def splits():
    """Training has p in four sentences, q in three, r in two, s and t in one; the test set lacks
    t.
    """
    return Splits(
        corpus("train", "pq", "pq", "p", "p", "q", "r", "rs", "", "t"),
        corpus("valid", "p", "s", ""),
        corpus("test", "pr", "q", "s", "", "u"),
    )


@pytest.mark.parametrize("seed", range(6))
def test_whole_sentences_leave_training_and_test_asks_for_held_out_triples_alone(splits, seed):
    made, report = hold_out(splits, relations=2, seed=seed)
    held_out = set(report["held_out"])
    assert len(held_out & {"p", "q"}) == 1  # one of the frequent half, one of the rare half
    assert len(held_out & {"r", "s"}) == 1

    def names(sentences):
        return [{triple.relation for triple in each.triples} for each in sentences]

    for kept, given in ((made.train, splits.train), (made.valid, splits.valid)):
        assert [
            each for each, has in zip(given, names(given), strict=True) if not has & held_out
        ] == kept
    assert [each.id for each in made.test] == [
        each.id for each, has in zip(splits.test, names(splits.test), strict=True) if has & held_out
    ]
    assert all(has and has <= held_out for has in names(made.test))
    assert report["dropped_train_sentences"] == len(splits.train) - len(made.train)
    assert report["dropped_test_triples"] == 5 - sum(len(each.triples) for each in made.test)
    assert (made, report) == hold_out(splits, relations=2, seed=seed)


def test_other_seeds_hold_out_other_relations(splits):
    drawn = {tuple(hold_out(splits, relations=2, seed=seed)[1]["held_out"]) for seed in range(20)}
    assert drawn == {("p", "r"), ("p", "s"), ("q", "r"), ("q", "s")}


@pytest.mark.parametrize("relations", [0, 5])
def test_impossible_numbers_are_refused(splits, relations):
    said = (
        f"unseen_relations: relations is {relations}, but training has 5 relations, "
        "of which the test set has 4; expected from 1 to 4"
    )
    with pytest.raises(UserError, match=said):
        hold_out(splits, relations=relations)
    few = Splits(splits.train, splits.valid, splits.test[1:2])
    with pytest.raises(UserError, match="of which the test set has 1; expected from 1 to 1"):
        hold_out(few, relations=2)
    together = Splits(corpus("train", "pq", "pq"), [], corpus("test", "p"))
    with pytest.raises(
        UserError, match="every training sentence with triples has one of the 1 held-out relations"
    ):
        hold_out(together, relations=1)


def test_five_relations_are_held_out_unless_another_number_is_given():
    """The smallest number of Chia et al. (2022)."""
    names = "abcdefghij"
    splits = Splits(corpus("train", *names), [], corpus("test", *names))
    made, said = build_protocol("unseen_relations", splits)
    report = said["details"]
    assert len(report["held_out"]) == len(made.test) == report["dropped_train_sentences"] == 5
    assert said["audit"]["triple_types"]["unseen"]["share"] == 1
    assert report["dropped_valid_sentences"] == 0 and report["dropped_test_triples"] == 5
    assert (made, report) == hold_out(splits, relations=5, seed=0)
