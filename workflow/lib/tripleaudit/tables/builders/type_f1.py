"""``type-f1``: F1 by what training has shown of a triple (rte-generalization, table 2).

Two files define its numbers: ``grid`` selects and marks the cells, ``inputs`` computes their means
and intervals.
"""

from functools import partial

from tripleaudit.core.descriptors import Headline, TableSpec
from tripleaudit.tables import reported
from tripleaudit.tables.cells import Table
from tripleaudit.tables.grid import compared, strata_columns
from tripleaudit.tables.inputs import RunKey, TableInputs

READS = ("data/reported/rte_eval.csv",)


def type_f1(inputs: TableInputs) -> Table:
    """The original split, or the rearranged one where a study trains on that alone.

    The paper's baseline rows of table 2 recur in table 3, which has those with noising too.
    """
    split = (
        "original"
        if any(run.protocol == "original" for run in inputs.scores.runs)
        else "rearranged"
    )
    columns = strata_columns("", partial(RunKey._replace, protocol=split), full=False)
    return compared(
        inputs, f"F1 and type F1 (%) on the {split} test sets.", columns, reported.in_rte(3), split
    )


TYPE_F1 = TableSpec(
    name="type-f1",
    order=0,
    build=type_f1,
    possible=lambda study: study.compared,
    question="Does an extractor generalise, or does it recall triples that it was trained on?",
    overview=(
        Headline("all triples", {"stratum": "all"}),
        Headline("unseen ones", {"stratum": "unseen"}),
    ),
)
