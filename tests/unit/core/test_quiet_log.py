"""What the log of a run shows where nobody watches it."""

import io
import logging
from enum import Enum

import pytest

from tripleaudit.core.quiet_log import QUIET, quieten

Event = Enum("Event", ["JOB_INFO", "JOB_FINISHED", "PROGRESS", "JOB_ERROR"])


@pytest.fixture
def shown(tmp_path):
    """A logger with a stream and a file; returns what each of them holds after some records."""

    def run() -> tuple[str, str]:
        logger, stream = logging.Logger("run", logging.INFO), io.StringIO()
        file = logging.FileHandler(tmp_path / "complete.log")
        for handler in (logging.StreamHandler(stream), file):
            logger.addHandler(handler)
        quieten(logger)
        logger.info("Select jobs to execute...")
        for number in range(1, 101):
            logger.info("rule x: reason", extra={"event": Event.JOB_INFO})
            logger.info("Finished", extra={"event": Event.JOB_FINISHED})
            progress = {"event": Event.PROGRESS, "done": number, "total": 100}
            logger.info(f"{number} of 100 steps", extra=progress)
        logger.error("Error in rule y", extra={"event": Event.JOB_ERROR})
        logger.warning("disk is nearly full")
        logger.info("Complete log(s): run.log")
        file.close()
        return stream.getvalue(), (tmp_path / "complete.log").read_text()

    return run


def test_a_quiet_log_has_progress_warnings_and_errors_and_the_file_has_all(shown, monkeypatch):
    monkeypatch.setenv(QUIET, "1")
    text, complete = shown()
    lines = text.splitlines()
    assert "reason" not in text and "Finished" not in text and "Select" not in text
    assert lines[-4] == "100 of 100 steps" and len(lines) <= 25
    assert lines[-3:] == ["Error in rule y", "disk is nearly full", "Complete log(s): run.log"]
    assert complete.count("reason") == 100


@pytest.mark.parametrize(
    ("choice", "is_terminal", "quiet"),
    [("", False, True), ("", True, False), ("0", False, False), ("1", True, True)],
)
def test_the_log_is_quiet_without_a_terminal_or_by_choice(
    shown, monkeypatch, choice, is_terminal, quiet
):
    monkeypatch.setenv(QUIET, choice)
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal, raising=False)
    text, complete = shown()
    assert (text != complete) == quiet
    assert complete.count("reason") == 100
