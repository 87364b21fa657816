"""The client of every language-model stage: asks an endpoint, never twice, never too much at once, never over budget.

endpoint = Endpoint("https://host/v1", "some-model", api_key_env="SOME_KEY")
with Client(endpoint, "results/cache/llm") as client:
    answers = client.complete_all([Request([{"role": "user", "content": "…"}])])
"""

import asyncio
import dataclasses
import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tripleaudit.errors import UserError
from tripleaudit.llm.cache import Cache
from tripleaudit.llm.embeddings import embed
from tripleaudit.llm.endpoint import (
    Answer,
    Endpoint,
    Prices,
    Request,
    Usage,
    answer_of,
    response_format,
    tokens_at_most,
    usage_of,
)
from tripleaudit.llm.estimate import Estimate, estimate, estimate_embeddings
from tripleaudit.llm.ledger import BudgetExceeded, Ledger
from tripleaudit.llm.transport import EndpointError, EndpointUnusable, RequestRejected, Transport
from tripleaudit.machine.progress import Progress

__all__ = ["Answer", "BudgetExceeded", "Client", "Endpoint", "EndpointError", "Prices", "Request", "Server", "Usage"]

log = logging.getLogger(__name__)
POLL = 0.05  # seconds between two looks at something that another process or request is working on


class Server(Protocol):
    """A server that is started when the first request has to be sent (see :mod:`.local_lm`)."""

    def start(self) -> str:
        """Start the server if it is not running, and return its base URL."""

    def stop(self) -> None:
        """Stop it; without effect if it is not running."""


@dataclass
class Totals:
    """What a client has done so far; ``sent`` counts requests, not attempts."""

    sent: int = 0
    cached: int = 0
    truncated: int = 0
    refused: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


class Client:
    """Asks one endpoint, with a cache of answers on disk.

    An answer is stored the moment it arrives; refusals, truncated answers and errors are not stored. If everything is
    stored, neither the endpoint nor its key is needed. Use it as a context manager, or call :meth:`close`.

    Args:
        endpoint: where and how to ask.
        cache_dir: the folder of answers; may be shared by processes, studies and endpoints.
        budget: most money that may ever be spent as recorded in the ledger; None for no limit.
        ledger: the file that records spending (default ``<cache_dir>/ledger.jsonl``); it exists only for endpoints
            with prices. All jobs that share a budget share the file.
        server: started before the first request is sent, for an endpoint without an address of its own.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        cache_dir: str | Path,
        budget: float | None = None,
        ledger: str | Path | None = None,
        server: Server | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.cache = Cache(cache_dir)
        self.totals = Totals()
        self.ledger = Ledger(ledger or Path(cache_dir) / "ledger.jsonl", budget) if endpoint.prices else None
        self._server = server
        self._structured = endpoint.structured != "off"
        self._state: _LoopState | None = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop a server that this client started and give back the lock file."""
        if self._server is not None:
            self._server.stop()
        self.cache.close()

    def key(self, request: Request) -> str:
        """Return the cache key of a request at this endpoint."""
        return request.key(self.endpoint)

    def lookup(self, request: Request) -> Answer | None:
        """Return the stored answer of a request, or None; sends nothing."""
        key = self.key(request)
        record = self.cache.get(key)
        if record is None or not isinstance(record.get("answer"), dict):
            return None
        stored = record["answer"]
        return Answer(
            text=stored["text"],
            status="ok",
            finish_reason=stored.get("finish_reason"),
            usage=Usage(**stored["usage"]),
            cost=stored.get("cost", 0.0),
            cached=True,
            key=key,
        )

    def estimate(self, requests: Iterable[Request]) -> Estimate:
        """Say what the requests would take: how many are stored, tokens, money. Sends nothing."""
        return estimate(self, requests)

    def estimate_embeddings(self, texts: Iterable[str]) -> Estimate:
        """Say what the embeddings of the texts would take. Sends nothing."""
        return estimate_embeddings(self, texts)

    def complete_all(self, requests: Sequence[Request], what: str = "") -> list[Answer]:
        """Return the answers of all requests, in their order.

        When the endpoint stops answering or the budget is used up, what is in flight is still awaited and stored;
        then one error says how far it came. Running again sends only what is missing.

        Args:
            requests: any number; equal ones are sent once.
            what: is being asked, for the lines of progress in the log.

        Raises:
            EndpointError: requests failed although all attempts were made, or the endpoint cannot be used.
            BudgetExceeded: the budget does not allow the next request.
        """
        with Progress(what or f"asking {self.endpoint.name}", len(requests), "answers", log=log) as progress:
            cached, cost = self.totals.cached, self.totals.cost
            progress.note(lambda: self._so_far(cached, cost))
            return self._run(self._complete_all(list(requests), progress))

    def _so_far(self, cached: int, cost: float) -> str:
        stored = f"{self.totals.cached - cached} from the cache"
        return f"{stored}, cost {self.totals.cost - cost:.4f}" if self.endpoint.prices else stored

    async def complete(self, request: Request) -> Answer:
        """Return the answer of one request, from the cache or from the endpoint; errors as :meth:`complete_all`."""
        answer = self.lookup(request)
        if answer is not None:
            if self.ledger and self.ledger.is_open(answer.key):  # stored, then killed before it was entered
                self.ledger.settle(answer.key, answer.cost)
            self.totals.cached += 1
            return answer
        state = self._loop_state()
        key = self.key(request)
        if key in state.pending:
            return dataclasses.replace(await asyncio.shield(state.pending[key]), cached=True)
        state.pending[key] = asyncio.ensure_future(self._send_once(request, key, state))
        try:
            return await state.pending[key]
        finally:
            state.pending.pop(key, None)

    def embed(self, texts: Sequence[str], batch: int = 64) -> np.ndarray:
        """Return the embeddings of texts as a float32 array (n, d), through the same cache, budget and retries."""
        vectors, found = self._run(embed(list(texts), batch, self.endpoint, self.cache, self._post_embeddings))
        self.totals.cached += found
        return vectors

    async def _post_embeddings(self, key: str, body: dict[str, Any], at_most: int, texts: int) -> dict[str, Any]:
        state = self._loop_state()
        async with state.slots:
            payload, usage, cost = await self._paid(key, "embeddings", body, at_most, 0, state)
        self._settle(key, cost)
        self._count(usage, cost, texts)
        return payload

    async def _complete_all(self, requests: list[Request], progress: Progress) -> list[Answer]:
        answers: list[Answer | None] = [None] * len(requests)
        queue = iter(enumerate(requests))
        failures: list[UserError] = []
        done = in_a_row = 0
        stop: UserError | None = None

        async def work() -> None:
            nonlocal done, in_a_row, stop
            for number, request in queue:
                if stop is not None:
                    return
                try:
                    answers[number] = await self.complete(request)
                    if not answers[number].cached:
                        in_a_row = 0
                except EndpointUnusable as error:
                    stop = error
                    failures.append(error)
                    return
                except EndpointError as error:
                    failures.append(error)
                    in_a_row += 1
                    if in_a_row >= max(2, self.endpoint.concurrency):  # it is down: spare the others their attempts
                        stop = error
                    continue
                except UserError as error:
                    stop = error
                    return
                done += 1
                progress.reach(done)

        # twice as many workers as slots, so that a slot never waits for the disk
        await asyncio.gather(*(work() for _ in range(min(len(requests), 2 * self.endpoint.concurrency))))
        progress_text = f"{done} of {len(requests)} answers are there; run again to send only the missing ones"
        if isinstance(stop, BudgetExceeded):
            raise BudgetExceeded(f"{stop}; {progress_text}")
        if stop is not None and not isinstance(stop, EndpointError):
            raise stop
        if failures:
            raise EndpointError(f"{failures[-1]}; {progress_text}")
        rejected = [answer for answer in answers if answer.status == "error"]
        if rejected and not any(answer.status != "error" for answer in answers):
            raise EndpointError(f"endpoint '{self.endpoint.name}' rejects every request: {rejected[0].error}")
        return answers

    async def _send_once(self, request: Request, key: str, state: "_LoopState") -> Answer:
        """Send a request unless another process is doing so; then wait for its answer."""
        while True:
            async with state.slots:
                with self.cache.claim(key) as mine:
                    answer = self.lookup(request)
                    if answer is not None:
                        self.totals.cached += 1
                        return answer
                    if mine:
                        return await self._send(request, key, state)
            await asyncio.sleep(POLL)

    async def _send(self, request: Request, key: str, state: "_LoopState") -> Answer:
        canonical = request.canonical(self.endpoint)
        body = request.body(self.endpoint)
        at_most = tokens_at_most(canonical)
        with_schema = (
            {**body, "response_format": response_format(canonical["schema"])} if "schema" in canonical else None
        )
        try:
            if with_schema and self._structured:
                try:
                    paid = await self._paid(key, "chat", with_schema, at_most, body["max_tokens"], state)
                except RequestRejected:
                    if self.endpoint.structured != "auto":
                        raise
                    paid = await self._paid(key, "chat", body, at_most, body["max_tokens"], state)
                    self._structured = False  # it was the schema that the server rejected
                    log.warning("endpoint '%s' offers no structured outputs; asking without", self.endpoint.name)
            else:
                paid = await self._paid(key, "chat", body, at_most, body["max_tokens"], state)
        except RequestRejected as error:
            self.totals.sent += 1
            self.totals.errors += 1
            return Answer("", "error", key=key, error=str(error))
        payload, usage, cost = paid
        answer = answer_of(payload["choices"][0], usage, cost, key)
        if answer.status == "ok":
            stored = {"text": answer.text, "finish_reason": answer.finish_reason, "cost": cost}
            stored["usage"] = dataclasses.asdict(usage)
            try:
                await asyncio.to_thread(self.cache.put, key, {"request": canonical, "answer": stored})
            finally:
                self._settle(key, cost)
        else:
            self._settle(key, cost)
        self._count(usage, cost, 1)
        self.totals.truncated += answer.status == "truncated"
        self.totals.refused += answer.status == "refused"
        return answer

    async def _paid(
        self, key: str, kind: str, body: dict, prompt_at_most: int, completion_at_most: int, state: "_LoopState"
    ) -> tuple[dict[str, Any], Usage, float]:
        """Reserve, send, and return (payload, usage, cost); the caller settles once the answer is stored."""
        if self.ledger:
            await self._reserve(key, self.endpoint.prices.cost(prompt_at_most, completion_at_most))
        try:
            payload = await (await state.transport()).post(kind, body)
        except BaseException:
            self._settle(key, 0.0)
            raise
        usage = usage_of(payload, body)
        return payload, usage, self.endpoint.prices.cost(usage.prompt_tokens, usage.completion_tokens)

    async def _reserve(self, key: str, amount: float) -> None:
        while not self.ledger.reserve(key, amount):
            if not self.ledger.waiting:  # nothing of ours is in flight that could turn out cheaper than reserved
                spent, limit = self.ledger.spent(), self.ledger.limit
                raise BudgetExceeded(
                    f"endpoint '{self.endpoint.name}': the budget of {limit:g} is used up ({spent:.6g} spent, the next "
                    f"request may cost {amount:.3g}); raise 'budget' to go on"
                )
            await asyncio.sleep(POLL)

    def _settle(self, key: str, cost: float) -> None:
        if self.ledger:
            self.ledger.settle(key, cost)

    def _count(self, usage: Usage, cost: float, sent: int) -> None:
        self.totals.sent += sent
        self.totals.prompt_tokens += usage.prompt_tokens
        self.totals.completion_tokens += usage.completion_tokens
        self.totals.cost += cost

    def _loop_state(self) -> "_LoopState":
        loop = asyncio.get_running_loop()
        if self._state is None or self._state.loop is not loop:
            self._state = _LoopState(loop, self.endpoint, self._server)
        return self._state

    def _run(self, work: Any) -> Any:
        """Run a coroutine to its end, also from within a running loop (a notebook)."""

        async def run() -> Any:
            try:
                return await work
            finally:
                if self._state is not None:
                    await self._state.close()
                    self._state = None

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(run())
        outcome: list[Any] = []

        def target() -> None:
            try:
                outcome.extend((True, asyncio.run(run())))
            except BaseException as error:
                outcome.extend((False, error))

        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
        if not outcome[0]:
            raise outcome[1]
        return outcome[1]


class _LoopState:
    """What belongs to one event loop: free slots, requests in flight, the connection."""

    def __init__(self, loop: asyncio.AbstractEventLoop, endpoint: Endpoint, server: Server | None) -> None:
        self.loop = loop
        self.slots = asyncio.Semaphore(endpoint.concurrency)
        self.pending: dict[str, asyncio.Future[Answer]] = {}
        self._endpoint = endpoint
        self._server = server
        self._transport: Transport | None = None
        self._opening = asyncio.Lock()

    async def transport(self) -> Transport:
        async with self._opening:
            if self._transport is None:
                url = await asyncio.to_thread(self._server.start) if self._server else None
                self._transport = Transport(self._endpoint, url)
        return self._transport

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.close()
