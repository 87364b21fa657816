"""Trackers of experiments that see a training's log as it grows; each is imported when it is asked for."""

import contextlib
import importlib
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tripleaudit.errors import UserError

logger = logging.getLogger(__name__)

NONE: Final = "none"
PROJECT: Final = "tripleaudit"
RUN_PARTS: Final = 5  # of a model's folder: corpus, training set, extractor, noise, seed

Report = Callable[[Mapping[str, float]], None]
"""Takes a row of the history, with its ``step``."""


def check_tracker(name: str) -> None:
    """Import a tracker before anything expensive is done.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    if name != NONE:
        importlib.import_module(name)


@contextlib.contextmanager
def reporting(name: str, folder: Path, settings: Mapping[str, Any], resumed: bool = False) -> Iterator[Report]:
    """Open a run of a tracker and hand out what reports to it; a training goes on without one that fails.

    Args:
        name: ``trackio``, whose files lie on this machine (``TRACKIO_DIR``), or ``none``.
        folder: of the model; its last parts name the run.
        settings: shown beside the run.
        resumed: whether the training goes on from a checkpoint. The run of this name is then continued, and what it
            was told of the steps behind the checkpoint, which are made again, is not told twice.

    Raises:
        UserError: the tracker opens no run.
    """
    if name == NONE:
        yield lambda row: None
        return
    tracker = importlib.import_module(name)
    title = "/".join(folder.resolve().parts[-RUN_PARTS:])
    quiet = {"embed": False, "auto_log_gpu": False, "auto_log_cpu": False}
    resume = "allow" if resumed else "never"
    try:
        run = tracker.init(project=PROJECT, name=title, config=dict(settings), resume=resume, **quiet)
        told = _told(tracker, title) if resumed else set()
    except Exception as error:  # of many kinds, none of them ours
        raise UserError(f"training/report_to: {name} opens no run ({type(error).__name__}: {error})") from error
    failed = False

    def report(row: Mapping[str, float]) -> None:
        nonlocal failed
        if failed or all((row["step"], key) in told for key in row):
            return
        try:
            run.log({key: value for key, value in row.items() if key != "step"}, step=row["step"])
        except Exception as error:
            failed = True
            logger.warning("%s takes no more rows (%s: %s); the training goes on", name, type(error).__name__, error)

    try:
        yield report
    finally:
        with contextlib.suppress(Exception):
            run.finish()


def _told(tracker: Any, title: str) -> set[tuple[int, str]]:
    """Return the steps and the names of the values that the newest run of this name has."""
    rows = tracker.SQLiteStorage.get_logs(PROJECT, title)
    return {(row["step"], key) for row in rows for key in row}
