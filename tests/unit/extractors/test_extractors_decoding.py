"""What decoders share, by hand."""

import torch

from tripleaudit.extractors.decoding import first_rows, ranks


def test_rows_are_counted_within_their_group():
    groups = torch.tensor([0, 0, 2, 2, 2, 5])
    assert ranks(groups).tolist() == [0, 1, 0, 1, 2, 0]
    assert first_rows(groups, 2).tolist() == [True, True, True, True, False, True]
