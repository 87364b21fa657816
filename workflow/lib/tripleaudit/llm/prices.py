"""What requests use and cost. What services charge (:mod:`tripleaudit.llm.listed`) comes with an endpoint."""

import datetime
from dataclasses import dataclass, field

from tripleaudit.fields import CLOSED

OLD = datetime.timedelta(days=180)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request as the server counted them; ``estimated`` when it did not.

    ``reasoning_tokens`` are part of ``completion_tokens``, ``cached_tokens`` (prompt cache of the server) part of
    ``prompt_tokens``.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    reasoning_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated or other.estimated,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class Prices:
    """Money per million tokens, in any one currency.

    ``cached_input`` is for prompt tokens from the server's cache, ``batch`` the share of all this that its batch API
    charges, ``as_of`` the date of listed prices.
    """

    __pydantic_config__ = CLOSED

    input: float = 0.0
    output: float = 0.0
    cached_input: float | None = None
    batch: float = 0.5
    as_of: str | None = field(default=None, compare=False)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the money for so many tokens, none of them cached."""
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6

    def of(self, usage: Usage) -> float:
        """Return the money for one answered request."""
        cheaper = self.input - (self.input if self.cached_input is None else self.cached_input)
        return self.cost(usage.prompt_tokens, usage.completion_tokens) - usage.cached_tokens * cheaper / 1e6

    def __bool__(self) -> bool:
        return bool(self.input or self.output)


def warning(prices: Prices, today: datetime.date | None = None) -> str | None:
    """Say that listed prices are old; None for a study's own and for fresh ones."""
    if not prices.as_of:
        return None
    age = (today or datetime.datetime.now(datetime.UTC).date()) - datetime.date.fromisoformat(prices.as_of)
    return f"its prices are listed as of {prices.as_of}, {age.days} days ago; set 'prices'" if age > OLD else None
