"""A local HTTP server that speaks the OpenAI protocol and misbehaves on request.

    with FakeEndpoint(answer="[]", faults=[status(429, retry_after=0.1), drop()]) as fake:
        Endpoint(fake.url, "fake")   # the first request gets a 429, the second a dropped connection, then all is well

``answer`` is a text or a :class:`Reply`, a list of them (one for each answered request, the last
one repeats), or a function of the request body that returns one.
"""

import contextlib
import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import openai

from tripleaudit.llm.client import Client
from tripleaudit.llm.endpoint import Endpoint, Request, Sampling

from .serving import Server  # as benchmarks import this module by another name

openai._base_client.INITIAL_RETRY_DELAY, openai._base_client.MAX_RETRY_DELAY = 0.01, 0.05  # seconds


@dataclass(frozen=True)
class Reply:
    """A well-formed answer; ``finish_reason`` ``length`` is a truncated one, ``refusal`` a
    refused one.
    """

    text: str | None
    finish_reason: str = "stop"
    refusal: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    usage: bool = True
    reasoning: str | None = None
    reasoning_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True)
class Rules:
    """What a service takes, as its reference documents say.

    Attributes:
        reasoning: an o-series or gpt-5 type model: ``max_completion_tokens`` in place of
            ``max_tokens``, no temperature but 1, no ``top_p`` or ``stop``; it thinks for so many
            tokens before it answers. None for a model that takes ``max_tokens`` and a temperature,
            and no ``reasoning_effort``.
        strict: strict structured outputs take only schemas that obey their rules.
    """

    reasoning: int | None = None
    strict: bool = True

    def problem(self, body: dict[str, Any]) -> "Fault | None":
        """Return the error for a request that breaks a rule."""
        asked = body.get("response_format", {}).get("json_schema", {})
        thinks, temperature = self.reasoning is not None, body.get("temperature", 1)
        unknown = (
            f"Unsupported value: 'temperature' does not support {temperature} with this model."
        )
        rules = (  # whether it is broken, the parameter, the code, and the words
            (
                thinks and "max_tokens" in body,
                "max_tokens",
                "unsupported_parameter",
                UNKNOWN.format("max_tokens"),
            ),
            (thinks and temperature != 1, "temperature", "unsupported_value", unknown),
            (thinks and "top_p" in body, "top_p", "unsupported_parameter", UNKNOWN.format("top_p")),
            (thinks and "stop" in body, "stop", "unsupported_parameter", UNKNOWN.format("stop")),
            (not thinks and "reasoning_effort" in body, "reasoning_effort", None, UNRECOGNISED),
            (
                self.strict and asked.get("strict") and not _is_closed(asked["schema"]),
                "response_format",
                None,
                OPEN,
            ),
        )
        for broken, param, code, message in rules:
            if broken:
                error = {
                    "message": message,
                    "type": "invalid_request_error",
                    "param": param,
                    "code": code,
                }
                return status(400, body={"error": error})
        return None


UNKNOWN = "Unsupported parameter: '{}' is not supported with this model."
UNRECOGNISED = "Unrecognized request argument supplied: reasoning_effort"
OPEN = "Invalid schema for response_format 'answer': 'additionalProperties' is required to be supplied and to be false."


def _is_closed(schema: Any) -> bool:
    """Whether every object of a schema forbids further properties and requires all of its own."""
    if isinstance(schema, list):
        return all(map(_is_closed, schema))
    if not isinstance(schema, dict):
        return True
    if "properties" in schema and isinstance(schema["properties"], dict):
        if schema.get("additionalProperties") is not False or set(schema["required"]) != set(
            schema["properties"]
        ):
            return False
        return all(map(_is_closed, schema["properties"].values()))
    return all(map(_is_closed, schema.values()))


@dataclass(frozen=True)
class Fault:
    """One misbehaviour; build it with the functions below."""

    kind: str
    code: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: str | bytes = ""
    seconds: float = 0.0


def status(
    code: int, retry_after: float | str | None = None, body: Any = None, message: str = "no"
) -> Fault:
    """An error status with the usual error object, optionally with ``Retry-After``."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    payload = (
        {"error": {"message": message, "type": "fake", "code": None}} if body is None else body
    )
    return Fault(
        "status", code, headers, payload if isinstance(payload, str) else json.dumps(payload)
    )


def drop() -> Fault:
    """Close the connection without a word."""
    return Fault("drop")


def cut() -> Fault:
    """Announce a long body, send some of it, and close the connection."""
    return Fault("cut")


def hang(seconds: float = 30.0) -> Fault:
    """Say nothing for so long (or until the server stops)."""
    return Fault("hang", seconds=seconds)


def malformed(body: str | bytes = '{"choices": [{"mess', **headers: str) -> Fault:
    """Status 200 with a body that is no JSON, or with any other one."""
    return Fault(
        "status", 200, {name.replace("_", "-"): value for name, value in headers.items()}, body
    )


OK = None  # no fault


@dataclass
class FakeEndpoint:
    """The server; use it as a context manager.

    Attributes:
        answer: what to answer, see the module.
        faults: one misbehaviour for each request in order of arrival (``OK`` for none; after the
            last all is well), or a function ``(number of the request from 0, body) -> Fault |
            None``.
        latency: seconds every answer takes.
        echo_key: put the Authorization header into every error message, as careless servers do.
        rules: what the service takes.
        fingerprint: ``system_fingerprint`` of every answer.
        url: base URL with ``/v1``.
        requests: bodies of all requests, in order of arrival, with the path under ``"_path"``;
            ``headers`` of theirs.
        answered: bodies of the requests that got a good answer.
        max_in_flight: most requests that were being worked on at any moment.
        books: usage of every answer that was worked out, also if the client was gone by then: what
            the service bills.
    """

    answer: "str | Reply | Sequence[str | Reply] | Callable[[dict], Any]" = "[]"
    faults: Sequence[Fault | None] | Callable[[int, dict], Fault | None] = ()
    latency: float = 0.0
    echo_key: bool = False
    rules: Rules | None = None
    fingerprint: str | None = None

    def __post_init__(self) -> None:
        self.books, self.requests, self.answered, self.headers = ([] for _ in range(4))
        self.max_in_flight = self._in_flight = 0
        self.lock, self.stopping = threading.Lock(), threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = (
                True  # or the body of an answer waits 40 ms for the word that its head arrived
            )

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                fake._work(self, json.loads(data))

        self._server = Server(Handler)
        self.url = f"{self._server.url}/v1"

    def __enter__(self) -> "FakeEndpoint":
        self._server.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.stop()

    @property
    def count(self) -> int:
        """Requests that arrived so far, faulty ones included."""
        return len(self.requests)

    @property
    def keys(self) -> list[str | None]:
        """Authorization headers of all requests."""
        return [headers.get("Authorization") for headers in self.headers]

    def _work(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        with self.lock:
            number = len(self.requests)
            self.requests.append({**body, "_path": handler.path})
            self.headers.append(handler.headers)
            self._in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self._in_flight)
        try:
            self._answer(handler, number, body)
        finally:
            with self.lock:
                self._in_flight -= 1

    def _answer(self, handler: BaseHTTPRequestHandler, number: int, body: dict[str, Any]) -> None:
        fault = (
            self.faults(number, body)
            if callable(self.faults)
            else dict(enumerate(self.faults)).get(number)
        )
        self.stopping.wait(self.latency)
        if fault is not None and fault.kind != "status":
            self.stopping.wait(fault.seconds)
            if fault.kind == "cut":
                self._send(handler, 200, b'{"choices": [', {"Content-Length": "10000"})
                handler.wfile.flush()
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        if fault is not None and self.echo_key:
            said = {"message": f"bad key {handler.headers.get('Authorization')}"}
            fault = replace(fault, body=json.dumps({"error": said}))
        if fault is None and self.rules and "messages" in body:
            fault = self.rules.problem(body)
        if fault is not None:
            self._send(handler, fault.code, fault.body, fault.headers)
            return
        with self.lock:
            self.answered.append(body)
            position = len(self.answered) - 1
        payload = self._embeddings(body) if "input" in body else self._completion(position, body)
        self._send(handler, 200, payload)

    def _completion(self, position: int, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.answer
        if callable(answer):
            reply = answer(body)
        else:
            reply = (
                answer
                if isinstance(answer, str | Reply)
                else answer[min(position, len(answer) - 1)]
            )
        reply = self._thought(reply if isinstance(reply, Reply) else Reply(reply), body)
        prompt = sum(len(message["content"].split()) for message in body["messages"])
        message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
        if reply.reasoning is not None:
            message["reasoning_content"] = reply.reasoning
        payload = {
            "id": f"fake-{position}",
            "created": int(time.time()),
            "model": body.get("model"),
        }
        payload["choices"] = [
            {"index": 0, "finish_reason": reply.finish_reason, "message": message}
        ]
        if self.fingerprint:
            payload["system_fingerprint"] = self.fingerprint
        if reply.usage:
            prompt = prompt if reply.prompt_tokens is None else reply.prompt_tokens
            completion = (
                len((reply.text or "").split())
                if reply.completion_tokens is None
                else reply.completion_tokens
            )
            payload["usage"] = {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
                "completion_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
                "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
            }
            with self.lock:
                self.books.append(payload["usage"])
        return payload

    def _thought(self, reply: Reply, body: dict[str, Any]) -> Reply:
        """Return what is left of an answer once a reasoning model has thought about it within
        the request's limit.
        """
        if self.rules is None or self.rules.reasoning is None or not reply.usage:
            return reply
        thought, limit = self.rules.reasoning, body.get("max_completion_tokens", 10**9)
        words = (
            len((reply.text or "").split())
            if reply.completion_tokens is None
            else reply.completion_tokens
        )
        if limit <= thought:
            return replace(
                reply,
                text="",
                finish_reason="length",
                completion_tokens=limit,
                reasoning_tokens=limit,
            )
        return replace(reply, completion_tokens=thought + words, reasoning_tokens=thought)

    def _embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        rows = []
        for index, text in enumerate(body["input"]):
            digest = hashlib.sha256(text.encode()).digest()[:8]
            rows.append(
                {
                    "object": "embedding",
                    "index": index,
                    "embedding": [byte / 255 for byte in digest],
                }
            )
        tokens = sum(len(text.split()) for text in body["input"])
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": rows[::-1], "model": body.get("model"), "usage": usage}

    def _send(
        self, handler: Any, code: int, payload: Any, headers: dict[str, str] | None = None
    ) -> None:
        text = payload if isinstance(payload, str | bytes) else json.dumps(payload)
        data = text if isinstance(text, bytes) else text.encode()
        handler.send_response(code)
        own = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        for name, value in {**own, **(headers or {})}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)


def requests(
    count: int, schema: dict[str, Any] | None = None, sample: int = 0, **sampling: Any
) -> list[Request]:
    """Return so many different requests."""
    return [
        Request(
            [{"role": "user", "content": f"text number {number}"}],
            schema,
            Sampling(**sampling),
            sample=sample,
        )
        for number in range(count)
    ]


def endpoint(fake: FakeEndpoint | None, **values: Any) -> Endpoint:
    """The fake endpoint, or one where nobody is; it is asked again soon."""
    given = {
        "base_url": fake.url if fake else "http://127.0.0.1:9/v1",
        "model": "fake",
        "timeout": 5.0,
    }
    return Endpoint(**{**given, "max_retries": 4, **values})


@contextlib.contextmanager
def asking(
    folder: Path, answer: Any = "[]", budget: float | None = None, **values: Any
) -> Iterator[tuple[Any, Any]]:
    """A fake endpoint and a client of it that keeps its answers in ``folder``; ``values`` are
    those of both.
    """
    own = {each.name: values.pop(each.name) for each in fields(FakeEndpoint) if each.name in values}
    with (
        FakeEndpoint(answer, **own) as fake,
        Client(endpoint(fake, **values), folder, budget=budget) as client,
    ):
        yield fake, client
