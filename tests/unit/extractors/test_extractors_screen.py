"""The screen of tables against whole tables of logits."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tripleaudit.extractors import screen
from tripleaudit.extractors.tables import Table

FEATURES = {
    "relu": lambda a, b: torch.relu(a + b),
    "tanh": lambda a, b: torch.tanh(a + b),
    "elu": lambda a, b: torch.nn.functional.elu(a * b),
}


@pytest.fixture(autouse=True)
def exact_products(monkeypatch):
    """Integer products that saturate, on processors where the screen is never used, show nothing about the screen."""
    if not screen.available():
        monkeypatch.setattr(torch, "_int_mm", lambda a, b: a.int() @ b.int())


def table(seed: int, features, length: int = 13, width: int = 24, classes: int = 4, columns: int = 5, margin=3.0):
    """Parts of pairs, and a classifier that marks few cells."""
    draw = torch.Generator().manual_seed(seed)
    left, right = (torch.randn(2, length, width, generator=draw, dtype=torch.float64) for _ in range(2))
    weight = torch.randn(classes, columns, width, generator=draw, dtype=torch.float64) / width**0.5
    bias = torch.randn(classes, columns, generator=draw, dtype=torch.float64)
    bias[0] += margin
    return left, right, weight, bias, features


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(FEATURES)), power=st.integers(-6, 6))
def test_no_pair_that_could_be_positive_is_lost(seed, name, power):
    left, right, weight, bias, features = table(seed, FEATURES[name])
    x = features(left[0, :, None], right[0, None]).flatten(0, 1) * 10.0**power
    weight[:, 0] *= 1e3  # columns of unlike sizes
    weight[1:, 1] = weight[0, 1]
    bias[1, 2], bias[2, 2] = -torch.inf, 1e30 if seed % 2 else -1e30
    logits = torch.einsum("nd,cgd->ncg", x, weight) + bias
    positive = torch.nonzero((logits[:, 1:] > logits[:, :1]).any(dim=2).any(dim=1))[:, 0]
    kept = screen.Screen(weight, bias).pairs(x.clone())
    assert set(positive.tolist()) <= set(kept.tolist())


@pytest.mark.parametrize("name", sorted(FEATURES))
@pytest.mark.parametrize("upper", [False, True])
def test_decoded_cells_are_those_of_whole_tables(monkeypatch, name, upper):
    arguments = table(3, FEATURES[name])
    mask = torch.ones(2, 13)
    mask[0, 0] = mask[0, 12] = 0
    found = []
    for at_once, used in ((20, True), (1024, True), (0, False)):
        monkeypatch.setattr(screen, "available", lambda used=used: used)
        monkeypatch.setattr(screen, "PAIRS_AT_ONCE", at_once)
        cells = Table(*arguments, mask, upper=upper).cells()
        rows = zip(cells.sentence, cells.row, cells.column, cells.relation, cells.classes, strict=True)
        found.append(dict(zip([tuple(map(int, row)) for row in rows], cells.scores.tolist(), strict=True)))
    assert len(found[2]) > 5
    assert found[0] == pytest.approx(found[2], abs=1e-12)
    assert found[1] == pytest.approx(found[2], abs=1e-12)


def test_the_screen_drops_what_is_clearly_negative():
    left, right, weight, bias, features = table(0, FEATURES["relu"], length=40, width=256, margin=8.0)
    x = features(left[0, :, None], right[0, None]).flatten(0, 1)
    logits = torch.einsum("nd,cgd->ncg", x, weight) + bias
    positive = (logits[:, 1:] > logits[:, :1]).any(dim=2).any(dim=1).sum()
    assert len(screen.Screen(weight, bias).pairs(x)) < positive + 0.05 * len(logits)


@pytest.mark.parametrize(("bias", "kept"), [(1e30, 7), (-1e30, 0)])
def test_a_bias_beyond_whole_numbers_decides_alone(bias, kept):
    weight, biases = torch.ones(2, 1, 24, dtype=torch.float64), torch.tensor([[0.0], [bias]], dtype=torch.float64)
    weight[1] *= 2
    assert len(screen.Screen(weight, biases).pairs(torch.ones(7, 24, dtype=torch.float64))) == kept


@pytest.mark.parametrize("value", [0.0, torch.inf, torch.nan])
def test_features_without_a_scale_are_all_kept(value):
    _, _, weight, bias, _ = table(0, FEATURES["relu"])
    assert screen.Screen(weight, bias).pairs(torch.full((7, 24), value, dtype=torch.float64)).tolist() == [*range(7)]


def test_what_rounding_of_the_features_hides_is_allowed_for():
    """Features of 0.49 beside one of 127 round to 0, and heavy weights on them make a positive cell of nothing."""
    width = 64
    weight = torch.zeros(2, 1, width, dtype=torch.float64)
    weight[1, 0, 1:] = 127.0
    x = torch.full((32, width), 0.49, dtype=torch.float64)
    x[:, 0] = 127.0
    logit = float(x[0] @ weight[1, 0])
    for short, kept in ((20.0, 32), (logit, 32)):
        bias = torch.tensor([[logit - short], [0.0]], dtype=torch.float64)
        assert len(screen.Screen(weight, bias).pairs(x.clone())) == kept
    hopeless = torch.tensor([[3 * logit], [0.0]], dtype=torch.float64)
    assert len(screen.Screen(weight, hopeless).pairs(x.clone())) == 0


def test_the_screen_wants_products_of_small_integers_that_are_fast_and_exact(monkeypatch):
    def exact(a, b):
        return a.int() @ b.int()

    def saturating(a, b):
        """Two neighbouring products are added in 16 bits, as processors without VNNI do it; signs are moved first."""
        two = ((a.int() + 128)[:, None] * b.int().T[None]).unflatten(-1, (-1, 2)).sum(dim=-1)
        return two.clamp(-(2**15), 2**15 - 1).sum(dim=-1) - 128 * b.int().sum(dim=0)

    def none(a, b):
        raise RuntimeError("no such kernel")

    draw = torch.Generator().manual_seed(0)
    small = torch.randint(-9, 9, (32, 64), generator=draw, dtype=torch.int8)
    assert torch.equal(saturating(small, small.T), exact(small, small.T))
    found = []
    for fast in (True, False):
        monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda fast=fast: fast, raising=False)
        for product in (exact, saturating, none):
            monkeypatch.setattr(torch, "_int_mm", product, raising=False)
            found.append(screen.available.__wrapped__())
    assert found == [True, False, False, False, False, False]
    monkeypatch.delattr(torch, "_int_mm")
    monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda: True)
    assert not screen.available.__wrapped__()
