"""Counts by relation and by cardinality, by hand."""

import numpy as np

from support.webnlg import sentence
from tripleaudit.scoring.parts import by_cardinality, by_relation, described


def test_sentences_with_five_gold_triples_and_more_are_counted_together() -> None:
    counts = np.array([[0, 1, 0], [1, 1, 4], [2, 2, 5], [3, 3, 6], [1, 2, 5]])
    found = {name: part.counts.tolist() for name, part in by_cardinality(counts).items()}
    assert found == {"0": [[0, 1, 0]], "4": [[1, 1, 4]], "5+": [[2, 2, 5], [3, 3, 6], [1, 2, 5]]}


def test_a_sentence_counts_for_each_relation_of_either_side_most_frequent_first() -> None:
    gold, guess = (
        [sentence("text", *triples) for triples in side]
        for side in (
            ([("a", "r", "b"), ("a", "r", "c"), ("a", "q", "b")], [("a", "q", "b")], []),
            ([("a", "r", "b"), ("c", "r", "a")], [("a", "q", "b"), ("a", "p", "b")], []),
        )
    )
    parts = by_relation(gold, [guess, guess], "exact-string")
    found = {name: part.counts[:, 0].tolist() for name, part in parts.items()}
    assert [part.positions for part in parts.values()] == [[0, 1], [0], [1]]
    assert list(found) == [
        "q",
        "r",
        "p",
    ]  # two gold triples each of q and r, none of p; then by name
    assert found == {"r": [[1, 2, 2]], "q": [[0, 0, 1], [1, 1, 1]], "p": [[0, 1, 0]]}


def test_without_gold_triples_there_is_no_interval() -> None:
    units = [str(number) for number in range(20)]
    assert described(np.array([[0, 1, 0]] * 20), units, 100, 0)["intervals"] == {}
    found = described(np.array([[1, 1, 2]] * 10 + [[0, 1, 1]] * 10), units, 100, 0)
    assert (found["correct"], found["gold"], found["sentences"]) == (10, 30, 20)
    assert set(found["intervals"]) == {"precision", "recall", "f1"}
