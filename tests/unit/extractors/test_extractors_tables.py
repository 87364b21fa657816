"""The table of all pairs of tokens, block by block and chunk by chunk, against the whole table."""

import pytest
import torch
import torch.nn.functional as F

from support.pairs import dense_classes
from tripleaudit.extractors import formulation, tables
from tripleaudit.extractors.batches import Shape
from tripleaudit.extractors.tables import (
    Cells,
    Table,
    gold_cells,
    join_cells,
)

SPANS = [
    (1, 6),
    (2, 3),
    (0, 0),
    (3, 8),
]  # of sentences that begin behind specials; one has a single token, one none
LENGTH, WIDTH, CLASSES, COLUMNS = 8, 3, 4, 5  # more tokens than features


def features(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.tanh(left + 2 * right)


def some_cells(spans: list[tuple[int, int]], upper: bool) -> Cells:
    """Every second pair with a class, some of them written twice."""
    found = [
        (s, i, j)
        for s, (a, b) in enumerate(spans)
        for i in range(a, b)
        for j in range(i if upper else a, b)
    ]
    rows = [
        (*pair, 4 * (sum(pair) % 2), 1 + at % (CLASSES - 1))
        for at, pair in enumerate(found)
        if at % 2 == 0
    ]
    rows += [(*pair[:-1], 1 + pair[-1] % (CLASSES - 1)) for pair in rows[::2]]
    return Cells(*torch.tensor(rows).unbind(1))


def table() -> list[torch.Tensor]:
    torch.manual_seed(0)
    shapes = (
        (len(SPANS), LENGTH, WIDTH),
        (len(SPANS), LENGTH, WIDTH),
        (CLASSES, COLUMNS, WIDTH),
        (CLASSES, COLUMNS),
    )
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(
    ("device", "spans", "at_once"),
    [
        *((False, SPANS, at_once) for at_once in ((1, 1), (10, 60), (4096, 2**20))),
        *((True, [(0, 8), (0, 3), (0, 0), (0, 5)], (at_once, 0)) for at_once in (1, 300, 2**24)),
    ],
)
def test_a_table_in_blocks_is_the_whole_table(monkeypatch, device, spans, at_once, upper, scaled):
    """Loss, gradients and cells; gold cells at its first and last pair, too, and rows of zeros,
    which are no cells.
    """
    monkeypatch.setattr(tables, "MAX_PAIRS", at_once[0])
    monkeypatch.setattr(tables, "MAX_LOGITS", at_once[1])
    monkeypatch.setattr(tables, "cells_at_once", lambda _: at_once[0])
    monkeypatch.setenv(formulation.VARIABLE, "device" * device)
    inputs = table()
    cells = some_cells(spans, upper)
    if device:
        cells = join_cells([cells, Cells(*torch.tensor([[0], [7], [7], [4], [3]]))])
    mask = torch.zeros(len(spans), LENGTH, dtype=torch.bool)
    for s, (start, stop) in enumerate(spans):
        mask[s, start:stop] = True
    scale = torch.rand(COLUMNS, dtype=torch.float64) if scaled else None
    made = Table(*inputs, features, mask, upper=upper)
    numbers = gold_cells(cells, Shape(len(spans), LENGTH), COLUMNS)
    fast, columns = made.loss(torch.cat([numbers, numbers.new_zeros(3, 5)]), scale)
    left, right, weight, bias = inputs
    logits = (
        torch.einsum("bijd,cgd->bijgc", features(left[:, :, None], right[:, None]), weight) + bias.T
    )
    labels = dense_classes(cells, len(spans), LENGTH, COLUMNS)
    every = F.cross_entropy(logits.flatten(0, 3), labels.flatten(), reduction="none").view_as(
        labels
    )
    inside = mask[:, :, None] & mask[:, None]
    inside = inside.triu() if upper else inside
    assert made.pairs == inside.sum()
    naive = every[inside].sum(dim=0)
    wanted = naive.sum() if scale is None else (naive * scale).sum()
    torch.testing.assert_close(columns, naive.detach())
    torch.testing.assert_close(fast, wanted)
    slow = torch.autograd.grad(2 * wanted, inputs)
    for ours, theirs in zip(torch.autograd.grad(2 * fast, inputs), slow, strict=True):
        torch.testing.assert_close(ours, theirs)
    found = made.cells()
    best = logits.softmax(dim=-1).max(dim=-1)
    assert torch.equal(
        dense_classes(found, len(spans), LENGTH, COLUMNS), best.indices * inside[..., None]
    )
    torch.testing.assert_close(
        found.scores, best.values[found.sentence, found.row, found.column, found.relation]
    )
    assert Table(*inputs, features, torch.zeros_like(mask), upper=upper).pairs == 1  # a divisor
    monkeypatch.setattr(tables, "MAX_CELLS", 3)
    few = made.cells()
    for s in range(len(spans)):
        own = found.scores[found.sentence == s]
        assert torch.equal(
            few.scores[few.sentence == s].sort().values, own.topk(min(3, len(own))).values.flip(0)
        )


@pytest.mark.parametrize("device", [False, True])
def test_a_class_as_likely_as_none_is_none_and_4096_cells_of_a_sentence_are_decoded(
    monkeypatch, device
):
    """A table of zeros but for its bias, in both formulations."""
    monkeypatch.setenv(formulation.VARIABLE, "device" * device)
    left, weight, bias = torch.zeros(2, 40, 8), torch.zeros(2, 4, 8), torch.zeros(2, 4)
    for more, count in ((0.0, 0), (1e-6, 4096)):
        bias[1] = more
        found = Table(left, left, weight, bias, features, torch.ones(2, 40)).cells()
        assert torch.bincount(found.sentence, minlength=2).tolist() == [count] * 2
