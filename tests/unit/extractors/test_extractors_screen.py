"""The screen of tables against whole tables of logits."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tripleaudit.extractors import tables
from tripleaudit.extractors.onerel import OneRel
from tripleaudit.extractors.screen import MOST, Screen, available
from tripleaudit.testing import build_extractor


@pytest.fixture(autouse=True)
def _exact_products(monkeypatch):
    """What saturates where the screen is never used shows nothing about the bound."""
    if not available():
        monkeypatch.setattr(torch, "_int_mm", lambda a, b: a.int() @ b.int())


def positive(left, right, weight, bias) -> set[int]:
    logits = torch.einsum("ijd,cgd->ijcg", torch.relu(left[:, None] + right), weight) + bias
    return set(
        torch.nonzero((logits[..., 1:, :] > logits[..., :1, :]).flatten(2).any(dim=2).flatten())[
            :, 0
        ].tolist()
    )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    power=st.integers(-6, 6),
    worst=st.booleans(),
    width=st.integers(1, 70),
)
def test_no_pair_that_could_be_positive_is_lost(seed, power, worst, width):
    """Every column is just positive for one pair, at worst one whose rounding errors all point
    that way.
    """
    draw = torch.Generator().manual_seed(seed)
    left, right = torch.randn(2, 6, width, generator=draw, dtype=torch.float64)
    weight = torch.randn(4, 5, width, generator=draw, dtype=torch.float64)
    weight[:, 0], weight[1:, 1] = (
        1e3 * weight[:, 0],
        weight[0, 1],
    )  # columns of unlike sizes; one of equal classes
    if worst:  # weights are whole numbers, or lie just above them
        whole = torch.randint(-MOST, MOST, (width,), generator=draw).double()
        whole[0], weight[0] = MOST, 0
        weight[1, 2], weight[1, 3] = whole, whole + 0.4 * (whole < MOST)
        error = 0.499 * whole.sign()
        left, right = (
            torch.randint(0, MOST // 2, part.shape, generator=draw) + error
            for part in (left, right)
        )
        left[5, 0] = MOST / 2
    left, right = left * 10.0**power, right * 10.0**power
    just = torch.einsum("id,cgd->icg", torch.relu(left + right), weight[:1] - weight)
    bias = torch.cat(
        [torch.zeros(1, 5), just[torch.randint(6, (5,), generator=draw), 1:, torch.arange(5)].T]
    )
    bias[1:] += 1e-9 * bias[1:].abs()
    if worst:  # and nothing else keeps a pair
        bias[2:] = bias[1, [0, 1, 4]] = -torch.inf
    bias[3, 3], bias[3, 4] = -torch.inf, 1e30 if seed % 9 == 0 else -1e30
    assert positive(left, right, weight, bias) <= set(
        Screen(weight, bias).pairs(left, right).tolist()
    )


@pytest.mark.parametrize("value", [0.0, torch.inf, torch.nan])
def test_what_has_no_scale_is_kept_and_the_clearly_negative_is_not(value):
    left, right = torch.rand(2, 7, 256)
    weight, bias = torch.randn(2, 3, 256), torch.tensor([[200.0], [0.0]]).expand(2, 3)
    assert not len(Screen(weight, bias).pairs(left, right))
    assert Screen(weight, bias).pairs(left * value, right * value).tolist() == [*range(49)]
    assert (
        len(Screen(weight[..., :1], bias).pairs(left[:, :1], right[:, :1])) == 49
    )  # a width that PyTorch gets wrong


@pytest.mark.skipif(
    not available(), reason="the processor has no VNNI, so that no table is screened"
)
def test_products_at_the_ends_of_the_range_are_exact():
    ends = torch.full((9, 4096), MOST, dtype=torch.int8)
    assert (torch._int_mm(ends, -ends.T) == -4096 * MOST**2).all()


def test_decoded_cells_are_the_same_with_and_without_the_screen(monkeypatch):
    monkeypatch.setattr(tables, "available", lambda: True)
    monkeypatch.setattr(tables, "PAIRS_AT_ONCE", 20)
    torch.manual_seed(0)
    (left, right), weight = torch.randn(2, 3, 9, 30), torch.randn(4, 5, 30)
    bias, mask = torch.tensor([12.0, 0, 0, 0])[:, None].expand(4, 5), torch.ones(3, 9)
    mask[0, 0] = mask[2, 5:] = 0
    found = []
    for rectified in (False, True):
        cells = tables.Table(
            left, right, weight, bias, lambda a, b: torch.relu(a + b), mask, rectified=rectified
        ).cells()
        places = zip(
            cells.sentence, cells.row, cells.column, cells.relation, cells.classes, strict=True
        )
        found.append(
            dict(
                zip(
                    [tuple(map(int, place)) for place in places], cells.scores.tolist(), strict=True
                )
            )
        )
    assert len(found[0]) > 20
    assert found[1] == pytest.approx(found[0], rel=1e-5)


def test_onerel_is_screened_unless_dropout_makes_features_larger(tiny_encoder):
    model, states = build_extractor(OneRel, tiny_encoder), torch.zeros(1, 2, 32)
    assert [
        model.train(each).table(states, torch.ones(1, 2)).rectified for each in (False, True)
    ] == [True, False]
