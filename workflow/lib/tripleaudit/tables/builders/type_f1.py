"""``type-f1``: F1 by what training has shown of a triple (rte-generalization, table 2).

Two files define its numbers: ``grid`` selects and marks the cells, ``result_frames`` computes their
means and intervals.
"""

from tripleaudit.tables import reported
from tripleaudit.tables.cells import Table
from tripleaudit.tables.grid import score_columns, strata_table
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import OverviewColumn, TableSpec

READS = ("data/reported/rte_eval.csv",)


def type_f1(study: TableInputs) -> Table:
    """The original split, or the rearranged one where a study trains on that alone.

    The paper's baseline rows of table 2 recur in table 3, which has those with noising too.
    """
    has_original = (study.runs["protocol"] == "original").any()
    split = "original" if has_original else "rearranged"
    columns = score_columns(with_strata=True, only_f1=True, protocol=split)
    caption = f"F1 and type F1 (%) on the {split} test sets."
    return strata_table(study, caption, columns, reported.in_rte(3), split)


TYPE_F1 = TableSpec(
    name="type-f1",
    order=0,
    build=type_f1,
    possible=lambda study: study.compared,
    takes_by=True,
    question="Does an extractor generalise, or does it recall triples that it was trained on?",
    overview=(
        OverviewColumn("all triples", {"stratum": "all"}),
        OverviewColumn("unseen ones", {"stratum": "unseen"}),
    ),
)
