"""Estimates of the requests, tokens and money that planned work needs; nothing is sent."""

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tripleaudit.llm.conversation import TokenCounter, answered
from tripleaudit.llm.endpoint import Answer, Request, Usage, tokens_about

if TYPE_CHECKING:
    from tripleaudit.llm.client import Client


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests, tokens and money of what is still to be sent.

    Attributes:
        total: distinct requests.
        cached: requests with a stored answer, which cost nothing.
        to_pay: the other requests; all following attributes refer to them.
        prompt_tokens: expected tokens sent (four bytes per token).
        completion_tokens: expected tokens received, from the mean of the stored answers; equal to
            ``completion_limit`` if no answer is stored.
        completion_limit: maximum number of tokens received.
        cost: money for the expected tokens.
        cost_limit: money for the maximum number of tokens.
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


def estimate_text(parts: Mapping[str, Estimate], priced: bool) -> str:
    """Return the estimate of each part of some work and their sum as lines.

    Args:
        parts: name -> estimate.
        priced: whether prices are known.
    """
    total = sum(parts.values(), Estimate())
    named = {**parts, "in all": total}
    width = max(map(len, named))
    lines = ["Estimate, nothing sent yet:"]
    for name, part in named.items():
        requests = f"{part.to_pay:,} requests to send, {part.cached:,} stored"
        tokens = f"at most {part.prompt_tokens:,} tokens in, {part.completion_limit:,} out"
        lines.append(f"  {name:<{width}}  {requests}; {tokens}")
    cost = "unknown: no prices given"
    if priced:
        cost = f"at most {total.cost_limit:.4f} at the given prices"
    lines.append(f"  {'cost':<{width}}  {cost}")
    return "\n".join(lines)


def estimate(client: "Client", requests: Iterable[Request]) -> Estimate:
    """Return an estimate of distinct requests; stored ones cost nothing."""
    endpoint = client.endpoint
    seen: set[str] = set()
    cached = to_pay = prompt = limit = completion = 0
    for request in requests:
        key = client.key(request)
        if key in seen:
            continue
        seen.add(key)
        answer = client.lookup(request)
        if answer is not None:
            cached += 1
            completion += answer.usage.completion_tokens
            continue
        to_pay += 1
        prompt += sum(tokens_about(item["content"]) for item in request.messages)
        if "schema" in request.canonical(endpoint):
            prompt += tokens_about(json.dumps(request.schema))
        limit += longest_answer(client, request)
    expected = min(limit, round(to_pay * completion / cached)) if cached else limit
    return Estimate(
        total=len(seen),
        cached=cached,
        to_pay=to_pay,
        prompt_tokens=prompt,
        completion_tokens=expected,
        completion_limit=limit,
        cost=endpoint.prices.cost(prompt, expected),
        cost_limit=endpoint.prices.cost(prompt, limit),
    )


def estimate_embeddings(client: "Client", texts: Iterable[str]) -> Estimate:
    """Return an estimate of the embeddings of texts; each text counts as one request."""
    text_of_key = {client.embedding_key(text): text for text in texts}
    stored = client.store.embeddings(text_of_key)
    missing = [text for key, text in text_of_key.items() if key not in stored]
    tokens = sum(tokens_about(text) for text in missing)
    cost = client.endpoint.prices.cost(tokens, 0)
    return Estimate(
        total=len(text_of_key),
        cached=len(stored),
        to_pay=len(missing),
        prompt_tokens=tokens,
        cost=cost,
        cost_limit=cost,
    )


def longest_answer(client: "Client", request: Request) -> int:
    """Return the token limit of an answer, with reasoning tokens for models known to reason."""
    endpoint = client.endpoint
    reasons = client.capabilities.reasons or endpoint.reasoning_tokens
    return request.limit(endpoint) + (endpoint.thought if reasons else 0)


def longest_entity(filler: str) -> Any:
    """Return an answer with one entity that holds a text."""
    return {"entities": [{"type": "Thing", "name": "x", "description": filler}]}


@dataclass
class DryRun:
    """Driver that counts requests; answers come from the cache or have the maximum length.

    Conversations run as they would with a model that always uses its token limit, so the estimate
    is an upper bound.

    Attributes:
        answer_of: returns the JSON value of an answer that contains a given text.
        repeat: factor by which requests without a stored answer are counted.
        estimate: requests, tokens and money so far.
    """

    client: "Client"
    counter: TokenCounter
    answer_of: Callable[[str], Any] = longest_entity
    repeat: int = 1
    estimate: Estimate = Estimate()

    def drive(self, conversations: Mapping[Any, Generator[Request, Answer, Any]]) -> dict[Any, Any]:
        """Run the conversations and return their results."""
        return {
            key: answered(conversation, self._answer) for key, conversation in conversations.items()
        }

    def _answer(self, request: Request) -> Answer:
        stored = self.client.lookup(request)
        if stored is not None:
            self.estimate += Estimate(total=1, cached=1)
            return stored
        prompt_tokens = self.counter.messages(request.messages)
        limit = longest_answer(self.client, request)
        sent, received = self.repeat * prompt_tokens, self.repeat * limit
        cost = self.client.endpoint.prices.cost(sent, received)
        self.estimate += Estimate(
            total=self.repeat,
            to_pay=self.repeat,
            prompt_tokens=sent,
            completion_tokens=received,
            completion_limit=received,
            cost=cost,
            cost_limit=cost,
        )
        words = max(1, limit * 3 // 2)  # more words than tokens, so that the answer fills the limit
        text = json.dumps(self.answer_of("x " * words))
        return Answer(text, "ok", "stop", Usage(prompt_tokens, limit))
