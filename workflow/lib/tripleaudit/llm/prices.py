"""What requests use and cost; what known services charge, as of a date (``data/prices.yaml``)."""

import datetime
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import yaml

from tripleaudit.shipped import DATA

FILE = DATA / "prices.yaml"
OLD = datetime.timedelta(days=180)
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


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


@functools.cache
def _table() -> Mapping[str, Any]:
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def listed(base_url: str | None, model: str) -> Prices:
    """Return the listed prices of a model at an address; none where the table does not know both."""
    try:
        host = urlsplit(base_url or "").hostname or ""
    except ValueError:  # no address; who checks it says so
        host = ""
    service = _table()["services"].get(host) or {"models": {}}
    found = service["models"].get(model) or service["models"].get(_DATED.sub("", model))
    if found is None:
        return Prices()
    return Prices(**found, batch=service.get("batch", 1.0), as_of=_table()["date"].isoformat())


def warning(prices: Prices, today: datetime.date | None = None) -> str | None:
    """Say that listed prices are old; None for a study's own and for fresh ones."""
    if not prices.as_of:
        return None
    age = (today or datetime.date.today()) - datetime.date.fromisoformat(prices.as_of)
    return f"its prices are listed as of {prices.as_of}, {age.days} days ago; set 'prices'" if age > OLD else None
