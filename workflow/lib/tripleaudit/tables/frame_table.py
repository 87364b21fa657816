"""Data frames as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from tripleaudit.tables.cells import Cell, Column, Row, Table, needed

if TYPE_CHECKING:
    import pandas as pd


def of_frame(
    frame: pd.DataFrame,
    caption: str,
    notes: Iterable[str | bool | None] = (),
    **attributes: Any,
) -> Table:
    """Return a data frame as a table, which is written in five forms.

    Args:
        frame: its index and columns are the labels, of two levels those of groups too. Values are
            numbers, texts or cells; missing values are gaps.
        caption: one or two sentences.
        notes: whatever a reader must know. Notes that no cell calls for are left out.
        attributes: of the cells (:class:`~tripleaudit.tables.cells.Cell`): one value for all, such
            as ``digits=2``, or a data frame of the same shape, such as ``low=lower_bounds``.

    Returns:
        The table without a name; the heading of its row labels is the name of the index.
    """
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
    heads = [str(name or "") for name in frame.index.names]
    all_cells = [cell for row in rows for cell in row.cells]
    return Table(
        name="",
        caption=caption,
        columns=columns,
        rows=rows,
        row_header=heads[-1],
        group_header=heads[0] if len(heads) > 1 else "",
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


def _group_and_name(label: Any) -> tuple[str, str]:
    if isinstance(label, tuple):
        return str(label[0]), str(label[-1])
    return "", str(label)


def _attributes_at(attributes: Mapping[str, Any], row: int, column: int) -> dict[str, Any]:
    """Return the attributes of one cell; missing values of data frames are left out."""
    values = {}
    for name, given in attributes.items():
        value = given.iat[row, column] if hasattr(given, "iat") else given
        if not _is_missing(value):
            values[name] = value
    return values


def _cell(value: Any, attributes: dict[str, Any]) -> Cell:
    if isinstance(value, Cell):
        return value
    if _is_missing(value):
        return Cell(**attributes)
    if isinstance(value, Real):
        return Cell(float(value), **attributes)
    return Cell(text=str(value), **attributes)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and bool(value != value))
