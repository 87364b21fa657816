"""The sentences of the report's first screen: what a study found, with the numbers of its tables and their differences.

They are about one system, the best of those that were measured: what others do, the tables say. Their differences are
those of the tables' answers.
"""

from typing import Final

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.rows import split_two_step
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.gates import FEW, Pair, bounded, sentences, several
from tripleaudit.tables.inputs import RunKey, TableInputs, run_of

LOOKUP: Final = "memorise"
SEEN: Final = "entirely_seen"
BEYOND: Final = ("partially_seen", "unseen")  # triples that looking up cannot know
TOGETHER: Final = "+".join(BEYOND)
ON: Final = {
    SEEN: "on entirely seen triples",
    "partially_seen": "on partially seen triples",
    "unseen": "on unseen triples",
    TOGETHER: "on partially seen and unseen triples together",
}


def changed(inputs: TableInputs, first: Cell, second: Cell) -> Pair | None:
    """Return two F1 and their difference; None where one was not measured or has no interval."""
    if first.of is None or second.of is None:
        return None
    pair = Pair("", first, second, difference=inputs.scores.between(first.of, second.of))
    return None if pair.bounds is None else pair


def best_run(table: Table, **of: str) -> tuple[RunKey, str] | None:
    """Return the run with the greatest F1 of those that a table has without noising, and how it is called.

    Of baselines none is taken, and of systems that were queried about a part of the test set neither.
    """
    cells = table.find("F1", metric="f1", stratum="all", noise="none", **of)
    cells = [cell for cell in cells if cell.of["extractor"] not in BASELINES]
    most = max((cell.cases or 0 for cell in cells), default=0)
    cells = [cell for cell in cells if (cell.cases or 0) == most]
    if not cells:
        return None
    best = max(cells, key=lambda cell: cell.value)
    systems = {(cell.of["corpus"], cell.of["extractor"]) for cell in cells}
    name = labels.extractor(best.of["extractor"])
    name += f" on {labels.corpus(best.of['corpus'])}" * (len({corpus for corpus, _ in systems}) > 1)
    plain = " without Entity Noising" * bool(table.find("F1", metric="f1", stratum="all", noise="noising", **of))
    return run_of(best.of), name + f", the best of {len(systems)} systems{plain}," * (len(systems) > 1)


def lead_types(table: Table, inputs: TableInputs) -> str:
    """From seen to partially seen to unseen triples, and what Entity Noising changes."""
    found = best_run(table)
    if found is None:
        return ""
    run, name = found
    seen, *cells = (_cell(inputs, run, stratum) for stratum in (SEEN, *BEYOND))
    if seen.value is None:
        return ""
    beyond = dict(zip(BEYOND, cells, strict=True))
    if any(cell.cases is not None and cell.cases < FEW for cell in cells):
        beyond = {TOGETHER: _cell(inputs, run, TOGETHER)}
    last = list(beyond)[-1]
    beyond = {stratum: cell for stratum, cell in beyond.items() if cell.value is not None}
    if not beyond:
        return f"F1 of {name} is {bounded(seen)} {ON[SEEN]}; no test sentence asks for others, so that nothing falls."
    changes = [changed(inputs, seen, cell) for cell in beyond.values()]
    others = [
        f"{bounded(cell)} {ON[stratum].replace('triples', 'ones', 1)}" + (f" ({_less(change)})" if change else "")
        for (stratum, cell), change in zip(beyond.items(), changes, strict=True)
    ]
    falls = all(change is not None and change.shown and change.change < 0 for change in changes)
    is_, to = ("falls from", " to") if falls else ("is", ", and")
    stated = f"F1 of {name} {is_} {bounded(seen)} {ON[SEEN]}{to} {several(others)}"
    looked = [_cell(inputs, run._replace(extractor=LOOKUP), stratum) for stratum in (SEEN, *beyond)]
    if all(cell.value is not None for cell in looked):
        stated += f"; looking triples up has {several([cell.shown for cell in looked])} %"
    return sentences(stated + ".", _noised(inputs, run, last))


def _less(change: Pair) -> str:
    if not change.shown:
        return f"no difference is shown: {change.points(signed=True)}"
    return f"{change.points()} {'more' if change.change > 0 else 'less'}"


def _noised(inputs: TableInputs, run: RunKey, stratum: str) -> str:
    plain, noised = (_cell(inputs, one, stratum) for one in (run, run._replace(noise="noising")))
    change = changed(inputs, plain, noised)
    if change is None:
        return ""
    less = _less(change) if change.shown else f"no difference is shown ({change.points(signed=True)})"
    return f"With Entity Noising, F1 {ON[stratum]} is {bounded(noised)}: {less}."


def lead_end_to_end(table: Table, inputs: TableInputs) -> str:
    """What zero-triple sentences in the test cost, of the system that is best on sentences with triples."""
    found = best_run(table, training="nz", testing="nz")
    if found is None:
        return ""
    run, name = found[0], labels.extractor(found[0].extractor)
    usual, cell = (_cell(inputs, run._replace(testing=testing), "all") for testing in ("nz", "wz"))
    change = changed(inputs, usual, cell)
    if change is None:
        return ""
    if not change.shown:
        left = f"{bounded(cell)}, {change.points(signed=True)}"
        return f"Sentences without triples in the test are not shown to cost {name} anything: {left}."
    falls = f"falls by {change.points()} to {bounded(cell)}"
    return f"When sentences without triples are added to the test, F1 of {name} {falls}."


def lead_two_step(table: Table, inputs: TableInputs) -> str:
    """What training with zero-triple sentences and a classifier in front bring back, and whether one is better."""
    found = best_run(table, training="nz", testing="wz")
    if found is None:
        return ""
    steps, _ = found
    gate, name = split_two_step(steps.extractor)
    alone, trained = steps._replace(extractor=name), steps._replace(extractor=name, training="wz")
    ways = {"training with zero-triple sentences": trained, f"{labels.extractor(gate)} in front": steps}
    before, cells = _cell(inputs, alone, "all"), {way: _cell(inputs, run, "all") for way, run in ways.items()}
    changes = {way: changed(inputs, before, cell) for way, cell in cells.items()}
    marks = {way: inputs.scores.mark(run) for way, run in ways.items()}
    stated = [f"{way}{_brought(change)}{marks[way]}" for way, change in changes.items() if change is not None]
    if not stated:
        return ""
    first = f"On that test, {several(stated)}"
    between = changed(inputs, *cells.values())
    if between is None:
        return f"{first}."
    if not between.shown:
        return f"{first}; between the two no difference is shown ({between.points(signed=True)})."
    return f"{first}; the {'second' if between.change > 0 else 'first'} is better by {between.points()}."


def _brought(change: Pair) -> str:
    if not change.shown:
        return f" is not shown to change anything ({change.points(signed=True)})"
    return f" {'brings' if change.change > 0 else 'costs'} {change.points()}"


def _cell(inputs: TableInputs, run: RunKey, stratum: str) -> Cell:
    return inputs.scores.cell(run, "f1", stratum=stratum, matching=inputs.matching)
