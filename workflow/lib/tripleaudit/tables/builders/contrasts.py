"""``contrasts``: comparisons of the papers and of all pairs of systems, with p-values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.scores import original_testing
from tripleaudit.scoring.significance import MIN_CASES
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Table, of_frame, subject
from tripleaudit.tables.contrasts import (
    AT_LEAST,
    FEW,
    OPEN,
    SIDE_KEYS,
    SYSTEMS,
    UNREADABLE,
    contrasts,
)
from tripleaudit.tables.frames import doubled_frames
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

if TYPE_CHECKING:
    import pandas as pd

OUTCOMES_NOTE = (
    "Outcome: shown where the 95 % interval leaves 0 out and p is below 0.05; "
    f"{FEW}: fewer than {MIN_CASES} on one side; {UNREADABLE}: most answers of a model (\u00b6); "
    f"{OPEN}: it was still rising (\u2020) or may have been (\u00a7); "
    f"{AT_LEAST}: it was, and twice the epochs show a difference of the same sign."
)


DIFFERENCE_NOTE: Final = (
    "Difference: with its 95 % interval over test sentences and, with several seeds, runs. Sentences are "
    "paired where both sides read the same ones. p: of the paired randomisation test, Holm-corrected over all "
    "systems of a contrast and corpus, or over all pairs of a test set; baselines are not counted. Cases: sentences "
    "of the smaller side, those with variants once; the added zero-triple sentences where they are fewer; or groups "
    "of sentences that share triples."
)
VARIANTS_NOTE: Final = (
    "F1 of \u201coriginal to augmented\u201d counts a sentence once for each variant."
)
DOUBLED_NOTE: Final = "Doubled: the difference after twice the epochs, with the first seed."
OTHER_PAIRS_NOTE: Final = (
    "The frame contrasts.parquet also has the pairs of systems on the other test sets."
)


def contrast_table(study: TableInputs) -> Table:
    """Build from the per-sentence counts; pairs on other test sets are in the frame only."""
    import pandas as pd

    files = study.files.get("doubled", [])
    doubles = doubled_frames(study.frames, files) if files else None
    found = contrasts(study.frames, study.matching, doubles)
    found = found[is_printed(found)]
    rows = found.to_dict("records")
    name_corpora = found["corpus"].nunique() > 1
    index = [found["contrast"].tolist(), [_label(row, name_corpora) for row in rows]]
    frame = pd.DataFrame(
        {
            "First": [_side_cell(row, "first", study.digits(1)) for row in rows],
            "Second": [_side_cell(row, "second", study.digits(1)) for row in rows],
            "Difference": [_difference_cell(row, study.digits(1)) for row in rows],
            "p": [_p_cell(row) for row in rows],
            "Cases": [Cell(cases, 0) for cases in found["cases"]],
            "Doubled": [_doubled_cell(row, study.digits(1)) for row in rows],
            "Outcome": found["outcome"].tolist(),
        },
        index=pd.MultiIndex.from_arrays(index, names=["Contrast", "System"]),
    )
    notes = [DIFFERENCE_NOTE, VARIANTS_NOTE, OUTCOMES_NOTE]
    if files:
        notes.append(DOUBLED_NOTE)
    else:
        frame = frame.drop(columns="Doubled")
    caption = "Differences of F1 (percentage points), second minus first."
    return of_frame(frame, caption, [*notes, OTHER_PAIRS_NOTE, GAPS])


def is_printed(found: pd.DataFrame) -> pd.Series:
    """Return which contrasts are printed.

    Pairs with baselines are left out, and pairs of systems on other than original test sets.
    """
    on_original = (
        (found["protocol_first"] == "original")
        & (found["training_first"] == "nz")
        & (found["testing_first"] == original_testing(found["testing_first"]))
    )
    with_baseline = found[["extractor_first", "extractor_second"]].isin(list(BASELINES)).any(axis=1)
    return (found["contrast"] != SYSTEMS) | (on_original & ~with_baseline)


def _side_cell(row: dict[str, Any], side: str, digits: int) -> Cell:
    """Return the F1 of one side in percent."""
    return Cell(100 * row[side], digits, of=_subject(row, side))


def _subject(row: dict[str, Any], side: str) -> dict[str, str]:
    keys = {key: row[f"{key}_{side}"] for key in SIDE_KEYS if key != "stratum"}
    return subject({"corpus": row["corpus"], **keys}, row[f"stratum_{side}"], row["matching"], "f1")


def _p_cell(row: dict[str, Any]) -> Cell:
    """Return the p-value that decides a contrast; baselines have no corrected one."""
    corrected = _number(row["p_holm"])
    if corrected is not None or row["outcome"] == UNREADABLE:
        return Cell(corrected, 4)
    return Cell(_number(row["p"]), 4)


def _difference_cell(row: dict[str, Any], digits: int) -> Cell:
    return Cell(
        100 * row["difference"],
        digits,
        low=_percent(row["low"]),
        high=_percent(row["high"]),
        cases=row["cases"],
        seeds=row["seeds"],
        mark=row["mark"],
        of=_subject(row, "second"),
    )


def _doubled_cell(row: dict[str, Any], digits: int) -> Cell:
    low, high = _percent(row["low_doubled"]), _percent(row["high_doubled"])
    return Cell(_percent(row["difference_doubled"]), digits, low=low, high=high)


def _label(row: dict[str, Any], name_corpus: bool) -> str:
    first, second = (
        labels.extractor(row[f"extractor_{side}"], row[f"noise_{side}"])
        for side in ("first", "second")
    )
    is_one_system = row["extractor_first"] == row["extractor_second"] and row["contrast"] != SYSTEMS
    name = first if is_one_system else f"{first} \u2192 {second}"
    test_set = []
    if name_corpus:
        test_set.append(labels.corpus(row["corpus"]))
    if _is_on_another_test_set(row):
        test_set.append(labels.protocol(row["protocol_first"]))
    return f"{name} ({', '.join(test_set)})" if test_set else name


def _is_on_another_test_set(row: dict[str, Any]) -> bool:
    """Return whether both sides share a test set that the contrast's name does not tell.

    The original test set needs no mention.
    """
    protocol = row["protocol_first"]
    is_one_set = protocol == row["protocol_second"]
    return is_one_set and protocol != "original" and protocol not in row["contrast"]


def _number(value: float | None) -> float | None:
    """Return a number of a frame, None where it is missing."""
    return None if value is None or value != value else value


def _percent(value: float | None) -> float | None:
    number = _number(value)
    return None if number is None else 100 * number


CONTRASTS = TableSpec(
    name="contrasts",
    order=14.4,
    build=contrast_table,
    possible=lambda study: study.compared,
    question="Which differences are shown, between conditions and between systems?",
    overview=None,
)
