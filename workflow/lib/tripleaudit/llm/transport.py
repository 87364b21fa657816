"""Sending one request until it is answered: retries, Retry-After, time-outs, and what a failure means."""

import asyncio
import codecs
import contextlib
import email.utils
import json
import logging
import os
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tripleaudit.errors import UserError
from tripleaudit.llm.capabilities import Problem
from tripleaudit.llm.endpoint import Endpoint

log = logging.getLogger(__name__)

RETRIED = {408, 409, 425, 429}
REJECTED = {400, 413, 422}  # this request is not acceptable; others may be
NO_MONEY = {"insufficient_quota", "billing_hard_limit_reached"}  # sent as 429, but waiting does not help
NO_MODEL = {"model_not_found", "invalid_model"}  # sent as 400 by some
FLAGGED = re.compile(r"flagged|moderation|content.?(filter|policy|management)", re.IGNORECASE)
LONGEST_RETRY_AFTER = 600.0
LONGEST_ANSWER = 64 * 2**20  # bytes, unpacked
BACKOFF, MAX_BACKOFF = 1.0, 60.0  # seconds before the first retry, and at most
LEAST_SECRET = 16  # characters of a key that cannot be a word of an answer


class EndpointError(UserError):
    """The endpoint cannot be used, or does not answer after all attempts."""


class EndpointUnusable(EndpointError):
    """Sending more is pointless: no key, no permission, no such model, no quota."""


class RequestRejected(Exception):
    """The server answers, but refuses to work on this one request (400, 413, 422); ``problem`` holds its words."""

    def __init__(self, text: str, problem: Problem) -> None:
        super().__init__(text)
        self.problem = problem


async def _nothing() -> None:
    """Before an attempt that costs nothing."""


class Transport:
    """A connection to one endpoint, for one event loop.

    The key is read from the environment here and nowhere else; it is cut out of every error, because servers like to
    repeat it there, and out of answers where it is too long to be a word of theirs. No redirect is followed: another
    host would get the key and the texts.

    Args:
        base_url: replaces the endpoint's own address (a server that was started on a free port).
        slower: called when the server says that requests come too fast.

    Raises:
        EndpointUnusable: there is no address, or the environment variable of the key or of a header is not set or
            holds what no header can.
    """

    def __init__(
        self, endpoint: Endpoint, base_url: str | None = None, slower: Callable[[], None] = lambda: None
    ) -> None:
        import httpx2

        for name in ("httpx2", "httpcore2"):  # one line a request would drown everything else
            logging.getLogger(name).setLevel(logging.WARNING)
        self.endpoint = endpoint
        base_url = base_url or endpoint.base_url
        if base_url is None:
            raise EndpointUnusable(f"endpoint '{endpoint.name}' has no address: its local server is not running")
        named = {name: value[4:] for name, value in endpoint.headers.items() if value.startswith("env:")}
        secret = {name: self._variable(variable, f"the header '{name}'") for name, variable in named.items()}
        headers = {**endpoint.headers, **secret}
        self._secrets = list(secret.values())
        if endpoint.api_key_env:
            key = self._variable(endpoint.api_key_env, "the key of the endpoint")
            headers = {"authorization": f"Bearer {key}", **headers}
            self._secrets.append(key)
        local = urlsplit(base_url).hostname in ("localhost", "127.0.0.1", "::1")
        self._where = f"endpoint '{endpoint.name}' ({base_url})"
        self._slower = slower
        self._not_before = 0.0
        self._random = random.Random()
        self._http = httpx2.AsyncClient(
            base_url=base_url,
            timeout=endpoint.timeout,
            headers=headers,
            params=dict(endpoint.query),
            limits=httpx2.Limits(max_connections=None),
            trust_env=not local,  # no proxy to ourselves
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def post(
        self,
        kind: str,
        body: dict[str, Any],
        before: Callable[[], Awaitable[None]] = _nothing,
        lost: Callable[[], None] = lambda: None,
    ) -> dict[str, Any]:
        """Send ``body`` to ``chat`` or ``embeddings`` and return the parsed answer.

        Args:
            before: awaited before each attempt.
            lost: called after each attempt that may have been worked on, and billed, although no answer came back.

        Raises:
            EndpointUnusable: the endpoint turns us away (401, 403, 404, no quota, a redirect), or nothing reached it.
            EndpointError: every attempt failed.
            RequestRejected: the server rejects this request; sending it again would not help.
        """
        path, rows = ("/chat/completions", "choices") if kind == "chat" else ("/embeddings", "data")
        content = json.dumps(body).encode()  # in ASCII, so that any text can be sent

        async def attempt() -> _Outcome:
            given = {"content": content, "headers": {"content-type": "application/json"}}
            return await self._attempt(("POST", path, given), lambda text: self._answer(text, rows))

        return await self._until("does not answer", attempt, before, lost)

    async def _until(
        self,
        what: str,
        attempt: Callable[[], Awaitable["_Outcome"]],
        before: Callable[[], Awaitable[None]] = _nothing,
        lost: Callable[[], None] = lambda: None,
    ) -> Any:
        """Try until there is an answer, at most so often as the endpoint says.

        Args:
            what: "endpoint … WHAT after 3 attempts".
        """
        reached = False
        for number in range(self.endpoint.max_retries + 1):
            # another request may have had to wait, also meanwhile
            while (pause := self._not_before - time.monotonic()) > 0:  # noqa: ASYNC110
                await asyncio.sleep(pause)
            await before()
            try:
                outcome = await attempt()
            except BaseException:  # stopped while the server was at work
                lost()
                raise
            reached |= outcome.reached
            if outcome.billed:
                lost()
            if outcome.answer is not None:
                return outcome.answer
            if outcome.then == "reject":
                raise RequestRejected(outcome.problem, outcome.details)
            if outcome.then == "stop":
                raise EndpointUnusable(f"{self._where} {outcome.problem}")
            if number == self.endpoint.max_retries:
                break
            delay = self._delay(number, outcome.wait)
            log.warning("%s: %s; attempt %d follows in %.1f s", self._where, outcome.problem, number + 2, delay)
            await asyncio.sleep(delay)
        kind = EndpointError if reached else EndpointUnusable  # other requests would not get there either
        raise kind(f"{self._where} {what} after {number + 1} attempts: {outcome.problem}")

    async def _attempt(self, call: tuple[str, str, dict[str, Any]], read: Callable[[str], "_Outcome"]) -> "_Outcome":
        """Make one attempt; faults leave as values, since an exception of the library may hold the key.

        Args:
            call: method, path and what is sent.
            read: makes an outcome of the text that came with status 200; ValueError where it cannot be read.
        """
        import httpx2

        seconds, most = self.endpoint.timeout, LONGEST_ANSWER
        method, path, given = call
        path, _, query = path.partition("?")
        given = {**given, "params": dict(part.split("=") for part in query.split("&"))} if query else given
        try:
            async with asyncio.timeout(seconds), self._http.stream(method, path, **given) as reply:
                data = bytearray()
                async for part in reply.aiter_bytes():
                    data += part
                    if len(data) > most:
                        problem = f"sends more than {most >> 20} MB for one answer; expected another server"
                        return _Outcome(problem, then="stop", billed=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol) as error:  # nothing was sent
            return _Outcome(self._clean(f"the connection failed ({error})"), reached=False)
        except (TimeoutError, httpx2.TimeoutException):
            return _Outcome(f"no answer within {seconds:g} s", billed=True)
        except httpx2.RequestError as error:
            return _Outcome(self._clean(f"the connection failed ({error})"), billed=True)
        if 300 <= reply.status_code < 400:
            target = self._clean(reply.headers.get("location", "nowhere").partition("?")[0])
            return _Outcome(f"redirects to {target}; expected that as its 'base_url', if you trust it", then="stop")
        text = _decoded(bytes(data), reply.charset_encoding)
        if reply.status_code >= 400:
            return self._refusal(reply.status_code, _json(text), text, reply.headers)
        if text.lstrip()[:5] in ("data:", "event") or "event-stream" in reply.headers.get("content-type", ""):
            problem = "answers with an event stream, which nobody asked for; expected one JSON object"
            return _Outcome(problem, then="stop", billed=True)
        try:
            return read(text)
        except RecursionError:
            return _Outcome("answers with JSON that is nested too deeply", then="stop", billed=True)
        except ValueError:
            kind = reply.headers.get("content-type", "no content type")
            begins = self._clean(" ".join(text[:60].split())) or "nothing in it"
            return _Outcome(f"malformed answer ({kind}: {begins})", billed=True)

    def _answer(self, text: str, rows: str) -> "_Outcome":
        """Read the body of an answer, which has ``rows`` (choices, data)."""
        payload, _ = json.JSONDecoder(parse_constant=lambda name: None).raw_decode(text.lstrip())
        if isinstance(payload, dict) and payload.get("error") and not payload.get(rows):
            code = _inner(payload).get("code")
            status = code if isinstance(code, int) and 400 <= code < 600 else 500
            return self._refusal(status, payload, text, {})
        answer = tidy(payload, rows)
        if answer is None:
            return _Outcome("malformed answer (nothing in it)", billed=True)
        if failed(answer[rows][0]):
            said = self._clean(_message(answer[rows][0].get("error"), "no reason given"))
            return _Outcome(f"the model's provider failed ({said})", billed=True)
        return _Outcome(answer=json.loads(self._clean(json.dumps(answer), LEAST_SECRET)))

    def _refusal(self, status: int, body: Any, text: str, headers: Any) -> "_Outcome":
        """Say what an error status means, which some servers put into the body of a good one."""
        inner, said = _inner(body), self._clean(_message(body, text))
        problem = f"status {status}: {said}"
        words = {str(inner.get("code")), str(inner.get("type"))}
        if words & (NO_MONEY | NO_MODEL):
            return _Outcome(f"turns us away: {problem}", then="stop")
        if status == 429:
            self._slower()
        if status in RETRIED or status >= 500:
            wait = _retry_after(headers)
            if wait is not None:  # let all requests of this endpoint wait, not only this one
                self._not_before = max(self._not_before, time.monotonic() + wait)
            return _Outcome(problem, wait=wait)
        flagged = status == 403 and ("reasons" in str(inner.get("metadata")) or FLAGGED.search(said))
        if flagged or status in REJECTED:
            return _Outcome(problem, then="reject", details=Problem(said, inner.get("param"), inner.get("code")))
        return _Outcome(f"turns us away: {problem}", then="stop")

    def _delay(self, attempt: int, wait: float | None) -> float:
        exponential = min(MAX_BACKOFF, BACKOFF * 2**attempt)
        jittered = exponential * (0.5 + 0.5 * self._random.random())
        return jittered if wait is None else wait + 0.1 * jittered

    def _clean(self, text: str, least: int = 4) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[key]") if len(secret) >= least else text
        return text

    def _variable(self, name: str, what: str) -> str:
        value = os.environ.get(name, "").strip()
        where = f"endpoint '{self.endpoint.name}': the environment variable {name}"
        if not value:
            raise EndpointUnusable(f"{where} is not set; expected it to hold {what}")
        if not value.isascii() or not value.isprintable():
            found = "a line break or another control character" if value.isascii() else "a character outside ASCII"
            raise EndpointUnusable(f"{where} holds {found}; expected it to hold {what} in one line of ASCII")
        return value


def tidy(payload: Any, rows: str) -> dict[str, Any] | None:
    """Return an answer with its ``rows`` (choices, data) in order, and as it can be stored; None if it has none."""
    found = payload.get(rows) if isinstance(payload, dict) else None
    if not isinstance(found, list) or not found or not all(isinstance(row, dict) for row in found):
        return None
    answer = json.loads(json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace"))  # lone surrogates
    answer[rows].sort(key=lambda row: row["index"] if isinstance(row.get("index"), int) else 0)
    return answer


def failed(choice: dict[str, Any]) -> bool:
    """Whether a choice says that the model's provider died, and is no answer."""
    return choice.get("finish_reason") == "error" or bool(choice.get("error"))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One attempt: an answer, or a problem and what to do ``then`` (again, reject, stop) after ``wait`` seconds.

    ``billed`` says that the server may have worked on it all the same, ``reached`` that there is one.
    """

    problem: str = ""
    answer: Any = None
    then: str = "again"
    wait: float | None = None
    billed: bool = False
    reached: bool = True
    details: Problem = Problem("")


def _decoded(data: bytes, charset: str | None) -> str:
    """Return the text of a body; what cannot be read in it is replaced."""
    try:
        return data.decode("utf-8-sig" if data.startswith(codecs.BOM_UTF8) else charset or "utf-8", "replace")
    except LookupError:  # a character set that nobody knows
        return data.decode("utf-8", "replace")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _inner(body: Any) -> dict[str, Any]:
    """Return the error object in the body of a refusal; some servers send it bare."""
    if not isinstance(body, dict):
        return {}
    return body["error"] if isinstance(body.get("error"), dict) else body


def _message(body: Any, text: str) -> str:
    """Return the server's own words, on one line and not too long."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", inner.get("detail", inner)) if isinstance(inner, dict) else inner
    said = " ".join(str(body or text).split())
    return said if len(said) <= 300 else said[:300] + "…"


def _retry_after(headers: Any) -> float | None:
    """Return the seconds that the server asks to wait: ``retry-after-ms``, seconds, or an HTTP date."""
    seconds: float | None = None
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif "retry-after" in headers:
            seconds = float(headers["retry-after"])
    except ValueError:
        with contextlib.suppress(ValueError, OverflowError):  # a date that no clock has
            parsed = email.utils.parsedate_tz(headers.get("retry-after", ""))
            seconds = email.utils.mktime_tz(parsed) - time.time() if parsed else None
    if seconds is None or not seconds >= 0:
        return None
    return min(seconds, LONGEST_RETRY_AFTER)
