"""What one cell says, line by line; the text forms differ in markup only."""

from dataclasses import dataclass

from tripleaudit.tables.cells import Cell, number

GAP = "–"


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a cell, in plain characters that still have to be escaped.

    Attributes:
        main: the value, with its deviation and change, or the gap mark.
        interval: ``[low, high]`` or ``""``.
        reported: the reported value with its change, ``88.3 (+0.5)``, or ``""``.
        difference: measured minus reported with its sign, ``-0.1``, or ``""``.
    """

    main: str
    interval: str
    reported: str
    difference: str


def lines_of(cell: Cell) -> Lines:
    """Spell out a cell."""
    main = cell.text if cell.text is not None else cell.shown or GAP
    if cell.value is not None and cell.text is None:
        if cell.sd is not None:
            main += f" ± {number(cell.sd, cell.digits)}"
        if cell.change is not None:
            main += f" ({number(cell.change, cell.digits, sign=True)})"
        main += cell.mark
    reported = ""
    if cell.reported is not None:
        reported = cell.reported
        if cell.reported_change is not None:
            reported += f" ({number(float(cell.reported_change), cell.digits, sign=True)})"
    difference = "" if cell.difference is None else number(cell.difference, cell.digits, sign=True)
    return Lines(main, cell.interval, reported, difference)
