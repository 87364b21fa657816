"""The one kind of error that a user can act on, and how a sentence about an unknown name ends."""

import difflib
from collections.abc import Iterable
from typing import Any

from tripleaudit.core.addresses import clean_addresses


class UserError(Exception):
    """Bad input: one sentence that says what is wrong, where, and what was expected.

    Commands and workflow jobs print the message on one line and exit with status 1, without a
    traceback; every other exception is a defect of the program and keeps its traceback. Addresses
    in the message lose user, password and query, because messages go to logs and reports.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(clean_addresses(str(message)))


def first_line(error: BaseException) -> str:
    """Return the first line of a library's error, or its type if it has no message."""
    return next(
        (line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__
    )


def hint(name: Any, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the closest known one, or all of them."""
    known = [*known]
    close = difflib.get_close_matches(str(name), known, 1)
    return f", did you mean '{close[0]}'?" if close else f"; known are {', '.join(known) or 'none'}"
