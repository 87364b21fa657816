"""The client of every language-model stage: asks an endpoint, never twice, never too much at once, never over budget.

endpoint = Endpoint("https://host/v1", "some-model", api_key_env="SOME_KEY")
with Client(endpoint, "results/cache/llm") as client:
    answers = client.complete_all([Request([{"role": "user", "content": "…"}])])
"""

import asyncio
import contextlib
import dataclasses
import logging
import threading
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tripleaudit.errors import UserError
from tripleaudit.llm import capabilities
from tripleaudit.llm.cache import Cache
from tripleaudit.llm.embeddings import Vectors, embed, key_of
from tripleaudit.llm.endpoint import (
    Answer,
    Endpoint,
    Prices,
    Request,
    Usage,
    answer_of,
    bill,
    tokens_about,
    tokens_at_most,
    usage_of,
)
from tripleaudit.llm.estimate import Estimate, estimate
from tripleaudit.llm.ledger import BudgetExceeded, Ledger
from tripleaudit.llm.slots import POLL, Slots
from tripleaudit.llm.transport import EndpointError, EndpointUnusable, RequestRejected, Transport
from tripleaudit.machine.progress import Progress

__all__ = ["Answer", "BudgetExceeded", "Client", "Endpoint", "EndpointError", "Prices", "Request", "Server", "Usage"]

log = logging.getLogger(__name__)
ALONE = 60.0  # seconds that the first request of an unknown endpoint goes out by itself
STORED = ("ok", "truncated", "refused")  # a rejected request costs nothing and is sent again


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

    An answer is stored the moment it arrives, truncated answers and refusals too, because they were paid for and would
    come again; only requests that the server rejects are sent again. If everything is stored, neither the endpoint nor
    its key is needed. Use it as a context manager, or call :meth:`close`.

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
        self.known = capabilities.load(self.cache.folder, endpoint)
        self._answers: dict[str, Answer] = {}
        self._server = server
        self._state: _LoopState | None = None
        self._runner: asyncio.Runner | None = None
        self._progress: Progress | None = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, stop a server that this client started and give back all locks."""
        if self._runner is not None:
            if self._state is not None:
                self._runner.run(self._state.close())
                self._state = None
            self._runner.close()
            self._runner = None
        if self._server is not None:
            self._server.stop()
        if self.ledger is not None:
            self.ledger.close()

    def key(self, request: Request) -> str:
        """Return the cache key of a request at this endpoint."""
        return request.key(self.endpoint)

    def lookup(self, request: Request) -> Answer | None:
        """Return the stored answer of a request, or None; sends nothing."""
        key = self.key(request)
        record = self.cache.get(key)
        if record is None or not isinstance(record.get("answer"), dict):
            return None
        names = {item.name for item in dataclasses.fields(Answer)} - {"usage", "cached", "key"}
        stored = {name: value for name, value in record["answer"].items() if name in names}
        usage = Usage(**record["answer"]["usage"])
        return Answer(**{"status": "ok", **stored}, usage=usage, cached=True, key=key)

    def estimate(self, requests: Iterable[Request]) -> Estimate:
        """Say what the requests would take: how many are stored, tokens, money. Sends nothing."""
        return estimate(self, requests)

    def estimate_embeddings(self, texts: Iterable[str]) -> Estimate:
        """Say what the embeddings of the texts would take; a text counts as one request. Sends nothing.

        Embeddings have no completion, so the money is that of the tokens sent.
        """
        keys = {key_of(text, self.endpoint): text for text in texts}
        stored = Vectors(self.cache).get(keys)
        prompt = sum(tokens_about(text) for key, text in keys.items() if key not in stored)
        cost = self.endpoint.prices.cost(prompt, 0)
        return Estimate(len(keys), len(stored), len(keys) - len(stored), prompt, 0, 0, cost, cost)

    def complete_all(self, requests: Sequence[Request], what: str = "") -> list[Answer]:
        """Return the answers of all requests, in their order; equal ones are sent once. Errors as :meth:`drive`."""
        found = self.drive({number: _one(request) for number, request in enumerate(requests)}, what)
        return [found[number] for number in range(len(requests))]

    def drive(self, conversations: Mapping[Any, Generator[Request, Answer, Any]], what: str = "") -> dict[Any, Any]:
        """Run conversations side by side, each as fast as its own answers come, and return their results.

        When the endpoint stops answering or the budget is used up, what is in flight is still awaited and stored;
        then one error says how far it came. Running again sends only what is missing.

        Args:
            conversations: generators by any key; each yields requests and returns a result.
            what: is being asked, for the lines of progress in the log.

        Raises:
            EndpointError: requests failed although all attempts were made, or the endpoint cannot be used.
            BudgetExceeded: the budget does not allow the next request.
        """
        with contextlib.ExitStack() as stack:
            if self._progress is None:
                stack.enter_context(self.stage(what or f"asking {self.endpoint.name}", len(conversations)))
            results = self._run(self._drive(conversations, self._progress))
        return {key: results[key] for key in conversations}

    @contextlib.contextmanager
    def stage(self, what: str, total: int, at_most: bool = False) -> Iterator["Client"]:
        """Tell in the log how far all that is asked in this block has come.

        Args:
            total: answers that it takes; ``at_most`` if it may take fewer.
        """
        cached, cost = self.totals.cached, self.totals.cost

        def so_far() -> str:
            stored = f"{self.totals.cached - cached} from the cache"
            return f"{stored}, cost {self.totals.cost - cost:.4f}" if self.endpoint.prices else stored

        with Progress(what, total, "answers", log=log, at_most=at_most) as self._progress:
            self._progress.note(so_far)
            try:
                yield self
            finally:
                self._progress = None

    def bill(self) -> dict[str, Any]:
        """Return what the answers of this client have cost, whoever paid for them, and what served them.

        Each distinct request counts once; ``lost`` is the most that attempts without an answer can have
        cost this study.
        """
        known = dataclasses.asdict(self.known)
        del known["settled"]
        lost = self.ledger.lost() if self.ledger and self.ledger.path.exists() else 0.0
        return bill(self._answers.values()) | {"lost": lost, "capabilities": known}

    async def complete(self, request: Request) -> Answer:
        """Return the answer of one request, from the cache or from the endpoint; errors as :meth:`drive`."""
        answer = self.lookup(request)
        if answer is not None:
            if self.ledger and self.ledger.orphaned(answer.key):  # stored, then killed before it was entered
                self.ledger.settle(answer.key, answer.cost)
            self.totals.cached += 1
        else:
            answer = await self._pending(request)
        if answer.status != "error":
            self._answers[answer.key] = answer
        return answer

    def embed(self, texts: Sequence[str], batch: int = 64) -> np.ndarray:
        """Return the embeddings of texts as a float32 array (n, d), through the same cache, budget and retries."""
        vectors, found = self._run(embed(list(texts), batch, self.endpoint, self.cache, self._post_embeddings))
        self.totals.cached += found
        return vectors

    async def _post_embeddings(self, key: str, body: dict[str, Any], at_most: int, texts: int) -> dict[str, Any]:
        state = self._loop_state()
        async with state.slots.place():
            payload, usage, cost = await self._paid(key, "embeddings", body, at_most, 0, state)
        self._settle(key, cost)
        self._count(usage, cost, texts)
        return payload

    async def _drive(self, conversations: Mapping[Any, Generator[Any, Any, Any]], progress: Progress) -> dict[Any, Any]:
        results: dict[Any, Any] = {}
        queue = iter(conversations.items())
        failures: list[UserError] = []
        statuses: Counter = Counter()
        rejection = ""
        in_a_row = 0
        stop: UserError | None = None

        async def talk(conversation: Generator[Request, Answer, Any]) -> Any:
            nonlocal in_a_row, rejection
            answer: Answer | None = None
            while True:
                try:
                    request = conversation.send(answer)
                except StopIteration as end:
                    return end.value
                answer = await self.complete(request)
                statuses[answer.status == "error"] += 1
                rejection = answer.error or rejection
                if not answer.cached:
                    in_a_row = 0
                progress.add(1)

        async def work() -> None:
            nonlocal in_a_row, stop
            for key, conversation in queue:
                if stop is not None:
                    return
                try:
                    results[key] = await talk(conversation)
                except EndpointUnusable as error:
                    stop = error
                    failures.append(error)
                except EndpointError as error:
                    failures.append(error)
                    in_a_row += 1
                    if in_a_row >= max(2, self.endpoint.concurrency):  # it is down: spare the others their attempts
                        stop = error
                except UserError as error:
                    stop = error

        # twice as many workers as slots, so that a slot never waits for the disk
        await asyncio.gather(*(work() for _ in range(min(len(conversations), 2 * self.endpoint.concurrency))))
        so_far = f"{len(results)} of {len(conversations)} answers are there; run again to send only the missing ones"
        if isinstance(stop, BudgetExceeded):
            raise BudgetExceeded(f"{stop}; {so_far}")
        if stop is not None and not isinstance(stop, EndpointError):
            raise stop
        if failures:
            raise EndpointError(f"{failures[-1]}; {so_far}")
        if statuses[True] and not statuses[False]:
            raise EndpointError(f"endpoint '{self.endpoint.name}' rejects every request: {rejection}")
        return results

    async def _pending(self, request: Request) -> Answer:
        """Send a request unless this process is doing so already."""
        state, key = self._loop_state(), self.key(request)
        if key in state.pending:
            return dataclasses.replace(await asyncio.shield(state.pending[key]), cached=True)
        state.pending[key] = asyncio.ensure_future(self._send_once(request, key, state))
        try:
            return await state.pending[key]
        finally:
            state.pending.pop(key, None)

    async def _send_once(self, request: Request, key: str, state: "_LoopState") -> Answer:
        """Send a request unless another process is doing so; then wait for its answer."""
        while True:
            async with state.slots.place():
                with self.cache.claim(key) as mine:
                    answer = self.lookup(request)
                    if answer is not None:
                        self.totals.cached += 1
                        return answer
                    if mine:
                        async with self._alone(state):
                            return await self._send(request, key, state)
            await asyncio.sleep(POLL)

    @contextlib.asynccontextmanager
    async def _alone(self, state: "_LoopState"):
        """Let the first request of an unknown endpoint go out by itself: what it teaches spares the others."""
        first = not self.known.settled and not state.first_sent
        if not first and not self.known.settled:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(state.settled.wait(), ALONE)
        state.first_sent = True
        try:
            yield
        finally:
            state.settled.set()

    async def _send(self, request: Request, key: str, state: "_LoopState") -> Answer:
        """Send a request as the server takes it, learning from its errors; store the answer and account for it."""
        canonical = request.canonical(self.endpoint)
        at_most = tokens_at_most(canonical)
        usage, cost, known = Usage(), 0.0, self.known
        tried = {known}
        while True:
            body = known.body(request, self.endpoint)
            try:
                payload, spent, paid = await self._paid(key, "chat", body, at_most, body[known.token_field], state)
            except RequestRejected as rejection:
                other = known.after_rejection(rejection.problem, body)
                if other is None and "response_format" in body and self.endpoint.structured == "auto":
                    other = dataclasses.replace(known, structured=False)
                if other is None or other in tried or self._fixed(known, other):
                    self.totals.sent += 1
                    self.totals.errors += 1
                    return Answer("", "error", key=key, error=str(rejection))
                known = other
                tried.add(known)
                continue
            usage, cost = usage + spent, cost + paid
            answer = answer_of(payload, usage, cost, key)
            learned = known.after_answer(answer)
            no_room = learned.reasons and not known.reasons and answer.status == "truncated" and not answer.text.strip()
            self._learn(learned)
            if not no_room:
                break
            self._settle(key, paid)  # all of the limit went into thought: once more, with room for it
            known = learned
        sent = {name: value for name, value in body.items() if name != "messages"}
        stored = {
            name: value for name, value in dataclasses.asdict(answer).items() if value and name not in ("key", "cached")
        }
        stored |= {"text": answer.text, "cost": cost, "finish_reason": answer.finish_reason}
        try:
            await asyncio.to_thread(self.cache.put, key, {"request": canonical, "sent": sent, "answer": stored})
        finally:
            self._settle(key, paid)
        self._count(usage, cost, 1)
        state.slots.faster()
        self.totals.truncated += answer.status == "truncated"
        self.totals.refused += answer.status == "refused"
        return answer

    def _fixed(self, known: capabilities.Capabilities, other: capabilities.Capabilities) -> bool:
        """Whether the study fixes what a server's error would change."""
        return self.endpoint.token_field != "auto" and known.token_field != other.token_field

    def _learn(self, known: capabilities.Capabilities) -> None:
        if known == self.known:
            return
        difference = known.difference(self.known)
        if difference:
            log.warning("endpoint '%s' %s", self.endpoint.name, difference)
        self.known = known
        capabilities.save(self.cache.folder, self.endpoint, known)

    async def _paid(
        self, key: str, kind: str, body: dict, prompt_at_most: int, completion_at_most: int, state: "_LoopState"
    ) -> tuple[dict[str, Any], Usage, float]:
        """Reserve, send, and return (payload, usage, cost); the caller settles once the answer is stored."""
        amount = self.endpoint.prices.cost(prompt_at_most, completion_at_most)
        lost = 0

        async def before() -> None:
            await state.slots.pace(prompt_at_most + completion_at_most)
            if self.ledger:
                await self._reserve(key, amount)

        def lose() -> None:
            nonlocal lost
            lost += 1
            if self.ledger:
                self.ledger.lose(key, amount)

        try:
            payload = await (await state.transport()).post(kind, body, before, lose)
        except BaseException:
            self._settle(key, 0.0)
            raise
        usage = usage_of(payload, body)
        if lost and self.ledger and not usage.estimated:  # the prompt's tokens are known now
            self.ledger.lose(key, lost * (self.endpoint.prices.cost(usage.prompt_tokens, completion_at_most) - amount))
        return payload, usage, self.endpoint.prices.of(usage)

    async def _reserve(self, key: str, amount: float) -> None:
        while not self.ledger.reserve(key, amount):
            if not self.ledger.waiting():  # nothing is in flight that could turn out cheaper than reserved
                spent, lost, limit = self.ledger.spent(), self.ledger.lost(), self.ledger.limit
                perhaps = f", at most {lost:.6g} on attempts without an answer" if lost else ""
                raise BudgetExceeded(
                    f"endpoint '{self.endpoint.name}': the budget of {limit:g} is used up ({spent:.6g} spent{perhaps}, "
                    f"the next request may cost {amount:.3g}); raise 'budget' to go on"
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
            folder = None if self._server else self.cache.folder / "slots"
            self._state = _LoopState(loop, self.endpoint, self._server, folder)
        return self._state

    def _run(self, work: Any) -> Any:
        """Run in one event loop for the client's whole life; from within a running loop (a notebook) in a thread."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._runner = self._runner or asyncio.Runner()
            return self._runner.run(work)
        outcome: list[Any] = []

        async def run() -> Any:
            try:
                return await work
            finally:
                if self._state is not None:
                    await self._state.close()
                    self._state = None

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

    def __init__(
        self, loop: asyncio.AbstractEventLoop, endpoint: Endpoint, server: Server | None, folder: Path | None
    ) -> None:
        self.loop = loop
        self.slots = Slots(folder, endpoint)
        self.pending: dict[str, asyncio.Future[Answer]] = {}
        self.first_sent = False
        self.settled = asyncio.Event()
        self._endpoint = endpoint
        self._server = server
        self._transport: Transport | None = None
        self._opening = asyncio.Lock()

    async def transport(self) -> Transport:
        async with self._opening:
            if self._transport is None:
                url = await asyncio.to_thread(self._server.start) if self._server else None
                self._transport = Transport(self._endpoint, url, self.slots.slower)
        return self._transport

    async def close(self) -> None:
        self.slots.close()
        if self._transport is not None:
            await self._transport.close()


def _one(request: Request) -> Generator[Request, Answer, Answer]:
    """A conversation of one request."""
    return (yield request)
