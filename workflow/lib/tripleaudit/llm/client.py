"""The client of every language-model stage: sends requests, none twice, never too much at once, never over budget.

endpoint = Endpoint("https://host/v1", "some-model", api_key_env="SOME_KEY")
with Client(endpoint, "results/cache/llm") as client:
    answers = client.complete_all([Request([{"role": "user", "content": "…"}])])
"""

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tripleaudit.errors import UserError
from tripleaudit.llm.embeddings import embed
from tripleaudit.llm.endpoint import Answer, Endpoint, Prices, Request, Usage, bill, tokens_about
from tripleaudit.llm.ledger import BudgetExceeded
from tripleaudit.llm.sending import Sender
from tripleaudit.llm.transport import EndpointError, EndpointUnusable
from tripleaudit.machine.progress import Progress

__all__ = ["Answer", "BudgetExceeded", "Client", "Endpoint", "EndpointError", "Prices", "Request", "Usage"]

log = logging.getLogger(__name__)


class Client(Sender):
    """Asks one endpoint, with a cache of answers on disk.

    An answer is stored the moment it arrives, truncated answers and refusals too, because they were paid for and would
    come again; only requests that the server rejects are sent again. If everything is stored, neither the endpoint nor
    its key is needed. Use it as a context manager, or call :meth:`close`.

    Arguments are those of :class:`.sending.Sender`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._runner: asyncio.Runner | None = None
        self._progress: Progress | None = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, stop a server that this client started and give back all locks."""
        if self._runner is not None:
            if self._transport is not None:
                self._runner.run(self._transport.close())
                self._transport = None
            self._runner.close()
            self._runner = None
        if "slots" in vars(self):  # something was sent
            self.slots.close()
        if self._server is not None:
            self._server.stop()
        if self.ledger is not None:
            self.ledger.close()

    def check_room(self, requests: Iterable[Request]) -> None:
        """Refuse requests that cannot fit into the endpoint's ``context``, where that is known, before any is sent.

        Raises:
            UserError: a prompt of about so many tokens and the longest answer are too much together.
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
                    f"about {prompt} and an answer of up to {limit}; expected a larger 'context', a smaller "
                    f"'max_tokens' or a shorter text than '{request.messages[-1]['content'][-60:]}'"
                )

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
            what: is being sent, for the lines of progress in the log.

        Raises:
            EndpointError: requests failed although all attempts were made, or the endpoint cannot be used.
            BudgetExceeded: the budget does not allow the next request.
        """
        with contextlib.ExitStack() as stack:
            if self._progress is None:
                stack.enter_context(self.stage(what or f"querying {self.endpoint.name}", len(conversations)))
            assert self._progress is not None
            results = self._run(self._drive(conversations, self._progress))
        return {key: results[key] for key in conversations}

    @contextlib.contextmanager
    def stage(self, what: str, total: int, at_most: bool = False) -> Iterator["Client"]:
        """Tell in the log how far all that is sent in this block has come.

        Args:
            total: answers that it takes; ``at_most`` if it may take fewer.
        """
        cached, cost = self.totals.cached, self.totals.cost

        def so_far() -> str:
            stored = f"{self.totals.cached - cached} from the cache"
            return f"{stored}, cost {self.totals.cost - cost:.4f}" if self.endpoint.prices else stored

        with Progress(what, total, "answers", log=log, at_most=at_most) as self._progress:
            self._progress.note = so_far
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

    def embed(self, texts: Sequence[str], batch: int = 64) -> np.ndarray:
        """Return the embeddings of texts as a float32 array (n, d), through the same cache, budget and retries."""
        vectors, found = self._run(embed(list(texts), batch, self.endpoint, self.cache, self._post_embeddings))
        self.totals.cached += found
        return vectors

    async def _drive(self, conversations: Mapping[Any, Generator[Any, Any, Any]], progress: Progress) -> dict[Any, Any]:
        queue, run = iter(conversations.items()), _Run(max(2, self.endpoint.concurrency))

        async def work() -> None:
            for key, conversation in queue:
                if run.stop is not None:
                    return
                try:
                    run.results[key] = await self._talk(conversation, run, progress)
                except UserError as error:
                    run.fail(error)

        # twice as many workers as slots, so that a slot never waits for the disk; one conversation after the other
        # with a local model, which reads again what it has not read last
        side_by_side = self.endpoint.concurrency if self.endpoint.serve else 2 * self.endpoint.concurrency
        side_by_side = min(side_by_side, len(conversations))
        self._full = None
        if self._unusable is not None:  # of an earlier call: perhaps the key is right by now
            self._unusable, self._first_sent = None, False
            self._tried.clear()
        await asyncio.gather(*(work() for _ in range(side_by_side)))
        so_far = (
            f"{len(run.results)} of {len(conversations)} answers are there; run again to send only the missing ones"
        )
        if isinstance(run.stop, BudgetExceeded):
            raise BudgetExceeded(f"{run.stop}; {so_far}")
        if run.stop is not None and not isinstance(run.stop, EndpointError):
            raise run.stop
        if run.failure is not None:
            raise EndpointError(f"{run.failure}; {so_far}")
        if run.rejected and not run.answered:
            raise EndpointError(f"endpoint '{self.endpoint.name}' rejects every request: {run.rejected}")
        return run.results

    async def _talk(self, conversation: Generator[Request, Any, Any], run: "_Run", progress: Progress) -> Any:
        answer: Answer | None = None
        while True:
            try:
                request = conversation.send(answer)
            except StopIteration as end:
                return end.value
            answer = await self.complete(request)
            if answer.status == "error":
                run.rejected = answer.error or run.rejected or "no reason given"
            else:
                run.answered = True
            if not answer.cached:
                run.in_a_row = 0
            progress.add(1)

    def _run(self, work: Any) -> Any:
        """Run in one event loop for the client's whole life."""
        self._runner = self._runner or asyncio.Runner()
        return self._runner.run(work)


@dataclass
class _Run:
    """What has come of conversations so far; ``stop`` is why no other one is begun."""

    patience: int  # failures in a row after which the endpoint is down, which spares the others their attempts
    results: dict[Any, Any] = field(default_factory=dict)
    stop: UserError | None = None
    failure: EndpointError | None = None
    in_a_row: int = 0
    answered: bool = False
    rejected: str = ""

    def fail(self, error: UserError) -> None:
        if isinstance(error, EndpointError):
            self.failure = error
            self.in_a_row += 1
        if (
            not isinstance(error, EndpointError)
            or isinstance(error, EndpointUnusable)
            or self.in_a_row >= self.patience
        ):
            self.stop = error


def _one(request: Request) -> Generator[Request, Answer, Answer]:
    """A conversation of one request."""
    return (yield request)
