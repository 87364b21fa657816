"""Experiment trackers that follow a training's log, imported on demand."""

import contextlib
import importlib
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError

logger = logging.getLogger(__name__)

NONE, PROJECT = "none", "tripleaudit"
RUN_PARTS = 5  # of a model's folder: corpus, training set, extractor, noise, seed
ROWS_ALONE: dict[str, dict[str, Any]] = {  # and no load, output or code of the machine
    "trackio": {"embed": False, "auto_log_gpu": False, "auto_log_cpu": False},
    "wandb": {
        "settings": {"console": "off", "x_disable_machine_info": True, "x_disable_meta": True}
    },
}

Report = Callable[[Mapping[str, float]], None]  # takes a row of the history, with its ``step``


@contextlib.contextmanager
def reporting(name: str, folder: Path, settings: Mapping[str, Any]) -> Iterator[Report]:
    """Open a tracker's run (``none`` opens none) and yield its reporter; failures are ignored.

    The last parts of the model's ``folder`` name the run, the settings are shown next to it.

    Raises:
        UserError: the tracker opens no run.
    """
    if name == NONE:
        yield lambda row: None
        return
    title = "/".join(folder.resolve().parts[-RUN_PARTS:])
    try:
        run = importlib.import_module(name).init(
            project=PROJECT, name=title, config=dict(settings), **ROWS_ALONE[name]
        )
    except Exception as error:  # of many kinds, none of them ours
        raise UserError(
            f"training/report_to: {name} opens no run ({type(error).__name__}: {error})"
        ) from error
    failed = False

    def report(row: Mapping[str, float]) -> None:
        nonlocal failed
        try:
            if not failed:
                run.log(
                    {key: value for key, value in row.items() if key != "step"}, step=row["step"]
                )
        except Exception as error:  # noqa: BLE001  of whatever library
            failed = True
            logger.warning(
                "%s takes no more rows (%s: %s); the training goes on",
                name,
                type(error).__name__,
                error,
            )

    try:
        yield report
    finally:
        with contextlib.suppress(Exception):
            run.finish()
