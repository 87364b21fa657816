"""Throughput of the language-model client against a scripted endpoint with a fixed latency, and from the cache.

``python -m tests.benchmarks.bench_endpoint`` prints one JSON object. It fails if more requests were ever in flight than
configured, or if less than half of what latency and concurrency allow came through.
"""

import json
import sys
import tempfile
import time

from tests.support.fake_endpoint import FakeEndpoint

from tripleaudit.llm.client import Client, Endpoint, Request

LATENCY = 0.1  # seconds


def measure(concurrency: int, requests: int, latency: float = LATENCY) -> dict[str, float]:
    """Return requests a second, sent and from the cache, and the most that were in flight."""
    asked = [Request([{"role": "user", "content": f"question {number}"}]) for number in range(requests)]
    with tempfile.TemporaryDirectory() as folder, FakeEndpoint(latency=latency) as fake:
        with Client(Endpoint(fake.url, "fake", concurrency=concurrency), folder) as client:
            began = time.perf_counter()
            client.complete_all(asked)
            sent = time.perf_counter() - began
            began = time.perf_counter()
            client.complete_all(asked)
            cached = time.perf_counter() - began
        return {
            "concurrency": concurrency,
            "most_in_flight": fake.max_in_flight,
            "requests_per_second": round(requests / sent, 1),
            "possible_per_second": round(concurrency / latency, 1),
            "cached_per_second": round(requests / cached, 1),
        }


def main() -> int:
    """Print the figures; return 1 if a bound does not hold."""
    measure(1, requests=2)  # imports
    rows = [measure(concurrency, requests=25 * concurrency) for concurrency in (1, 4, 16)]
    print(json.dumps({"latency": LATENCY, "runs": rows}, indent=2))
    kept = all(row["most_in_flight"] <= row["concurrency"] for row in rows)
    fast = all(row["requests_per_second"] >= row["possible_per_second"] / 2 for row in rows)
    return 0 if kept and fast else 1


if __name__ == "__main__":
    sys.exit(main())
