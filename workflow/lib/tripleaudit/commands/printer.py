"""Printer of the commands that show a result: ``score``, ``compare`` and ``which``."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from tripleaudit.core.arguments import BELOW

if TYPE_CHECKING:
    from tripleaudit.api.results import Result

ROUNDING_ERROR = 1e-9
"""Points by which equal scores may differ because of floating-point arithmetic."""


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object instead of tables; scores are fractions",
    )


def print_result(result: "Result", as_json: bool, text: str = "") -> None:
    """Print a result as JSON or as text.

    Args:
        result: the result.
        as_json: whether ``--json`` was given.
        text: the text to print; by default the result's own.
    """
    if as_json:
        print(json.dumps(result.to_json(), ensure_ascii=False, indent=2))
    else:
        print(text or result)


def print_error(message: str) -> None:
    """Print one error to standard error."""
    print(f"error: {message}", file=sys.stderr)


def check_limit(subject: str, f1: float, limit: float | None) -> int:
    """Return the exit code of ``--fail-under``, and print the F1 that is below it.

    Args:
        subject: what the F1 belongs to, such as ``F1 of gpt-4o``.
        f1: fraction.
        limit: percent; None for no limit.
    """
    percent = 100 * f1
    if limit is not None and 0 < limit <= 1:
        print(
            f"note: --fail-under is in percent: {limit:g} means {limit:g} %, not an F1 of {limit:g}, "
            f"which is {100 * limit:g}",
            file=sys.stderr,
        )
    if limit is None or not is_below(percent, limit):
        return 0
    print_error(f"{subject} is {format_below(percent, limit)}, below --fail-under {limit:g}")
    return BELOW


def is_below(value: float, limit: float) -> bool:
    """Return whether a percentage is below a limit by more than a rounding error."""
    return value < limit - ROUNDING_ERROR


def format_below(value: float, limit: float) -> str:
    """Return a number with one decimal, or as many as show that it is below a limit."""
    for digits in range(1, 9):
        text = f"{value:.{digits}f}"
        if float(text) < limit:
            return text
    return f"{value:.9f}"
