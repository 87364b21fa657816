"""A corpus format as a declaration: which column is what, in one line each.

    FORMAT = form("nyt-raw", text="sentText", triples="relationMentions", subject="em1Text",
    relation="label", …)

Roles are those of :class:`~tripleaudit.corpora.readers.records.Columns`; what a declaration does
not name is not looked for, and what it names has to be there. Several names of a column are a
tuple, of which the first that a row has counts. Subjects and objects are strings; where entities
have a ``start``, they are spans, positions of entities in their list or, with ``key``, ids of
entities there. A type is that of the entity, or next to it.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.corpus import LeftOut, RawSentence
from tripleaudit.corpora.readers.common import read_objects
from tripleaudit.corpora.readers.records import Mapped
from tripleaudit.corpora.readers.row_files import Probe, Rows, has, read_rows
from tripleaudit.corpora.readers.side import Side
from tripleaudit.corpora.spec import CorpusFormat

Plain = Callable[[dict[str, Any], str], dict[str, Any] | LeftOut]


def form(
    name: str,
    /,
    *,
    place: float = float("inf"),
    keys: tuple[str, ...] = (),
    detects: Callable[[Probe], bool] | None = None,
    rows: Callable[..., Rows] | str = read_objects,
    plain: Plain | None = None,
    none: tuple[str | None, ...] = (),
    predictions: tuple[str, ...] = (),
    rows_without_texts: Callable[..., Rows] | None = None,
    **columns: str | tuple[str, ...],
) -> CorpusFormat:
    """Return the format of files whose rows have these columns.

    Args:
        place: its position among those that a file is tried as.
        keys: that every row has.
        detects: whether a file looks like it; by default, whether its first object has all
            ``keys``.
        rows: ``(path, **options) -> (where, row), …``; by default the objects of a JSON list, or of
            JSON lines; or the path of the list in a JSON object. Its options are those of the
            format; ``annotator`` is the column of that name, of texts that several annotated. One
            that does not yield the fields of its rows as they are takes ``side``
            (:class:`~tripleaudit.corpora.readers.side.Side`) and passes the raw rows through it.
        plain: ``(row, where) -> row`` with these columns, of one that has another shape, or what is
            left out of it.
        none: relations that say that there is none, which are counted.
        predictions: fields with a name such as ``predictions`` that ``rows`` or ``plain`` read
            themselves.
        rows_without_texts: as of :class:`~tripleaudit.corpora.spec.CorpusFormat`.
        columns: role -> column (:class:`~tripleaudit.corpora.readers.records.Columns`).

    Raises:
        UserError: there is no such role.
    """
    declared = functools.partial(Mapped, columns, f"form {name}", declared=True, none=none)
    declared()  # a role that there is none of is refused here
    listed: Callable[..., Rows] = (
        (lambda path: read_rows(path, rows)) if isinstance(rows, str) else rows
    )
    parameters = list(inspect.signature(listed).parameters)[1:]
    options = ["columns" if name == "annotator" else name for name in parameters if name != "side"]

    def read(
        path: str | Path,
        columns: Mapping[str, str] | None = None,
        side: str = "truth",
        **chosen: Any,
    ) -> Iterator[RawSentence | LeftOut]:
        """Yield the sentences; ids are positions in the file from 0 where it has none."""
        given = {role: column for role, column in (columns or {}).items() if column is not None}
        if others := [role for role in given if role not in ("annotator", "order", "last")]:
            raise UserError(
                f"{path}: format {name} says itself what the {others[0]} is; expected no other column"
            )
        chooser = Side(side, path, predictions)
        if "annotator" in given:
            chosen["annotator"] = given["annotator"]
        if "side" in parameters:
            found = listed(Path(path), **chosen, side=chooser)
        else:
            found = chooser.rows(listed(Path(path), **chosen))
        if plain is not None:
            found = ((where, plain(row, where)) for where, row in found)
        return declared(predicts=chooser.predicts).sentences(found)

    return CorpusFormat(
        name=name,
        order=place,
        read=read,
        keys=keys,
        options=(*options, "side"),
        detects=detects or (has(*keys) if keys else None),
        rows_without_texts=rows_without_texts,
    )
