"""What a set of requests would take, before anything is sent: counted, or rehearsed where answers decide requests."""

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from tripleaudit.llm.conversation import TokenCounter, answered
from tripleaudit.llm.endpoint import Answer, Request, Usage, tokens_about

if TYPE_CHECKING:
    from tripleaudit.llm.client import Client


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests, tokens and money of what is still to be sent.

    Attributes:
        total, cached, to_pay: distinct requests: all, stored ones, and the rest.
        prompt_tokens: about how many tokens the rest sends (four bytes a token).
        completion_tokens: about how many come back: the mean of the stored answers of the same batch, else of the
            answers that the caller knows, else the limit.
        completion_limit: most tokens that can come back.
        cost, cost_limit: money for about, and for at most, these tokens; at most all of it at the full price, where
            requests are sent as batches.
    """

    total: int = 0
    cached: int = 0
    to_pay: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    completion_limit: int = 0
    cost: float = 0.0
    cost_limit: float = 0.0

    def __add__(self, other: "Estimate") -> "Estimate":
        return Estimate(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


def estimate(client: "Client", requests: Iterable[Request], length: float | None = None) -> Estimate:
    """Return what ``requests`` would take at the client's endpoint; reads the cache, sends nothing."""
    endpoint, seen = client.endpoint, set()
    cached = to_pay = prompt = limit = answered = 0
    for request in requests:
        key = client.key(request)
        if key in seen:
            continue
        seen.add(key)
        answer = client.lookup(request)
        if answer is not None:
            cached += 1
            answered += answer.usage.completion_tokens
            continue
        to_pay += 1
        prompt += sum(tokens_about(item["content"]) for item in request.messages)
        prompt += tokens_about(json.dumps(request.schema)) if "schema" in request.canonical(endpoint) else 0
        limit += most(client, request)
    mean = answered / cached if cached else length
    about = limit if mean is None else min(limit, round(to_pay * mean))
    prices = endpoint.prices
    cost = prices.cost(prompt, about) * (prices.batch if endpoint.batch else 1)
    return Estimate(len(seen), cached, to_pay, prompt, about, limit, cost, prices.cost(prompt, limit))


def most(client: "Client", request: Request) -> int:
    """Return the most tokens of an answer: with those of thought, where the model is known or said to think."""
    thinks = client.known.reasons or client.endpoint.reasoning_tokens
    return request.limit(client.endpoint) + (client.endpoint.thought if thinks else 0)


@dataclass
class Rehearsal:
    """Answers requests from the cache, or with the longest possible answer, and counts.

    The stages run for real; only the answers that are not stored yet are made up, as long as answers may be. So
    conversations restart where they would at the latest, and what was paid for before is seen to cost nothing.

    Attributes:
        form: the JSON value of an answer that holds so much filling.
    """

    client: "Client"
    counter: TokenCounter
    form: Callable[[str], Any] = lambda filler: {"entities": [{"type": "Thing", "name": "x", "description": filler}]}
    stages: dict[str, Estimate] = field(default_factory=dict)

    def stage(self, name: str, times: int = 1) -> "Stage":
        """Return what books on the stage ``name``; every request still to be sent counts ``times`` times."""
        self.stages.setdefault(name, Estimate())
        return Stage(partial(self._answer, stage=name, times=times))

    def _answer(self, request: Request, stage: str, times: int) -> Answer:
        stored = self.client.lookup(request)
        if stored is not None:
            self.stages[stage] += Estimate(1, 1)
            return stored
        prompt, limit = self.counter.messages(request.messages), most(self.client, request)
        tokens = (times * prompt, times * limit)
        cost = self.client.endpoint.prices.cost(*tokens)
        self.stages[stage] += Estimate(times, 0, times, *tokens, tokens[1], cost, cost)
        return Answer(json.dumps(self.form("x " * max(1, limit * 3 // 2))), "ok", "stop", Usage(prompt, limit))


@dataclass
class Stage:
    """One stage of a rehearsal, in place of a client."""

    answer: Callable[[Request], Answer]

    def drive(self, conversations: Mapping[Any, Generator[Request, Answer, Any]]) -> dict[Any, Any]:
        return {key: answered(conversation, self.answer) for key, conversation in conversations.items()}
