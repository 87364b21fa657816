"""How full the language-model client keeps its slots, against a scripted endpoint, and what the
cache gives.

``python -m benchmarks.bench_endpoint [REPEATS]`` prints one JSON object. Answers take between half
a second and one and a half, one in ten of them five, as those of a service may; every answer is
stored and entered in a ledger. ``full_slots`` is the share of the slots that the endpoint saw busy,
from the first request until the last conversation began (afterwards they run empty). The endpoint
runs in a process of its own. What it and the machine allow is measured by ``bare_slots``: a loop of
plain sockets that sends the same requests and keeps nothing, in turns with the client.

It fails if more requests were ever in flight than configured, or if the client (median of the
repeats) kept less than 90 % of the slots as full as the plain sockets did.
"""

import asyncio
import json
import multiprocessing
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

from tests.support.fake_endpoint import FakeEndpoint
from tripleaudit.llm.client import Client, Endpoint, Prices, Request

SEED, SECONDS, SLOW, SLOW_EVERY = 20261122, (0.5, 1.5), 5.0, 10
LEAST, REPEATS, TURNS = 0.9, 3, 2
CONCURRENCIES = (4, 16, 64)
REQUESTS_A_SLOT = 20


class Watched(FakeEndpoint):
    """A service that notes when requests come and go, and when a conversation begins."""

    def __init__(self) -> None:
        super().__init__(answer="[]")
        self.moments: list[tuple[float, int]] = []
        self.begun = 0.0
        self._seconds = threading.local()
        self._draw = random.Random(SEED)

    def _work(self, handler: Any, body: dict[str, Any]) -> None:
        now = time.perf_counter()
        with self.lock:
            self.moments.append((now, 1))
            if "as you said" not in body["messages"][-1]["content"]:
                self.begun = now
            self._seconds.own = (
                SLOW if self._draw.random() < 1 / SLOW_EVERY else self._draw.uniform(*SECONDS)
            )
        super()._work(handler, body)

    def _answer(self, handler: Any, number: int, body: dict[str, Any]) -> None:
        self.stopping.wait(self._seconds.own)
        self.moments.append(
            (time.perf_counter(), -1)
        )  # the slot is free once the answer is on its way
        super()._answer(handler, number, body)

    def full(self, slots: int) -> float:
        """Return the share of the slots that were busy until the last conversation began."""
        busy, area, began = 0, 0.0, min(self.moments)[0]
        now = began
        for moment, change in sorted(self.moments):
            if moment > self.begun:
                break
            area += busy * (moment - now)
            busy, now = busy + change, moment
        return area / (slots * (now - began))


def serve(pipe: Connection, slots: int) -> None:
    """Run the service: tell its address, forget what was seen so far on request, say what was
    seen since.
    """
    with Watched() as fake:
        pipe.send(fake.url)
        pipe.recv()
        fake.moments.clear()
        pipe.send(None)
        pipe.recv()
        pipe.send((fake.full(slots), fake.max_in_flight))


@contextmanager
def service(slots: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Start the service in its own process; yields its address and what to call before and after
    the measurement.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, slots), daemon=True)
    process.start()

    def tell() -> Any:
        ours.send(None)
        return ours.recv()

    try:
        yield ours.recv(), tell
    finally:
        process.join(10)


def question(number: int, said: str | None = None) -> list[dict[str, str]]:
    """The one message of a conversation's first or second turn."""
    text = f"question {number}" if said is None else f"{number}, as you said {said}"
    return [{"role": "user", "content": text}]


def talk(number: int):
    """A conversation: every question depends on the answer before."""
    said = None
    for _ in range(TURNS):
        said = (yield Request(question(number, said))).text


async def ask_bare(url: str, slots: int, conversations: int) -> None:
    """Send the same requests over plain sockets, as many at once as there are slots."""
    address, queue = urlsplit(url), iter(range(conversations))

    async def work() -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        for number in queue:
            for said in (None, "[]"):
                data = json.dumps({"model": "fake", "messages": question(number, said)}).encode()
                head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\nContent-Length: {len(data)}\r\n\r\n"
                writer.write(head.encode() + data)
                answer = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(answer.partition(b"content-length:")[2].split()[0]))
        writer.close()

    await asyncio.gather(*(work() for _ in range(slots)))


def measure_bare(slots: int) -> float:
    """Return how full plain sockets keep the slots."""
    with service(slots) as (url, tell):
        tell()
        asyncio.run(ask_bare(url, slots, slots * REQUESTS_A_SLOT // TURNS))
        full, _ = tell()
    return full


def measure(slots: int) -> dict[str, float]:
    """Return how full the client keeps the slots, processor time a request, and requests a
    second from the cache.
    """
    requests = slots * REQUESTS_A_SLOT
    with tempfile.TemporaryDirectory() as folder, service(slots) as (url, tell):
        endpoint = Endpoint(url, "fake", concurrency=slots, prices=Prices(1, 2))
        with Client(endpoint, folder, budget=1000) as client:
            client.complete_all(
                [Request([{"role": "user", "content": "the first one goes out by itself"}])]
            )
            tell()
            began, worked = time.perf_counter(), time.process_time()
            client.drive({number: talk(number) for number in range(requests // TURNS)})
            sent, worked = time.perf_counter() - began, time.process_time() - worked
            full, most = tell()
            began = time.perf_counter()
            client.drive({number: talk(number) for number in range(requests // TURNS)})
            cached = time.perf_counter() - began
    return {
        "full_slots": full,
        "most_in_flight": most,
        "seconds": sent,
        "processor_ms_a_request": 1000 * worked / requests,
        "cached_per_second": requests / cached,
    }


def main(repeats: int = REPEATS) -> int:
    """Print the figures; return 1 if a bound does not hold."""
    rows = []
    for slots in CONCURRENCIES:
        pairs = [(measure_bare(slots), measure(slots)) for _ in range(repeats)]
        median = {name: statistics.median(own[name] for _, own in pairs) for name in pairs[0][1]}
        rows.append(
            {
                "concurrency": slots,
                "requests": slots * REQUESTS_A_SLOT,
                **{name: round(value, 3) for name, value in median.items()},
                "most_in_flight": max(own["most_in_flight"] for _, own in pairs),
                "bare_slots": round(statistics.median(bare for bare, _ in pairs), 3),
                "of_bare": round(
                    statistics.median(own["full_slots"] / bare for bare, own in pairs), 3
                ),
                "all": [[round(own["full_slots"], 3), round(bare, 3)] for bare, own in pairs],
            }
        )
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    print(
        json.dumps(
            {"seconds_of_an_answer": [*SECONDS, SLOW], "slow_one_in": SLOW_EVERY, "runs": rows},
            indent=2,
        )
    )
    kept = all(row["most_in_flight"] <= row["concurrency"] for row in rows)
    return 0 if kept and all(row["of_bare"] >= LEAST for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
