"""Build a table from its inputs, complete its notes, and write it in all forms."""

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Table, of_frame
from tripleaudit.tables.grid import mark_notes
from tripleaudit.tables.inputs import ScoreIndex, TableInputs
from tripleaudit.tables.loading import ResultFiles, ResultReader
from tripleaudit.tables.render import write_table
from tripleaudit.tables.spec import TABLES, TableSpec
from tripleaudit.tables.system_notes import encoder_notes, layout_notes, unread_notes

logger = logging.getLogger(__name__)


def build_table(name: str, inputs: TableInputs) -> Table:
    """Build one table.

    Raises:
        UserError: there is no table of this name, or the builder of a plugin returns neither a
            table nor a data frame.
    """
    spec = find_table(name)
    table = spec.build(inputs)
    if type(table).__name__ == "DataFrame":  # pandas is imported by builders that need it
        table = of_frame(table, spec.question)
    if not isinstance(table, Table):
        raise UserError(
            f"table {name}: its builder returned {type(table).__name__}, expected a Table or a DataFrame"
        )
    table = replace(table, caption=inputs.options.get("caption") or table.caption)
    overview = spec.overview
    if overview is not None:
        overview = tuple((headline.label, dict(headline.of)) for headline in overview)
    return replace(
        table,
        name=name,
        style=inputs.options.get("style", ""),
        question=spec.question,
        notes=complete_notes(table, inputs.scores),
        order=spec.order,
        overview=overview,
    )


def complete_notes(table: Table, scores: ScoreIndex) -> tuple[str, ...]:
    """Return the notes of a table, with those on settings, encoders, unread answers and marks."""
    notes = [*table.notes]
    notes += encoder_notes(scores, table.cells)
    notes += layout_notes(scores, table.cells)
    notes += unread_notes(scores, table.cells)
    text = " ".join(notes)
    heads = [table.caption]
    heads += [f"{column.group} {column.label}" for column in table.columns]
    heads += [f"{row.group} {row.label}" for row in table.rows]
    are_explained = re.search(r"[NW]Z:|(triples|sentences) \([NW]Z", text)
    if re.search(r"\b[NW]Z\b", " ".join(heads)) and not are_explained:
        notes.insert(0, labels.SETTINGS_NOTE)
    shown_marks = "".join(cell.mark + (cell.text or "") for cell in table.cells)
    notes += [note for note in mark_notes(shown_marks) if note[:2] not in text]
    return tuple(notes)


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
