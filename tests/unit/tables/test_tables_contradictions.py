"""No two statements of a study's tables contradict each other on the same two numbers."""

import itertools

import pytest

from support.contradictions import contradictions, statements
from support.scored import Results
from tripleaudit.descriptors import TABLES
from tripleaudit.tables.building import build_table
from tripleaudit.tables.cells import Table
from tripleaudit.tables.inputs import TableInputs


@pytest.fixture(scope="module", params=[(1, 0.62), (3, 0.62), (3, 0.57), (3, 0.55)], ids=str)
def inputs(request, tmp_path_factory) -> TableInputs:
    """Studies in which noising gains much, little, hardly anything and nothing, with one and with three seeds."""
    seeds, noised = request.param
    made = Results(tmp_path_factory.mktemp("study"))
    for noise, quality in (("none", 0.55), ("noising", noised)):
        for protocol in ("original", "rearranged", "augmented"):
            less = {"original": 0, "rearranged": 0.03, "augmented": 0.06}[protocol]
            made.run("casrel", quality=quality - less, noise=noise, protocol=protocol, seeds=range(1, seeds + 1))
    for training, testing in (("nz", "wz"), ("wz", "nz"), ("wz", "wz")):
        zero = 100 if testing == "wz" else 0
        made.run("casrel", quality=0.55, training=training, testing=testing, zero=zero, seeds=range(1, seeds + 1))
    made.run("zcc-binary+casrel", quality=0.56, testing="wz", zero=100, seeds=range(1, seeds + 1))
    return made.inputs()


def test_studies_do_not_contradict_themselves(inputs):
    names = [name for name, table in TABLES.items() if table.needs == "scores"]
    found = [build_table(name, inputs) for name in names]
    assert len(list(statements(found))) >= 4
    assert contradictions(found) == []
    for table in found:  # a bold value is distinguishable from every other one of its column
        for row, rival in itertools.permutations(table.rows, 2):
            for cell, other in zip(row.cells, rival.cells, strict=True):
                if cell.bold and other.of and row.group == rival.group and other.of["matching"] == cell.of["matching"]:
                    assert cell.of["metric"] != "f1" or inputs.scores.between(other.of, cell.of).shown


def test_a_contradiction_is_found():
    reported = "For A, F1 is 75.6 % on seen triples and 71.2 % on unseen triples: a gap of 4.4 points [1.2, 7.5]."
    tie = "For A, no difference is shown between F1 here and there: 75.6 % and 71.2 %, a difference of 4.4 points."
    tables = [Table(name, "", [], [], answer=answer) for name, answer in (("x", reported), ("y", tie))]
    assert len(contradictions(tables)) == 1 and contradictions(tables[:1]) == []
