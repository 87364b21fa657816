"""What a set of requests would take, before anything is sent."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tripleaudit.llm.embeddings import key_of, stored
from tripleaudit.llm.endpoint import Request, tokens_about

if TYPE_CHECKING:
    from tripleaudit.llm.client import Client


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests, tokens and money of what is still to be sent.

    Attributes:
        total, cached, to_pay: distinct requests: all, stored ones, and the rest.
        prompt_tokens: about how many tokens the rest sends (four bytes a token).
        completion_tokens: about how many come back: the mean of the stored answers of the same batch, else the limit.
        completion_limit: most tokens that can come back.
        cost, cost_limit: money for about, and for at most, these tokens.
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


def estimate(client: "Client", requests: Iterable[Request]) -> Estimate:
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
        canonical = request.canonical(endpoint)
        to_pay += 1
        prompt += sum(tokens_about(item["content"]) for item in canonical["messages"])
        prompt += tokens_about(json.dumps(canonical["schema"])) if "schema" in canonical else 0
        limit += canonical["max_tokens"]
    about = min(limit, round(to_pay * answered / cached)) if cached else limit
    prices = endpoint.prices
    return Estimate(
        len(seen), cached, to_pay, prompt, about, limit, prices.cost(prompt, about), prices.cost(prompt, limit)
    )


def estimate_embeddings(client: "Client", texts: Iterable[str]) -> Estimate:
    """Return what the embeddings of ``texts`` would take; a text counts as one request, although many travel together.

    Embeddings have no completion, so the money is that of the tokens sent. Reads the cache, sends nothing.
    """
    endpoint, distinct = client.endpoint, set(texts)
    missing = [text for text in distinct if stored(key_of(text, endpoint), client.cache) is None]
    prompt = sum(map(tokens_about, missing))
    cost = endpoint.prices.cost(prompt, 0)
    return Estimate(len(distinct), len(distinct) - len(missing), len(missing), prompt, 0, 0, cost, cost)
