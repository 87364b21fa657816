"""What the tables of zero-cardinality share: rows of extractors, PFN once more under partial matching."""

from collections.abc import Callable, Sequence

from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.tables import labels
from tripleaudit.tables.grid import LAST_WORDS_ONLY, PRF, ScoreColumn, ScoreRow
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs

PARTIAL = "partial-last"
PARTIAL_EXTRACTOR = "pfn"
PARTIAL_NOTE = (
    "PFN*: partial matching, as the paper scores it: entities are compared by their last word. It is not compared with "
    "the other rows."
)
SETTINGS_NOTE = (
    "NZ: sentences with triples only; WZ: with zero-triple sentences too. Zero-triple sentences can add wrong triples "
    "only, so recall is the same for NZ and WZ testing."
)


def rows_of(
    inputs: TableInputs, extractors: Sequence[str], run: Callable[[str], RunKey], group: str, *, noise: str = "none"
) -> list[ScoreRow]:
    """Return one row for each extractor, and ``PFN*`` under partial matching.

    ``PFN*`` is the extractor ``pfn-star`` where the study trains it (then in any table), else, behind ``PFN``, the same
    trainings as ``PFN``, unless the whole table matches partially.
    """
    rows = []
    for extractor in extractors:
        label = labels.extractor(extractor, noise)
        if extractor == LAST_WORDS_ONLY:
            rows.append(ScoreRow(label, run(extractor), PARTIAL, group, contest=f"{group} partial"))
            continue
        rows.append(ScoreRow(label, run(extractor), inputs.matching, group))
        if extractor == PARTIAL_EXTRACTOR and inputs.matching == PRIMARY and LAST_WORDS_ONLY not in extractors:
            rows.append(ScoreRow(f"{label}*", run(extractor), PARTIAL, group, contest=f"{group} partial"))
    return rows


def variant_of(row: ScoreRow) -> str | None:
    """Return the paper's variant of a row, ``None`` where the paper uses another matching rule for the extractor."""
    if (row.run.extractor.rpartition("+")[2] in (PARTIAL_EXTRACTOR, LAST_WORDS_ONLY)) != (row.matching == PARTIAL):
        return None
    if row.run.noise != "none" or row.matching not in (PRIMARY, PARTIAL):
        return None
    return "partial entity match" if row.matching == PARTIAL else "exact entity match"


def prf_columns(group: str, of: Callable[[RunKey], RunKey]) -> list[ScoreColumn]:
    return [ScoreColumn(label, metric, group=group, of=of) for metric, label in PRF]
