"""Build a table from its inputs, complete its notes, and write it in all forms."""

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tripleaudit.core.descriptors import TABLES, TableSpec
from tripleaudit.core.errors import UserError
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Table
from tripleaudit.tables.grid import mark_notes
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.loading import ResultFiles, ResultReader
from tripleaudit.tables.render import write_table

logger = logging.getLogger(__name__)


def build_table(name: str, inputs: TableInputs) -> Table:
    """Build one table.

    Raises:
        UserError: there is no table of this name, or the builder of a plugin returns something
            else.
    """
    spec = find_table(name)
    table = spec.build(inputs)
    if not isinstance(table, Table):
        raise UserError(
            f"table {name}: its builder returned {type(table).__name__}, expected a Table"
        )
    return replace(
        table,
        name=name,
        style=inputs.options.get("style", ""),
        question=spec.question,
        notes=_explained(table),
        order=spec.order,
        overview=None
        if spec.overview is None
        else tuple((one.label, dict(one.of)) for one in spec.overview),
    )


def _explained(table: Table) -> tuple[str, ...]:
    """Return the notes, and those that they lack on the settings and marks of labels and cells."""
    known = " ".join(table.notes)
    heads = [f"{one.group} {one.label}" for one in table.columns] + [
        f"{one.group} {one.label}" for one in table.rows
    ]
    explained = re.search(r"[NW]Z:|(triples|sentences) \([NW]Z", known)
    settings = not explained and re.search(r"\b[NW]Z\b", " ".join([table.caption, *heads]))
    marks = mark_notes("".join(cell.mark + (cell.text or "") for cell in table.cells))
    return (
        *[labels.SETTINGS_NOTE] * bool(settings),
        *table.notes,
        *(mark for mark in marks if mark[:2] not in known),
    )


def make_tables(
    files: ResultFiles, tables: Mapping[str, Mapping[str, Any]], out: str | Path
) -> None:
    """Write the tables of a study into a folder, each in five forms.

    Args:
        files: that tables are made from. Missing scores leave gaps.
        tables: name of a table -> its options.
        out: folder of ``NAME.csv``, ``NAME.md``, ``NAME.tex``, ``NAME.html`` and ``NAME.json``.

    Raises:
        UserError: some tables cannot be made; the others are written before, and the message has
            one line for each that failed.
    """
    reader = ResultReader(files)
    problems = []
    for name, options in tables.items():
        try:
            spec = find_table(name)
            table = build_table(name, reader.inputs(spec.needs, options))
            write_table(table, Path(out) / name)
        except UserError as error:
            problems.append(f"table {name}: {str(error).removeprefix(f'table {name}: ')}")
        except Exception as error:
            logger.exception("table %s", name)
            problems.append(f"table {name}: {type(error).__name__}: {error}")
    if problems:
        raise UserError("\n".join(problems))


def find_table(name: str) -> TableSpec:
    """Return the description of a table.

    Raises:
        UserError: there is no table of this name.
    """
    if name not in TABLES:
        raise UserError(f"there is no table {name!r}; expected one of {', '.join(sorted(TABLES))}")
    return TABLES[name]
