"""What stands between two values and a conclusion: each gate at its edge."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tripleaudit.scoring.bootstrap import Interval
from tripleaudit.scoring.difference import Difference
from tripleaudit.tables.cells import Cell
from tripleaudit.tables.gates import FEW, Floor, Pair, contrast, leader, pairs_of
from tripleaudit.tables.inputs import UNEQUAL


def cell(value: float, low: float | None = None, high: float | None = None, **more) -> Cell:
    return Cell(value=value, low=low, high=high, digits=1, **more)


HIGH, LOW = cell(80.0, 75.0, 85.0, cases=FEW), cell(40.0, 35.0, 45.0, cases=FEW)


def said(first: Cell, second: Cell, *floors: float, **more) -> str:
    held = [Floor("M", cell(floor)) for floor in floors] or [Floor("M")] * 2
    return contrast([Pair("A", first, second, held)], "here", "there", **more)


def test_thirty_cases_are_enough_and_one_fewer_is_not():
    assert FEW == 30
    assert said(HIGH, LOW).startswith(
        "For A, F1 is 80.0 % here and 40.0 % there: a gap of 40.0 points"
    )
    few = cell(40.0, 35.0, 45.0, cases=29)
    for pair in ((HIGH, few), (few, HIGH)):
        assert said(*pair).startswith(
            "Too few cases for a conclusion about A: one side rests on 29 test sentences ("
        )


def test_unequal_budgets_matter_between_trainings_alone():
    marked = cell(40.0, 35.0, 45.0, mark=UNEQUAL)
    assert said(HIGH, marked, between_trainings=True).startswith(
        "No conclusion for A: the two trainings saw unequal"
    )
    assert "a gap of 40.0 points" in said(HIGH, marked)


@pytest.mark.parametrize(
    ("floors", "beaten"),
    [((30, 30), True), ((60, 60), True), ((81, 39), False), ((81, 0), True), ((0, 81), True)],
)
def test_a_system_that_beats_the_baseline_on_the_same_cases_is_named(floors, beaten):
    """[75, 85] here and [35, 45] there: each side is held against the baseline's value on its
    own cases.
    """
    assert ("does not beat" not in said(HIGH, LOW, *floors)) == beaten


def test_what_cannot_be_known_says_what_it_takes():
    assert said(HIGH, cell(40.0, 35.0, 45.0, cases=29)).endswith(", and it takes 30.")
    assert said(HIGH, LOW, 81, 39) == (
        "For A, F1 is 80.0 % here and 40.0 % there: a gap of 40.0 points [32.9, 47.1]; it does not beat the baseline "
        "“M” (81.0 % here and 39.0 % there), so that this says nothing about reading."
    )


def test_a_baseline_within_the_interval_is_not_beaten():
    assert Floor("M", cell(75.0)).holds(HIGH) and not Floor("M", cell(74.9)).holds(HIGH)
    assert Floor("M", cell(80.0)).holds(cell(80.0)) and not Floor("M", cell(79.9)).holds(cell(80.0))
    assert not Floor().holds(HIGH)


@pytest.mark.parametrize("value", [45.0, 35.0])
def test_an_interval_that_ends_at_zero_shows_no_difference(value):
    first = cell(40.0, 37.0, 43.0)  # 3 and 4 points for themselves are 5 together
    assert not Pair("A", first, cell(value, value - 4, value + 4)).shown
    assert Pair("A", first, cell(value, value - 3.9, value + 3.9)).shown


def test_one_system_alone_leads_nobody():
    assert leader([("A", HIGH)], "F1", " %") == "F1 80.0 % (A alone was measured)"
    assert leader([("A", HIGH), ("B", LOW)], "F1", " %") == "F1 80.0 % by A"
    assert "no clear leader (up to 80.0; A and B are" in leader(
        [("A", HIGH), ("B", cell(74.0, 70.0, 79.0))], "F1"
    )
    assert "no clear leader" in leader([("A", cell(80.04)), ("B", cell(80.01))], "F1")
    assert leader([("A", cell(80.0)), ("B", cell(79.0))], "F1") == "F1 80.0 by A"


@pytest.mark.parametrize(("p", "said"), [(0.02, "F1 80.0 by A"), (0.06, "F1 has no clear leader")])
def test_a_leader_on_the_same_sentences_is_one_by_the_paired_difference(p, said):
    """Overlapping intervals of both systems leave it open; their paired difference decides."""
    scores, bounds = (0.8, 0.8, 0.8), {"f1": Interval(0.01, 0.08)}
    paired = Difference(first=scores, second=scores, sentences=FEW, bounds=bounds, p=p)
    inputs = SimpleNamespace(scores=SimpleNamespace(between=lambda first, second: paired))
    cells = [
        ("A", replace(HIGH, of={"extractor": "a"})),
        ("B", cell(76.0, 71.0, 80.0, of={"extractor": "b"})),
    ]
    assert leader(cells, "F1").startswith("F1 has no clear leader")
    assert leader(cells, "F1", inputs=inputs).startswith(said)
    third = (
        "C",
        cells[1][1],
    )  # two rivals, each with a p-value of .02 or .06 that counts twice, as for a bold mark
    assert leader([*cells, third], "F1", inputs=inputs).startswith(said)
    paired = replace(paired, p=0.03)
    assert leader([*cells, third], "F1", inputs=inputs).startswith(
        "F1 has no clear leader (up to 80.0; A, B and C"
    )


def of(corpus: str, extractor: str, stratum: str, value: float, noise: str = "none") -> Cell:
    return cell(
        value, of={"corpus": corpus, "extractor": extractor, "noise": noise, "stratum": stratum}
    )


SEEN, UNSEEN = {"stratum": "entirely_seen"}, {"stratum": "unseen"}


def test_pairs_are_of_one_system_each_in_the_order_of_the_cells():
    cells = [
        of("webnlg", name, **stratum, value=value)
        for name, value in (("prgc", 9), ("casrel", 8))
        for stratum in (SEEN, UNSEEN)
    ]
    again = of("webnlg", "prgc", "unseen", 1)  # another row of the same system
    alone = [
        of("webnlg", "pfn", "entirely_seen", 7),
        of("webnlg", "casrel", "unseen", 5, noise="noising"),
    ]
    found = pairs_of([*cells, again, *alone, Cell(), Cell(3.0)], SEEN, UNSEEN)
    assert [(pair.name, pair.first.value, pair.second.value) for pair in found] == [
        ("PRGC", 9, 9),
        ("CasRel", 8, 8),
    ]
    (noised,) = pairs_of([*cells, *alone], UNSEEN, {**UNSEEN, "noise": "noising"})
    assert (noised.name, noised.first.value, noised.second.value) == ("CasRel", 8, 5)


def test_pairs_of_several_corpora_say_so_and_have_their_own_baseline():
    cells = [
        of(corpus, "casrel", **stratum, value=8)
        for corpus in ("webnlg", "nyt24")
        for stratum in (SEEN, UNSEEN)
    ]
    cells += [of("nyt24", "memorise", "entirely_seen", 6), of("nyt24", "nothing", "unseen", 1)]
    first, second = pairs_of(cells, SEEN, UNSEEN)
    assert (first.name, [floor.cell.value for floor in first.floors]) == (
        "CasRel on WebNLG",
        [None, None],
    )
    assert second.name == "CasRel on NYT24"
    assert [(floor.cell.value, floor.name) for floor in second.floors] == [
        (6, "Memorised triples"),
        (1, "Nothing"),
    ]
    assert {
        each for pair in pairs_of(cells, SEEN, UNSEEN, floors=False) for each in pair.floors
    } == {Floor()}


def test_noising_is_held_against_the_same_baseline():
    cells = [of("webnlg", "casrel", "unseen", 8, noise) for noise in ("none", "noising")]
    cells.append(of("webnlg", "memorise", "unseen", 6))
    (pair,) = pairs_of(cells, UNSEEN, {**UNSEEN, "noise": "noising"})
    assert [floor.cell.value for floor in pair.floors] == [6, 6]
