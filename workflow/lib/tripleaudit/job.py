"""The frame of a cheap rule's script: log file, user errors on one line, exit status."""

import contextlib
import logging
import sys
from collections.abc import Iterator
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.machine import storage
from tripleaudit.machine.devices import gpu_slot, policy

FORMAT = "%(asctime)s %(levelname)s %(message)s"


@contextlib.contextmanager
def job(snakemake: Any) -> Iterator[logging.Logger]:
    """Log to the rule's log file and to standard error; end the script with status 1 on an error.

    A :class:`UserError` or a full disk becomes one line. Any other exception is a defect: its traceback goes to the
    log. A rule with the resource ``gpu`` gets so many devices of its own, which must happen before the script imports
    torch; with ``gpu=0`` it sees none.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if snakemake.log:
        handlers.append(logging.FileHandler(snakemake.log[0], mode="w", encoding="utf-8"))
    logging.basicConfig(level=logging.INFO, format=FORMAT, handlers=handlers, force=True)
    log = logging.getLogger(f"tripleaudit.{snakemake.rule}")
    resources = getattr(snakemake, "resources", None)
    gpus = resources.get("gpu") if resources is not None else None
    try:
        with contextlib.nullcontext() if gpus is None else gpu_slot(policy("auto", int(gpus)), max(1, int(gpus))):
            yield log
    except UserError as error:
        log.error("%s", error)
        sys.exit(1)
    except Exception as error:
        if message := storage.sentence(error):
            log.error("%s", message)
            sys.exit(1)
        log.exception("the job failed; this is a defect of the program, not of its input")
        sys.exit(1)
