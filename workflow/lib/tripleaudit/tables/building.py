"""Build a table from its inputs, complete its notes, and write it in all forms."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tripleaudit.core.descriptors import TABLES
from tripleaudit.core.errors import UserError
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Table
from tripleaudit.tables.grid import mark_notes
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.loading import load_inputs
from tripleaudit.tables.render import write_table


def build_table(name: str, inputs: TableInputs) -> Table:
    """Build one table.

    Raises:
        UserError: there is no table of this name, or the builder of a plugin returns something
            else.
    """
    if name not in TABLES:
        raise UserError(f"there is no table {name!r}; expected one of {', '.join(sorted(TABLES))}")
    spec = TABLES[name]
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


def make_table(
    name: str,
    out_prefix: str | Path,
    scores: Sequence[str | Path] = (),
    counts: Sequence[str | Path] = (),
    audits: Sequence[str | Path] = (),
    runs: Sequence[str | Path] = (),
    criteria: Sequence[str | Path] = (),
    report: Sequence[str | Path] = (),
    collection: Sequence[str | Path] = (),
    curves: Sequence[str | Path] = (),
    doubled: Sequence[str | Path] = (),
    options: Mapping[str, Any] | None = None,
) -> None:
    """Build one table from files of each kind and write ``OUT_PREFIX.csv``, ``.md``, ``.tex``,
    ``.html`` and ``.json``.

    Raises:
        UserError: unknown table or option, or a bad file. Missing scores leave gaps.
    """
    files = {
        "criteria": criteria,
        "report": report,
        "collection": collection,
        "curves": curves,
        "doubled": doubled,
    }
    inputs = load_inputs(
        scores=scores, counts=counts, audits=audits, runs=runs, options=options, files=files
    )
    write_table(build_table(name, inputs), out_prefix)
