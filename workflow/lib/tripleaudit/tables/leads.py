"""The sentences of the report's first screen: what a study found, with the numbers of its tables
and their differences.

They are about one system, the best of those that were measured: what others do, the tables say.
Their differences are those of the tables' answers.
"""

from typing import Final

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.rows import split_two_step
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.gates import FEW, Pair, bounded, reservation, sentences, several
from tripleaudit.tables.inputs import RunKey, TableInputs, run_of
from tripleaudit.tables.unread_answers import UNREAD

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
ADDED: Final = ("on sentences with triples", "when sentences without triples are added to the test")
WITHOUT: Final = "trained without zero-triple sentences"
END_TO_END: Final = "trained end to end with zero-triple sentences"
IN_TWO_STEPS: Final = "in two steps"


def changed(inputs: TableInputs, name: str, first: Cell, second: Cell) -> Pair | None:
    """Return two F1 of a system and their difference; None where one was not measured."""
    if first.of is None or second.of is None:
        return None
    return Pair(name, first, second, difference=inputs.scores.between(first.of, second.of))


def best_run(table: Table, inputs: TableInputs, **of: str) -> tuple[RunKey, str, str] | None:
    """Return the run with the greatest F1 of those that a table has of its first corpus without
    noising.

    Of baselines none is taken, and of systems that were queried about a part of the test set
    neither.

    Returns:
        the run, how its system is called, and of how many it is the best.
    """
    measured = {"metric": "f1", "stratum": "all", "matching": inputs.matching, **of}
    cells = [
        cell
        for cell in table.find("F1", noise="none", **measured)
        if cell.of["extractor"] not in BASELINES
    ]
    cells = [cell for cell in cells if UNREAD not in cell.mark]
    cells = [cell for cell in cells if cell.of["corpus"] == cells[0].of["corpus"]]
    most = max((cell.cases or 0 for cell in cells), default=0)
    cells = [cell for cell in cells if (cell.cases or 0) == most]
    if not cells:
        return None
    best = run_of(max(cells, key=lambda cell: cell.value).of)
    name = labels.extractor(best.extractor)
    name += f" on {labels.corpus(best.corpus)}" * (len(inputs.corpora | {best.corpus}) > 1)
    plain = " without Entity Noising" * bool(table.find("F1", noise="noising", **measured))
    return best, name, f", the best of {len(cells)} systems{plain}," * (len(cells) > 1)


def lead_types(table: Table, inputs: TableInputs) -> str:
    """From seen to partially seen to unseen triples, and what Entity Noising changes."""
    found = best_run(table, inputs)
    if found is None:
        return ""
    run, name, best_of = found
    seen, *cells = (_cell(inputs, run, stratum) for stratum in (SEEN, *BEYOND))
    if seen.value is None:
        return ""
    beyond = dict(zip(BEYOND, cells, strict=True))
    if any(cell.cases is not None and cell.cases < FEW for cell in cells):
        pooled = _cell(
            inputs, run, TOGETHER
        )  # of per-sentence counts, without which they stay apart
        beyond = {TOGETHER: pooled} if pooled.value is not None else beyond
    last = list(beyond)[-1]
    beyond = {stratum: cell for stratum, cell in beyond.items() if cell.value is not None}
    if not beyond:
        return f"F1 of {name} is {bounded(seen)} {ON[SEEN]}; no test sentence asks for others, so that nothing falls."
    changes = {stratum: changed(inputs, name, seen, cell) for stratum, cell in beyond.items()}
    doubts = [
        reservation(change, ON[SEEN], ON[stratum]) for stratum, change in changes.items() if change
    ]
    if any(doubts):
        return next(filter(None, doubts))
    others = [
        f"{bounded(cell)} {ON[stratum].replace('triples', 'ones', 1)}"
        + (f" ({_less(change)})" if change else "")
        for (stratum, cell), change in zip(beyond.items(), changes.values(), strict=True)
    ]
    falls = all(
        change is not None and change.shown and change.change < 0 for change in changes.values()
    )
    is_, to = ("falls from", " to") if falls else ("is", ", and")
    foreign = ", which this study did not train," * (run.extractor in inputs.untrained)
    stated = (
        f"F1 of {name}{foreign or best_of} {is_} {bounded(seen)} {ON[SEEN]}{to} {several(others)}"
    )
    looked = [_cell(inputs, run._replace(extractor=LOOKUP), stratum) for stratum in (SEEN, *beyond)]
    if all(cell.value is not None for cell in looked):
        stated += f"; looking triples up has {several([cell.shown for cell in looked])} %"
    return sentences(stated + ".", _noised(inputs, run, name, last))


def _less(change: Pair) -> str:
    if not change.shown:
        return f"no difference is shown: {change.points(signed=True)}"
    return f"{change.points()} {'more' if change.change > 0 else 'less'}"


def _noised(inputs: TableInputs, run: RunKey, name: str, stratum: str) -> str:
    plain, noised = (_cell(inputs, one, stratum) for one in (run, run._replace(noise="noising")))
    change = changed(inputs, f"{name}+EN", plain, noised)
    if change is None:
        return ""
    if doubt := reservation(change, "without Entity Noising", "with it"):
        return doubt
    less = (
        _less(change) if change.shown else f"no difference is shown ({change.points(signed=True)})"
    )
    return f"With Entity Noising, F1 {ON[stratum]} is {bounded(noised)}: {less}."


def lead_end_to_end(table: Table, inputs: TableInputs) -> str:
    """What zero-triple sentences in the test cost, of the system that is best on sentences with
    triples.
    """
    found = best_run(table, inputs, training="nz", testing="nz")
    if found is None:
        return ""
    run, name, _ = found
    usual, cell = (_cell(inputs, run._replace(testing=testing), "all") for testing in ("nz", "wz"))
    change = changed(inputs, name, usual, cell)
    if change is None:
        return ""
    if doubt := reservation(change, *ADDED):
        return doubt
    if not change.shown:
        left = f"{bounded(cell)}, {change.points(signed=True)}"
        return (
            f"Sentences without triples in the test are not shown to cost {name} anything: {left}."
        )
    falls = f"falls by {change.points()} to {bounded(cell)}"
    return f"When sentences without triples are added to the test, F1 of {name} {falls}."


def lead_two_step(table: Table, inputs: TableInputs) -> str:
    """What training with zero-triple sentences and a classifier in front bring back, and whether
    one is better.
    """
    found = best_run(table, inputs, training="nz", testing="wz")
    if found is None:
        return ""
    steps, _, _ = found
    gate, extractor = split_two_step(steps.extractor)
    name = labels.extractor(extractor) + f" on {labels.corpus(steps.corpus)}" * (
        len(inputs.corpora) > 1
    )
    alone = steps._replace(extractor=extractor)
    before, trained, behind = (
        _cell(inputs, run, "all") for run in (alone, alone._replace(training="wz"), steps)
    )
    between = changed(inputs, name, trained, behind)
    changes = {
        f"training {name} with such sentences": changed(inputs, name, before, trained),
        f"{labels.extractor(gate)} in front of {name}": changed(inputs, name, before, behind),
    }
    conditions = ((END_TO_END, IN_TWO_STEPS), (WITHOUT, END_TO_END), (WITHOUT, IN_TWO_STEPS))
    for change, sides in zip((between, *changes.values()), conditions, strict=True):
        if change and (doubt := reservation(change, *sides, between_trainings=True)):
            return doubt
    stated = [way + _brought(change) for way, change in changes.items() if change]
    if not stated:
        return ""
    first = f"On a test with zero-triple sentences, {several(stated)}"
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
