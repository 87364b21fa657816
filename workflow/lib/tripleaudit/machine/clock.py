"""Seconds of the parts of a piece of work."""

import time
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Clock:
    """Adds up how long parts take, by the clock and of all CPU threads of this process.

    Attributes:
        seconds, cpu_seconds: of each part.
    """

    seconds: MutableMapping[str, float] = field(default_factory=dict)
    cpu_seconds: MutableMapping[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time of the block to one part, less that of other parts inside it."""
        began, cpu = (
            time.perf_counter() - sum(self.seconds.values()),
            time.process_time() - sum(self.cpu_seconds.values()),
        )
        try:
            yield
        finally:
            seconds, own = time.perf_counter() - began, time.process_time() - cpu
            self.add(part, seconds - sum(self.seconds.values()), own - sum(self.cpu_seconds.values()))

    def add(self, part: str, seconds: float, cpu: float) -> None:
        """Add to one part what was measured otherwise."""
        for total, value in ((self.seconds, seconds), (self.cpu_seconds, cpu)):
            total[part] = round(total.get(part, 0.0) + value, 6)
