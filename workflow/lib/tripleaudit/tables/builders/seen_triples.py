"""``type-f1``: F1 by what training has shown of a triple (rte-generalization, table 2).

Whoever wants to follow a number of it needs three files besides: how a cell is found and marked
(``grid``), what it is the mean of, with which interval (``inputs``), and when a sentence may be
said about it (``gates``).
"""

from collections.abc import Iterable, Sequence
from functools import partial

from tripleaudit.core.descriptors import Headline, TableSpec
from tripleaudit.tables import reported
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.gates import (
    FEW,
    NOT_MEASURED,
    bounded,
    contrast,
    pairs_of,
    sentences,
    several,
)
from tripleaudit.tables.grid import compared, strata_columns
from tripleaudit.tables.inputs import RunKey, TableInputs, run_of
from tripleaudit.tables.leads import BEYOND, ON, SEEN, TOGETHER, lead_types

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


def answer_types(table: Table, inputs: TableInputs) -> str:
    """Say what systems find beyond what looking up can know, what they lose there, and what
    Entity Noising changes.
    """
    cells = table.find()
    alike: dict[
        tuple[str, ...], list[Cell]
    ] = {}  # corpora on whose test sets the same can be stated
    for corpus in dict.fromkeys(cell.of["corpus"] for cell in cells):
        own = [cell for cell in cells if cell.of["corpus"] == corpus]
        strata, pooled = _strata_beyond(own, inputs)
        alike.setdefault(strata, []).extend([*own, *pooled])
    found = [each for strata, own in alike.items() for each in _stated_beyond(own, strata, inputs)]
    if cells and not found and {cell.of["stratum"] for cell in cells}.isdisjoint(BEYOND):
        return (
            "No gap can be measured, as no test sentence has other than entirely seen triples; "
            "it takes such sentences."
        )
    return sentences(*dict.fromkeys(found)) if found else NOT_MEASURED


def _strata_beyond(
    cells: Sequence[Cell], inputs: TableInputs
) -> tuple[tuple[str, ...], list[Cell]]:
    """Return the strata to hold against entirely seen triples, and their cells where two are taken
    together.

    They are where one of them has too few sentences, if per-sentence counts are available.
    """
    few = [
        cell
        for cell in cells
        if cell.of["stratum"] in BEYOND and cell.cases is not None and cell.cases < FEW
    ]
    if not few:
        return BEYOND, []
    runs = dict.fromkeys((run_of(cell.of), cell.of["matching"]) for cell in cells)
    pooled = [
        inputs.scores.cell(run, "f1", stratum=TOGETHER, matching=matching) for run, matching in runs
    ]
    pooled = [cell for cell in pooled if cell.value is not None]
    return ((TOGETHER,), pooled) if pooled else (BEYOND, [])


def _stated_beyond(cells: Sequence[Cell], strata: Sequence[str], inputs: TableInputs) -> list[str]:
    """Return sentences about the systems of some corpora, on triples of the strata and entirely
    seen ones.
    """
    stated, noised = [], []
    for stratum in strata:
        beyond = {"stratum": stratum}
        pairs = pairs_of(cells, {"stratum": SEEN}, beyond, inputs=inputs)
        stated += [contrast(pairs, ON[SEEN], ON[stratum])] if pairs else []
        pairs = pairs_of(cells, beyond, {**beyond, "noise": "noising"}, inputs=inputs)
        pairs = [pair._replace(name=f"{pair.name}+EN") for pair in pairs]
        noised += (
            [contrast(pairs, "without Entity Noising", "with it", f"F1 {ON[stratum]}")]
            if pairs
            else []
        )
    together = ""
    if len(strata) == 1:
        sizes = {
            name: [cell.cases for cell in cells if cell.of["stratum"] == name and cell.cases]
            for name in BEYOND
        }
        counted = " and ".join(str(min(each, default=0)) for each in sizes.values())
        together = (
            f"Partially seen and unseen triples are taken together: alone they have {counted} test sentences, and it "
            f"takes {FEW}."
        )
    return [
        each for each in (*_found_beyond(cells, strata, inputs), together, *stated, *noised) if each
    ]


def _found_beyond(
    cells: Sequence[Cell], strata: Sequence[str], inputs: TableInputs
) -> Iterable[str]:
    """Say what the systems find of the triples that looking up cannot know, and what looking up
    finds.
    """
    plain = " without Entity Noising" * any(cell.of["noise"] == "noising" for cell in cells)
    for stratum in strata:
        here = {"stratum": stratum}
        pairs = pairs_of(cells, here, here, inputs=inputs)
        pairs = [pair for pair in pairs if pair.first.cases is None or pair.first.cases >= FEW]
        known = [pair for pair in pairs if pair.floors[0].cell.value is not None]
        if not known:
            continue
        beyond = [pair for pair in known if not pair.floors[0].holds(pair.first)]
        floors = dict.fromkeys(f"{pair.floors[0].cell.shown} %" for pair in known)
        where = f"{ON[stratum]}, where looking up has {several(list(floors))}"
        if len(known) == 1:
            finds, (pair,) = "finds" if beyond else "is not shown to find", known
            found = f"{pair.name} {finds} more than looking up {ON[stratum]}"
            yield f"{found}: F1 is {bounded(pair.first)}, against {next(iter(floors))}."
        elif not beyond:
            yield f"None of {len(known)} systems{plain} is shown to find more than looking up {where}."
        else:
            most = max(beyond, key=lambda pair: pair.first.value)
            find = "finds" if len(beyond) == 1 else "find"
            yield (
                f"{len(beyond)} of {len(known)} systems{plain} {find} more than looking up {where}; most {most.name}: "
                f"F1 {bounded(most.first)}."
            )


TYPE_F1 = TableSpec(
    name="type-f1",
    order=0,
    build=type_f1,
    possible=lambda study: study.compared,
    question="Does an extractor generalise, or does it recall triples that it was trained on?",
    answer=answer_types,
    lead=lead_types,
    overview=(
        Headline("all triples", {"stratum": "all"}),
        Headline("unseen ones", {"stratum": "unseen"}),
    ),
)
