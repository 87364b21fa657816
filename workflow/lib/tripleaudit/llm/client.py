"""Client of all language-model stages: cached requests, shared concurrency and budget.

endpoint = Endpoint("https://host/v1", "some-model", api_key_env="SOME_KEY")
with Client(endpoint, "results/cache/llm") as client:
    answers = client.complete_all([Request([{"role": "user", "content": "…"}])])
"""

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from pydantic import TypeAdapter, ValidationError

from tripleaudit.core.errors import UserError
from tripleaudit.core.progress import Progress
from tripleaudit.llm.capabilities import Capabilities, endpoint_key, initial_capabilities
from tripleaudit.llm.endpoint import (
    Answer,
    Endpoint,
    EndpointError,
    EndpointUnusable,
    Prices,
    Request,
    RequestRejected,
    Usage,
    address_key,
    bill,
    canonical_key,
    tokens_about,
    tokens_at_most,
)
from tripleaudit.llm.llama import LocalServer
from tripleaudit.llm.response import answer_of, usage_of
from tripleaudit.llm.store import BudgetExceeded, Reservation, Store

if TYPE_CHECKING:
    from tripleaudit.llm.connection import Connection

__all__ = [
    "Answer",
    "BudgetExceeded",
    "Client",
    "Endpoint",
    "EndpointError",
    "Prices",
    "Request",
    "Usage",
]

Result = TypeVar("Result")
Conversation = Generator[Request, Answer, Any]

POLL_SECONDS = 0.05  # between two attempts to reserve a request that another job sends
FIRST_SECONDS = 60.0  # that other requests wait for the first one of an unknown endpoint
EMBEDDING_BYTES = 8  # added to a text's bytes for the most tokens that it can have

STORED_ANSWER = TypeAdapter(Answer)

log = logging.getLogger(__name__)


@dataclass
class Totals:
    """Counts of a client's requests; ``sent`` does not count further attempts.

    Attributes:
        from_other_address: those of ``cached`` that another address is known to have answered.
        oldest_cached: UTC date and time of the oldest answer of ``cached``; empty if not recorded.
    """

    sent: int = 0
    cached: int = 0
    from_other_address: int = 0
    oldest_cached: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


class Client:
    """Queries one endpoint; answers are kept in a store that jobs share.

    An answer is stored before it counts as received, truncated answers and refusals too, because
    they were paid for and would come again; only requests that the server rejects are sent again.
    If everything is stored, neither the endpoint nor its key is needed. Use it as a context
    manager, or call :meth:`close`.

    Args:
        cache_dir: folder of the store; may be shared by processes, studies and endpoints.
        budget: most money that the study may ever spend; None for no limit.
        study: whose money is spent.
        server: started before the first request is sent, for an endpoint without an address of its
            own.
        same_address: whether stored answers are used only if the endpoint's address gave them.
            Otherwise answers of the model at any address are used, because servers on clusters
            move; those of another address are counted and logged.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        cache_dir: str | Path,
        budget: float | None = None,
        study: str = "",
        server: LocalServer | None = None,
        same_address: bool = False,
    ) -> None:
        self.endpoint = endpoint
        self.address = address_key(endpoint)
        self.same_address = same_address
        self.store = Store(cache_dir, study, budget)
        self.totals = Totals()
        learned = self.store.capabilities(endpoint_key(endpoint))
        self.capabilities = initial_capabilities(endpoint, learned)
        self._server = server
        self._answers: dict[str, Answer] = {}  # of this client, by key
        self._pending: dict[str, asyncio.Future[Answer]] = {}
        # set when the first request of an unknown endpoint has ended, also with an error
        self._first_sent = asyncio.Event()
        self._first_begun = False
        self._stop: UserError | None = None  # why no further request is sent
        self._runner: asyncio.Runner | None = None
        self._connection: Connection | None = None
        self._progress: Progress | None = None
        self._counts_conversations = False  # else answers

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and the store, and stop a server that this client started."""
        if self._runner is not None:
            if self._connection is not None:
                self._runner.run(self._connection.close())
                self._connection = None
            self._runner.close()
            self._runner = None
            self._warn_of_other_addresses()
        if self._server is not None:
            self._server.stop()
        self.store.close()

    def _warn_of_other_addresses(self) -> None:
        totals = self.totals
        if totals.from_other_address:
            log.warning(
                "endpoint '%s': %d of %d answers were stored for the same model at another address; to query "
                "this address, set another 'cache'",
                self.endpoint.name, totals.from_other_address, totals.cached + totals.sent,
            )  # fmt: skip

    # stored answers

    def key(self, request: Request) -> str:
        """Return the key of a request at this endpoint."""
        return request.key(self.endpoint)

    def lookup(self, request: Request) -> Answer | None:
        """Return the stored answer of a request, or None; nothing is sent."""
        key = self.key(request)
        first = self._stored(key)
        if first is None or first.address == self.address:
            return first
        own = self._stored(self._key_at_address(key))
        return first if own is None and not self.same_address else own

    def _stored(self, key: str) -> Answer | None:
        record = self.store.answer(key)
        return None if record is None else _answer_from_record(record, key)

    def _key_at_address(self, key: str) -> str:
        """Return the key of an answer of this address where another one's has the request's key."""
        return canonical_key([key, self.address])

    def bill(self) -> dict[str, Any]:
        """Return cost and served models of this client's answers, whoever paid for them.

        Each distinct request counts once; ``lost`` is the most that attempts without an answer can
        have cost the study.
        """
        capabilities = dataclasses.asdict(self.capabilities)
        del capabilities["settled"]
        costs = bill(self._answers.values())
        others = {}
        if self.totals.from_other_address:
            others["from_other_address"] = self.totals.from_other_address
        return {**costs, **others, "lost": self.store.lost(), "capabilities": capabilities}

    def check_room(self, requests: Iterable[Request]) -> None:
        """Refuse requests that exceed the endpoint's ``context``, if known, before sending any.

        Raises:
            UserError: a prompt of about so many tokens and the longest answer exceed the context.
        """
        context = self.endpoint.context
        if context is None:
            return
        for request in requests:
            prompt = sum(tokens_about(message["content"]) for message in request.messages)
            limit = request.limit(self.endpoint)
            if prompt + limit > context and self.lookup(request) is None:
                raise UserError(
                    f"endpoint '{self.endpoint.name}': its context of {context} tokens is too short for a prompt of "
                    f"about {prompt} and an answer of up to {limit}; set a larger 'context' or a smaller 'max_tokens', "
                    f"or shorten the text '{request.messages[-1]['content'][-60:]}'"
                )

    # requests

    def complete_all(self, requests: Sequence[Request], what: str = "") -> list[Answer]:
        """Return answers in the order of the requests; equal ones are sent once.

        Errors are those of :meth:`drive`.
        """
        answers = self.drive(
            {number: _single_turn(request) for number, request in enumerate(requests)}, what
        )
        return [answers[number] for number in range(len(requests))]

    def drive(self, conversations: Mapping[Any, Conversation], what: str = "") -> dict[Any, Any]:
        """Run conversations concurrently, each at its own pace, and return their results.

        When the endpoint stops answering or the budget is used up, the requests in flight are still
        awaited and stored; then one error is raised. Running again sends only what is missing.

        Args:
            conversations: generators by any key; each yields requests and returns a result.
            what: label of the lines of progress in the log.

        Raises:
            EndpointError: requests failed although all attempts were made, or the endpoint cannot
                be used.
            BudgetExceeded: the budget does not allow the next request.
        """
        with contextlib.ExitStack() as stack:
            if self._progress is None:
                label = what or f"querying {self.endpoint.name}"
                stack.enter_context(self._conversation_stage(label, len(conversations)))
            results = self._run(self._drive(conversations))
        return {key: results[key] for key in conversations}

    @contextlib.contextmanager
    def stage(self, what: str, total: int, at_most: bool = False) -> Iterator["Client"]:
        """Log the progress of all requests in this block.

        Args:
            total: number of answers, or its upper bound if ``at_most``.
        """
        with self._progress_of(Progress(what, total, "answers", log=log, at_most=at_most)):
            yield self

    @contextlib.contextmanager
    def _conversation_stage(self, what: str, total: int) -> Iterator[None]:
        """Log the progress of conversations, whose numbers of answers are not known."""
        self._counts_conversations = True
        try:
            with self._progress_of(Progress(what, total, "conversations", log=log)):
                yield
        finally:
            self._counts_conversations = False

    @contextlib.contextmanager
    def _progress_of(self, progress: Progress) -> Iterator[None]:
        """Log a progress, with what came from the cache and what was spent."""
        cached, cost = self.totals.cached, self.totals.cost

        def so_far() -> str:
            stored = f"{self.totals.cached - cached} from the cache"
            return (
                f"{stored}, cost {self.totals.cost - cost:.4f}" if self.endpoint.prices else stored
            )

        with progress as self._progress:
            progress.note = so_far
            try:
                yield
            finally:
                self._progress = None

    async def complete(self, request: Request) -> Answer:
        """Return the answer of one request, stored or from the endpoint.

        Errors are those of :meth:`drive`.
        """
        answer = self.lookup(request)
        if answer is None:
            answer = await self._shared(request)
        if answer.status == "error":
            return answer
        if answer.cached:
            self._count_cached(answer)
        self._answers[answer.key] = answer
        return answer

    def _count_cached(self, answer: Answer) -> None:
        self.totals.cached += 1
        self.totals.from_other_address += answer.address not in ("", self.address)
        if answer.received:
            oldest = self.totals.oldest_cached or answer.received
            self.totals.oldest_cached = min(oldest, answer.received)

    async def _drive(self, conversations: Mapping[Any, Conversation]) -> dict[Any, Any]:
        run = _Run(patience=max(2, self.endpoint.concurrency))
        queue = iter(conversations.items())

        async def work() -> None:
            for key, conversation in queue:
                if self._stop is not None:
                    return
                try:
                    run.results[key] = await self._converse(conversation, run)
                except UserError as error:
                    if run.is_final(error):
                        self._stop = error

        self._stop = None
        self._first_begun = False
        self._first_sent.clear()
        workers = min(self.endpoint.concurrency, len(conversations))
        await asyncio.gather(*(work() for _ in range(workers)))
        run.raise_failure(self._stop, len(conversations), self.endpoint.name)
        return run.results

    async def _converse(self, conversation: Conversation, run: "_Run") -> Any:
        try:
            request = next(conversation)
            while True:
                answer = await self.complete(request)
                run.note(answer)
                if self._progress is not None and not self._counts_conversations:
                    self._progress.add(1)
                request = conversation.send(answer)
        except StopIteration as end:
            if self._progress is not None and self._counts_conversations:
                self._progress.add(1)
            return end.value

    async def _shared(self, request: Request) -> Answer:
        """Send a request, or wait for it if this client is sending it already."""
        key = self.key(request)
        if key in self._pending:
            answer = await asyncio.shield(self._pending[key])
            return dataclasses.replace(answer, cached=True)
        self._pending[key] = asyncio.ensure_future(self._send_after_first(request, key))
        try:
            return await self._pending[key]
        finally:
            del self._pending[key]

    async def _send_after_first(self, request: Request, key: str) -> Answer:
        """Send the first request of an unknown endpoint alone, because it teaches the others."""
        is_first = not self.capabilities.settled and not self._first_begun
        if not is_first and not self.capabilities.settled:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._first_sent.wait(), FIRST_SECONDS)
        if self._stop is not None:
            raise self._stop
        self._first_begun = True
        try:
            return await self._send(request, key)
        except (EndpointUnusable, BudgetExceeded) as error:
            self._stop = error
            raise
        except EndpointError:
            raise
        except UserError as error:  # nothing more can be stored
            self._stop = error
            raise
        finally:
            self._first_sent.set()

    async def _send(self, request: Request, key: str) -> Answer:
        """Send a request as the server accepts it, learn from errors, store the answer and cost."""
        canonical = request.canonical(self.endpoint)
        max_prompt = tokens_at_most(canonical)
        total_usage, total_cost = Usage(), 0.0
        capabilities = self.capabilities
        tried = {capabilities}
        while True:
            body = capabilities.body(request, self.endpoint)
            max_tokens = max_prompt, body[capabilities.token_field]
            try:
                payload = await self._post(
                    "/chat/completions", key, body, max_tokens, lambda: self.lookup(request)
                )
            except RequestRejected as rejection:
                corrected = capabilities.after_rejection(rejection.error, body, self.endpoint)
                if corrected is None or corrected in tried:
                    self.totals.sent += 1
                    return Answer("", "error", key=key, error=str(rejection))
                capabilities = corrected
                tried.add(capabilities)
                continue
            except _AlreadyStored as stored:
                return stored.value
            usage = usage_of(payload, body, max_tokens)
            cost = self.endpoint.prices.of(usage)
            total_usage, total_cost = total_usage + usage, total_cost + cost
            first = self._stored(key)
            is_free = first is None or first.address == self.address
            record_key = key if is_free else self._key_at_address(key)
            answer = answer_of(payload, total_usage, total_cost, record_key)
            received = datetime.now(UTC).isoformat(timespec="seconds")
            answer = dataclasses.replace(answer, address=self.address, received=received)
            learned = capabilities.after_answer(answer)
            starts_to_reason = learned.reasons and not capabilities.reasons
            is_thought_alone = answer.status == "truncated" and not answer.text.strip()
            if starts_to_reason and is_thought_alone:  # once more, with room for the thought
                self.store.settle(key, cost)
                self._learn(learned)
                capabilities = learned
                continue
            record = _record(canonical, body, answer)
            self.store.settle(key, cost, record, record_key=record_key)
            self._learn(learned)
            self._count(total_usage, total_cost, 1)
            return answer

    def _learn(self, learned: Capabilities) -> None:
        if learned == self.capabilities:
            return
        difference = learned.difference(self.capabilities)
        if difference:
            log.warning("endpoint '%s' %s", self.endpoint.name, difference)
        self.capabilities = learned
        self.store.save_capabilities(endpoint_key(self.endpoint), dataclasses.asdict(learned))

    async def _post(
        self,
        path: str,
        key: str,
        body: Mapping[str, Any],
        max_tokens: tuple[int, int],
        stored: Callable[[], Any],
    ) -> dict[str, Any]:
        """Send a request, with retries; the caller settles its reservation after storing.

        Args:
            max_tokens: the most tokens of prompt and answer.
            stored: returns what another job has stored for the request meanwhile, or None.

        Raises:
            RequestRejected: the server refuses this request.
            _AlreadyStored: another job has stored the answer.
        """
        prices = self.endpoint.prices
        meter = _Meter(self, key, prices.cost(*max_tokens), stored)
        try:
            payload = await self._connected().post(path, body, meter)
        except BaseException:
            meter.release()
            raise
        usage = usage_of(payload, body, max_tokens)
        if meter.lost and not usage.estimated:  # the tokens of the prompt are known now
            known_amount = prices.cost(usage.prompt_tokens, max_tokens[1])
            self.store.correct_loss(meter.lost * (known_amount - meter.amount))
        return payload

    def _connected(self) -> "Connection":
        # the package openai, which this module imports, takes a while
        from tripleaudit.llm.connection import Connection

        if self._connection is None:
            base_url = self._server.start() if self._server is not None else None
            self._connection = Connection(self.endpoint, base_url)
        return self._connection

    @property
    def slots_key(self) -> str:
        """Key of requests that share an endpoint's slots; a local model serves this job alone."""
        owner = self.store.owner if self._server is not None else ""
        return f"{endpoint_key(self.endpoint)}{owner}"

    def _count(self, usage: Usage, cost: float, sent: int) -> None:
        self.totals.sent += sent
        self.totals.prompt_tokens += usage.prompt_tokens
        self.totals.completion_tokens += usage.completion_tokens
        self.totals.cost += cost

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run in one event loop for the client's whole life."""
        self._runner = self._runner or asyncio.Runner()
        return self._runner.run(work)

    # embeddings

    def embedding_key(self, text: str) -> str:
        """Return the key of one text's embedding at this endpoint."""
        return canonical_key(
            {"embedding": self.endpoint.model, "input": text, **self.endpoint.extra}
        )

    def embed(self, texts: Sequence[str], batch: int = 64) -> np.ndarray:
        """Return embeddings of texts, float32 [n, d], through the same store, budget and retries.

        Raises:
            EndpointError: the endpoint rejects the texts, or does not send a vector for each of
                them.
        """
        return self._run(self._embed(list(texts), batch))

    async def _embed(self, texts: list[str], batch: int) -> np.ndarray:
        keys = [self.embedding_key(text) for text in texts]
        text_of_key = dict(zip(keys, texts, strict=True))
        vectors = self.store.embeddings(text_of_key)
        self.totals.cached += len(vectors)
        missing = [key for key in text_of_key if key not in vectors]
        parts = [missing[start : start + batch] for start in range(0, len(missing), batch)]
        turns = asyncio.Semaphore(self.endpoint.concurrency)
        self._stop = None

        async def fetch(part: list[str]) -> None:
            async with turns:
                if self._stop is None:  # nothing more is paid for that cannot be read or stored
                    vectors.update(await self._embed_part(part, [text_of_key[key] for key in part]))

        outcomes = await asyncio.gather(*map(fetch, parts), return_exceptions=True)
        for failure in outcomes:
            if isinstance(failure, BaseException):
                raise failure
        lengths = {len(vector) for vector in vectors.values()}
        if len(lengths) > 1:
            problem = f"sent embeddings of {len(lengths)} lengths; expected one model"
            raise EndpointError(f"endpoint '{self.endpoint.name}' {problem}")
        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([np.frombuffer(vectors[key], dtype="<f4") for key in keys])

    async def _embed_part(self, keys: list[str], texts: list[str]) -> dict[str, bytes]:
        """Return the vectors of a batch by key, and store them."""
        body = {
            "model": self.endpoint.model,
            "input": texts,
            "encoding_format": "float",
            **self.endpoint.extra,
        }
        lengths = [len(text.encode("utf-8", "replace")) for text in texts]
        max_tokens = sum(lengths) + EMBEDDING_BYTES * len(texts), 0
        key = canonical_key(keys)

        def stored() -> dict[str, bytes] | None:
            vectors = self.store.embeddings(keys)
            return vectors if len(vectors) == len(keys) else None

        try:
            payload = await self._post("/embeddings", key, body, max_tokens, stored)
            usage = usage_of(payload, body, max_tokens)
            cost = self.endpoint.prices.of(usage)
            read = self._read_vectors(payload["data"], len(keys), key, cost)
            vectors = dict(zip(keys, read, strict=True))
            self.store.settle(key, cost, embeddings=vectors)
        except _AlreadyStored as stored_vectors:
            return stored_vectors.value
        except RequestRejected as rejection:
            self._stop = EndpointError(
                f"endpoint '{self.endpoint.name}' rejects the texts to embed: {rejection}"
            )
            raise self._stop from None
        except UserError as error:
            self._stop = error
            raise
        self._count(usage, cost, len(texts))
        return vectors

    def _read_vectors(
        self, rows: list[dict[str, Any]], count: int, key: str, cost: float
    ) -> list[bytes]:
        """Return an answer's vectors as little-endian float32.

        Unreadable ones were paid for, too.
        """
        try:
            with np.errstate(over="ignore"):  # an overflow becomes infinite, which is refused
                vectors = np.array([row["embedding"] for row in rows], dtype="<f4")
        except (KeyError, OverflowError, TypeError, ValueError):
            vectors = np.zeros(0)  # no numbers, or not as many for each text
        is_matrix = vectors.ndim == 2 and vectors.size > 0 and len(vectors) == count
        # a server may leave the indices out, but not send others than those of the texts
        indices = [row["index"] for row in rows if "index" in row]
        is_ordered = not indices or indices == list(range(count))
        if is_matrix and is_ordered and np.isfinite(vectors).all():
            return [vector.tobytes() for vector in vectors]
        self.store.settle(key, cost)
        raise EndpointError(
            f"endpoint '{self.endpoint.name}' sent no embeddings; expected a list of numbers for each text"
        )


@dataclass
class _Run:
    """Progress of a number of conversations.

    Attributes:
        patience: failures in a row after which the endpoint counts as down, which spares the others
            their attempts.
    """

    patience: int
    results: dict[Any, Any] = field(default_factory=dict)
    failure: EndpointError | None = None
    failures_in_a_row: int = 0
    answered: bool = False
    rejection: str = ""

    def note(self, answer: Answer) -> None:
        """Note an answer."""
        if answer.status == "error":
            self.rejection = answer.error or self.rejection or "no reason given"
        else:
            self.answered = True
        if not answer.cached:
            self.failures_in_a_row = 0

    def is_final(self, error: UserError) -> bool:
        """Note a failure; return whether no other conversation is to be begun."""
        if not isinstance(error, EndpointError):
            return True
        self.failure = error
        self.failures_in_a_row += 1
        return isinstance(error, EndpointUnusable) or self.failures_in_a_row >= self.patience

    def raise_failure(self, stop: UserError | None, total: int, endpoint: str) -> None:
        """Raise the error that ended the run, if there is one."""
        failure = stop or self.failure
        if failure is None:
            if self.rejection and not self.answered:
                raise EndpointError(
                    f"endpoint '{endpoint}' rejects every request: {self.rejection}"
                )
            return
        if not isinstance(failure, EndpointError | BudgetExceeded):
            raise failure
        progress = f"{len(self.results)} of {total} answers are there"
        if self.results or not isinstance(failure, EndpointUnusable | BudgetExceeded):
            progress += "; run again to send only the missing ones"
        kind = BudgetExceeded if isinstance(failure, BudgetExceeded) else EndpointError
        raise kind(f"{failure}; {progress}")


@dataclass
class _Meter:
    """Reservations of one request: a slot of the endpoint, and the maximum cost of an attempt."""

    client: Client
    key: str
    amount: float
    stored: Callable[[], Any]
    lost: int = 0  # attempts without an answer that may have been billed

    async def reserve(self) -> None:
        """Wait for a slot and for money.

        Raises:
            _AlreadyStored: another job has stored the answer meanwhile.
            BudgetExceeded: the budget does not allow the request, and no request in flight can turn
                out cheaper.
        """
        store, slots = self.client.store, self.client.endpoint.concurrency
        nothing_in_flight = False  # before the reservation was tried
        while True:
            outcome = store.reserve(self.key, self.client.slots_key, slots, self.amount)
            value = self.stored()
            if value is not None:
                self.release()
                raise _AlreadyStored(value)
            if outcome is Reservation.GRANTED:
                return
            over_budget = outcome is Reservation.OVER_BUDGET
            if over_budget and nothing_in_flight:
                raise self._over_budget()
            # a request of another job may have ended since the reservation was tried: try again
            nothing_in_flight = over_budget and not store.others_in_flight()
            if not nothing_in_flight:
                await asyncio.sleep(POLL_SECONDS)

    def lose(self) -> None:
        """Count an attempt that may have been billed."""
        self.lost += 1
        self.client.store.lose(self.key, self.amount)

    def release(self) -> None:
        """Give back the reservation of a request that is given up."""
        with contextlib.suppress(UserError):  # another error is being raised
            self.client.store.settle(self.key, 0.0)

    def _over_budget(self) -> BudgetExceeded:
        store = self.client.store
        spent, lost = store.spent(), store.lost()
        perhaps = f", at most {lost:.6g} on attempts without an answer" if lost else ""
        state = "is used up" if spent or lost else "is too small for one request"
        return BudgetExceeded(
            f"endpoint '{self.client.endpoint.name}': the budget of {store.budget:g} {state} ({spent:.6g} spent"
            f"{perhaps}, the next request may cost {self.amount:.3g}); raise the budget to go on"
        )


class _AlreadyStored(Exception):
    """Another job has stored the answer or the vectors meanwhile."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def _record(
    canonical: Mapping[str, Any], body: Mapping[str, Any], answer: Answer
) -> dict[str, Any]:
    """Return the stored record of an answer: the request as meant and as sent, and the answer."""
    kept = dataclasses.asdict(answer)
    for name in ("key", "cached"):
        del kept[name]
    sent = {name: value for name, value in body.items() if name != "messages"}
    return {"request": canonical, "sent": sent, "answer": kept}


def _answer_from_record(record: Mapping[str, Any], key: str) -> Answer | None:
    """Return a stored answer; None if it is damaged, or if another version stored another form."""
    try:
        stored = record["answer"]
        values = {"status": "ok", **stored, "usage": stored["usage"]}
        answer = STORED_ANSWER.validate_python(values)
    except (KeyError, TypeError, ValidationError):
        return None
    return dataclasses.replace(answer, cached=True, key=key)


def _single_turn(request: Request) -> Conversation:
    """Return a conversation of one request, whose result is the answer."""
    return (yield request)
