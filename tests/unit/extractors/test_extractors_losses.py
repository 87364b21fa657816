"""Sparse-label losses equal the dense ones, in value and gradient; what decoders share, by hand."""

import pytest
import torch
import torch.nn.functional as F

from support.extractors import random_batch
from tripleaudit.extractors import grte, onerel, tables
from tripleaudit.extractors.batches import Shape
from tripleaudit.extractors.decoding import first_rows, pairs_within, ranks, spans_from_tags, surest
from tripleaudit.extractors.formulation import VARIABLE
from tripleaudit.extractors.losses import (
    Gold,
    binary_cells,
    last_written,
    mean_bce,
    read_gold,
    write_gold,
)
from tripleaudit.extractors.padded_lstm import PaddedLSTM
from tripleaudit.extractors.partition_filter import partition_filter
from tripleaudit.extractors.tables import Table, gold_cells

TERMS = {  # logits, mask, further divisor
    "tags of tokens": ((2, 4, 2, 3), [[1, 1, 1, 0], [0] * 4], 1),
    "one token": ((2, 3, 2), [[0, 1, 0], [0] * 3], 2),
    "relations of sentences, weighted": ((3, 5), [2, 1, 0], 5),
    "pairs": ((2, 3, 3), [[[1, 1, 0], [1, 1, 0], [0] * 3], [[0] * 3] * 3], 1),
    "present or not": ((2, 3), [True, False], 3),
    "nothing": ((2, 3), [[0] * 3] * 2, 1),
}


@pytest.mark.parametrize("formulation", ["", "device"])
@pytest.mark.parametrize("cells", [[1, 3, 1, 5], []])  # one of them twice
@pytest.mark.parametrize("shape, mask, over", TERMS.values(), ids=list(TERMS))
def test_a_term_of_a_loss_is_the_mean_over_its_mask_of_the_dense_one(
    monkeypatch, formulation, shape, mask, over, cells
):
    monkeypatch.setenv(VARIABLE, formulation)
    torch.manual_seed(0)
    logits, mask = torch.randn(shape, dtype=torch.float64), torch.tensor(mask)
    cells = torch.tensor(cells, dtype=torch.long)
    targets = write_gold(Shape(2, 4, static=bool(formulation)), {"term": cells.numpy()})
    labels = torch.zeros(shape, dtype=torch.float64).flatten().index_fill(0, cells, 1).view(shape)
    weights = mask.double().view(*mask.shape, *[1] * (logits.dim() - mask.dim()))
    dense = (F.binary_cross_entropy_with_logits(logits, labels, reduction="none") * weights).sum()
    found = mean_bce(logits, read_gold({**targets, "other": mask})["term"], mask, over)
    torch.testing.assert_close(found, dense / (max(1, int(mask.sum())) * over))


def test_half_precision_is_summed_in_float32():
    logits = torch.full((300, 300), -3.0, dtype=torch.bfloat16)
    total = binary_cells(
        logits, Gold(torch.zeros(0).long(), torch.zeros(0).bool()), torch.ones(1, 1)
    )
    assert total.dtype == torch.float32
    assert total.item() == pytest.approx(90000 * F.softplus(torch.tensor(-3.0)).item(), rel=1e-4)


def test_last_written():
    assert last_written(torch.tensor([3, 1, 3, 2, 1, 3])).tolist() == [
        False,
        False,
        False,
        True,
        True,
        True,
    ]
    assert last_written(torch.zeros(0, dtype=torch.long)).tolist() == []


def test_rows_are_counted_within_their_group():
    groups = torch.tensor([0, 0, 2, 2, 2, 5])
    assert ranks(groups).tolist() == [0, 1, 0, 1, 2, 0]
    assert first_rows(groups, 2).tolist() == [True, True, True, True, False, True]


def test_spans_end_at_the_nearest_tail_and_the_first_ones_of_a_row_are_taken():
    heads = torch.tensor([[1, 1, 0, 1, 1], [0, 1, 0, 0, 1]]).bool()
    tails = torch.tensor([[0, 1, 0, 1, 0], [0, 0, 1, 0, 1]]).bool()
    rows = torch.stack(spans_from_tags(heads, tails), dim=1).tolist()
    assert rows == [
        [0, 0, 1],
        [0, 1, 1],
        [0, 3, 3],
        [1, 1, 2],
        [1, 4, 4],
    ]  # the last head of row 0 has no tail
    assert torch.stack(spans_from_tags(heads, tails, 2), dim=1).tolist() == [*rows[:2], *rows[3:]]


def test_pairs_within_a_sentence():
    i, j = pairs_within(torch.tensor([0, 0, 1]), torch.tensor([0, 1, 1, 2]))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(0, 0), (1, 0), (2, 1), (2, 2)]


def adversarial_argsort(monkeypatch) -> None:
    """A sort that is not asked to keep the order of equal numbers turns it round."""
    sort = torch.argsort

    def argsort(values, dim=-1, descending=False, stable=False):
        if stable:
            return sort(values, dim=dim, descending=descending, stable=True)
        return (
            values.shape[dim]
            - 1
            - sort(values.flip(dim), dim=dim, descending=descending, stable=True)
        )

    monkeypatch.setattr(torch, "argsort", argsort)


def test_what_depends_on_the_order_of_equal_numbers_asks_for_it(monkeypatch):
    """On a GPU sorts keep no order by themselves: labels written last, triples by subject, caps
    of eager models.
    """
    triples = random_batch(3, triples=9)["triples"]
    triples = torch.cat([triples, triples.flip(0)])
    cells = onerel.targets(triples)
    scored = tables.Cells(
        *(getattr(cells, name) for name in tables.CELL_FIELDS), torch.full((len(cells),), 0.5)
    )
    monkeypatch.setattr(tables, "MAX_CELLS", 2)

    def everything() -> list[torch.Tensor]:
        found = [
            last_written(torch.tensor([3, 1, 3, 2, 1, 3])),
            surest(triples[:, 0], torch.ones(len(triples)), 2),
        ]
        for made in (onerel.targets(triples), grte.targets(triples), tables.most_certain(scored)):
            found += [getattr(made, name) for name in tables.CELL_FIELDS]
        return found

    counts = torch.bincount(scored.sentence)
    assert counts.max() > 2 and len(tables.most_certain(scored)) == counts.clamp(max=2).sum()
    few = scored.select(torch.arange(len(scored)).flip(0)[:2])
    assert tables.most_certain(few) is few  # in their own order
    expected = everything()
    adversarial_argsort(monkeypatch)
    for one, other in zip(everything(), expected, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("autocast", [False, True])
def test_tables_and_recurrences_are_computed_in_the_precision_of_their_inputs(
    autocast, monkeypatch
):
    """With autocast to bfloat16 around them and without: in float32 they are those of float64
    but for rounding.
    """
    draw = torch.Generator().manual_seed(0)
    left, right = (torch.randn(2, 4, 8, generator=draw) for _ in range(2))
    weight, bias = torch.randn(8, 2, 8, generator=draw), torch.randn(8, 2, generator=draw)
    gates = (
        torch.randn(4, 2, 15, generator=draw),
        torch.randn(15, 3, generator=draw),
        torch.randn(3, 9, generator=draw),
    )
    mask, gold = torch.ones(2, 4).bool(), tables.Cells(*torch.tensor([[0], [1], [2], [1], [3]]))
    numbers = gold_cells(gold, Shape(2, 4), 2)

    def everything(dtype):
        for device in ("", "device"):
            monkeypatch.setenv(VARIABLE, device)
            table = Table(
                *(each.to(dtype) for each in (left, right, weight, bias)), grte.features, mask
            )
            yield from table.loss(numbers)
            yield table.cells().scores.sum()
            yield from table.maxima(mask)
        lstm = torch.nn.LSTM(16, 8, bidirectional=True).requires_grad_(False).to(dtype)
        for number, own in enumerate(lstm.parameters()):
            own.copy_(torch.randn(own.shape, generator=torch.Generator().manual_seed(number)))
        yield PaddedLSTM.of(lstm, mask.T, dtype).run(
            left.transpose(0, 1).to(dtype), right[:, 0].to(dtype), None
        )
        yield partition_filter(*(each.to(dtype) for each in gates), torch.zeros(3, dtype=dtype))

    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        found = list(everything(torch.float32))
    for one, exact in zip(found, everything(torch.float64), strict=True):
        torch.testing.assert_close(
            one.double(), exact, rtol=1e-4, atol=1e-4
        )  # bfloat16 is off by 1e-3
