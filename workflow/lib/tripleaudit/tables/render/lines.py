"""What one cell says, line by line; the text forms differ in markup only."""

from typing import NamedTuple

from tripleaudit.tables.cells import GAP, Cell, number


class Lines(NamedTuple):
    """The lines of a cell, in plain characters that still have to be escaped."""

    main: str
    """The value, with its deviation and change, or the gap mark."""
    interval: str
    """``[low, high]`` or ``""``."""
    reported: str
    """The reported value with its change, ``88.3 (+0.5)``, or ``""``."""
    difference: str
    """Measured minus reported with its sign, ``-0.1``, or ``""``."""


def lines_of(cell: Cell) -> Lines:
    """Spell out a cell."""
    main = cell.text if cell.text is not None else cell.shown or GAP
    if cell.value is not None and cell.text is None:
        if cell.sd is not None:
            main += f" ± {number(cell.sd, cell.digits)}"
        if cell.change is not None:
            main += f" ({number(cell.change, cell.digits, sign=True)})"
        main += cell.mark
    reported = cell.reported or ""
    if cell.reported_change is not None:
        reported += f" ({number(float(cell.reported_change), cell.digits, sign=True)})"
    difference = "" if cell.difference is None else number(cell.difference, cell.digits, sign=True)
    return Lines(main, cell.interval, reported, difference)
