import pytest

from tripleaudit.collection.cost import hours
from tripleaudit.errors import UserError

MEASURED = {
    "counts": {"sentences": 1000, "let_through": 250},
    "seconds": {"start": 8.0, "other": 1.0, "tokenisation": 0.5, "gate": 0.5, "extraction": 2.0},
}


def test_the_clock_goes_by_the_slower_side():
    assert hours(MEASURED, 3600) == pytest.approx(0.004 + 8 / 3600)  # 4 s for 1000 sentences
    assert hours(MEASURED, 3600, workers=2) == pytest.approx(0.002 + 8 / 3600)
    assert hours(MEASURED, 3600, workers=2, cpus=1) == pytest.approx(0.0015 + 8 / 3600)
    assert hours(MEASURED, 3600, workers=2, cpus=2) == pytest.approx(0.00125 + 8 / 3600)


def test_nothing_measured_is_said():
    with pytest.raises(UserError, match="the sample has no sentences"):
        hours(MEASURED | {"counts": {"sentences": 0, "let_through": 0}}, 1)
