"""The tables by paper and theme: builders and answers, and one ``TableSpec`` for each table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tripleaudit.descriptors import TABLES
from tripleaudit.errors import UserError
from tripleaudit.tables.cells import Table
from tripleaudit.tables.evidence import TableInputs, load_inputs
from tripleaudit.tables.render import write_table


def build_table(name: str, inputs: TableInputs) -> Table:
    """Build one table.

    Raises:
        UserError: there is no table of this name, or the builder of a plugin returns something else.
    """
    if name not in TABLES:
        raise UserError(f"there is no table {name!r}; expected one of {', '.join(sorted(TABLES))}")
    table = TABLES[name].build(inputs)
    if not isinstance(table, Table):
        raise UserError(f"table {name}: its builder returned {type(table).__name__}, expected a Table")
    return replace(table, name=name)


def make_table(
    name: str,
    out_prefix: str | Path,
    *,
    scores: Sequence[str | Path] = (),
    counts: Sequence[str | Path] = (),
    audits: Sequence[str | Path] = (),
    runs: Sequence[str | Path] = (),
    options: Mapping[str, Any] | str | None = None,
    files: Mapping[str, Sequence[str | Path]] | None = None,
) -> list[Path]:
    """Build one table and write ``OUT_PREFIX.csv``, ``.md``, ``.tex`` and ``.html``.

    Args:
        name: of the table, see :data:`tripleaudit.descriptors.TABLES`.
        out_prefix: path without ending.
        scores: tidy scores files of one study.
        counts: files of per-sentence counts, for intervals over several seeds and the winner's mark.
        audits: :func:`tripleaudit.tables.audits.study_audit` files.
        runs: JSON facts of trainings.
        options: of the table (:data:`tripleaudit.tables.evidence.OPTIONS`), a mapping or JSON.
        files: further files by kind.

    Raises:
        UserError: unknown table or option, or a bad file. Missing scores leave gaps.
    """
    inputs = load_inputs(scores=scores, counts=counts, audits=audits, runs=runs, options=options, files=files)
    return write_table(build_table(name, inputs), out_prefix)
