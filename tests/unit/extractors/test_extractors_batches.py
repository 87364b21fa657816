"""Padded batches by hand: shapes, words, rows of targets, spans, and items that a thread reads
ahead.
"""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tripleaudit.extractors.batches import (
    Shape,
    ahead,
    flat_spans,
    joined,
    pad_batch,
    slices,
    stack_triples,
)


def aligned(words: list[int]) -> SimpleNamespace:
    """What padding reads of an alignment: [CLS], pieces of numbered words, [SEP]."""
    word_ids = np.array([-1, *words, -1])

    class Aligned(SimpleNamespace):
        def __len__(self) -> int:
            return len(self.word_ids)

    return Aligned(input_ids=np.arange(len(word_ids)) + 50, word_ids=word_ids)


def test_tight_shapes_are_those_of_the_batch_and_static_ones_are_few():
    assert Shape.of([5, 9, 2]) == Shape(3, 9)
    assert Shape.of([]) == Shape(0, 0)
    assert [Shape.of([length], static=4) for length in (1, 8, 9)] == [
        Shape(4, size, True) for size in (8, 8, 16)
    ]
    assert [Shape(3, 9).rows(count) for count in (0, 7)] == [0, 7]
    # four rows a sentence, and twice, four times as many where these do not suffice
    assert [Shape(3, 8, True).rows(count) for count in (0, 12, 13, 24, 25)] == [12, 12, 24, 24, 48]


def test_targets_are_padded_behind():
    rows = np.array([[1, 2], [3, 4]])
    assert Shape(2, 5).padded(rows).tolist() == rows.tolist()
    assert Shape(1, 8, True).padded(rows).tolist() == [[1, 2], [3, 4], [0, 0], [0, 0]]
    assert Shape(3, 8, True).sentences(rows).tolist() == [[1, 2], [3, 4], [0, 0]]


def test_a_batch_of_two_sentences_and_its_words():
    batch = pad_batch([aligned([0, 1, 1]), aligned([0])], pad_id=9, words=True)
    assert {name: value.tolist() for name, value in batch.items()} == {
        "input_ids": [[50, 51, 52, 53, 54], [50, 51, 52, 9, 9]],
        "attention_mask": [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]],
        "content_mask": [[0, 1, 1, 1, 0], [0, 1, 0, 0, 0]],
        "word_ids": [[-1, 0, 1, 1, -1], [-1, 0, -1, -1, -1]],
        "word_first": [[1, 2], [1, -1]],
        "word_last": [[1, 3], [1, -1]],
    }
    assert set(pad_batch([aligned([0])], 9)) == {"input_ids", "attention_mask", "content_mask"}
    none = pad_batch([aligned([])], 9, words=True)
    assert none["word_first"].shape == none["word_last"].shape == (1, 0)


def test_a_static_batch_has_dummies_and_whole_tiles_of_words():
    batch = pad_batch([aligned([0, 1, 1])], 9, words=True, shape=Shape(2, 8, True))
    assert batch["input_ids"].tolist() == [[50, 51, 52, 53, 54, 9, 9, 9], [9] * 8]
    assert batch["attention_mask"].sum(dim=1).tolist() == [5, 0]
    assert batch["word_first"].tolist() == [[1, 2, *[-1] * 6], [-1] * 8]
    many = pad_batch([aligned(list(range(9)))], 9, words=True, shape=Shape(1, 16, True))
    assert many["word_last"].tolist() == [[*range(1, 10), *[-1] * 7]]
    assert pad_batch([aligned([])], 9, words=True, shape=Shape(1, 8, True))["word_first"].shape == (
        1,
        8,
    )


def test_rows_and_spans_by_hand():
    rows = [
        np.array([[1, 2, 0, 3, 3]]),
        np.zeros((0, 5), dtype=np.int64),
        np.array([[4, 4, 1, 5, 6], [1, 1, 2, 2, 2]]),
    ]
    assert stack_triples(rows).tolist() == [
        [0, 1, 2, 0, 3, 3],
        [2, 4, 4, 1, 5, 6],
        [2, 1, 1, 2, 2, 2],
    ]
    assert stack_triples([]).shape == (0, 6)
    assert flat_spans(np.array([0, 2]), np.array([1, 3]), np.array([2, 4]), 5).tolist() == [
        [1, 2],
        [13, 14],
    ]


def test_parts_are_joined_and_sizes_cut_into_equal_parts():
    one, two = torch.ones(2, 3), torch.zeros(2, 3)
    assert joined([one]) is one
    assert joined([one, two]).shape == (4, 3) and joined([one, two], dim=1).shape == (2, 6)
    cut = {
        args: [(each.start, each.stop) for each in slices(*args)]
        for args in ((7, 3), (6, 3), (2, 0), (3, 9), (0, 4))
    }
    assert cut == {
        (7, 3): [(0, 3), (3, 6), (6, 7)], (6, 3): [(0, 3), (3, 6)], (2, 0): [(0, 1), (1, 2)],
        (3, 9): [(0, 3)], (0, 4): [],
    }  # fmt: skip


def test_items_are_read_ahead_in_order_no_more_than_asked_for_and_errors_come_where_they_are_wanted():
    def readers():
        return [each for each in threading.enumerate() if each.name.startswith("batches")]

    read, enough = [], threading.Event()

    def items():
        for number in range(6):
            read.append(number)
            if number == 2:
                enough.set()
            yield number

    found = ahead(items(), most=2)
    assert next(found) == 0
    assert enough.wait(600)  # one was taken, two wait
    assert read == [0, 1, 2]
    assert list(found) == [1, 2, 3, 4, 5] and not readers()

    def broken():
        yield 1
        raise ValueError("no more")

    found = ahead(broken())
    assert next(found) == 1
    with pytest.raises(ValueError, match="no more"):
        next(found)
    found = ahead(iter(range(100)), most=1)
    assert next(found) == 0 and len(readers()) == 1
    found.close()  # its thread ends with it
    assert not readers()
