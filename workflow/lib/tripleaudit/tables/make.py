"""From files to the four forms of one table: what the workflow's table rule and ``tripleaudit table`` call."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.tables.builders import build_table
from tripleaudit.tables.inputs import load_inputs
from tripleaudit.tables.render import write_table


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
        options: of the table (:data:`tripleaudit.tables.inputs.OPTIONS`), a mapping or JSON.
        files: further files by kind.

    Raises:
        UserError: unknown table or option, or a bad file. Missing scores leave gaps.
    """
    inputs = load_inputs(scores=scores, counts=counts, audits=audits, runs=runs, options=options, files=files)
    return write_table(build_table(name, inputs), out_prefix)
