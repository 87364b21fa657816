"""Connection to an OpenAI-compatible endpoint through the client of the package ``openai``.

The package repeats requests, waits as ``Retry-After`` asks and keeps connections open.
:class:`MeteredClient`, the HTTP client that the package uses, processes every attempt. It adds what
the package does not do: accounting of each attempt, bounded answers, errors in answers with status
200, no redirects, and no headers but those of the endpoint.

A request passes :meth:`Connection.post`, the package, :meth:`MeteredClient.send` (once for each
attempt) and :meth:`Connection.interpret`. The package sees only an empty response with a status and
whether to retry; the payload or problem is kept in the :class:`Call` of the request.
"""

import asyncio
import contextvars
import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

import httpx2
import openai

from tripleaudit.core.addresses import clean_addresses
from tripleaudit.core.version import __version__
from tripleaudit.llm.endpoint import Endpoint, EndpointError, EndpointUnusable, RequestRejected

RETRIED_STATUSES = {408, 409, 425, 429}  # and all from 500 on
REJECTED_STATUSES = {400, 413, 422}  # this request is not acceptable; others may be
NOTHING_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol)
NO_MONEY_CODES = {"insufficient_quota", "billing_hard_limit_reached"}  # waiting does not help
NO_MODEL_CODES = {"model_not_found", "invalid_model"}  # sent with 400 by some servers
MODERATED = re.compile(r"flagged|moderation|content.?(filter|policy|management)", re.IGNORECASE)
WAIT_HEADERS = ("retry-after-ms", "retry-after")
MAX_ANSWER_BYTES = 64 * 2**20  # unpacked
MAX_MESSAGE_CHARACTERS = 300
MIN_SECRET_IN_ANSWER = 16  # characters; a shorter key may be a word of an answer
MIN_SECRET_IN_MESSAGE = 4
STANDARD_HEADERS = {
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "user-agent",
}
"""Headers of the HTTP client that are sent; the endpoint's own are added to them."""
ENVIRONMENT_VARIABLES = "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE or SSL_CERT_DIR"
"""Variables that decide how servers on other machines are reached."""

log = logging.getLogger(__name__)


class Meter(Protocol):
    """Accounting of the attempts to send one request."""

    async def reserve(self) -> None:
        """Wait until the next attempt may be made; called before each one."""

    def lose(self) -> None:
        """Record an attempt without an answer that the server may have processed and billed."""


@dataclass(frozen=True)
class Reply:
    """One attempt's outcome: an answer, or a problem.

    Attributes:
        payload: the JSON object of a good answer.
        problem: what went wrong, in words.
        error: the server's error object.
        retry: whether another attempt may help.
        billed: whether the server may bill the attempt, although there is no answer.
        wait_headers: ``Retry-After`` and its kin, which the package ``openai`` obeys up to two
            minutes.
    """

    status: int
    payload: Mapping[str, Any] | None = None
    problem: str = ""
    error: Mapping[str, Any] = field(default_factory=dict)
    retry: bool = False
    billed: bool = False
    wait_headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Call:
    """A request in the course of its attempts."""

    meter: Meter
    rows: str  # key of the list in the answer: ``choices`` (chat) or ``data`` (embeddings)
    attempts: int = 0
    reached: bool = False  # whether an attempt reached the server
    reply: Reply | None = None  # of the last attempt
    failure: str = ""  # of the last attempt, if no reply came


CURRENT_CALL: contextvars.ContextVar[Call] = contextvars.ContextVar("current_call")


class MeteredClient(httpx2.AsyncClient):
    """HTTP client that accounts for every attempt, including retries of ``openai``."""

    def __init__(self, connection: "Connection", **options: Any) -> None:
        super().__init__(follow_redirects=False, **options)
        self.connection = connection

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send one attempt and return its answer, or its problem as an error status."""
        call = CURRENT_CALL.get()
        await call.meter.reserve()
        call.attempts += 1
        call.reply, call.failure = None, ""
        standard = {
            name: value for name, value in request.headers.items() if name in STANDARD_HEADERS
        }
        request.headers = httpx2.Headers({**standard, **self.connection.headers})
        try:
            call.reply = await self._attempt(call, request, options)
        except EndpointUnusable:
            raise
        except Exception as error:
            problem = self.connection.clean(str(error) or type(error).__name__)
            if not problem.startswith("no answer"):
                problem = f"the connection failed ({problem})"
            call.failure = problem
            self.connection.warn(call)
            raise
        if call.reply.payload is None:
            self.connection.warn(call)
        headers = {
            **call.reply.wait_headers,
            "x-should-retry": "true" if call.reply.retry else "false",
        }
        return httpx2.Response(call.reply.status, headers=headers, json={}, request=request)

    async def _attempt(
        self, call: Call, request: httpx2.Request, options: Mapping[str, Any]
    ) -> Reply:
        """Send one attempt, and report it to the meter if it may be billed without an answer."""
        seconds = self.connection.endpoint.timeout
        try:
            async with asyncio.timeout(seconds):
                response = await super().send(
                    request, **{**options, "stream": True, "follow_redirects": False}
                )
                call.reached = True
                body = await _read_body(response)
            reply = self.connection.interpret(response, body, call.rows)
        except NOTHING_SENT:
            raise
        except (TimeoutError, httpx2.TimeoutException):
            call.reached = True
            call.meter.lose()
            raise httpx2.ReadTimeout(f"no answer within {seconds:g} s", request=request) from None
        except BaseException:
            call.reached = True
            call.meter.lose()
            raise
        if reply.billed:
            call.meter.lose()
        return reply


class OpenAIPackage(openai.AsyncOpenAI):
    """Client of the package ``openai`` without the headers that it reads from the environment.

    These are ``OPENAI_ORG_ID``, ``OPENAI_PROJECT_ID`` and all of ``OPENAI_CUSTOM_HEADERS``.
    """

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        """The headers of every request, before those of the endpoint."""
        return {"accept": "application/json", "user-agent": f"tripleaudit/{__version__}"}


class Connection:
    """Connections to one endpoint, for one event loop.

    Keys are read from the environment here and nowhere else. They are removed from every message,
    because servers like to repeat them, and from answers where they are too long to be a word.

    Args:
        base_url: replaces the endpoint's own address (a server that was started on a free port).

    Raises:
        EndpointUnusable: there is no address, or an environment variable is not set, cannot be sent
            in a header, or names a proxy or certificates that cannot be used.
    """

    def __init__(self, endpoint: Endpoint, base_url: str | None = None) -> None:
        base_url = base_url or endpoint.base_url
        if base_url is None:
            raise EndpointUnusable(
                f"endpoint '{endpoint.name}' has no address: its local server is not running"
            )
        for name in ("httpx2", "httpcore2", "openai"):  # they log every request
            logging.getLogger(name).setLevel(logging.WARNING)
        self.endpoint = endpoint
        self.where = f"endpoint '{endpoint.name}' ({base_url})"
        self.headers, secrets = _headers_of(endpoint)
        self._secrets = _secret_variants(secrets)
        is_local = urlsplit(base_url).hostname in ("localhost", "127.0.0.1", "::1")
        try:
            http_client = MeteredClient(
                self,
                timeout=endpoint.timeout,
                limits=httpx2.Limits(max_connections=None),
                trust_env=not is_local,  # a proxy of the environment is not for this machine
            )
        except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
            # the text of an InvalidURL may hold the password of a proxy
            reason = type(error).__name__ if isinstance(error, httpx2.InvalidURL) else error
            raise EndpointUnusable(
                f"{self.where} cannot be reached with the proxy or the certificates of the environment ({reason}); "
                f"correct or unset {ENVIRONMENT_VARIABLES}"
            ) from None
        self._openai = OpenAIPackage(
            base_url=base_url,
            api_key="not-sent",  # MeteredClient sends the endpoint's headers only
            default_query=dict(endpoint.query),
            max_retries=endpoint.max_retries,
            timeout=endpoint.timeout,
            http_client=http_client,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._openai.close()

    async def post(self, path: str, body: Mapping[str, Any], meter: Meter) -> dict[str, Any]:
        """Post a request to ``/chat/completions`` or ``/embeddings`` with retries.

        Returns the answer.

        Raises:
            RequestRejected: the server refuses this request; sending it again would not help.
            EndpointUnusable: no request can work (401, 403, 404, no quota, a redirect), or none
                reached the server.
            EndpointError: every attempt failed.
        """
        call = Call(meter, "choices" if path == "/chat/completions" else "data")
        token = CURRENT_CALL.set(call)
        try:
            # as ASCII, so that any text can be sent, lone surrogates included
            await self._openai.post(path, content=json.dumps(body).encode(), cast_to=object)
        except openai.APIError:
            raise self._final_error(call) from None  # the package's error may hold the key
        except EndpointUnusable as error:
            raise EndpointUnusable(f"{self.where} {error}") from None
        finally:
            CURRENT_CALL.reset(token)
        assert call.reply is not None and call.reply.payload is not None
        answer = json.dumps(call.reply.payload)
        for secret in self._secrets:
            if len(secret) >= MIN_SECRET_IN_ANSWER:
                answer = answer.replace(secret, "[key]")
        return json.loads(answer)

    def clean(self, text: str) -> str:
        """Return a message with ``[key]`` in place of secrets, in small or capital letters."""
        for secret in self._secrets:
            if len(secret) >= MIN_SECRET_IN_MESSAGE:
                text = re.sub(re.escape(secret), "[key]", text, flags=re.IGNORECASE)
        return text

    def quote(self, text: str) -> str:
        """Return a server's words for a message: on one line, short, and without secrets."""
        return _shorten(self.clean(_on_one_line(text)))

    def warn(self, call: Call) -> None:
        """Log the problem of an attempt."""
        problem = call.reply.problem if call.reply is not None else call.failure
        log.warning("%s: attempt %d: %s", self.where, call.attempts, problem)

    def interpret(self, response: httpx2.Response, body: bytes, rows: str) -> Reply:
        """Return the outcome of a response.

        Raises:
            EndpointUnusable: no request to this server can work.
        """
        status = response.status_code
        if 300 <= status < 400:
            location = response.headers.get("location", "nowhere").partition("?")[0]
            target = self.quote(clean_addresses(location))
            return Reply(
                status, problem=f"redirects to {target}; set that as 'base_url' if you trust it"
            )
        text = _decode(body, response.charset_encoding)
        if status >= 400:
            reply = self._error_reply(status, _read_json(text), text)
            wait = {
                name: response.headers[name] for name in WAIT_HEADERS if name in response.headers
            }
            return replace(reply, wait_headers=wait)
        content_type = self.quote(response.headers.get("content-type", "no content type"))
        if "event-stream" in content_type or text.lstrip().startswith(("data:", "event:")):
            raise EndpointUnusable(
                "answers with an event stream; use a server that sends one JSON object"
            )
        try:
            return self._success_reply(_first_json(text), rows)
        except RecursionError:
            raise EndpointUnusable("answers with JSON that is nested too deeply") from None
        except ValueError:
            start = _on_one_line(self.clean(text)[:60]) or "nothing in it"
            return Reply(
                500, problem=f"malformed answer ({content_type}: {start})", retry=True, billed=True
            )

    def _success_reply(self, payload: Any, rows: str) -> Reply:
        """Return the outcome of a response with status 200, which may still hold an error."""
        if isinstance(payload, dict) and payload.get("error") and not payload.get(rows):
            code = str(_error_object(payload).get("code"))
            status = int(code) if re.fullmatch("[45][0-9][0-9]", code) else 500
            return self._error_reply(status, payload, "")
        answer = _with_ordered_rows(payload, rows)
        if answer is None:
            return Reply(500, problem="malformed answer (nothing in it)", retry=True, billed=True)
        first = answer[rows][0]
        if str(first.get("finish_reason")).lower() == "error" or first.get("error"):
            message = self.quote(_message_of(first.get("error"), "no reason given"))
            return Reply(
                500, problem=f"the model's provider failed ({message})", retry=True, billed=True
            )
        return Reply(200, payload=answer)

    def _error_reply(self, status: int, body: Any, text: str) -> Reply:
        """Return the outcome of an error status, which may come from a body with status 200."""
        error = _error_object(body)
        codes = {str(error.get("code")), str(error.get("type"))}
        final = bool(codes & (NO_MONEY_CODES | NO_MODEL_CODES))
        retry = not final and (status in RETRIED_STATUSES or status >= 500)
        message = self.quote(_message_of(body, text))
        return Reply(
            status,
            problem=f"status {status}: {message}",
            error={**error, "message": message},
            retry=retry,
        )

    def _final_error(self, call: Call) -> Exception:
        """Return the error of a request whose attempts have all failed."""
        reply = call.reply
        if reply is None:
            # if nothing arrived, other requests would not arrive either
            kind = EndpointError if call.reached else EndpointUnusable
            return kind(
                f"{self.where} does not answer after {call.attempts} attempts: {call.failure}"
            )
        if reply.retry:
            waits = self.quote(
                ", ".join(f"{name}: {value}" for name, value in reply.wait_headers.items())
            )
            problem = f"{reply.problem} ({waits})" if waits else reply.problem
            return EndpointError(
                f"{self.where} does not answer after {call.attempts} attempts: {problem}"
            )
        if 300 <= reply.status < 400:
            return EndpointUnusable(f"{self.where} {reply.problem}")
        codes = {str(reply.error.get("code")), str(reply.error.get("type"))}
        if not codes & (NO_MONEY_CODES | NO_MODEL_CODES) and _is_rejection(reply):
            return RequestRejected(reply.problem, reply.error)
        advice = self._advice_about(reply.status, codes)
        return EndpointUnusable(f"{self.where} refuses all requests: {reply.problem}{advice}")

    def _advice_about(self, status: int, codes: set[str]) -> str:
        """Return what to change after a refusal of all requests; empty if nothing is known."""
        if status == 404 or codes & NO_MODEL_CODES:
            return "; check the name of the model and the address"
        if status not in (401, 403):
            return ""
        if not self.endpoint.api_key_env:
            return (
                "; name the environment variable with the key ('api_key_env', --key-env of which)"
            )
        return f"; check the key in the environment variable {self.endpoint.api_key_env}"


def _is_rejection(reply: Reply) -> bool:
    """Return whether a server refuses one request, not all of them."""
    moderated = "reasons" in str(reply.error.get("metadata")) or MODERATED.search(
        str(reply.error.get("message"))
    )
    return reply.status in REJECTED_STATUSES or (reply.status == 403 and bool(moderated))


def _headers_of(endpoint: Endpoint) -> tuple[dict[str, str], list[str]]:
    """Return the headers of requests to an endpoint, and the secrets in them.

    Names are in lower case, so a header of the settings replaces the usual one of that name.
    """
    own_headers = {name.lower(): value for name, value in endpoint.headers.items()}
    headers = {"content-type": "application/json", **own_headers}
    secrets = []
    for name, value in own_headers.items():
        if value.startswith("env:"):
            headers[name] = _read_variable(
                endpoint, value.removeprefix("env:"), f"the header '{name}'"
            )
            secrets.append(headers[name])
    if endpoint.api_key_env:
        key = _read_variable(endpoint, endpoint.api_key_env, "the key of the endpoint")
        headers = {"authorization": f"Bearer {key}", **headers}
        secrets.append(key)
    return headers, secrets


def _secret_variants(secrets: Iterable[str]) -> list[str]:
    """Return the forms in which servers repeat secrets, longest first.

    These are the value of the header, the value without its scheme ("Bearer"), and both as JSON
    and addresses write them.
    """
    values = [form for secret in secrets for form in (secret, secret.split()[-1])]
    in_json = [json.dumps(value)[1:-1] for value in values]
    in_addresses = [quote(value, safe="") for value in values]
    return sorted({*values, *in_json, *in_addresses}, key=len, reverse=True)


def _read_variable(endpoint: Endpoint, name: str, purpose: str) -> str:
    value = os.environ.get(name, "").strip()
    where = f"endpoint '{endpoint.name}': the environment variable {name}"
    if not value:
        raise EndpointUnusable(f"{where} is not set; expected it to hold {purpose}")
    if not value.isascii():
        raise EndpointUnusable(
            f"{where} holds a character outside ASCII; expected {purpose} in one line of ASCII"
        )
    if not value.isprintable():
        problem = "holds a line break or another control character"
        raise EndpointUnusable(f"{where} {problem}; expected {purpose} in one line of ASCII")
    return value


async def _read_body(response: httpx2.Response) -> bytes:
    data = bytearray()
    try:
        async for part in response.aiter_bytes():
            data += part
            if len(data) > MAX_ANSWER_BYTES:
                raise EndpointUnusable(
                    f"sends more than {MAX_ANSWER_BYTES >> 20} MB for one answer"
                )
    finally:
        await response.aclose()
    return bytes(data)


def _decode(body: bytes, charset: str | None) -> str:
    """Return the text of a body, which is UTF-8 if it can be; other bytes are replaced."""
    for encoding in ("utf-8-sig", charset or "utf-8"):
        try:
            return body.decode(encoding)
        except (LookupError, ValueError):  # unknown character set, or other bytes
            continue
    return body.decode("utf-8", "replace")


def _first_json(text: str) -> Any:
    """Return the first JSON value of a text, which may be followed by a proxy's banner."""
    return json.JSONDecoder(parse_constant=lambda name: None).raw_decode(text.lstrip())[0]


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _with_ordered_rows(payload: Any, rows: str) -> dict[str, Any] | None:
    """Return an answer with ordered rows (choices, data) and no lone surrogates.

    None if it has no rows.
    """
    items = payload.get(rows) if isinstance(payload, dict) else None
    if not isinstance(items, list) or not items:
        return None
    if not all(isinstance(item, dict) for item in items):
        return None

    def index(item: dict[str, Any]) -> int:
        return item["index"] if isinstance(item.get("index"), int) else 0

    text = json.dumps(payload, ensure_ascii=False)
    answer = json.loads(text.encode("utf-8", "replace"))
    answer[rows].sort(key=index)
    return answer


def _error_object(body: Any) -> dict[str, Any]:
    """Return the error object of a body; some servers send it bare."""
    if not isinstance(body, dict):
        return {}
    return body["error"] if isinstance(body.get("error"), dict) else body


def _message_of(body: Any, text: str) -> str:
    """Return the server's message."""
    content = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(content, dict):
        content = content.get("message", content.get("detail", content))
    if not content:
        content = text
    elif not isinstance(content, str):
        content = json.dumps(content, ensure_ascii=False)
    return content


def _on_one_line(text: str) -> str:
    """Return a server's text for a message: no line breaks, no control characters."""
    line = " ".join(text.split())
    return "".join(character if character.isprintable() else "\ufffd" for character in line)


def _shorten(message: str) -> str:
    if len(message) <= MAX_MESSAGE_CHARACTERS:
        return message
    return f"{message[:MAX_MESSAGE_CHARACTERS]}…"
