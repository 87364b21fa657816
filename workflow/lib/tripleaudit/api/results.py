"""Results of the Python functions: attributes, JSON, data frames and HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel

from tripleaudit.scoring.bootstrap import METRICS

if TYPE_CHECKING:
    import pandas

    from tripleaudit.tables.cells import Table

MAX_ROWS_IN_TEXT = 10
"""Relations and other rows of one group that a terminal shows; ``--json`` has all."""


class Result(BaseModel):
    """A result; ``print`` shows it as its command does, a notebook as tables."""

    columns: ClassVar[Sequence[str] | None] = None
    """Of the data frame, where it may have no rows."""

    def __dir__(self) -> list[str]:
        """Return the names to complete in a notebook, without those of pydantic."""
        own = {
            name for kind in type(self).__mro__ if issubclass(kind, Result) for name in vars(kind)
        }
        return sorted(
            name
            for name in {*type(self).model_fields, *own}
            if not name.startswith(("_", "model_"))
        )

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that the command prints with ``--json``."""
        return self.model_dump(exclude_unset=True)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the data frame: what a row belongs to, its name, values and words."""
        raise NotImplementedError

    def notes(self) -> list[str]:
        """Return what stands under the table of a notebook."""
        return []

    def __str__(self) -> str:
        """Return the tables as a terminal shows them."""
        from tripleaudit.tables.render import to_text

        return "\n\n".join(to_text(table, MAX_ROWS_IN_TEXT) for table in self.tables())

    def tables(self) -> "Sequence[Table]":
        """Return the tables that a notebook shows: the rows, with fractions in percent."""
        from tripleaudit.tables.cells import Cell, Column, Row, Table
        from tripleaudit.tables.labels import TYPES

        def cell(row: dict[str, Any], name: str) -> Cell:
            value = row[name]
            if isinstance(value, str | int):
                return Cell(text=value) if isinstance(value, str) else Cell(value, digits=0)
            bounds: dict[str, Any] = {end: row.get(f"{name}_{end}") for end in ("low", "high")}
            return Cell(value, digits=3, **bounds).percent()

        rows = []
        for row in self.rows():
            group, label, *names = (name for name in row if not name.endswith(("_low", "_high")))
            cells = tuple(cell(row, name) for name in names)
            rows.append(Row(TYPES.get(row[label], row[label]), cells, _title(row[group])))
        columns = [Column(_title(name)) for name in names] if rows else []
        return [
            Table(
                "result",
                _title(type(self).__name__.removesuffix("Result")),
                columns,
                rows,
                notes=self.notes(),
            )
        ]

    def to_frame(self) -> "pandas.DataFrame":
        """Return a pandas data frame, which requires pandas; shares and scores are fractions."""
        import pandas

        return pandas.DataFrame(self.rows(), columns=self.columns)

    def _repr_html_(self) -> str:
        from tripleaudit.tables.render import to_html

        return "".join(map(to_html, self.tables()))

    def __repr__(self) -> str:
        return str(self)


def _title(name: str) -> str:
    return name[:1].upper() + name[1:].replace("_", " ")


@dataclass(frozen=True)
class Scores:
    """Scores of some sentences, as fractions.

    Attributes:
        correct, predicted, gold: triples, each counted once per sentence.
        sentences: number of sentences.
        intervals: metric -> bounds of the 95 % interval over sentences; empty if there are too few.
    """

    precision: float
    recall: float
    f1: float
    correct: int
    predicted: int
    gold: int
    sentences: int
    intervals: dict[str, list[float]]

    def row(self) -> dict[str, Any]:
        """Return a row of a data frame; a score without cases is missing."""
        found: dict[str, Any] = {"sentences": self.sentences}
        for metric in METRICS:
            value = (
                getattr(self, metric)
                if self.gold or metric == "precision" and self.predicted
                else None
            )
            low, high = self.intervals.get(metric) or (None, None)
            found |= {metric: value, f"{metric}_low": low, f"{metric}_high": high}
        return {**found, "correct": self.correct, "predicted": self.predicted, "gold": self.gold}


@dataclass(frozen=True)
class Share:
    """How many, and which share of all."""

    count: int
    share: float
