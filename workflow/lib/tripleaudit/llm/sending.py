"""Sending one request: from the cache or paid for once, as the server takes it, entered in the ledger, stored."""

import asyncio
import contextlib
import dataclasses
import functools
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.llm import capabilities
from tripleaudit.llm.cache import Cache
from tripleaudit.llm.endpoint import (
    Answer,
    Endpoint,
    Request,
    Usage,
    answer_of,
    tokens_at_most,
    usage_of,
)
from tripleaudit.llm.ledger import BudgetExceeded, Ledger
from tripleaudit.llm.llama import LocalServer
from tripleaudit.llm.slots import POLL, Slots
from tripleaudit.llm.transport import EndpointError, EndpointUnusable, RequestRejected, Transport

log = logging.getLogger(__name__)
ROOM, BYTES_A_TOKEN = 8192, 8  # of the disk for an answer: for what it is kept with, and of its text
ALONE = 60.0  # seconds that the first request of an unknown endpoint goes out by itself


@dataclass
class Totals:
    """What a client has done so far; ``sent`` counts requests, not attempts."""

    sent: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


class Sender:
    """Answers requests one by one, any number of them at the same time; :class:`.client.Client` has what to call.

    Args:
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
        server: LocalServer | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.cache = Cache(cache_dir)
        self.totals = Totals()
        self.ledger = Ledger(ledger or Path(cache_dir) / "ledger.jsonl", budget) if endpoint.prices else None
        self.known = capabilities.load(self.cache.folder, endpoint)
        self._answers: dict[str, Answer] = {}
        self._server = server
        self._pending: dict[str, asyncio.Future[Answer]] = {}
        self._full: UserError | None = None  # why nothing more can be stored
        self._first_sent = False
        self._unusable: EndpointUnusable | None = None  # what the first request of an unknown endpoint met
        self._tried = asyncio.Event()
        self._transport: Transport | None = None
        self._opening = asyncio.Lock()

    def key(self, request: Request) -> str:
        """Return the cache key of a request at this endpoint."""
        return request.key(self.endpoint)

    def lookup(self, request: Request) -> Answer | None:
        """Return the stored answer of a request, or None; sends nothing."""
        key = self.key(request)
        try:
            stored = (self.cache.get(key) or {})["answer"]
            usage = Usage(**_known(Usage, stored["usage"]))
            answer = Answer(**{"status": "ok", **_known(Answer, stored), "usage": usage, "cached": True, "key": key})
        except (KeyError, TypeError, AttributeError):  # none, or a record of another version
            return None
        return answer if isinstance(answer.text, str) else None

    async def complete(self, request: Request) -> Answer:
        """Return the answer of one request, from the cache or from the endpoint; errors as :meth:`drive`."""
        answer = self.lookup(request)
        if answer is not None:
            if self.ledger and self.ledger.orphaned(answer.key):  # stored, then killed before it was entered
                self.ledger.settle(answer.key, answer.cost)
            self.totals.cached += 1
        else:
            answer = await self._shared(request)
        if answer.status != "error":
            self._answers[answer.key] = answer
        return answer

    async def _post_embeddings(self, key: str, body: dict[str, Any], at_most: int, texts: int) -> dict[str, Any]:
        async with self.slots.slot():
            payload, usage, cost = await self._paid(key, "embeddings", body, at_most, 0)
        self._settle(key, cost)
        self._count(usage, cost, texts)
        return payload

    async def _shared(self, request: Request) -> Answer:
        """Send a request unless this process is doing so already."""
        key = self.key(request)
        if key in self._pending:
            return dataclasses.replace(await asyncio.shield(self._pending[key]), cached=True)
        self._pending[key] = asyncio.ensure_future(self._send_once(request, key))
        try:
            return await self._pending[key]
        finally:
            self._pending.pop(key, None)

    async def _send_once(self, request: Request, key: str) -> Answer:
        """Send a request unless another process is doing so; then wait for its answer."""
        while True:
            with self.cache.claim(key) as mine:
                answer = self.lookup(request)
                if answer is not None:
                    self.totals.cached += 1
                    return answer
                if mine:
                    async with self._alone(), self.slots.slot():
                        if self._full is not None:  # no answer more could be stored
                            raise self._full
                        try:
                            return await self._send(request, key)
                        except (EndpointError, BudgetExceeded):
                            raise
                        except UserError as error:
                            self._full = error
                            raise
            await asyncio.sleep(POLL)

    @contextlib.asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Let the first request of an unknown endpoint go out by itself: what it teaches spares the others."""
        first = not self.known.settled and not self._first_sent
        if not first and not self.known.settled:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._tried.wait(), ALONE)
            if self._unusable is not None:  # nobody needs to hear it once more
                raise self._unusable
        self._first_sent = True
        try:
            yield
        except EndpointUnusable as error:
            self._unusable = error
            raise
        finally:
            self._tried.set()

    async def _send(self, request: Request, key: str) -> Answer:
        """Send a request as the server takes it, learning from its errors; store the answer and account for it."""
        canonical = request.canonical(self.endpoint)
        at_most = tokens_at_most(canonical)
        longest = request.limit(self.endpoint) + (self.endpoint.thought if self.known.reasons else 0)
        with self.cache.room(key, ROOM + 2 * at_most + BYTES_A_TOKEN * longest) as room:
            return await self._send_into(room, request, key, canonical)

    async def _send_into(self, room: Path, request: Request, key: str, canonical: dict[str, Any]) -> Answer:
        at_most = tokens_at_most(canonical)
        usage, cost, known = Usage(), 0.0, self.known
        tried = {known}
        while True:
            body = known.body(request, self.endpoint)
            try:
                payload, spent, paid = await self._paid(key, "chat", body, at_most, body[known.token_field])
            except RequestRejected as rejection:
                other = known.after_rejection(rejection.problem, body)
                if other is None and "response_format" in body and self.endpoint.structured == "auto":
                    other = dataclasses.replace(known, structured=False)
                if other is None or other in tried:
                    self.totals.sent += 1
                    return Answer("", "error", key=key, error=str(rejection))
                known = other
                tried.add(known)
                continue
            usage, cost = usage + spent, cost + paid
            answer = answer_of(payload, usage, cost, key)
            learned = known.after_answer(answer)
            no_room = learned.reasons and not known.reasons and answer.status == "truncated" and not answer.text.strip()
            if not no_room:
                break
            self._settle(key, paid)  # all of the limit went into thought: once more, with room for it
            self._learn(learned)
            known = learned
        try:
            await asyncio.to_thread(self._store, key, canonical, body, payload, usage, cost, room)
        finally:
            self._settle(key, paid)
        self._learn(learned)
        self._count(usage, cost, 1)
        self.slots.faster()
        return answer

    def _store(
        self,
        key: str,
        canonical: dict,
        body: dict[str, Any],
        payload: dict[str, Any],
        usage: Usage,
        cost: float,
        room: Path,
    ) -> None:
        """Store the answer in a response, with the request as it was meant and as it was sent."""
        answer = answer_of(payload, usage, cost, key)
        stored = {
            name: value for name, value in dataclasses.asdict(answer).items() if value and name not in ("key", "cached")
        }
        stored |= {"text": answer.text, "cost": cost, "finish_reason": answer.finish_reason}
        sent = {name: value for name, value in body.items() if name != "messages"}
        self.cache.put(key, {"request": canonical, "sent": sent, "answer": stored}, room)

    def _learn(self, known: capabilities.Capabilities) -> None:
        if known == self.known:
            return
        difference = known.difference(self.known)
        if difference:
            log.warning("endpoint '%s' %s", self.endpoint.name, difference)
        self.known = known
        capabilities.save(self.cache.folder, self.endpoint, known)

    async def _paid(
        self, key: str, kind: str, body: dict, prompt_at_most: int, completion_at_most: int
    ) -> tuple[dict[str, Any], Usage, float]:
        """Reserve, send, and return (payload, usage, cost); the caller settles once the answer is stored."""
        amount = self.endpoint.prices.cost(prompt_at_most, completion_at_most)
        lost = 0

        async def before() -> None:
            if self.ledger:
                await self._reserve(self.ledger, key, amount)

        def lose() -> None:
            nonlocal lost
            lost += 1
            if self.ledger:
                self.ledger.lose(key, amount)

        try:
            payload = await (await self._connected()).post(kind, body, before, lose)
        except BaseException:
            self._settle(key, 0.0)
            raise
        usage = usage_of(payload, body, (prompt_at_most, completion_at_most))
        if lost and self.ledger and not usage.estimated:  # the prompt's tokens are known now
            self.ledger.lose(key, lost * (self.endpoint.prices.cost(usage.prompt_tokens, completion_at_most) - amount))
        return payload, usage, self.endpoint.prices.of(usage)

    async def _reserve(self, ledger: Ledger, key: str, amount: float) -> None:
        while not ledger.reserve(key, amount):
            if not ledger.waiting():  # nothing is in flight that could turn out cheaper than reserved
                spent, lost, limit = ledger.spent(), ledger.lost(), ledger.limit
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

    @functools.cached_property
    def slots(self) -> Slots:
        """The slots for requests, which a local model has for itself."""
        return Slots(None if self._server else self.cache.folder / "slots", self.endpoint)

    async def _connected(self) -> Transport:
        async with self._opening:
            if self._transport is None:
                url = await asyncio.to_thread(self._server.start) if self._server else None
                self._transport = Transport(self.endpoint, url, self.slots.slower)
        return self._transport


def _known(kind: type, values: dict[str, Any]) -> dict[str, Any]:
    """Return what a dataclass has a field for."""
    return {name: value for name, value in values.items() if name in {item.name for item in dataclasses.fields(kind)}}
