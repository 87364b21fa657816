"""A paper-style table as data, returned by every builder and taken by every renderer.

:func:`of_frame` makes a table of a data frame.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.scoring.bootstrap import Interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Cell:
    """One measured value in the unit that is shown, and what stands next to it.

    Attributes:
        value: the measured number (the mean over seeds), ``None`` for a gap.
        digits: decimals shown.
        sd: sample standard deviation over seeds, from two seeds on.
        low, high: bounds of the interval.
        seeds: number of values behind the mean, 0 for a value that has no seeds.
        change: difference to the row's baseline, shown with its sign.
        reported: the value as the paper prints it.
        reported_change: the paper's change, as printed.
        bold: whether the value wins its column significantly.
        text: shown instead of a number, for cells of words.
        mark: behind the value, for what a note explains.
        of: what was scored (corpus, protocol, training, testing, extractor, noise, stratum,
            matching, metric), so that a reader finds the sentences behind the number; of a
            difference, what it is subtracted from.
        cases: sentences or texts that the value rests on, ``None`` where that is not known.
        full: a perfect score in the unit that is shown, ``None`` for what has no upper end.
    """

    value: float | None = None
    digits: int = 1
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    seeds: int = 0
    change: float | None = None
    reported: str | None = None
    reported_change: str | None = None
    bold: bool = False
    text: str | None = None
    mark: str = ""
    of: Mapping[str, str] | None = None
    cases: int | None = None
    full: float | None = None

    @classmethod
    def mean(
        cls,
        values: Sequence[float],
        interval: Interval | None = None,
        scale: float = 100,
        **more: Any,
    ) -> Cell:
        """Return the mean and deviation over seeds of fractions; a gap without values."""
        return cls(
            value=statistics.fmean(values) * scale if values else None,
            sd=statistics.stdev(values) * scale if len(values) > 1 else None,
            low=None if interval is None else interval.low * scale,
            high=None if interval is None else interval.high * scale,
            **more,
        )

    @property
    def shown(self) -> str:
        """The value with its decimals, ``""`` for a gap."""
        if self.text is not None:
            return self.text
        return "" if self.value is None else number(self.value, self.digits)

    @property
    def interval(self) -> str:
        """``[low, high]`` with the value's decimals, ``""`` without bounds."""
        if self.low is None or self.high is None:
            return ""
        return f"[{number(self.low, self.digits)}, {number(self.high, self.digits)}]"

    def percent(self) -> Cell:
        """Return a fraction in percent, with the reported values."""
        numbers = {
            name: getattr(self, name) for name in ("value", "sd", "low", "high", "change", "full")
        }
        scaled = {
            name: None if number is None else 100 * number for name, number in numbers.items()
        }
        return replace(
            self,
            **scaled,
            digits=max(self.digits - 2, 0),
            reported=_percent_text(self.reported),
            reported_change=_percent_text(self.reported_change),
        )

    @property
    def difference(self) -> float | None:
        """Measured minus reported, both as shown, so that the printed numbers add up."""
        if self.value is None or self.reported is None:
            return None
        return round(float(self.shown) - float(self.reported), 10)


@dataclass(frozen=True, slots=True)
class Column:
    """A column and the group that it stands under (``""`` for none)."""

    label: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row and the group that it belongs to (``""`` for none); one cell for each column."""

    label: str
    cells: Sequence[Cell]
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table; neighbouring columns and rows of one group are shown under one heading.

    Attributes:
        name: file stem, such as ``type-f1``.
        caption: one or two sentences.
        columns, rows: see :class:`Column` and :class:`Row`.
        row_header, group_header: headings of the columns that hold row labels and row groups.
        notes: matching rule, seeds, scoring of empty outputs, and other facts for the reader.
        style: ``paper`` leaves intervals and differences out of the LaTeX form.
        question: heading of its section in the report.
        order: position on the report's page.
        overview: ``(heading, what a cell must be of)`` of its columns in the matrix; None for a
            table without systems.
        warnings: facts that a reader must know before any number of the study.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    row_header: str = ""
    group_header: str = ""
    notes: Sequence[str] = field(default_factory=tuple)
    style: str = ""
    question: str = "What does this table show?"
    order: float = float("inf")
    overview: Sequence[tuple[str, Mapping[str, str]]] | None = ()
    warnings: Sequence[str] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(
                    f"{self.name}: row {row.label!r} has {len(row.cells)} cells, not {len(self.columns)}"
                )

    @property
    def has_row_groups(self) -> bool:
        return any(row.group for row in self.rows)

    @property
    def has_column_groups(self) -> bool:
        return any(column.group for column in self.columns)

    @property
    def cells(self) -> list[Cell]:
        """All cells, row by row."""
        return [cell for row in self.rows for cell in row.cells]

    @property
    def full(self) -> float | None:
        """A perfect score in the unit of its scores, None for a table without any."""
        return max((cell.full for cell in self.cells if cell.full), default=None)

    def in_percent(self) -> Table:
        """Return the table with its fractions in percent."""
        rows = []
        for row in self.rows:
            cells = [cell.percent() if cell.full == 1 else cell for cell in row.cells]
            rows.append(replace(row, cells=cells))
        return replace(self, rows=rows)

    def find(self, column: str = "", **of: str) -> list[Cell]:
        """Return the measured cells with given keys, such as ``stratum="unseen"``."""
        return [
            cell
            for row in self.rows
            for cell, heading in zip(row.cells, self.columns, strict=True)
            if cell.value is not None
            and cell.of
            and column in ("", heading.label)
            and of.items() <= cell.of.items()
        ]

    def cell(
        self, row: str, column: str, row_group: str | None = None, column_group: str | None = None
    ) -> Cell:
        """Return one cell by its labels; groups need not be given where the labels are unique.

        Raises:
            UserError: no cell or more than one has these labels.
        """
        found = [
            cell
            for one in self.rows
            if one.label == row and row_group in (None, one.group)
            for cell, heading in zip(one.cells, self.columns, strict=True)
            if heading.label == column and column_group in (None, heading.group)
        ]
        if len(found) != 1:
            raise UserError(
                f"table {self.name}: {len(found)} cells are called {row!r}, {column!r}; expected one"
            )
        return found[0]


def runs_of(labels: Sequence[str]) -> list[tuple[str, int]]:
    """Return neighbouring equal labels as ``(label, how many)``."""
    return [(label, len(list(run))) for label, run in groupby(labels)]


def subject(
    run: Mapping[str, str], stratum: str = "all", matching: str = "", metric: str = ""
) -> dict[str, str]:
    """Return what :attr:`Cell.of` says of a number that was measured for a run."""
    return {**run, "stratum": stratum, "matching": matching, "metric": metric}


def about(corpus: str, protocol: str, stratum: str = "all", testing: str = "nz") -> dict[str, str]:
    """Return the :attr:`Cell.of` of a number about the sentences of a test set."""
    run = {
        "corpus": corpus,
        "protocol": protocol,
        "training": "",
        "testing": testing,
        "extractor": "",
        "noise": "none",
    }
    return subject(run, stratum)


def number(value: float, digits: int, sign: bool = False) -> str:
    """Format a number with fixed decimals, never ``-0.0``.

    Args:
        sign: write a sign before every number but zero.
    """
    text = f"{value:{'+' if sign else ''}.{digits}f}"
    return text.lstrip("+-") if not float(text) else text


def _percent_text(text: str | None) -> str | None:
    """Return a printed fraction in percent, with two decimals fewer."""
    if text is None:
        return None
    decimals = len(text.partition(".")[2])
    return f"{100 * float(text):.{max(decimals - 2, 0)}f}"


REPORTED = "“reported” is the value that the paper prints; Δ is measured minus reported."
GAP = "–"
GAPS = f"{GAP}: not measured."
SMALL = "°"
CALLS_FOR: Mapping[str, Callable[[Cell], bool]] = {
    REPORTED: lambda cell: cell.reported is not None,
    f"{GAP}: ": lambda cell: cell.text in (None, GAP) and cell.value is None,
    f"{SMALL}: ": lambda cell: SMALL in cell.mark,
    "[low, high]": lambda cell: cell.low is not None,
    "Several runs": lambda cell: cell.seeds > 1,
}
"""Beginning of a note -> the cells of which one has to be there."""


def needed(notes: Iterable[str | bool | None], cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return the notes that are texts (``condition and "note"``), and that some cell calls for."""
    unneeded = [
        beginning
        for beginning, calls_for_it in CALLS_FOR.items()
        if not any(calls_for_it(cell) for cell in cells)
    ]
    texts = [note for note in notes if isinstance(note, str) and note]
    return tuple(note for note in texts if not note.startswith(tuple(unneeded)))


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


def of_frame(
    frame: pd.DataFrame,
    caption: str,
    notes: Iterable[str | bool | None] = (),
    **attributes: Any,
) -> Table:
    """Return a data frame as a table, which is written in five forms.

    Args:
        frame: its index and columns are the labels; of several levels the first one is the group.
            Values are numbers, texts or cells; missing values are gaps.
        caption: one or two sentences.
        notes: whatever a reader must know. Notes that no cell calls for are left out.
        attributes: of the cells (:class:`~tripleaudit.tables.cells.Cell`): one value for all, such
            as ``digits=2``, or a data frame of the same shape, such as ``low=lower_bounds``.

    Returns:
        The table without a name; the heading of its row labels is the name of the index.

    Raises:
        UserError: ``frame`` is no data frame, or an attribute is unknown or of another shape.
    """
    _check_attributes(frame, attributes)
    rows = []
    for position, label in enumerate(frame.index):
        group, name = _group_and_name(label)
        cells = [
            _cell(frame.iat[position, number], _attributes_at(attributes, position, number))
            for number in range(frame.shape[1])
        ]
        rows.append(Row(name, cells, group))
    columns = []
    for label in frame.columns:
        group, name = _group_and_name(label)
        columns.append(Column(name, group))
    group_header, row_header = _group_and_name(tuple(name or "" for name in frame.index.names))
    all_cells = [cell for row in rows for cell in row.cells]
    return Table(
        name="",
        caption=caption,
        columns=columns,
        rows=rows,
        row_header=row_header,
        group_header=group_header,
        notes=needed(notes, all_cells),
    )


def frame_of_rows(
    rows: Iterable[Row], columns: Sequence[str | tuple[str, str]], heads: tuple[str, str]
) -> pd.DataFrame:
    """Return rows of cells as a labelled frame.

    Args:
        rows: with one cell for each column.
        columns: labels, or pairs of a group and a label.
        heads: of the columns with the labels of rows and of their groups.
    """
    import pandas as pd

    rows = list(rows)
    row_labels = [[row.group for row in rows], [row.label for row in rows]]
    pairs = [("", column) if isinstance(column, str) else column for column in columns]
    return pd.DataFrame(
        [list(row.cells) for row in rows],
        index=pd.MultiIndex.from_arrays(row_labels, names=heads[::-1]),
        columns=pd.MultiIndex.from_tuples(pairs) if pairs else None,
        dtype=object,
    )


def _check_attributes(frame: pd.DataFrame, attributes: Mapping[str, Any]) -> None:
    """Refuse what is no data frame, and attributes that are not one value or one for each cell."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise UserError(f"of_frame: expected a DataFrame, got {type(frame).__name__}")
    for name, given in attributes.items():
        if name not in Cell.__dataclass_fields__:
            known = ", ".join(Cell.__dataclass_fields__)
            raise UserError(f"of_frame: unknown attribute {name!r}; expected some of {known}")
        if isinstance(given, pd.DataFrame):
            if given.shape != frame.shape:
                raise UserError(
                    f"of_frame: {name} has the shape {given.shape}, expected that of the table, {frame.shape}"
                )
        elif not pd.api.types.is_scalar(given) and not isinstance(given, Mapping):
            raise UserError(
                f"of_frame: {name} is a {type(given).__name__}; expected one value for all cells, or a DataFrame"
            )


def _group_and_name(label: Any) -> tuple[str, str]:
    """Return the first level of a label, if it has several, and its other levels."""
    levels = [_label_text(level) for level in (label if isinstance(label, tuple) else (label,))]
    if len(levels) == 1:
        return "", levels[0]
    group, *names = levels
    return group, ", ".join(name for name in names if name)


def _label_text(level: Any) -> str:
    level = _plain_value(level)
    return GAP if level is None else str(level)


def _attributes_at(attributes: Mapping[str, Any], row: int, column: int) -> dict[str, Any]:
    """Return the attributes of one cell; missing values of data frames are left out."""
    values = {}
    for name, given in attributes.items():
        value = _plain_value(given.iat[row, column] if hasattr(given, "iat") else given)
        if value is not None:
            values[name] = value
    return values


def _cell(value: Any, attributes: dict[str, Any]) -> Cell:
    if isinstance(value, Cell):
        return value
    value = _plain_value(value)
    if value is None:
        return Cell(**attributes)
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and math.isfinite(value):
        return Cell(float(value), **attributes)
    return Cell(text=str(value), **attributes)


def _plain_value(value: Any) -> Any:
    """Return a value of a data frame without numpy's types; None for a missing one."""
    import pandas as pd

    if not pd.api.types.is_scalar(value):
        return value
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
