"""Dividing corpora: proportions, order, determinism, and the ids of another version."""

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.divide import split_corpus, split_like
from tripleaudit.corpora.model import Sentence, Span, Triple

PARTS = {"train": 8, "valid": 1, "test": 1}


def make(count, zeros=0):
    triple = Triple(Span(0, 1, "a"), "r", Span(0, 1, "a"))
    positives = [Sentence(str(n), f"a {n}", (triple,)) for n in range(count)]
    return positives + [Sentence(str(count + n), f"zero {n}") for n in range(zeros)]


def ids(parts):
    return {name: [sentence.id for sentence in members] for name, members in parts.items()}


def test_parts_have_their_share_and_cover_the_corpus_in_order():
    corpus = make(200, zeros=100)
    parts = split_corpus(corpus, PARTS, seed=1)
    assert {name: len(members) for name, members in parts.items()} == {
        "train": 240,
        "valid": 30,
        "test": 30,
    }
    assert {name: sum(not s.triples for s in members) for name, members in parts.items()} == {
        "train": 80,
        "valid": 10,
        "test": 10,
    }
    for members in ids(parts).values():
        assert members == sorted(members, key=int)
    assert sorted(sum(ids(parts).values(), []), key=int) == [sentence.id for sentence in corpus]


def test_the_seed_alone_decides():
    corpus = make(100)
    assert ids(split_corpus(corpus, PARTS, 1)) == ids(split_corpus(corpus, PARTS, 1))
    assert ids(split_corpus(corpus, PARTS, 1)) != ids(split_corpus(corpus, PARTS, 2))
    reverse = ids(split_corpus(corpus[::-1], PARTS, 1))
    assert {name: members[::-1] for name, members in reverse.items()} == ids(
        split_corpus(corpus, PARTS, 1)
    )
    # fixed once, so that a corpus is divided alike by every version and on every machine
    assert ids(split_corpus(make(12), {"a": 1, "b": 1}, 3)) == {
        "a": ["0", "1", "5", "8", "9", "11"],
        "b": ["2", "3", "4", "6", "7", "10"],
    }


def test_equal_texts_share_a_part():
    corpus = [Sentence(str(n), f"text {n // 4}") for n in range(80)]
    parts = split_corpus(corpus, PARTS, 1)
    texts = [{sentence.text for sentence in members} for members in parts.values()]
    assert not (texts[0] & texts[1] or texts[0] & texts[2] or texts[1] & texts[2])


def test_like_another_version():
    corpus = make(30, zeros=60)
    examples = {"train": corpus[:20], "test": corpus[20:30]}
    parts = split_like(corpus, examples, seed=0)
    assert {name: len(members) for name, members in parts.items()} == {"train": 60, "test": 30}
    for name, members in examples.items():
        assert {s.id for s in members} == {s.id for s in parts[name] if s.triples}


def test_bad_divisions_are_one_clear_sentence():
    corpus = make(3)
    with pytest.raises(UserError, match="are not all positive"):
        split_corpus(corpus, {"train": 1, "test": 0})
    with pytest.raises(UserError, match="part 'test' of 3 sentences would be empty"):
        split_corpus(corpus, {"train": 100, "test": 1})
    with pytest.raises(UserError, match="the sentence id '0' is in 'a' and 'b'"):
        split_like(corpus, {"a": corpus, "b": corpus})
    with pytest.raises(
        UserError, match="1 sentence ids of the example are not in the corpus, as 'x'"
    ):
        split_like(corpus, {"a": [Sentence("x", "x")]})
