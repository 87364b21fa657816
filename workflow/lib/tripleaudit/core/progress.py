"""Progress of long jobs in the log: count, rate and remaining time, every ``INTERVAL`` seconds.

A timer writes the lines, so that a single slow step is reported as well as many quick ones.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

INTERVAL = 20.0  # seconds between two lines
WINDOW = 16  # lines over which the rate is computed, so that it follows changes

Item = TypeVar("Item")


@dataclass
class Progress:
    """Counts the work of a block and reports it while it runs; short blocks report nothing.

    with Progress("predicting", 1000, "sentences") as progress:
        ...
        progress.add(32)

    Attributes:
        what: start of each line.
        total: number of items; None if unknown.
        unit: name of the items, in the plural.
        log: logger of the lines.
        at_most: whether the total is an upper limit.
        done: number of finished items.
        note: function that returns the end of a line, such as the loss.
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
        """Start to count; items that an earlier run finished do not count for the rate."""
        self.done, self.total = done, total
        self._history: deque[tuple[float, int]] = deque([(time.monotonic(), done)], maxlen=WINDOW)

    def add(self, number: int = 1) -> None:
        """Count more items as finished."""
        self.done += number

    def line(self) -> str:
        """Return the line for the current state."""
        now = time.monotonic()
        start, done_at_start = self._history[0]
        rate = (self.done - done_at_start) / max(now - start, 1e-9)
        self._history.append((now, self.done))
        most = "at most " if self.at_most else ""
        count = str(self.done)
        if self.total is not None:
            count += f" of {most}{self.total}"
        parts = [f"{self.what}: {count} {self.unit}"]
        if rate > 0:
            parts.append(_rate(rate))
        else:
            parts.append(f"none finished in {duration(now - start)}")
        if rate > 0 and self.total is not None:
            seconds = (self.total - self.done) / rate
            parts.append(f"{most or 'about '}{duration(seconds)} left")
        parts.append(self.note())
        return ", ".join(filter(None, parts))

    def _report(self) -> None:
        while not self._stop.wait(INTERVAL):
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
    if hours:
        return f"{hours}:{minutes:02d}:{seconds:02d}"
    return f"{minutes}:{seconds:02d}"


def _rate(items_per_second: float) -> str:
    """Write a rate in the first unit of time that has at least one item."""
    for seconds, name in ((1, "second"), (60, "minute")):
        rate = items_per_second * seconds
        if rate >= 1:
            decimals = 1 if rate < 100 else 0
            return f"{rate:.{decimals}f} a {name}"
    return f"{items_per_second * 3600:.1f} an hour"
