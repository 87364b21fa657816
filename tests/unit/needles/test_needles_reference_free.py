"""The scores without reference, by hand and against NLTK."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.meteor_score import meteor_score

from tripleaudit.needles import reference_free as rf
from tripleaudit.needles.entities import Entity
from tripleaudit.needles.minea import by_part, redundancy
from tripleaudit.needles.schema import load_schema


def entity(index=0, name="x", piece=0, kind="Other", **properties):
    return Entity("d", "untouched", piece, 0, 0, index, kind, name, properties)


class NoSynonyms:
    @staticmethod
    def synsets(_):
        return []


def test_meteor_by_hand():
    assert rf.relevance("a b", "a b c d") == pytest.approx(5 / 9.5)  # P 1, R 1/2
    assert rf.relevance("same words here", "same words here") == 1
    assert (
        rf.relevance("one two", "three four") == 0 == rf.relevance("", "a") == rf.relevance("a", "")
    )
    assert rf.relevance("Running cats", "the cat runs") == pytest.approx(
        2 / 3 * 1 / (0.9 * 1 + 0.1 * 2 / 3)
    )  # stems


@settings(max_examples=40, deadline=None)
@given(
    *[
        st.lists(
            st.sampled_from(["run", "runs", "running", "cat", "cats", "dog", "The"]),
            min_size=1,
            max_size=12,
        )
    ]
    * 2
)
def test_meteor_equals_nltk_without_its_penalty(hypothesis, reference):
    expected = meteor_score([reference], hypothesis, gamma=0, alpha=0.9, wordnet=NoSynonyms())
    assert rf.relevance(" ".join(hypothesis), " ".join(reference)) == pytest.approx(expected)


def test_spread():
    assert rf.spread([0.2, 0.4]) == pytest.approx(1 / 3)
    assert rf.spread([0.7]) == 0 and rf.spread([0, 0]) is None and rf.spread([]) is None


def test_redundancy_avoidance():
    lines = ["red car", "red bus", "blue sea"]
    assert rf.redundancy_avoidance(lines, 0.2) == pytest.approx(2 / 3)
    assert rf.redundancy_avoidance(lines, 0.6) == 1 == rf.redundancy_avoidance(["a"], 0)
    assert (
        rf.redundancy_avoidance(["", "", "a"], 0) == 1 == rf.redundancy_avoidance(["", "."], 0)
    )  # without words nothing is similar
    assert rf.redundancy_avoidance(["a", "a"], 1.0) == 1  # a cosine of 1 is at most 1
    assert rf.redundancy_avoidance(["a", "a"], 0.9) == 0
    assert rf.redundancy_avoidance([], 0.2) is None  # of nothing there is nothing to say
    many = [
        f"w{i % 700}" for i in range(1400)
    ]  # every word twice: 700 redundant pairs, over more than one block
    assert rf.redundancy_avoidance(many, 0.5) == pytest.approx(1 - 700 / math.comb(1400, 2))


def test_bias_avoidance():
    values = [entity(0, "Paris", year="1999"), entity(1, "Mars", note="unknown", year="1999")]
    assert rf.supported_share(values, "In 1999 in Paris.") == pytest.approx(2 / 3)
    assert rf.supported_share([entity(0, "n/a")], "text") is None
    assert rf.supported_share([entity(0, "art")], "a party") == 0  # tokens, not substrings
    assert rf.supported_share([entity(0, "new york")], "York is not new") == 0
    # by entities, as the paper: a note in other words is no invention, an entity listed twice
    # counts once
    assert (
        rf.supported_entities([*values, entity(2, "Paris", note="lights")], "In 1999 in Paris.")
        == 0.5
    )
    assert rf.supported_entities([entity(0, None, year="1999")], "1999") is None


def test_incompleteness():
    schema = load_schema("demo")
    full = {"description": "d", "keywords": ["k"], "jobTitle": "j", "worksFor": "w"}
    people = [entity(i, "n", kind="Person", **full) for i in range(4)]
    people[1].properties["worksFor"] = None
    people[2].properties["jobTitle"] = "Unknown"
    assert rf.incompleteness(people, schema) == 0.5
    assert (
        rf.incompleteness([entity(kind="Alien", a="b")], schema) == 0
        and rf.incompleteness([], schema) is None
    )
    assert rf.incompleteness([entity(kind="Person", keywords=["", "-"])], schema) == 1


def test_semantic_similarity():
    pieces = ["Green tea grows on hills.", "Ships carry grain to the harbour."]
    assert rf.semantic_similarity(pieces, pieces) == pytest.approx(1)
    assert rf.semantic_similarity(pieces, ["purple metal", "loud engine"]) == pytest.approx(
        0, abs=1e-6
    )
    assert 0.1 < rf.semantic_similarity(pieces, ["green tea"]) < 0.9
    assert (
        rf.semantic_similarity(pieces, ["the of and"])
        == 0
        == rf.semantic_similarity(["the"], ["of"])
    )


def test_sparse_and_dense_decomposition_agree(monkeypatch):
    pieces = [f"word{i} word{i + 1} topic{i % 5} theme{i % 7}" for i in range(60)]
    lines = [f"word{i} topic{i % 5} extra{i}" for i in range(0, 60, 2)]
    dense = rf.semantic_similarity(pieces, lines, components=20)
    monkeypatch.setattr(rf, "DENSE_CELLS", 0)
    assert rf.semantic_similarity(pieces, lines, components=20) == pytest.approx(dense, abs=1e-6)


def test_suswir_is_a_convex_combination():
    scores = {
        "semantic_similarity": 1,
        "relevance": 0.5,
        "redundancy_avoidance": 0.5,
        "bias_avoidance": 0,
    }
    assert rf.suswir(scores) == 0.5 and rf.suswir(scores | {"relevance": None}) is None


def test_all_scores_of_an_extraction():
    pieces = ["Ada Moss built a loom. ", "The loom stands in Lyon."]
    entities = [
        entity(0, "Ada Moss", 0, "Person"),
        entity(1, "Lyon", 1, "Place", description="a city"),
    ]
    scores = rf.all_scores(pieces, entities, load_schema("demo"))
    assert scores["entities"] == 2 and scores["incompleteness"] == 1
    # words: Person Ada Moss Place Lyon a city; three of seven and "a" are among the ten of the
    # document
    assert scores["relevance"] == pytest.approx((p := 4 / 7) * (r := 4 / 10) / (0.9 * p + 0.1 * r))
    one, two = (
        rf.relevance("Person Ada Moss", pieces[0]),
        rf.relevance("Place Lyon a city", pieces[1]),
    )
    assert scores["relevance_spread"] == pytest.approx(rf.spread([one, two]))
    assert scores["redundancy_avoidance(0.2)"] == 1 == scores["redundancy_avoidance(0.5,name)"]
    assert scores["bias_avoidance"] == 1
    assert scores["supported_values"] == pytest.approx(2 / 3)  # "a city" is not in the text
    assert set(scores) >= {"semantic_similarity", "suswir", "redundancy_avoidance(0.1)"}
    nothing = rf.all_scores(pieces, [], load_schema("demo"))
    assert nothing.pop("entities") == 0 and set(nothing) == set(scores) - {"entities"}
    assert set(nothing.values()) == {None}


def test_redundancy_of_a_repetition():
    old = [entity(0, n) for n in "acd"]
    new = [entity(0, n) for n in "abc"]
    assert redundancy(new, old) == pytest.approx(2 / 3) and redundancy([], old) is None
    assert redundancy([entity(0, None)], [entity(0, None)]) == 0
    rows = by_part(
        [entity(0, "a", 0), entity(0, "b", 1)], [entity(0, "a", 1), entity(0, "b", 1)], 2
    )
    assert rows == [
        {"part": 1, "redundancy": None, "new": 0, "old": 1},
        {"part": 2, "redundancy": 0.5, "new": 2, "old": 1},
    ]
