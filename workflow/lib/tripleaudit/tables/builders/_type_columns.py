"""Columns of F1 over all sentences and over the strata, and where rte-generalization reports them."""

from collections.abc import Callable

from tripleaudit.tables import labels, reported
from tripleaudit.tables.grid import ScoreColumn, ScoreRow
from tripleaudit.tables.index import RunKey


def type_columns(group: str = "", of: Callable[[RunKey], RunKey] = lambda run: run, full: bool = True) -> list:
    """Return the columns Prec., Rec. (with ``full``), F1, Entire, Partial and Unseen."""
    metrics = [("precision", "Prec."), ("recall", "Rec."), ("f1", "F1")] if full else [("f1", "F1")]
    columns = [ScoreColumn(label, metric, group=group, of=of) for metric, label in metrics]
    return columns + [ScoreColumn(label, "f1", stratum, group, of) for stratum, label in labels.SHORT_TYPES.items()]


def reported_in(table: int) -> Callable[[ScoreRow, ScoreColumn], str | None]:
    """Return the look-up of a cell in one of the tables 3 to 5 of rte-generalization (exact matching only)."""

    def look_up(row: ScoreRow, column: ScoreColumn) -> str | None:
        run = column.of(row.run)
        if row.matching != "exact-string" or run.noise not in reported.EN_VARIANTS:
            return None
        metric = reported.METRICS.get(column.metric if column.stratum == "all" else column.stratum, "")
        return reported.rte(
            table, run.corpus, run.protocol, metric, model=run.extractor, variant=reported.EN_VARIANTS[run.noise]
        )

    return look_up


STRATA_NOTE = (
    "Entire, Partial and Unseen are type F1: F1 over the test sentences whose triples are all entirely seen, partially "
    "seen or unseen in training."
)
NOISE_NOTE = "+EN: trained with Entity Noising."
