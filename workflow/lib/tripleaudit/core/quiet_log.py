"""A short log of a run without a terminal: progress, warnings, errors and failed jobs."""

import logging
import os
import sys
from typing import Any, Final

QUIET: Final = "TRIPLEAUDIT_QUIET"
"""Environment variable: 1 for a short log, 0 for the complete one; unset, a log is short where
standard error is no terminal.
"""
SHOWN_EVENTS: Final = {"JOB_ERROR", "GROUP_ERROR", "ERROR"}
COMPLETE_LOG: Final = "Complete log"
"""Start of Snakemake's message that names its log file, where nothing is left out."""
MIN_STEP: Final = 0.05
"""Share of the jobs after which progress is shown again."""


class QuietFilter(logging.Filter):
    """Filter of Snakemake's log records that drops descriptions and reasons of jobs."""

    def __init__(self) -> None:
        super().__init__()
        self._shown_share = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is shown."""
        if record.levelno >= logging.WARNING:
            return True
        event = getattr(getattr(record, "event", None), "name", "")
        if event == "PROGRESS":
            return self._shows_progress(record)
        return event in SHOWN_EVENTS or record.getMessage().startswith(COMPLETE_LOG)

    def _shows_progress(self, record: Any) -> bool:
        share = record.done / max(record.total, 1)
        if share < 1 and share - self._shown_share < MIN_STEP:
            return False
        self._shown_share = share
        return True


def quieten(logger: logging.Logger) -> None:
    """Shorten what a logger writes to a stream, unless it debugs; its complete log file stays."""
    if not is_quiet() or logger.level <= logging.DEBUG:
        return
    for handler in logger.handlers:
        is_file = isinstance(handler, logging.FileHandler)
        if isinstance(handler, logging.StreamHandler) and not is_file:
            handler.addFilter(QuietFilter())


def is_quiet() -> bool:
    """Return whether the log of a run is short."""
    choice = os.environ.get(QUIET, "")
    if choice in ("0", "1"):
        return choice == "1"
    return not sys.stderr.isatty()
