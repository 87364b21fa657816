"""Wording of one contrast: values, difference, p-value, and why it has no conclusion."""

from collections.abc import Mapping
from typing import Any, Final

from tripleaudit.scoring.significance import ALPHA, MIN_CASES
from tripleaudit.scoring.units import SHARED_TRIPLE
from tripleaudit.tables.cells import number
from tripleaudit.tables.contrasts import AT_LEAST, FEW, NOT_SHOWN, NOTHING_FOUND, UNREADABLE
from tripleaudit.tables.study_facts import UNEQUAL, UNFINISHED

Row = Mapping[str, Any]
"""A row of the frame of contrasts (:data:`tripleaudit.tables.contrasts.COLUMNS`)."""
MINUS: Final = "\N{MINUS SIGN}"

FEW_CASES: Final = f"Fewer than {MIN_CASES} cases"
NOT_CONVERGED: Final = "Training had not converged"
CONVERGENCE_UNKNOWN: Final = "Too few evaluations to tell whether training had converged"
NOTHING_CORRECT: Final = "No correct triple"
ANSWERS_UNREAD: Final = (
    "Most answers are unreadable (truncated, refused or not in the requested form)"
)
CONTRARY_SEEDS: Final = "Seeds that two systems share order them differently than all their seeds"
REASONS: Final = (
    FEW_CASES,
    NOT_CONVERGED,
    CONVERGENCE_UNKNOWN,
    NOTHING_CORRECT,
    ANSWERS_UNREAD,
    CONTRARY_SEEDS,
)
"""Why a contrast has no conclusion, in the order of the remarks."""
REASON_OF_OUTCOME: Final = {
    FEW: FEW_CASES,
    NOTHING_FOUND: NOTHING_CORRECT,
    UNREADABLE: ANSWERS_UNREAD,
}


def reason_without_conclusion(row: Row) -> str:
    """Return why a contrast has no conclusion."""
    if row["outcome"] in REASON_OF_OUTCOME:
        return REASON_OF_OUTCOME[row["outcome"]]
    return NOT_CONVERGED if UNFINISHED in row["mark"] else CONVERGENCE_UNKNOWN


def describe_numbers(row: Row, levels: str) -> str:
    """Write both F1 values, the difference with its interval, corrected p, cases and seeds.

    For trainings that had not converged, the difference after twice the epochs replaces the values.

    Args:
        row: the contrast.
        levels: both F1 values, as the reader sees them.
    """
    difference = format_difference(row["difference"], row["low"], row["high"])
    if row["outcome"] == AT_LEAST:
        doubled = format_difference(
            row["difference_doubled"], row["low_doubled"], row["high_doubled"]
        )
        mark = "not converged" if UNFINISHED in row["mark"] else "convergence not known"
        parts = [f"{difference}, after twice the epochs {doubled} ({mark})"]
    else:
        parts = [levels, difference]
    disagreement = describe_disagreement(row)
    p_value = format_p_value(row)
    if disagreement:
        parts.append(disagreement)
    elif p_value:
        parts.append(p_value)
    cases = "groups of sentences" if row["unit"] == SHARED_TRIPLE else "sentences"
    parts.append(f"{row['cases']:,} {cases}")
    if row["seeds"]:  # 0 where nothing was trained
        parts.append("1 seed" if row["seeds"] == 1 else f"{row['seeds']} seeds")
    if UNEQUAL in row["mark"]:
        parts.append("trainings of unequal size")
    return ", ".join(parts)


def format_p_value(row: Row) -> str:
    """Write the p-value that decides a contrast; empty without a test."""
    p_value = _deciding_p(row)
    if p_value is None:
        return ""
    corrected = " (Holm)" if is_number(row["p_holm"]) else ""
    shown = "< .001" if p_value < 0.001 else f"= {p_value:.3f}".replace("0.", ".", 1)
    return f"p {shown}{corrected}"


def _deciding_p(row: Row) -> float | None:
    """Return the corrected p-value, or that of a baseline, which is not corrected."""
    for name in ("p_holm", "p"):
        if is_number(row[name]):
            return row[name]
    return None


def describe_disagreement(row: Row) -> str:
    """Write why a difference is not shown although the interval or the test indicates one."""
    p_value = _deciding_p(row)
    if row["outcome"] != NOT_SHOWN or p_value is None or not is_number(row["low"]):
        return ""
    includes_zero = row["low"] <= 0 <= row["high"]
    if includes_zero and p_value < ALPHA:
        return "not shown: the interval includes 0"
    if not includes_zero and p_value >= ALPHA:
        return f"not shown: {format_p_value(row)}"
    return ""


def format_levels(row: Row) -> str:
    """Write both F1 values in percent."""
    return f"{100 * row['first']:.1f} → {100 * row['second']:.1f} %"


def format_difference(value: float, low: float | None, high: float | None) -> str:
    """Write a difference in points with its interval, if it has one."""
    text = f"{number(100 * value, 1, sign=True)} points"
    if is_number(low) and is_number(high):
        text += f" [{number(100 * low, 1)}, {number(100 * high, 1)}]"
    return text.replace("-", MINUS)


def format_points(row: Row) -> str:
    """Write the size of a difference in points, as a lower bound for unfinished trainings."""
    size = abs(100 * row["difference"])
    if row["outcome"] == AT_LEAST:
        size = min(size, abs(100 * row["difference_doubled"]))
    text = f"{size:.0f}" if size >= 10 else f"{size:.1f}"
    return f"≥{text}" if row["outcome"] == AT_LEAST else text


def is_number(value: float | None) -> bool:
    """Return whether a value of a frame is present (neither None nor NaN)."""
    return value is not None and value == value
