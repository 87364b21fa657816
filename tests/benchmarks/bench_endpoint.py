"""How full the language-model client keeps its slots, against a scripted endpoint, and what the cache gives.

``python -m tests.benchmarks.bench_endpoint`` prints one JSON object. Answers take a second, one in ten of them five, as
those of a service may; every answer is stored and entered in a ledger. ``full_slots`` is the share of the slots that
the endpoint saw busy, from the first request until the last one arrived (afterwards none can be full). It fails if more
requests were ever in flight than configured, or if less than 90 % of the slots were busy.
"""

import json
import sys
import tempfile
import time
from typing import Any

from tests.support.fake_endpoint import FakeEndpoint

from tripleaudit.llm.client import Client, Endpoint, Prices, Request

SECONDS, SLOW, SLOW_EVERY = 1.0, 5.0, 10
LEAST = 0.9


class Watched(FakeEndpoint):
    """A service that notes when requests come and go."""

    def __init__(self) -> None:
        super().__init__(answer="[]")
        self.moments: list[tuple[float, int]] = []

    def _work(self, handler: Any, body: dict[str, Any]) -> None:
        self.moments.append((time.perf_counter(), 1))
        super()._work(handler, body)

    def _answer(self, handler: Any, number: int, body: dict[str, Any]) -> None:
        self.stopping.wait(SLOW if number % SLOW_EVERY == SLOW_EVERY - 1 else SECONDS)
        self.moments.append((time.perf_counter(), -1))  # the slot is free once the answer is on its way
        super()._answer(handler, number, body)

    def full(self, slots: int) -> float:
        """Return the share of the slots that were busy until the last request came."""
        last = max(moment for moment, change in self.moments if change > 0)
        busy, now, area, began = 0, 0.0, 0.0, min(self.moments)[0]
        for moment, change in sorted(self.moments):
            if moment > last:
                break
            area += busy * (moment - now) if busy else 0.0
            busy, now = busy + change, moment
        return area / (slots * (last - began))


def measure(concurrency: int, requests: int) -> dict[str, float]:
    """Ask questions of two turns each; return the share of busy slots and requests a second from the cache."""

    def talk(number: int):
        first = yield Request([{"role": "user", "content": f"question {number}"}])
        return (yield Request([{"role": "user", "content": f"{number}, as you said {first.text}"}]))

    with tempfile.TemporaryDirectory() as folder, Watched() as fake:
        endpoint = Endpoint(fake.url, "fake", concurrency=concurrency, prices=Prices(1, 2))
        with Client(endpoint, folder, budget=1000) as client:
            client.complete_all([Request([{"role": "user", "content": "the first one goes out by itself"}])])
            fake.moments.clear()
            began = time.perf_counter()
            client.drive({number: talk(number) for number in range(requests // 2)})
            sent = time.perf_counter() - began
            began = time.perf_counter()
            client.drive({number: talk(number) for number in range(requests // 2)})
            cached = time.perf_counter() - began
        return {
            "concurrency": concurrency,
            "requests": requests,
            "most_in_flight": fake.max_in_flight,
            "full_slots": round(fake.full(concurrency), 3),
            "seconds": round(sent, 1),
            "cached_per_second": round(requests / cached, 1),
        }


def main() -> int:
    """Print the figures; return 1 if a bound does not hold."""
    rows = [measure(concurrency, requests) for concurrency, requests in ((4, 120), (16, 480), (64, 1920))]
    print(json.dumps({"seconds_of_an_answer": [SECONDS, SLOW], "slow_one_in": SLOW_EVERY, "runs": rows}, indent=2))
    kept = all(row["most_in_flight"] <= row["concurrency"] for row in rows)
    return 0 if kept and all(row["full_slots"] >= LEAST for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
