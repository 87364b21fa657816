"""Progress of long jobs in the log: done of all, rate, time left; once in ``EVERY`` seconds.

A timer writes them, so that a slow step is reported as well as many quick ones.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

EVERY = 20.0  # seconds between two lines; a log must never be silent for 30
WINDOW = 16  # lines over which the rate is taken, so that a quick start (stored answers, short texts) is forgotten

Item = TypeVar("Item")


@dataclass
class Progress:
    """Counts the work of a block and reports it while it runs; short blocks report nothing.

    with Progress("predicting", 1000, "sentences") as progress:
        ...
        progress.add(32)

    Attributes:
        what: start of each line.
        total: of all there is to do; None where that is not known.
        unit: what is counted, in the plural.
        at_most: the total is a bound that need not be reached.
        done: how many are done.
        note: what is added to the lines to come, such as the loss; it is asked for when a line is
            due.
    """

    what: str
    total: int | None = None
    unit: str = "steps"
    log: logging.Logger = logging.getLogger(__name__)
    at_most: bool = False
    done: int = field(default=0, init=False)
    note: Callable[[], str] = field(default=str, init=False)

    def __post_init__(self) -> None:
        self.start(0, self.total)

    def __enter__(self) -> "Progress":
        self.start(self.done, self.total)
        self._stop = threading.Event()
        self._timer = threading.Thread(
            target=self._report, name=f"progress of {self.what}", daemon=True
        )
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._timer.join()

    def start(self, done: int, total: int | None) -> None:
        """Begin to count only now; what an earlier run had ``done`` does not count for the rate."""
        self.done, self.total = done, total
        self._seen: deque[tuple[float, int]] = deque([(time.monotonic(), done)], maxlen=WINDOW)

    def add(self, number: int = 1) -> None:
        """Count ``number`` more as done."""
        self.done += number

    def line(self) -> str:
        """Return what there is to say now."""
        now = time.monotonic()
        began, before = self._seen[0]
        rate = (self.done - before) / max(now - began, 1e-9)
        self._seen.append((now, self.done))
        most = "at most " if self.at_most else ""
        parts = [
            f"{self.what}: {self.done}{'' if self.total is None else f' of {most}{self.total}'} {self.unit}"
        ]
        parts.append(_rate(rate) if rate > 0 else f"none finished in {duration(now - began)}")
        if rate > 0 and self.total is not None:
            parts.append(f"{most or 'about '}{duration((self.total - self.done) / rate)} left")
        return ", ".join(filter(None, [*parts, self.note()]))

    def _report(self) -> None:
        while not self._stop.wait(EVERY):
            self.log.info("%s", self.line())


def watched(items: Collection[Item], what: str, unit: str) -> Iterator[Item]:
    """Yield the items and report progress while they are worked on."""
    with Progress(what, len(items), unit) as progress:
        for item in items:
            yield item
            progress.add()


def duration(seconds: float) -> str:
    """Write seconds as ``0:05``, ``12:30`` or ``3:05:00``."""
    minutes, seconds = divmod(round(max(seconds, 0.0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def _rate(rate: float) -> str:
    for per, name in ((1, "second"), (60, "minute")):
        if rate * per >= 1:
            return (
                f"{rate * per:.1f} a {name}" if rate * per < 100 else f"{rate * per:.0f} a {name}"
            )
    return f"{rate * 3600:.1f} an hour"
