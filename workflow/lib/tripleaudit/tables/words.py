"""Words around values: sentences about two of them or about many pairs, and the notes that tables share."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tripleaudit.tables.cells import Cell

NOT_MEASURED = "This was not measured in the study."


class Pair(NamedTuple):
    """Two values of one system, in percent with intervals."""

    name: str
    first: Cell
    second: Cell

    @property
    def fall(self) -> float:
        """The first value minus the second, in points, as the tables compute drops: before rounding."""
        return round(self.first.value - self.second.value, self.first.digits)


def contrast(pairs: Sequence[Pair], first: str, second: str, what: str = "F1") -> str:
    """Say how a score differs between two conditions, for one system or over several.

    Args:
        pairs: of each system; those with a gap are left out.
        first, second: the conditions, as in "on entirely seen triples".
        what: the score.
    """
    pairs = [pair for pair in pairs if pair.first.value is not None and pair.second.value is not None]
    if not pairs:
        return NOT_MEASURED
    most = max(pairs, key=lambda pair: abs(pair.fall))
    if len(pairs) == 1:
        return f"For {most.name}, {what} is {two_values(most, first, second)}."
    falls = [pair.fall for pair in pairs if pair.fall > 0]
    rises = [-pair.fall for pair in pairs if pair.fall < 0]
    parts = []
    if falls:
        parts.append(f"lower {second} than {first} in {len(falls)} of {len(pairs)} cases ({points_range(falls)})")
    if rises:
        parts.append(f"higher in {len(rises)} of {len(pairs)} cases ({points_range(rises)})")
    if not parts:
        return f"{what} is the same {first} and {second} in all {len(pairs)} cases."
    return f"{what} is {' and '.join(parts)}; most so for {most.name}: {two_values(most, first, second)}."


def two_values(pair: Pair, first: str, second: str) -> str:
    """``92.0 % on seen and 41.0 % on unseen triples: a gap of 51.0 points (95 % intervals do not overlap)``."""
    text = f"{pair.first.shown} % {first} and {pair.second.shown} % {second}"
    if not pair.fall:
        return f"{text}: no difference"
    direction = "a gap" if pair.fall > 0 else "a gain"
    return f"{text}: {direction} of {abs(pair.fall):.{pair.first.digits}f} points{overlap(pair.first, pair.second)}"


def overlap(first: Cell, second: Cell) -> str:
    """Say in parentheses whether two intervals overlap.

    Nothing where one is missing or is a single point: sentences that all agree tell nothing about their spread.
    """
    if None in (first.low, first.high, second.low, second.high):
        return ""
    if first.low == first.high or second.low == second.high:
        return ""
    apart = first.high < second.low or second.high < first.low
    return f" (95 % intervals {'do not overlap' if apart else 'overlap'})"


def points_range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"by {low:.1f} points" if f"{low:.1f}" == f"{high:.1f}" else f"by {low:.1f} to {high:.1f} points"


def listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def several(names: Sequence[str], limit: int = 4) -> str:
    """A list that stays short: the first names and how many more there are."""
    names = list(names)
    return listed(names) if len(names) <= limit else f"{', '.join(names[:limit])} and {len(names) - limit} more"


def sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


REPORTED = "“reported” is the value that the paper prints; Δ is measured minus reported."
GAPS = "–: not measured."


def chosen(*notes: str | bool | None) -> tuple[str, ...]:
    """Return the notes that are there: ``condition and "note"`` is left out where the condition fails."""
    return tuple(note for note in notes if note)


def reported_note(cells: Iterable[Cell]) -> str:
    """What is said under a table with values of a paper, empty for others."""
    return REPORTED if any(cell.reported is not None for cell in cells) else ""


def gaps_note(cells: Iterable[Cell]) -> str:
    """What is said under a table with gaps, empty for others."""
    return GAPS if any(cell.value is None and cell.text is None for cell in cells) else ""
