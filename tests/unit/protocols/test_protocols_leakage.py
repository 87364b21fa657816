"""Planted copies are found, all of them, and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.webnlg import sentence
from tripleaudit.corpora.model import Sentence
from tripleaudit.protocols.leakage import Copies, folded_words, leakage


def test_words_have_no_case_accents_and_punctuation() -> None:
    assert folded_words("Zoë's IN Köln.") == ["zoe", "s", "in", "koln"]
    assert folded_words("東京は、大きい") == ["東", "京", "は", "大", "き", "い"]
    assert folded_words("…") == []


def test_leakage_counts_triples_and_entities() -> None:
    train = [sentence("Ann wrote Emma", ("Ann", "wrote", "Emma"), id_="a")]
    seen, other = (
        sentence("Ann wrote Emma", ("Ann", "wrote", "Emma"), id_="b"),
        ("Ann", "saw", "Bob"),
    )
    test = [
        seen,
        sentence("Ann saw Bob", other),
        sentence("…"),
        sentence("ann wrote emma.", id_="e"),
    ]
    value = leakage(train, test)
    assert value["sentences"] == {"equal": 1, "normalised": 1, "near": 0, "total": 2, "share": 0.5}
    assert value["triples"] == {"different": 2, "shared": 1, "share": 0.5}
    assert value["entities"] == {"different": 3, "shared": 2, "share": 2 / 3}
    shown = [(each["kind"], each["test"], each["train"]) for each in value["examples"]]
    assert shown == [("equal", "b", "a"), ("normalised", "e", "a")]
    assert leakage(train, [])["sentences"]["share"] == 0


@pytest.mark.parametrize(("other", "near"), [("a b c d e", 1), ("a b c e f", 0)])
def test_four_of_five_words_make_a_near_copy(other: str, near: int) -> None:
    found = leakage([Sentence("x", "a b c d")], [Sentence("y", other)])
    assert (found["sentences"]["near"], found["threshold"]) == (near, 0.8)
    assert [example["similarity"] for example in found["examples"]] == [0.8] * near


def test_the_most_similar_one_is_taken_the_first_of_equals_and_five_are_shown() -> None:
    train = ["a b c d e f", "a b c d e f g h", "a b c d e g h i", "a b c d e f g i"]
    (copy,) = Copies(train, threshold=0.5).of(["a b c d e f g"])
    assert (copy.other, copy.similarity) == (1, 7 / 8)
    (copy,) = Copies(train[2:], threshold=0.5).of(["a b c d e g i"])
    assert (copy.other, copy.similarity) == (0, 7 / 8)
    found = leakage([Sentence("x", "one")], [Sentence(str(number), "one") for number in range(7)])
    assert found["sentences"]["equal"] == 7 and [one["test"] for one in found["examples"]] == list(
        "01234"
    )


@pytest.mark.parametrize(("candidates", "uncertain"), [(4_999, 0), (5_000, 1)])
def test_five_thousand_candidates_are_compared_at_most(candidates: int, uncertain: int) -> None:
    """Whether there were more is not known once there are so many."""
    copies = Copies([f"a b c d e{number}" for number in range(candidates)], threshold=0.5)
    (copy,) = copies.of(["a b c d z"])
    assert (copy.other, copies.uncertain) == (0, uncertain)


def test_sentences_that_share_too_few_words_after_a_rare_one_are_not_compared() -> None:
    template = "was born in the old town near this river"
    train = [Sentence(str(number), f"x{number} y{number} {template}") for number in range(5_000)]
    found = leakage(train, [Sentence("test", f"one two {template}")])  # shares 9 of 13 words
    assert (found["sentences"]["total"], found["uncertain"]) == (0, 0)


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8).map(" ".join), max_size=9
    ),
    st.data(),
)
def test_among_others_the_most_similar_is_that_of_comparing_all(texts: list[str], data) -> None:
    threshold = data.draw(st.sampled_from([0.5, 0.75, 0.8]))
    others = data.draw(
        st.lists(st.sampled_from(["a b c d e", "a b c d", "e f", "h", "b a", "a a"]), max_size=4)
    )
    copies = Copies(texts, threshold).of(others)
    found = {copy.position: (copy.kind, copy.similarity, copy.other) for copy in copies}
    expected: dict[int, tuple[str, float, int]] = {}
    for place, other in enumerate(others):
        if other in texts:
            expected[place] = "equal", 1.0, texts.index(other)
            continue
        sets = [(set(text.split()), set(other.split())) for text in texts]
        similar = [len(one & two) / len(one | two) for one, two in sets]
        if max(similar, default=0) >= threshold:
            expected[place] = "near", max(similar), similar.index(max(similar))
    assert found == expected
