"""What stands between two values and a conclusion: too few cases, zeros, ties, baselines,
unfinished trainings.

Answers are sentences about values. A value can be right and still say nothing; then the sentence
says why instead of drawing the conclusion.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.difference import Difference
from tripleaudit.scoring.significance import ALPHA, holm
from tripleaudit.tables import labels
from tripleaudit.tables.cells import MIN_CASES, Cell, number
from tripleaudit.tables.inputs import UNEQUAL, UNFINISHED, UNSETTLED, TableInputs
from tripleaudit.tables.unread_answers import UNREAD
from tripleaudit.training.convergence import FEWEST

NOT_MEASURED: Final = (
    "This was not measured in the study: it takes a system, or a training, that the table is about."
)
SHOWN: Final = 4  # names of a list that stays short
FEW: Final = MIN_CASES


class Floor(NamedTuple):
    """The best trivial baseline on the cases of a value.

    Attributes:
        name: of the baseline.
        cell: what it reaches there, a gap where none was measured.
        difference: the value minus that, from the per-sentence counts where they are available.
    """

    name: str = ""
    cell: Cell = Cell()
    difference: Difference | None = None

    def holds(self, value: Cell) -> bool:
        """Whether the value is not shown to exceed it; without counts, whether its lower bound
        does not.
        """
        if value.value is None or self.cell.value is None:
            return False
        if self.difference is not None and self.difference.bounds is not None:
            return not self.difference.shown or self.difference.change() < 0
        return (value.low if value.low is not None else value.value) <= self.cell.value


class Pair(NamedTuple):
    """Two values of one system, in percent with intervals.

    Attributes:
        name: of the system.
        first, second: the values.
        floors: the best trivial baseline on the cases of either value.
        difference: second minus first, from the per-sentence counts where they are available.
    """

    name: str
    first: Cell
    second: Cell
    floors: Sequence[Floor] = (Floor(), Floor())
    difference: Difference | None = None

    @property
    def change(self) -> float:
        """The second value minus the first, in points, as the tables compute drops: before
        rounding.
        """
        return self.second.value - self.first.value

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The interval of second minus first in points; without counts from the intervals of
        both, as if apart.
        """
        if self.difference is not None and self.difference.bounds is not None:
            bound = self.difference.bounds["f1"]
            return 100 * bound.low, 100 * bound.high
        first, second = self.first, self.second
        if not (_spread(first) and _spread(second)):
            return None
        return (
            self.change - math.hypot(second.value - second.low, first.high - first.value),
            self.change + math.hypot(second.high - second.value, first.value - first.low),
        )

    def points(self, signed: bool = False) -> str:
        """``8.5 points [7.2, 9.8]``: the size of the change, or the change itself; its interval
        where it has one.
        """
        sign, digits = -1 if self.change < 0 and not signed else 1, self.first.digits
        size = f"{number(sign * self.change, digits)} points"
        if self.bounds is None:
            return size
        low, high = sorted(sign * bound for bound in self.bounds)
        return f"{size} [{number(low, digits)}, {number(high, digits)}]"

    @property
    def shown(self) -> bool:
        """Whether there is a difference between the values; two without intervals are taken as
        they stand.
        """
        if self.first.shown == self.second.shown:
            return False
        if self.difference is not None:
            return self.difference.shown
        return self.bounds is None or self.bounds[0] > 0 or self.bounds[1] < 0


def pairs_of(
    cells: Iterable[Cell],
    first: Mapping[str, str],
    second: Mapping[str, str],
    *,
    floors: bool = True,
    inputs: TableInputs | None = None,
) -> list[Pair]:
    """Return the values of every system that was measured under two conditions, in the order of a
    table's cells.

    Args:
        cells: of several about one system and condition, the first counts. first, second: what they
        are of, as ``{"stratum": "unseen"}``; without noising unless a condition says so. inputs:
        the counts behind the cells; a system is named with its corpus where the study has several.
        floors: whether the best trivial baseline, never trained with noising, stands next to each
        value.
    """
    known = [cell for cell in cells if cell.of and cell.value is not None]
    systems = dict.fromkeys((cell.of["corpus"], cell.of["extractor"]) for cell in known)
    several_corpora = (
        len({*(inputs.corpora if inputs else ()), *(corpus for corpus, _ in systems)}) > 1
    )

    def under(condition: Mapping[str, str]) -> dict[tuple[str, str], Cell]:
        found = [cell for cell in known if condition.items() <= cell.of.items()]
        return {(cell.of["corpus"], cell.of["extractor"]): cell for cell in reversed(found)}

    def difference(one: Cell, other: Cell) -> Difference | None:
        return inputs.scores.between(one.of, other.of) if inputs and one.of and other.of else None

    def floor(cell: Cell, trivial: Mapping[tuple[str, str], Cell]) -> Floor:
        """Return the best baseline on the cases of a value."""
        named = (
            (one.label, trivial.get((cell.of["corpus"], name), Cell()))
            for name, one in BASELINES.items()
        )
        name, most = best(named if floors else ())
        return Floor(name, most, difference(most, cell))

    sides = [under({"noise": "none", **condition}) for condition in (first, second)]
    baselines = [under({**condition, "noise": "none"}) for condition in (first, second)]
    pairs = []
    for corpus, name in systems:
        if name not in BASELINES and all((corpus, name) in side for side in sides):
            one, other = (side[corpus, name] for side in sides)
            held = [
                floor(cell, trivial) for cell, trivial in zip((one, other), baselines, strict=True)
            ]
            label = labels.extractor(name) + (
                f" on {labels.corpus(corpus)}" if several_corpora else ""
            )
            pairs.append(Pair(label, one, other, held, difference(one, other)))
    return pairs


def contrast(
    pairs: Sequence[Pair],
    first: str,
    second: str,
    what: str = "F1",
    *,
    between_trainings: bool = False,
) -> str:
    """Say how a score differs between two conditions, for one system or over several, and for which
    nothing follows.

    Pairs with a gap are left out. Conditions read as in "on entirely seen triples"; between two
    trainings unequal budgets matter.
    """
    pairs = [
        pair for pair in pairs if pair.first.value is not None and pair.second.value is not None
    ]
    if not pairs:
        return NOT_MEASURED
    doubts: dict[str, list[Pair]] = {}
    for pair in pairs:
        doubts.setdefault(_doubt(pair, between_trainings), []).append(pair)
    sure = doubts.pop("", [])
    return sentences(
        _conclusion(sure, first, second, what) if sure else "",
        *(_reservation(doubt, held, first, second, what) for doubt, held in doubts.items()),
    )


def reservation(pair: Pair, first: str, second: str, *, between_trainings: bool = False) -> str:
    """Say why nothing follows from a pair, however far apart its values; "" where that is no more than a tie, or a
    baseline that is not beaten."""
    doubt = _doubt(pair, between_trainings)
    return "" if doubt in ("", "floor", "tie") else _reservation(doubt, [pair], first, second, "F1")


def doubt_of_training(cells: Iterable[Cell], training: str = "a training behind it") -> str:
    """Say, where it is so, that a training behind cells was still rising or that nobody knows;
    "" else.
    """
    said = {
        UNFINISHED: f"{training[0].upper()}{training[1:]} was still rising when it ended ({UNFINISHED}).",
        UNSETTLED: f"Whether {training} was still rising is not known: too few evaluations ({UNSETTLED}).",
    }
    marks = "".join(cell.mark for cell in cells)
    return " ".join(text for mark, text in said.items() if mark in marks)


def _doubt(pair: Pair, between_trainings: bool) -> str:
    """Return why nothing follows from a pair, "" where something does."""
    cells = (pair.first, pair.second)
    if any(cell.cases is not None and cell.cases < FEW for cell in cells):
        return "few"
    if not any(cell.value for cell in cells):
        return "zero"
    if any(UNREAD in cell.mark for cell in cells):
        return "unread"
    if any(UNFINISHED in cell.mark for cell in cells):
        return "unfinished"
    if between_trainings and any(UNEQUAL in cell.mark for cell in cells):
        return "unequal"
    if all(floor.holds(cell) for cell, floor in zip(cells, pair.floors, strict=True)):
        return "floor"
    if not pair.shown:
        return "tie"
    if any(UNSETTLED in cell.mark for cell in cells):
        return "unsettled"
    return ""


def _reservation(doubt: str, pairs: Sequence[Pair], first: str, second: str, what: str) -> str:
    """Say why nothing follows for some systems, and in the same sentence what would change that."""
    if doubt == "floor":
        return _not_beating(pairs, first, second, what)
    names, one = several([pair.name for pair in pairs]), len(pairs) == 1
    values = (
        f" ({pairs[0].first.shown} % {first}, {pairs[0].second.shown} % {second})" if one else ""
    )
    cases = min(
        (cell.cases for pair in pairs for cell in pair[1:3] if cell.cases is not None), default=0
    )
    return {
        "few": f"Too few cases for a conclusion about {names}: one side rests on {counted(cases, 'test sentence')}"
        f"{values}, and it takes {FEW}.",
        "zero": f"{names} find{'s' * one} nothing right {first} or {second}, which says nothing about either: it takes "
        "more epochs, or more training sentences.",
        "unread": f"No conclusion for {names}: most answers were truncated, refused or could not be read ({UNREAD})"
        f"{values}; a greater max_tokens or another model is needed.",
        "unfinished": f"No conclusion for {names}: {'its training was' if one else 'their trainings were'} still "
        f"rising ({UNFINISHED}), so that the values{values} may change with more training; it takes more epochs.",
        "unsettled": f"No conclusion for {names}: there were too few evaluations to know whether training was still "
        f"rising ({UNSETTLED}){values}; it takes {FEWEST} in each training.",
        "unequal": f"No conclusion for {names}: the two trainings saw unequal numbers of sentences with triples "
        f"({UNEQUAL}), so the difference{values} may come from that alone; it takes two trainings of as many epochs.",
        "tie": f"For {names}, no difference is shown between {what} {first} and {second}"
        f"{_tie(pairs[0]) if one else ''}.",
    }[doubt]


def _not_beating(pairs: Sequence[Pair], first: str, second: str, what: str) -> str:
    names, one = several([pair.name for pair in pairs]), len(pairs) == 1
    baselines = several(
        list(
            dict.fromkeys(
                f"“{floor.name}”" for pair in pairs for floor in pair.floors if floor.name
            )
        )
    )
    plural = "s" if " and " in baselines else ""
    if one:
        floors = [
            f"{floor.cell.shown} % {where}"
            for where, floor in zip((first, second), pairs[0].floors, strict=True)
        ]
        stated = f"For {names}, {what} is {two_values(pairs[0], first, second)}"
        if not pairs[0].shown:
            stated = _reservation("tie", pairs, first, second, what)[:-1]
        beat = f"it does not beat the baseline{plural} {baselines} ({several(floors)})"
        return f"{stated}; {beat}, so that this says nothing about reading."
    beat = f"do not beat the baseline{plural} {baselines} {first} or {second}"
    return f"{names} {beat}, so that differences say nothing about reading before a system does, as after more epochs."


def _tie(pair: Pair) -> str:
    """Give the values and what the interval leaves open."""
    values = f": {pair.first.shown} % and {pair.second.shown} %"
    if pair.bounds is None:
        return values
    low, high = pair.bounds
    change = f", a difference of {pair.points(signed=True)}{_seeds(pair)}"
    p = pair.difference and pair.difference.p
    if p and p >= ALPHA and (low > 0 or high < 0):
        return f"{values}{change}, but p = {p:.2f} by randomisation"
    return f"{values}{change}"


def _seeds(pair: Pair) -> str:
    """Say so where a single training stands behind a value."""
    return ", with one seed" if 1 in (pair.first.seeds, pair.second.seeds) else ""


def best(cells: Iterable[tuple[str, Cell]]) -> tuple[str, Cell]:
    """Return the greatest of named values, a gap without any."""
    known = [(name, cell) for name, cell in cells if cell.value is not None]
    return max(known, key=lambda item: item[1].value, default=("", Cell()))


def leader(
    cells: Sequence[tuple[str, Cell]],
    what: str,
    unit: str = "",
    *,
    inputs: TableInputs | None = None,
) -> str:
    """Say which of several named systems is ahead in a score, or why none is: too few cases, all
    zero, a tie.

    With the ``inputs`` of a table of F1, differences on the same sentences are paired, and
    corrected as bold marks are.
    """
    measured = [(name, cell) for name, cell in cells if cell.value is not None]
    known = sorted(
        (item for item in measured if UNREAD not in item[1].mark), key=lambda item: -item[1].value
    )
    if measured and not known:
        return f"{what} ranks no model: most answers were truncated, refused or could not be read ({UNREAD})"
    if not known:
        return ""
    name, cell = known[0]
    cases = min((one.cases for _, one in known if one.cases is not None), default=FEW)
    if cases < FEW:
        return (
            f"{what} rests on {counted(cases, 'case')}: too few to rank systems, which takes {FEW}"
        )
    if len(known) == 1:
        return f"{what} {cell.shown}{unit} ({name} alone was measured)"
    if not cell.value:
        return f"{what} is 0 for all"
    differences = [
        inputs.scores.between(one.of, cell.of) if inputs and one.of and cell.of else None
        for _, one in known[1:]
    ]
    rivals = [
        Pair(*rival, cell, difference=found)
        for rival, found in zip(known[1:], differences, strict=True)
    ]
    p_values = holm([(rival.difference and rival.difference.p) or 0.0 for rival in rivals])
    equals = [
        name,
        *(one.name for one, p in zip(rivals, p_values, strict=True) if p >= ALPHA or not one.shown),
    ]
    if len(equals) > 1:
        tie = f"{several(equals)} are not distinguishable, which takes more cases"
        return f"{what} has no clear leader (up to {cell.shown}{unit}; {tie})"
    return f"{what} {cell.shown}{unit} by {name}"


def _conclusion(pairs: Sequence[Pair], first: str, second: str, what: str) -> str:
    most = max(pairs, key=lambda pair: abs(pair.change))
    if len(pairs) == 1:
        return f"For {most.name}, {what} is {two_values(most, first, second)}."
    ways = {f"lower {second} than {first}": -1, "higher": 1}
    sizes = {
        way: [size for pair in pairs if (size := sign * pair.change) > 0]
        for way, sign in ways.items()
    }
    parts = [
        f"{way} in {len(of)} of {len(pairs)} cases ({points_range(of)})"
        for way, of in sizes.items()
        if of
    ]
    return f"{what} is {' and '.join(parts)}; most so for {most.name}: {two_values(most, first, second)}."


def two_values(pair: Pair, first: str, second: str) -> str:
    """``92.0 % on seen and 41.0 % on unseen triples: a gap of 51.0 points [44.1, 58.2], with one
    seed``.
    """
    direction = f"{'a gap' if pair.change < 0 else 'a gain'} of {pair.points()}{_seeds(pair)}"
    return f"{pair.first.shown} % {first} and {pair.second.shown} % {second}: {direction}"


def bounded(cell: Cell) -> str:
    """``64.3 % [51.8, 76.1]`` with the cell's mark, the value alone where it has no interval."""
    return f"{cell.shown}{cell.mark} % {cell.interval}".strip()


def _spread(cell: Cell) -> bool:
    """Whether there is an interval with a width: sentences that all agree tell nothing about
    their spread.
    """
    return cell.low is not None and cell.high is not None and cell.low != cell.high


def points_range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return (
        f"by {low:.1f} points"
        if f"{low:.1f}" == f"{high:.1f}"
        else f"by {low:.1f} to {high:.1f} points"
    )


def several(names: Sequence[str]) -> str:
    """``a, b and c``; of a long list the first names and how many more there are."""
    names = [*names[:SHOWN], *([f"{len(names) - SHOWN} more"] if len(names) > SHOWN else [])]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def counted(number_: int, noun: str) -> str:
    """``1 case``, ``2 cases``."""
    return f"{number_} {noun}{'s' * (number_ != 1)}"


def sentences(*parts: str) -> str:
    return " ".join(filter(None, parts))
