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
        start = time.perf_counter()
        total_before = sum(self.seconds.values())
        try:
            yield
        finally:
            elapsed = time.perf_counter() - start
            inside = sum(self.seconds.values()) - total_before
            self.add(part, elapsed - inside)

    def add(self, part: str, seconds: float) -> None:
        """Add measured seconds to one part."""
        self.seconds[part] = round(self.seconds.get(part, 0.0) + seconds, 6)
