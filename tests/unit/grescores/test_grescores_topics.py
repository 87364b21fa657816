"""Topical similarity: closed forms, and inference that depends on nothing but the text and the
model.
"""

import math
import random
from statistics import fmean

import numpy as np
import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.grescores.systems import System, read_system
from tripleaudit.grescores.topics import (
    TopicModel,
    arranged,
    content_words,
    joined,
    read_texts,
    similarity,
    topical_similarity,
    train_topics,
)

FRUIT, METAL = ["apple", "pear", "plum", "cherry", "fig"], ["iron", "copper", "zinc", "tin", "lead"]


@pytest.fixture(scope="module")
def texts():
    draw = random.Random(0)
    return [" ".join(draw.choices(FRUIT if n % 2 else METAL, k=12)) for n in range(60)]


@pytest.fixture(scope="module")
def model(texts):
    return train_topics(texts, 4, seed=3)


@pytest.mark.parametrize(
    "p, q, expected",
    [
        ((0.5, 0.5), (0.9, 0.1), 0.6),
        ((0.2, 0.8), (0.2, 0.8), 1),
        ((0.5, 0.5, 0, 0), (0.25, 0.25, 0.25, 0.25), 0.5),
        ((0.5, 0.5), (1, 0), 0),
        ((2, 2), (9, 1), 0.6),
    ],
)
def test_similarity_of_distributions(p, q, expected):
    assert similarity(np.array(p), np.array(q)) == pytest.approx(expected)


def test_triples_are_joined_with_a_blank_or_as_published():
    triples = [("Ann", "met", "Bo"), ("Lyon", "is in", "France")]
    assert joined(triples, official=False) == "Ann met Bo . Lyon is in France ."
    assert joined(triples, official=True) == "Ann met Bo .Lyon is in France ."
    words = content_words
    assert words(joined(triples, official=True)) == [
        "Ann",
        "met",
        "Bo",
        "France",
    ]  # ".Lyon" is lost
    assert "Lyon" in words(joined(triples, official=False))


def test_topics_are_made_of_the_published_words():
    text = "The well-known A.B. was in Lyon in 1998 , not 3.5 the"
    assert content_words(text) == ["The", "Lyon", "1998"]


def test_inference_does_not_depend_on_order_or_company(model, texts):
    first = [model.distribution(text) for text in texts]
    again = train_topics(texts, 4, seed=3)
    backwards = [again.distribution(text) for text in reversed(texts)]
    assert all((a == b).all() for a, b in zip(first, reversed(backwards), strict=True))
    alone = train_topics(texts, 4, seed=3).distribution(texts[-1])
    assert (alone == first[-1]).all()
    assert all(vector.shape == (4,) and math.isclose(vector.sum(), 1) for vector in first)


def test_a_saved_model_gives_the_same_values(model, texts, tmp_path):
    model.save(tmp_path / "lda")
    loaded = TopicModel.load(tmp_path / "lda")
    assert all((loaded.distribution(text) == model.distribution(text)).all() for text in texts)
    assert loaded.description == model.description
    assert {path.suffix for path in (tmp_path / "lda").iterdir()} == {".safetensors", ".json"}


def test_topics_of_triples_separate_on_topic_from_off_topic(model):
    text = "apple pear plum cherry fig apple pear"
    on = System({text: [["apple", "near", "pear"], ["plum", "near", "fig"]]})
    off = System({text: [["iron", "near", "zinc"], ["tin", "near", "lead"]]})
    scores = [topical_similarity(system, model, False)[text] for system in (on, off)]
    assert scores[0] > 0.8 > 0.5 > scores[1]


def test_texts_without_triples_or_known_words(model):
    text = "apple pear"
    p = model.distribution(text)
    floor = math.exp(-np.sum(p * np.log(p))) / 4
    assert topical_similarity(System({text: []}), model, True)[text] == pytest.approx(floor)
    assert topical_similarity(System({text: []}), model, False) == {text: 0}
    assert topical_similarity(System({"quux": [["apple", "near", "fig"]]}), model, False) == {}
    assert "quux" in topical_similarity(System({"quux": [["apple", "near", "fig"]]}), model, True)
    assert model.distribution("quux") == pytest.approx([0.25] * 4)


def test_evaluated_texts_go_behind_a_share_of_the_others():
    """Also a repeated one; a text that is not trained on changes nothing."""
    texts = ["a", "x", "b", "c", "y", "x", "d"]
    assert arranged(texts, {"x", "y", "z"}, 0.5) == ["a", "b", "x", "y", "x", "c", "d"]
    assert (
        arranged(texts, {"x", "y"}, 0)[:3] == arranged(texts, {"x", "y"}, 1)[-3:] == ["x", "y", "x"]
    )
    assert arranged(texts, [], 0.5) == texts


def test_a_text_of_the_first_update_scores_higher_than_one_of_a_later_one():
    """Why the order matters: the same texts and triples, first or last among the training texts."""
    draw = random.Random(0)
    words = [f"word{number}" for number in range(400)]
    others = [" ".join(draw.choices(words, k=20)) for _ in range(300)]
    own = [" ".join(draw.choices(words, k=20)) for _ in range(40)]
    system = System({text: [text.split()[:3]] for text in own})
    first, last = (
        fmean(
            topical_similarity(
                system, train_topics(arranged(others + own, own, after), 20, 0, 100), True
            ).values()
        )
        for after in (0, 1)
    )
    assert first > 1.2 * last


def test_errors_say_what_was_expected(tmp_path):
    with pytest.raises(UserError, match="no usable words"):
        train_topics(["the of", "..."], 2, 0)
    (tmp_path / "x.json").write_text('{"a": 1}', encoding="utf-8")
    assert read_texts(tmp_path / "x.json") == ["a"]
    for odd in ("[1]", "5", "null", '"a text"'):
        (tmp_path / "y.json").write_text(odd, encoding="utf-8")
        with pytest.raises(UserError, match="expected a JSON list of texts"):
            read_texts(tmp_path / "y.json")


def test_an_odd_description_of_a_saved_model_is_one_clear_sentence(model, tmp_path):
    folder = tmp_path / "lda"
    model.save(folder)
    (folder / "lda.json").write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(UserError, match="lda: not a topic model of tripleaudit"):
        TopicModel.load(folder)


# Lowest and highest TS over five retrained official models (K 50, 1500 documents), and their spread
# as tolerance.
CDR = {
    "vicuna-1.5-7b": (0.5739, 0.6309),
    "gpt-3.5-turbo-1106": (0.7869, 0.8526),
    "openchat": (0.7608, 0.8191),
}


@pytest.mark.thorough
def test_cdr_lies_within_the_spread_of_retrained_models(real_data):
    folder = real_data / "genres"
    model = train_topics(read_texts(folder / "lda_text" / "cdr_all_text.json"), 50, seed=0)
    for name, (low, high) in CDR.items():
        system = read_system(folder / "processed_results" / f"cdr_rand_200_{name}_1.json", "sro")
        value = fmean(topical_similarity(system, model, official=True).values())
        assert low <= value <= high, name
        assert fmean(topical_similarity(system, model, official=True).values()) == value


# TS printed in the paper; the spread over eight retrained models, three of them with the other
# texts shuffled, is 4.8
DOCRED = {"vicuna-1.5-7b": 0.231, "gpt-3.5-turbo-1106": 0.504, "openchat": 0.397}


@pytest.mark.thorough
def test_docred_with_the_evaluated_texts_where_the_validation_set_stood(real_data):
    folder = real_data / "genres"
    systems = {
        name: read_system(folder / "processed_results" / f"docred_rand_200_{name}_1.json")
        for name in DOCRED
    }
    texts = read_texts(folder / "datasets" / "docred_all.json")
    texts = arranged(texts, next(iter(systems.values())).texts, 0.755)
    model = train_topics(texts, 100, 0, chunk_size=390)
    for name, published in DOCRED.items():
        assert fmean(topical_similarity(systems[name], model, True).values()) == pytest.approx(
            published, abs=0.048
        )
