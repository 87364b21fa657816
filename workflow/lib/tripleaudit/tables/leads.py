"""The sentences of the report's first screen: what a study found, with the numbers of its tables and their differences.

They are about one system, the best of those that were measured: what others do, the tables say. Their differences are
those of the tables' answers.
"""

from typing import Final, NamedTuple

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.rows import split_two_step
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Table, number
from tripleaudit.tables.gates import FEW, Pair, several
from tripleaudit.tables.inputs import RunKey, TableInputs, run_of

LOOKUP: Final = "memorise"
SEEN: Final = "entirely_seen"
BEYOND: Final = ("partially_seen", "unseen")  # triples that looking up cannot know
ON: Final = {
    SEEN: "on entirely seen triples",
    "partially_seen": "on partially seen triples",
    "unseen": "on unseen triples",
    "+".join(BEYOND): "on partially seen and unseen triples together",
}


class Change(NamedTuple):
    """A difference of two F1, in points, with its interval, and whether it can be told from none."""

    value: float
    low: float
    high: float
    told: bool

    def __abs__(self) -> "Change":
        return self if self.value >= 0 else Change(-self.value, -self.high, -self.low, self.told)

    def __str__(self) -> str:
        """``8.5 points [7.2, 9.8]``."""
        return f"{number(self.value, 1)} points [{number(self.low, 1)}, {number(self.high, 1)}]"


def stated(cell: Cell) -> str:
    """``64.3 % [51.8, 76.1]`` with the cell's mark, the value alone where it has no interval."""
    bounds = "" if cell.low is None else f" [{number(cell.low, cell.digits)}, {number(cell.high, cell.digits)}]"
    return f"{cell.shown}{cell.mark} %{bounds}"


def changed(inputs: TableInputs, first: Cell, second: Cell) -> Change | None:
    """Return the second F1 minus the first one; None where one was not measured or has no interval."""
    if first.of is None or second.of is None:
        return None
    pair = Pair("", first, second, difference=inputs.scores.between(first.of, second.of))
    return None if pair.bounds is None else Change(second.value - first.value, *pair.bounds, pair.told)


def best_run(table: Table, **of: str) -> tuple[RunKey, str] | None:
    """Return the run with the greatest F1 of those that a table has without noising, and how it is called.

    Of baselines none is taken, and of systems that were asked about a part of the test set neither.
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
    if len({corpus for corpus, _ in systems}) > 1:
        name += f" on {labels.corpus(best.of['corpus'])}"
    return run_of(best.of), name + (f", the best of {len(systems)} systems," if len(systems) > 1 else "")


def lead_types(table: Table, inputs: TableInputs) -> str:
    """From seen to partially seen to unseen triples, and what Entity Noising changes."""
    found = best_run(table)
    if found is None:
        return ""
    run, name = found
    seen, *beyond = (_cell(inputs, run, stratum) for stratum in (SEEN, *BEYOND))
    strata = list(BEYOND)
    if any(cell.cases is not None and cell.cases < FEW for cell in beyond):
        strata, beyond = ["+".join(BEYOND)], [inputs.scores.pooled(run, BEYOND, matching=inputs.matching)]
    known = [(stratum, cell) for stratum, cell in zip(strata, beyond, strict=True) if cell.value is not None]
    if seen.value is None:
        return ""
    if not known:
        return f"F1 of {name} is {stated(seen)} {ON[SEEN]}; no test sentence asks for others, so that nothing falls."
    changes = [changed(inputs, seen, cell) for _, cell in known]
    places = [ON[SEEN], *(ON[stratum].replace("triples", "ones", 1) for stratum, _ in known)]
    if all(change is not None and change.told and change.value < 0 for change in changes):
        falls = [
            f"{stated(cell)} {place} ({abs(change)} less)"
            for (_, cell), change, place in zip(known, changes, places[1:], strict=True)
        ]
        told = f"F1 of {name} falls from {stated(seen)} {ON[SEEN]} to {several(falls)}"
    else:
        others = [
            f"{stated(cell)} {place}{_beside(change)}"
            for (_, cell), change, place in zip(known, changes, places[1:], strict=True)
        ]
        told = f"F1 of {name} is {stated(seen)} {ON[SEEN]}, and {several(others)}"
    looked = [
        _cell(inputs, run._replace(extractor=LOOKUP), stratum) for stratum in (SEEN, *(stratum for stratum, _ in known))
    ]
    if all(cell.value is not None for cell in looked):
        told += f"; looking triples up has {several([cell.shown for cell in looked])} %"
    return " ".join(filter(None, (told + ".", _noised(inputs, run, strata[-1]))))


def _beside(change: Change | None) -> str:
    if change is None:
        return ""
    if not change.told:
        return f" (no difference can be told: {change})"
    return f" ({abs(change)} {'more' if change.value > 0 else 'less'})"


def _noised(inputs: TableInputs, run: RunKey, stratum: str) -> str:
    plain, noised = (_cell(inputs, one, stratum) for one in (run, run._replace(noise="noising")))
    change = changed(inputs, plain, noised)
    if change is None:
        return ""
    told = f"With Entity Noising, F1 {ON[stratum]} is {stated(noised)}: "
    if not change.told:
        return f"{told}no difference can be told ({change})."
    return f"{told}{abs(change)} {'more' if change.value > 0 else 'less'}."


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
    if not change.told:
        return f"Sentences without triples in the test cost {name} nothing that can be told: {stated(cell)}, {change}."
    return (
        f"When sentences without triples are added to the test, F1 of {name} falls by {abs(change)} to {stated(cell)}."
    )


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
    told = [f"{way}{_brought(change)}{marks[way]}" for way, change in changes.items() if change is not None]
    if not told:
        return ""
    first = f"On that test, {several(told)}"
    between = changed(inputs, *cells.values())
    if between is None:
        return f"{first}."
    if not between.told:
        return f"{first}; between the two no difference can be told ({between})."
    return f"{first}; the {'second' if between.value > 0 else 'first'} is better by {abs(between)}."


def _brought(change: Change) -> str:
    if not change.told:
        return f" changes nothing that can be told ({change})"
    return f" {'brings' if change.value > 0 else 'costs'} {abs(change)}"


def _cell(inputs: TableInputs, run: RunKey, stratum: str) -> Cell:
    if "+" in stratum:
        return inputs.scores.pooled(run, stratum.split("+"), matching=inputs.matching)
    return inputs.scores.cell(run, "f1", stratum=stratum, matching=inputs.matching)
