"""What a set of requests would take, before anything is sent: counted, or rehearsed where answers decide requests."""

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tripleaudit.llm.conversation import TokenCounter, answered
from tripleaudit.llm.embeddings import Vectors, key_of
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
    """Return what the requests would take: how many are stored, tokens, money. Reads the cache, sends nothing.

    Args:
        length: tokens of an answer elsewhere, for requests of which none is stored.
    """
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


def estimate_embeddings(client: "Client", texts: Iterable[str]) -> Estimate:
    """Return what the embeddings of the texts would take; a text counts as one request. Sends nothing.

    Embeddings have no completion, so the money is that of the tokens sent.
    """
    keys = {key_of(text, client.endpoint): text for text in texts}
    stored = Vectors(client.cache).get(keys)
    prompt = sum(tokens_about(text) for key, text in keys.items() if key not in stored)
    cost = client.endpoint.prices.cost(prompt, 0)
    return Estimate(len(keys), len(stored), len(keys) - len(stored), prompt, 0, 0, cost, cost)


def most(client: "Client", request: Request) -> int:
    """Return the most tokens of an answer: with those of thought, where the model is known or said to think."""
    thinks = client.known.reasons or client.endpoint.reasoning_tokens
    return request.limit(client.endpoint) + (client.endpoint.thought if thinks else 0)


@dataclass
class Rehearsal:
    """Stands in for a client: answers from the cache, or with the longest possible answer, and counts.

    The stages run for real; only the answers that are not stored yet are made up, as long as answers may be. So
    conversations restart where they would at the latest, and what was paid for before is seen to cost nothing.

    Attributes:
        form: the JSON value of an answer that holds so much filling.
        times: as how many each request counts that is still to be sent.
        found: what it takes.
    """

    client: "Client"
    counter: TokenCounter
    form: Callable[[str], Any] = lambda filler: {"entities": [{"type": "Thing", "name": "x", "description": filler}]}
    times: int = 1
    found: Estimate = Estimate()

    def drive(self, conversations: Mapping[Any, Generator[Request, Answer, Any]]) -> dict[Any, Any]:
        return {key: answered(conversation, self._answer) for key, conversation in conversations.items()}

    def _answer(self, request: Request) -> Answer:
        stored = self.client.lookup(request)
        if stored is not None:
            self.found += Estimate(1, 1)
            return stored
        prompt, limit = self.counter.messages(request.messages), most(self.client, request)
        tokens = (self.times * prompt, self.times * limit)
        cost = self.client.endpoint.prices.cost(*tokens)
        self.found += Estimate(self.times, 0, self.times, *tokens, tokens[1], cost, cost)
        return Answer(json.dumps(self.form("x " * max(1, limit * 3 // 2))), "ok", "stop", Usage(prompt, limit))
