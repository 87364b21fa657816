"""What the functions of Python return: attributes, JSON as the commands print it, a data frame, and HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

    from tripleaudit.tables.cells import Table


class Result:
    """A result; ``print`` shows it as its command does, a notebook as tables.

    Args:
        value: the JSON object that the command prints with ``--json``.
    """

    columns: Sequence[str] | None = None
    """Of the data frame, where it may have no rows."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._value = value

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that the command prints with ``--json``."""
        return self._value

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the data frame."""
        raise NotImplementedError

    def tables(self) -> "Sequence[Table]":
        """Return the tables that a notebook shows."""
        raise NotImplementedError

    def to_frame(self) -> "pandas.DataFrame":
        """Return a data frame of pandas, which has to be installed; shares and scores are fractions."""
        import pandas

        return pandas.DataFrame(self.rows(), columns=self.columns)

    def _repr_html_(self) -> str:
        from tripleaudit.tables.render import to_html

        return "".join(map(to_html, self.tables()))

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Scores:
    """Scores of some sentences, as fractions.

    Attributes:
        correct, predicted, gold: triples, each once a sentence.
        sentences: how many.
        intervals: metric -> bounds of the 95 % interval over sentences; without one that would mislead.
    """

    precision: float
    recall: float
    f1: float
    correct: int
    predicted: int
    gold: int
    sentences: int
    intervals: Mapping[str, Sequence[float]]

    def row(self) -> dict[str, Any]:
        """Return a row of a data frame; a score is missing where there is nothing that it could be of."""
        found: dict[str, Any] = {"sentences": self.sentences}
        for metric in ("precision", "recall", "f1"):
            value = getattr(self, metric) if self.gold or metric == "precision" and self.predicted else None
            low, high = self.intervals.get(metric) or (None, None)
            found |= {metric: value, f"{metric}_low": low, f"{metric}_high": high}
        return {**found, "correct": self.correct, "predicted": self.predicted, "gold": self.gold}


@dataclass(frozen=True)
class Share:
    """How many, and which share of all."""

    count: int
    share: float
