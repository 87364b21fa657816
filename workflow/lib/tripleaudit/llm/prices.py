"""Tokens and prices of requests."""

from dataclasses import dataclass
from typing import Any

from tripleaudit.core.fields import NotNegative, Section


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request as the server counted them; ``estimated`` when it did not.

    ``reasoning_tokens`` are part of ``completion_tokens``, ``cached_tokens`` (prompt cache of the
    server) part of ``prompt_tokens``.
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


class Prices(Section):
    """Money per million tokens."""

    input: NotNegative = 0
    """Per million prompt tokens."""
    output: NotNegative = 0
    """Per million completion tokens."""
    cached_input: NotNegative | None = None
    """Per million prompt tokens that the server had in its prompt cache; null is as `input`."""

    def __init__(self, input: float = 0, output: float = 0, **more: Any) -> None:
        super().__init__(**{"input": input, "output": output, **more})

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the money for so many tokens, none of them cached."""
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6

    def of(self, usage: Usage) -> float:
        """Return the money for one answered request."""
        cheaper = self.input - (self.input if self.cached_input is None else self.cached_input)
        return (
            self.cost(usage.prompt_tokens, usage.completion_tokens)
            - usage.cached_tokens * cheaper / 1e6
        )

    def __bool__(self) -> bool:
        return bool(self.input or self.output)
