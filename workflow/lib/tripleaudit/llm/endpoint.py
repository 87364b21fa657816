"""Endpoints, requests and answers as plain values; nothing here uses the network."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, model_validator
from pydantic.json_schema import SkipJsonSchema

from tripleaudit.core.addresses import (
    has_login_or_query,
    is_literal_secret,
    is_secret_name,
    is_web_address,
)
from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import Count, Number, Positive, Processes, Section, Temperature
from tripleaudit.core.mistakes import mistakes
from tripleaudit.llm.prices import Prices, Usage

CONTEXT = 4096
"""Tokens of prompt and answer together of a local model, where its endpoint names none."""
THOUGHT = 4096
"""Tokens added to every limit of a model that reasons, where the endpoint names none."""
LOCAL_DEFAULTS = {"timeout": 600, "concurrency": 1, "context": CONTEXT}
"""Settings of a model that a job serves itself."""
LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")
"""Names of the field of a request that limits its answer; a server accepts one of them."""
TEMPLATE_TOKENS, MESSAGE_TOKENS = 64, 8
"""Most tokens that a chat template adds (role marks, a default system message), and per message."""

SECRET_FIELDS = {
    *("api_key", "apikey", "x_api_key", "key", "secret_key", "token", "access_token", "auth_token"),
    *("authorization", "auth", "bearer", "password", "passwd", "pass", "pwd", "secret"),
    *("client_secret", "credential", "credentials", "cookie"),
}
"""Names of fields whose values are secrets; a name such as ``max_tokens`` only contains one."""


class EndpointError(UserError):
    """The endpoint cannot be used, or does not answer after all attempts."""


class EndpointUnusable(EndpointError):
    """Further requests are pointless: no key, no permission, no such model, no quota."""


class RequestRejected(Exception):
    """The server works, but refuses one request; ``error`` is its error object."""

    def __init__(self, message: str, error: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.error = error


class Serve(Section):
    """A local model that the job serves itself, with llama.cpp."""

    source: str
    """A model of workflow/lib/tripleaudit/data/registry/models.yaml or a source: a GGUF file."""


class AnswerLimit(Section):
    """The limit of an answer, for sections whose requests may replace that of an endpoint."""

    max_tokens: Number | None = None
    """Most tokens of an answer, instead of the endpoint's."""


class Sampling(AnswerLimit):
    """Settings of sampling that replace those of an endpoint; null takes the endpoint's."""

    temperature: Temperature | None = None
    """Instead of the endpoint's."""
    seed: int | None = None
    """Instead of the endpoint's."""


AS_THE_ENDPOINT = Sampling()


class Endpoint(Section):
    """An OpenAI-compatible server, a model there, and how it is queried."""

    base_url: str | None = None
    """Address up to and including /v1; null for a local model (`serve`)."""
    model: str = ""
    """The model's name at the endpoint; by default the registered name under `serve`."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key, never the key itself; null sends
    none.
    """
    serve: Serve | None = None
    prices: Prices = Prices()
    """Money per million tokens, as your service charges it; by default none. A budget requires
    them.
    """
    # kept as written, because parameters of rules hold it
    temperature: int | float | None = Field(0, ge=0, le=2)
    """Sampling temperature, 0 is greedy; null leaves it to the server."""
    max_tokens: Number = 800
    """Most tokens of an answer."""
    seed: int | None = None
    """Seed of sampling, for servers that know one."""
    top_p: int | float | None = Field(None, le=1, gt=0)
    """Nucleus sampling; null leaves it to the server."""
    reasoning_effort: str | None = None
    """How long a reasoning model thinks, as the server calls it (low, medium, high); null leaves
    it out.
    """
    reasoning_tokens: Count | None = None
    """Tokens added to every limit where the model reasons before it answers; null is 4096."""
    extra: dict[str, Any] = {}
    """Further fields of every request, as the server defines them."""
    headers: dict[str, str] = {}
    """Further headers of every request; `env:NAME` takes a value from the environment variable
    NAME.
    """
    query: dict[str, str] = {}
    """Further query parameters of every request, such as api-version."""
    structured: Literal["auto", "json_schema", "off"] = "auto"
    """Structured outputs (JSON schema); auto requests them until the server rejects them."""
    context: Number | None = None
    """Tokens that prompt and answer may have together; iterated extraction restarts its thread there. Null is no limit;
    the default of a local model is 4096."""
    concurrency: Processes = 4
    """Most requests in flight, over all jobs that share the cache; the default of a local model
    is 1.
    """
    timeout: Positive = 120
    """Seconds for one attempt; the default of a local model is 600."""
    max_retries: Count = 6
    """Further attempts after 408, 409, 425, 429, 5xx, a lost connection or a time-out."""
    # in the configuration, for messages
    name: SkipJsonSchema[str] = Field("endpoint", exclude=True)

    def __init__(self, base_url: str | None = None, model: str = "", **values: Any) -> None:
        super().__init__(**{"base_url": base_url, "model": model, **values})

    @model_validator(mode="before")
    @classmethod
    def _fill_defaults(cls, values: Any) -> Any:
        """Drop nulls that stand for defaults, and add the defaults of a local model."""
        if not isinstance(values, Mapping):
            return values
        settings = {
            key: value for key, value in values.items() if value is not None or key == "temperature"
        }
        serve = settings.get("serve")
        if serve is None:
            return settings
        source = dict(serve).get("source") if isinstance(serve, Mapping | Serve) else None
        is_registered_name = isinstance(source, str) and re.fullmatch(r"[\w.-]+", source)
        if is_registered_name and not settings.get("model"):
            settings["model"] = source
        return {**LOCAL_DEFAULTS, **settings}

    @classmethod
    def from_config(cls, name: str, values: Mapping[str, Any]) -> "Endpoint":
        """Build an endpoint from a mapping of the configuration.

        Raises:
            UserError: an unknown key, or a value that cannot be used.
        """
        where = f"generative endpoint '{name}'"
        try:
            endpoint = cls.model_validate({**values, "name": name})
        except ValidationError as error:
            raise UserError(
                "; ".join(mistake.sentence(where) for mistake in mistakes(error, cls))
            ) from None
        for problem in endpoint.contradictions():
            raise UserError(f"{where}: {problem}")
        return endpoint

    def contradictions(self) -> Iterator[str]:
        """Yield a sentence for each value that has the right type, but cannot be used."""
        if self.base_url is None and self.serve is None:
            yield "expected 'base_url' (a server) or 'serve' (a local model)"
        if not self.model:
            yield "'model' is missing; expected the model's name at the endpoint"
        if self.base_url is not None:
            yield from _problems_of_address(self.base_url)
        if self.api_key_env is not None and not re.fullmatch(
            r"[A-Za-z_][A-Za-z0-9_]{0,63}", self.api_key_env
        ):
            yield "'api_key_env' must be the name of an environment variable, not the key itself"
        for name, value in self.headers.items():
            if is_literal_secret(name, value):
                yield (
                    f"'headers/{name}' must not hold the value, which may be secret; name an environment variable, "
                    "'env:NAME'"
                )
        yield from _problems_of_query(self.query)
        for path in _secret_fields(self.extra, "extra"):
            yield f"'{path}' must not hold a secret; send a header whose value is 'env:NAME'"
        if self.extra.get("stream") or self.extra.get("n", 1) != 1:
            yield "'extra' must not request a stream or several answers"
        yield from _problems_of_extra(self.extra)

    @property
    def thought(self) -> int:
        """Tokens added to every limit where the model reasons."""
        return THOUGHT if self.reasoning_tokens is None else self.reasoning_tokens


def _secret_fields(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of the fields of a JSON value, at any depth, whose names are secrets."""
    if isinstance(value, dict):
        for name, inner in value.items():
            inner_path = f"{path}/{name}"
            if str(name).lower().replace("-", "_") in SECRET_FIELDS:
                yield inner_path
            else:
                yield from _secret_fields(inner, inner_path)
    elif isinstance(value, list):
        for inner in value:
            yield from _secret_fields(inner, path)


def _problems_of_query(query: Mapping[str, str]) -> Iterator[str]:
    for name in filter(is_secret_name, query):
        yield f"'query/{name}' must not hold a secret; send a header whose value is 'env:NAME'"
    try:
        "".join([*query, *query.values()]).encode()
    except UnicodeEncodeError:
        yield "'query' holds half of a surrogate pair, which no address can hold"


def _problems_of_extra(extra: Mapping[str, Any]) -> Iterator[str]:
    for name in ("messages", "input", "model"):
        if name in extra:
            yield f"'extra' must not replace '{name}'"
    for name in LIMIT_FIELDS:
        limit = extra.get(name, 1)
        if type(limit) is not int or limit < 1:
            yield f"'extra/{name}' must be a whole number of at least 1, got {limit!r}"
    try:
        json.dumps(extra, allow_nan=False)
    except (TypeError, ValueError):
        yield "'extra' holds a value that JSON cannot express, such as .nan"


def _problems_of_address(address: str) -> Iterator[str]:
    if not is_web_address(address):
        yield "'base_url' must be an http or https address such as https://host/v1"
        return
    if has_login_or_query(address):
        yield "'base_url' must not hold credentials or a query; name 'api_key_env' instead"
    if urlsplit(address).path.rstrip("/").endswith("/chat/completions"):
        yield "'base_url' must end before /chat/completions, which is added to it"


@dataclass(frozen=True)
class Request:
    """One chat request.

    Attributes:
        messages: ``({"role": "system" | "user" | "assistant", "content": str}, …)``, several turns
            allowed.
        schema: JSON schema of the answer, sent as a structured-output request where the server
            offers it.
        sampling: replaces settings of the endpoint.
        sample: tells requests with equal messages apart, which have a cache entry each; it is not
            sent.
    """

    messages: Sequence[Mapping[str, str]]
    schema: Mapping[str, Any] | None = None
    sampling: Sampling = AS_THE_ENDPOINT
    stop: Sequence[str] | None = None
    sample: int = 0

    def body(self, endpoint: Endpoint) -> dict[str, Any]:
        """Return the fields that determine the answer, as sent to the server (without schema)."""
        messages = [{"role": item["role"], "content": item["content"]} for item in self.messages]
        fields = {
            "model": endpoint.model,
            "messages": messages,
            "max_tokens": self._setting("max_tokens", endpoint),
            "temperature": _float(self._setting("temperature", endpoint)),
            "seed": self._setting("seed", endpoint),
            "top_p": _float(endpoint.top_p),
            "reasoning_effort": endpoint.reasoning_effort,
            "reasoning_tokens": endpoint.reasoning_tokens,
            "stop": list(self.stop) if self.stop else None,
            **endpoint.extra,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def limit(self, endpoint: Endpoint) -> int:
        """Return the most tokens of an answer, thought not included."""
        extra = endpoint.extra
        extra_limit = extra.get("max_completion_tokens") or extra.get("max_tokens")
        return extra_limit or self._setting("max_tokens", endpoint)

    def _setting(self, name: str, endpoint: Endpoint) -> Any:
        """Return a setting of sampling: the request's, else the endpoint's."""
        value = getattr(self.sampling, name)
        return getattr(endpoint, name) if value is None else value

    def canonical(self, endpoint: Endpoint) -> dict[str, Any]:
        """Return the identifying fields of this request: body, schema and sample; no transport."""
        canonical = self.body(endpoint)
        if endpoint.serve:
            canonical["server"] = "llama.cpp"
        if self.schema is not None and endpoint.structured != "off":
            canonical["schema"] = self.schema
        if self.sample:
            canonical["sample"] = self.sample
        return canonical

    def key(self, endpoint: Endpoint) -> str:
        """Return the SHA-256 of the canonical request, 64 hexadecimal digits."""
        return canonical_key(self.canonical(endpoint))


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a model to one request.

    Attributes:
        text: without the model's thought.
        status: ``ok``; ``truncated`` (token limit); ``refused``; ``error`` (the server rejects this
            request).
        cost: money paid for the answer, by this job or an earlier one.
        cached: whether it came from the cache, so that nothing was sent now.
        key: the request's key.
        error: the server's message for ``error``.
        reasoning: the model's thought, where the server shows it.
        served: what answered: the ``model`` and ``fingerprint`` that the server names, its ``id``
            of the answer, and ``created`` (seconds since 1970).
        address: hash of the address that answered (:func:`address_key`); empty if not recorded.
        received: UTC date and time of the answer; empty if not recorded.
    """

    text: str
    status: str
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    cached: bool = False
    key: str = ""
    error: str | None = None
    reasoning: str = ""
    served: Mapping[str, Any] = field(default_factory=dict)
    address: str = ""
    received: str = ""


def address_key(endpoint: Endpoint) -> str:
    """Return a short hash of an endpoint's address, which itself may hold private names.

    A model that jobs serve themselves has no address; all such servers count as one.
    """
    return canonical_key({"address": (endpoint.base_url or "").rstrip("/")})[:16]


def canonical_key(value: Any) -> str:
    """Return the SHA-256 of a JSON value in its canonical form (sorted keys, no blanks)."""
    text = json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def tokens_at_most(canonical: Mapping[str, Any]) -> int:
    """Return an upper bound of prompt tokens: the bytes, for any byte-level vocabulary."""
    texts = [item["content"] for item in canonical["messages"]]
    if "schema" in canonical:
        texts.append(json.dumps(canonical["schema"]))
    lengths = [len(text.encode("utf-8", "replace")) for text in texts]
    return TEMPLATE_TOKENS + sum(lengths) + MESSAGE_TOKENS * len(texts)


def tokens_about(text: str) -> int:
    """Return a plain estimate of a text's tokens: four bytes a token."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def _float(value: float | None) -> float | None:
    """Return 0 and 0.0 as one value, or equal requests would have two keys."""
    return None if value is None else float(value)


def bill(answers: Iterable[Answer]) -> dict[str, Any]:
    """Return usage, cost and served models of answers, whoever paid; equal ones count once."""
    distinct = list({answer.key: answer for answer in answers}.values())
    times = [answer.served.get("created") for answer in distinct]
    known_times = [time for time in times if isinstance(time, int | float)]
    return {
        "requests": len(distinct),
        **asdict(sum((answer.usage for answer in distinct), Usage())),
        "cost": sum(answer.cost for answer in distinct),
        "models": dict(Counter(str(answer.served.get("model")) for answer in distinct)),
        "fingerprints": dict(Counter(str(answer.served.get("fingerprint")) for answer in distinct)),
        "first": min(known_times, default=None),
        "last": max(known_times, default=None),
    }
