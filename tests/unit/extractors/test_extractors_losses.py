"""Sparse-label losses equal the dense ones, in value and gradient."""

import pytest
import torch
import torch.nn.functional as F

from tripleaudit.extractors.decoding import nearest_tail, pairs_within, spans_from_tags
from tripleaudit.extractors.losses import binary_cells, flat_cells, last_written


def gradients(loss, logits):
    return torch.autograd.grad(loss, logits)[0]


@pytest.mark.parametrize("seed", range(4))
def test_binary_cells_equal_the_dense_loss(seed):
    torch.manual_seed(seed)
    logits = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    rows = torch.randint(0, 2, (9,)), torch.randint(0, 5, (9,)), torch.randint(0, 3, (9,))
    mask = torch.rand(2, 5, 1).gt(0.3)
    labels = torch.zeros(2, 5, 3, dtype=torch.float64)
    labels[rows] = 1
    dense = (F.binary_cross_entropy_with_logits(logits, labels, reduction="none") * mask).sum()
    sparse = binary_cells(logits, flat_cells(logits.shape, *rows), mask)
    torch.testing.assert_close(sparse, dense, rtol=0, atol=1e-10)
    torch.testing.assert_close(gradients(sparse, logits), gradients(dense, logits), rtol=0, atol=1e-10)


def test_without_positive_cells_and_mask():
    logits = torch.randn(2, 3, 4, dtype=torch.float64)
    none = torch.zeros(0, dtype=torch.long)
    torch.testing.assert_close(binary_cells(logits, none), F.softplus(logits).sum())


def test_half_precision_is_summed_in_float32():
    logits = torch.full((300, 300), -3.0, dtype=torch.bfloat16)
    total = binary_cells(logits, torch.zeros(0, dtype=torch.long))
    assert total.dtype == torch.float32
    assert total.item() == pytest.approx(90000 * F.softplus(torch.tensor(-3.0)).item(), rel=1e-4)


def test_last_written():
    assert last_written(torch.tensor([3, 1, 3, 2, 1, 3])).tolist() == [False, False, False, True, True, True]
    assert last_written(torch.zeros(0, dtype=torch.long)).tolist() == []


def test_nearest_tail():
    tails = torch.tensor([[0, 1, 0, 0, 1, 0]], dtype=torch.bool)
    assert nearest_tail(tails).tolist() == [[1, 1, 4, 4, 4, 6]]
    assert nearest_tail(tails.T, dim=0).T.tolist() == [[1, 1, 4, 4, 4, 6]]


def test_spans_share_tails_and_heads_without_a_tail_are_dropped():
    heads = torch.tensor([[1, 1, 0, 0, 1], [0, 0, 0, 0, 0]], dtype=torch.bool)
    tails = torch.tensor([[0, 0, 1, 0, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)
    row, start, end = spans_from_tags(heads, tails)
    assert list(zip(row.tolist(), start.tolist(), end.tolist(), strict=True)) == [(0, 0, 2), (0, 1, 2)]


def test_pairs_within_a_sentence():
    i, j = pairs_within(torch.tensor([0, 0, 1]), torch.tensor([0, 1, 1, 2]))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(0, 0), (1, 0), (2, 1), (2, 2)]
