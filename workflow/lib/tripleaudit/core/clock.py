"""Seconds of the parts of a piece of work."""

import time
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Clock:
    """Adds up how many ``seconds`` each part takes."""

    seconds: MutableMapping[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time of the block to one part, less that of other parts inside it."""
        began = time.perf_counter() - sum(self.seconds.values())
        try:
            yield
        finally:
            self.add(part, time.perf_counter() - began - sum(self.seconds.values()))

    def add(self, part: str, seconds: float) -> None:
        """Add to one part what was measured otherwise."""
        self.seconds[part] = round(self.seconds.get(part, 0.0) + seconds, 6)
