"""The error that users can act on, and suggestions for unknown names."""

import difflib
from collections.abc import Iterable
from typing import Any

from tripleaudit.core.addresses import clean_addresses


class UserError(Exception):
    """Bad input, described in one sentence: where, what is wrong, what was expected.

    Commands and workflow jobs print the message on one line and exit with status 1, without a
    traceback. Every other exception is a defect of the program and keeps its traceback. User,
    password and query are removed from addresses, because messages go to logs and reports.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(clean_addresses(str(message)))


def first_line(error: BaseException) -> str:
    """Return the first line of a library's error, or its type if it has no message."""
    for line in str(error).splitlines():
        if line.strip():
            return line.strip()
    return type(error).__name__


def hint(name: Any, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the closest known name, or all names."""
    names = list(known)
    close_names = difflib.get_close_matches(str(name), names, 1)
    if close_names:
        return f", did you mean '{close_names[0]}'?"
    return f"; known are {', '.join(names) or 'none'}"
