"""Counts by relation and by cardinality, by hand."""

import numpy as np

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.scoring.parts import by_cardinality, by_relation, described


def sentence(*triples: tuple[str, str, str]) -> Sentence:
    def span(text: str) -> Span:
        return Span(None, None, text)

    return Sentence("1", "text", tuple(Triple(span(s), r, span(o)) for s, r, o in triples))


def test_sentences_with_five_gold_triples_and_more_are_counted_together() -> None:
    counts = np.array([[0, 1, 0], [1, 1, 4], [2, 2, 5], [3, 3, 6], [1, 2, 5]])
    found = {name: rows.tolist() for name, rows in by_cardinality(counts).items()}
    assert found == {"0": [[0, 1, 0]], "4": [[1, 1, 4]], "5+": [[2, 2, 5], [3, 3, 6], [1, 2, 5]]}


def test_a_sentence_counts_for_each_relation_of_either_side_most_frequent_first() -> None:
    gold = [sentence(("a", "r", "b"), ("a", "r", "c"), ("a", "q", "b")), sentence(("a", "q", "b")), sentence()]
    guess = [sentence(("a", "r", "b"), ("c", "r", "a")), sentence(("a", "q", "b"), ("a", "p", "b")), sentence()]
    found = {name: rows[:, 0].tolist() for name, rows in by_relation(gold, [guess, guess], "exact-string").items()}
    assert list(found) == ["q", "r", "p"]  # two gold triples each of q and r, none of p; then by name
    assert found == {"r": [[1, 2, 2]], "q": [[0, 0, 1], [1, 1, 1]], "p": [[0, 1, 0]]}


def test_without_gold_triples_there_is_no_interval() -> None:
    assert described(np.array([[0, 1, 0]] * 20), 100, 0)["intervals"] == {}
    found = described(np.array([[1, 1, 2]] * 10 + [[0, 1, 1]] * 10), 100, 0)
    assert (found["correct"], found["gold"], found["sentences"]) == (10, 30, 20)
    assert set(found["intervals"]) == {"precision", "recall", "f1"}
