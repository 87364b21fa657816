"""What decoders share, by hand."""

import torch

from tripleaudit.extractors.decoding import first_rows, ranks, spans_from_tags


def test_rows_are_counted_within_their_group():
    groups = torch.tensor([0, 0, 2, 2, 2, 5])
    assert ranks(groups).tolist() == [0, 1, 0, 1, 2, 0]
    assert first_rows(groups, 2).tolist() == [True, True, True, True, False, True]


def test_spans_end_at_the_nearest_tail_and_the_first_ones_of_a_row_are_taken():
    heads = torch.tensor([[1, 1, 0, 1, 1], [0, 1, 0, 0, 1]]).bool()
    tails = torch.tensor([[0, 1, 0, 1, 0], [0, 0, 1, 0, 1]]).bool()
    rows = torch.stack(spans_from_tags(heads, tails), dim=1).tolist()
    assert rows == [[0, 0, 1], [0, 1, 1], [0, 3, 3], [1, 1, 2], [1, 4, 4]]  # the last head of row 0 has no tail
    assert torch.stack(spans_from_tags(heads, tails, 2), dim=1).tolist() == [*rows[:2], *rows[3:]]
